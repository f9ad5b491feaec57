"""Documents' files, wherever Django's storage keeps them (docs/adr/0035-storage-and-cache.md).

Nothing else asks a storage for a path: only a folder has paths. What can only read a file of this machine,
such as a child process, is given a local copy.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import Storage

from core.errors import NotFound
from kb.models import Document

PASSES = 4
"""A local copy serves so many passes over a file at most, of `EXTRACTION_TOTAL_SECS` each."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a storage, by its name there; it may be lost."""

    storage: Storage
    name: str
    copy: Path | None = field(default=None, compare=False)
    """A local copy that somebody else keeps for as long as this value is used."""

    @classmethod
    def of(cls, document: Document) -> StoredFile:
        """Return the file that a document names."""
        return cls(document.file.storage, document.file.name or "")

    def version(self) -> Hashable:
        """Return what differs once the file is replaced; raise `NotFound` if it is lost."""
        try:
            return self.storage.get_modified_time(self.name), self.storage.size(self.name)
        except FileNotFoundError:
            raise NotFound from None

    @contextmanager
    def local_copy(self) -> Iterator[Path]:
        """Yield the path of a file with this content, to be read only; raise `NotFound` if it is lost.

        Where the storage is a folder, that is the file itself, else a copy that lasts for the block.
        """
        path = self.copy or self._own_path()
        if path is None:
            with self._temporary_copy() as path:
                yield path
        elif path.exists():
            yield path
        else:
            raise NotFound

    def _own_path(self) -> Path | None:
        try:
            return Path(self.storage.path(self.name))
        except NotImplementedError:  # so Django's storages say that they are no folder
            return None

    @contextmanager
    def _temporary_copy(self) -> Iterator[Path]:
        # Named after its document, whose deletion removes what a killed process has left here.
        prefix = f"{PurePosixPath(self.name).parent.name}."
        _copies().mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=_copies(), prefix=prefix)
        path = Path(name)
        try:
            with os.fdopen(handle, "wb") as copy, self._opened() as stored:
                shutil.copyfileobj(stored, copy)
            yield path
        finally:
            path.unlink(missing_ok=True)

    def _opened(self) -> File[bytes]:
        try:
            return self.storage.open(self.name)
        except FileNotFoundError:
            raise NotFound from None


def remove_forgotten_copies() -> None:
    """Remove the local copies that killed processes have left."""
    oldest = time.time() - PASSES * settings.EXTRACTION_TOTAL_SECS
    for copy in _copies().glob("*"):
        with suppress(FileNotFoundError):
            if copy.stat().st_mtime < oldest:
                copy.unlink()


def _copies() -> Path:
    return Path(settings.DATA_DIR) / "cache" / "copies"
