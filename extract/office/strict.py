"""Office files of the strict kind: the same XML under other names, which our libraries do not know."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from extract.archives import is_xml

STRICT = b"http://purl.oclc.org/ooxml/"
LOOKED_AT = 4096
# ISO/IEC 29500-1 against ISO/IEC 29500-4: names of namespaces and relationships.
MAIN = re.compile(rb"http://purl\.oclc\.org/ooxml/(wordprocessingml|spreadsheetml|presentationml)/main")
DRAWING = re.compile(rb"http://purl\.oclc\.org/ooxml/drawingml/([A-Za-z]+)")
DOCUMENT = re.compile(rb"http://purl\.oclc\.org/ooxml/officeDocument/([A-Za-z]+)")
NAMES = (
    (MAIN, rb"\1/2006/main"),
    (DRAWING, rb"drawingml/2006/\1"),
    (DOCUMENT, rb"officeDocument/2006/\1"),
)
TRANSITIONAL = b"http://schemas.openxmlformats.org/"


@contextmanager
def transitional(archive: zipfile.ZipFile, path: Path) -> Iterator[BinaryIO]:
    """Open an office file for the libraries: a strict one as a copy in memory that has the usual names."""
    if not is_strict(archive):
        with path.open("rb") as file:
            yield file
        return
    copy = BytesIO()
    with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for member in archive.infolist():
            content = archive.read(member)
            target.writestr(member.filename, _renamed(content) if is_xml(member.filename) else content)
    copy.seek(0)
    yield copy


def is_strict(archive: zipfile.ZipFile) -> bool:
    """Whether the package's own relationships have the names of the strict kind."""
    names = archive.namelist()
    if "_rels/.rels" not in names:
        return False
    with archive.open("_rels/.rels") as file:
        return STRICT in file.read(LOOKED_AT)


def _renamed(content: bytes) -> bytes:
    if STRICT not in content:
        return content
    for strict, usual in NAMES:
        content = strict.sub(TRANSITIONAL + usual, content)
    return content
