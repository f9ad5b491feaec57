"""Zip files. They are checked before any member is read: bombs, paths outside the folder, entities,
passwords."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path, PurePosixPath

from extract.errors import Corrupted, Encrypted, FileTooLarge

MAX_MEMBERS = 20_000
MAX_TOTAL_BYTES = 1_000 * 2**20
MAX_XML_BYTES = 300 * 2**20
# XML of office files shrinks to a twentieth, a sheet of zeros to a hundredth; zip can do a thousandth.
MAX_RATIO = 200
RATIO_MATTERS_FROM = 10 * 2**20
READ_AT_ONCE = 2**20

XML_SUFFIXES = frozenset(
    {".xml", ".rels", ".xhtml", ".html", ".htm", ".opf", ".ncx", ".vml", ".svg", ".smil"}
)
# Declarations of entities in the encodings that XML parsers must know.
ENTITY = tuple("<!ENTITY".encode(encoding) for encoding in ("ascii", "utf-16-le", "utf-16-be"))
LONGEST_ENTITY = max(map(len, ENTITY))

PATH_TRICK = (
    "The file holds names that lead out of it, as no program writes them. Save it anew and upload that."
)
CUT_OFF = (
    "The file is cut off or damaged: its table of contents is missing. Get the whole file and upload it."
)
BOMB = "The file unpacks to far more than its size. It looks like a trap and was not opened."
ENTITIES = (
    "The file declares XML entities, which may hide other files or endless text. Save it anew, without them."
)


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip file as an archive whose members are safe to read by name.

    Raises `FileTooLarge`, `Encrypted` or `Corrupted` if a member is not safe.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            check_archive(archive)
            yield archive
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        NotImplementedError,
        UnicodeDecodeError,
    ) as error:
        raise Corrupted(CUT_OFF) from error


def is_protected(archive: zipfile.ZipFile) -> bool:
    """Whether some member can be read only with a password."""
    return any(member.flag_bits & 0x1 for member in archive.infolist())


def check_archive(archive: zipfile.ZipFile, *, may_be_protected: bool = False) -> None:
    """Raise `FileTooLarge`, `Encrypted` or `Corrupted` for an archive that is a trap or can't be read."""
    if is_protected(archive) and not may_be_protected:
        raise Encrypted
    members = entries(archive)
    if len(members) > MAX_MEMBERS or sum(member.file_size for member in members) > MAX_TOTAL_BYTES:
        raise FileTooLarge(BOMB)
    for member in members:
        _check_member(member)
    _check_overlaps(archive, members)
    for member in members:
        if is_xml(member.filename):
            _check_xml(archive, member)


def entries(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return what the table of contents lists; raise `Corrupted` if it points outside the file."""
    members = archive.infolist()
    if any(member.header_offset < 0 for member in members):
        raise Corrupted(CUT_OFF)
    return members


def read_member(archive: zipfile.ZipFile, name: str) -> bytes | None:
    """Return a member's bytes, None if there is no such member."""
    try:
        return archive.read(name)
    except KeyError:
        return None


def is_xml(name: str) -> bool:
    """Whether a member is read by an XML parser."""
    return PurePosixPath(name.lower()).suffix in XML_SUFFIXES


def declares_entities(content: bytes) -> bool:
    """Whether XML brings its own entities, which no document needs and traps are made of."""
    return any(mark in content for mark in ENTITY)


def _check_member(member: zipfile.ZipInfo) -> None:
    name = member.filename.replace("\\", "/")
    if name.startswith("/") or ".." in name.split("/") or name[1:2] == ":" or "\0" in member.orig_filename:
        raise Corrupted(PATH_TRICK)
    if is_xml(name) and member.file_size > MAX_XML_BYTES:
        raise FileTooLarge
    if member.file_size > RATIO_MATTERS_FROM and member.file_size > MAX_RATIO * member.compress_size:
        raise FileTooLarge(BOMB)


def _check_overlaps(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> None:
    """Refuse members that share bytes: sharing keeps a bomb below every limit on ratios."""
    placed = sorted(members, key=lambda member: member.header_offset)
    if any(one.header_offset + one.compress_size > other.header_offset for one, other in pairwise(placed)):
        raise FileTooLarge(BOMB)
    if placed and placed[-1].header_offset + placed[-1].compress_size > archive.start_dir:
        raise Corrupted(CUT_OFF)


def _check_xml(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    with archive.open(member) as file:
        tail = b""
        while block := file.read(READ_AT_ONCE):
            if declares_entities(tail + block):
                raise Corrupted(ENTITIES)
            tail = block[-LONGEST_ENTITY:]
