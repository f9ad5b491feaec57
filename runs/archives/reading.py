"""Opens an archive that a stranger may have made: names, sizes and lines are checked, nothing is unpacked."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

import pydantic

from runs.archives.layout import (
    ASSISTANTS,
    COLLECTIONS,
    DOCUMENTS,
    EXECUTIONS,
    LONGEST_LINE,
    MANIFEST,
    MESSAGES,
    MOST_BYTES,
    MOST_DOCUMENTS,
    SESSIONS,
    InvalidArchive,
    Line,
    Manifest,
)

ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
NAMES = re.compile(rf"files/{ID}|chunks/{ID}\.jsonl")
PARTS = {MANIFEST, COLLECTIONS, DOCUMENTS, SESSIONS, MESSAGES, EXECUTIONS, ASSISTANTS}
MOST_MEMBERS = 2 * MOST_DOCUMENTS + len(PARTS)
# JSON with places and vectors shrinks to a tenth or so; zip can do a thousandth.
MAX_RATIO, RATIO_MATTERS_FROM = 200, 2**20
Shape = TypeVar("Shape", bound=Line)
BOMB = "The archive unpacks to far more than its size. It looks like a trap and was not opened."
STRANGE = "The archive holds a file that no export of a workspace has. Export the workspace again."
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError, RuntimeError)


@dataclass(frozen=True)
class Archive:
    """An archive whose table of contents has been checked."""

    zip: zipfile.ZipFile
    manifest: Manifest

    def lines(self, name: str, shape: type[Shape]) -> Iterator[Shape]:
        """Yield the lines of a member; raise `InvalidArchive` for the first that is none."""
        with self.open(name) as member:
            while line := member.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise InvalidArchive(BOMB)
                yield _parsed(line, shape)

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open a member to be read; a fault in it is an `InvalidArchive`."""
        try:
            with self.zip.open(name) as member:
                yield member
        except (KeyError, *BROKEN) as error:
            raise InvalidArchive from error

    def has(self, name: str) -> bool:
        """Tell whether there is a member of this name."""
        return name in self.zip.NameToInfo


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Yield an archive that is safe to read; raise `InvalidArchive`."""
    try:
        zip = zipfile.ZipFile(path)
    except (*BROKEN, OSError, ValueError) as error:
        raise InvalidArchive from error
    with zip:
        _check(zip, path.stat().st_size)
        with Archive(zip, None).open(MANIFEST) as member:  # type: ignore[arg-type]
            manifest = _parsed(member.read(LONGEST_LINE), Manifest)
        yield Archive(zip, manifest)


def _check(archive: zipfile.ZipFile, size: int) -> None:
    members = archive.infolist()
    if len(members) > MOST_MEMBERS or sum(member.file_size for member in members) > MOST_BYTES:
        raise InvalidArchive(BOMB)
    # Members that share bytes would stay below every limit on ratios.
    if sum(member.compress_size for member in members) > size:
        raise InvalidArchive(BOMB)
    if len({member.filename for member in members}) < len(members):
        raise InvalidArchive(STRANGE)
    for member in members:
        if member.filename not in PARTS and not NAMES.fullmatch(member.filename):
            raise InvalidArchive(STRANGE)
        if member.flag_bits & 0x1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InvalidArchive
        if member.file_size > RATIO_MATTERS_FROM and member.file_size > MAX_RATIO * member.compress_size:
            raise InvalidArchive(BOMB)


def _parsed(line: bytes, shape: type[Shape]) -> Shape:
    try:
        return shape.model_validate_json(line)
    except pydantic.ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidArchive(f"The archive is damaged: {shape.__name__} {place}: {first['msg']}.") from None
