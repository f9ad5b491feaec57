"""Documents' files, wherever Django's storage keeps them (ADR 35, ADR 65).

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
from django.utils.http import content_disposition_header

from core.errors import NotFound, Overloaded
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

    def signed_url(self, name: str, mime_type: str, inline: bool) -> str | None:
        """Return an address at which the store itself serves the file for a moment; None if it has none."""
        if not (settings.STORAGE == "s3" and settings.S3_SIGNED_DOWNLOADS):
            return None
        parameters = {
            "ResponseContentType": mime_type,
            "ResponseContentDisposition": content_disposition_header(not inline, name) or "attachment",
        }
        url: str = self.storage.url(self.name, parameters=parameters, expire=settings.S3_SIGNED_SECS)  # type: ignore[call-arg]
        return url

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
        self._require_room()
        handle, name = tempfile.mkstemp(dir=_copies(), prefix=prefix)
        path = Path(name)
        try:
            with os.fdopen(handle, "wb") as copy, self._opened() as stored:
                shutil.copyfileobj(stored, copy)
            yield path
        finally:
            path.unlink(missing_ok=True)

    def _require_room(self) -> None:
        """Raise `Overloaded` unless the disk can hold a copy, and `NotFound` without a file."""
        try:
            size = self.storage.size(self.name)
        except FileNotFoundError:
            raise NotFound from None
        if shutil.disk_usage(_copies()).free < settings.MIN_FREE_DISK_BYTES + size:
            raise Overloaded("The disk of this host is too full for a copy of the file.")

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
