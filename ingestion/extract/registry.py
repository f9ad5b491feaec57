"""Which extractor reads a file: decided by its content, never by its name."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from ingestion.errors import Empty, UnsupportedType
from ingestion.extract.base import Extractor, Finding, Request

# Modules are imported on use: a text file must not wait for the PDF library.
EXTRACTORS = {"pdf": "ingestion.extract.pdf", "txt": "ingestion.extract.text"}
PDF_HEADER_WITHIN = 1024
# Control characters that no text file has; NUL is common in UTF-16, which is known by its byte order mark.
BINARY = bytes([*range(8), 14, *range(16, 27), *range(28, 32), 127])
UNICODE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
LOOKED_AT = 64 * 2**10


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield what the extractor for this file's content finds; raise `IngestionError`."""
    return extractor_for(sniff(path))(path, request)


def extractor_for(file_type: str) -> Extractor:
    """Return the extractor of a kind of file."""
    extractor: Extractor = import_module(EXTRACTORS[file_type]).extract
    return extractor


def sniff(path: Path) -> str:
    """Return the file's kind; raise `Empty` or `UnsupportedType`."""
    with path.open("rb") as file:
        head = file.read(LOOKED_AT)
    if not head:
        raise Empty
    # Readers accept junk before the header, as mail gateways and web servers sometimes add it.
    if b"%PDF-" in head[:PDF_HEADER_WITHIN]:
        return "pdf"
    if head.startswith(UNICODE_MARKS) or head.translate(None, BINARY) == head:
        return "txt"
    raise UnsupportedType
