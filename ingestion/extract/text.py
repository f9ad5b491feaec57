"""Plain text and Markdown-like files: paragraphs, `# headings` and list items, without boxes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from charset_normalizer import from_bytes

from ingestion.errors import Empty, UnsupportedType
from ingestion.extract.base import Element, Finding, Kind, Opened, Request, Source, UnitRead
from ingestion.extract.cleaning import clean
from kb.locations import LocatedText

HEADING = re.compile(r"(#{1,6})\s+(.*?)[\s#]*$")
LIST_ITEM = re.compile(r"\s*([-*+•]|\d{1,3}[.)])\s+\S")
# A file may be one endless line or paragraph; elements beyond this are cut so that no step meets a giant.
MAX_ELEMENT_CHARS = 10_000


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the file's paragraphs; raise `UnsupportedType` if it is no text, `Empty` if it is blank."""
    text = decode(path.read_bytes())
    if not text.strip():
        raise Empty
    yield Opened(file_type="txt", mime_type="text/plain")
    for lines in _blocks(text.splitlines()):
        yield from _elements(lines)
    yield UnitRead(1, Source.TEXT)


def decode(content: bytes) -> str:
    """Return bytes as text in the encoding they are most probably in."""
    try:
        return clean(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        best = from_bytes(content).best()
    if best is None:
        raise UnsupportedType
    return clean(str(best))


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Group lines into what stands together: a heading, a list item with its continuation, a paragraph."""
    block: list[str] = []
    for line in lines:
        starts_anew = not line.strip() or HEADING.match(line) or LIST_ITEM.match(line)
        if block and (starts_anew or HEADING.match(block[0])):
            yield block
            block = []
        if line.strip():
            block.append(line)
    if block:
        yield block


def _elements(lines: list[str]) -> Iterator[Element]:
    heading = HEADING.match(lines[0])
    if heading and heading[2]:
        yield Element(Kind.HEADING, LocatedText(_folded(heading[2])), level=len(heading[1]))
        return
    kind = Kind.LIST_ITEM if LIST_ITEM.match(lines[0]) else Kind.PARAGRAPH
    text = _folded(" ".join(lines))
    for start in range(0, len(text), MAX_ELEMENT_CHARS):
        yield Element(kind, LocatedText(text[start : start + MAX_ELEMENT_CHARS].strip()))


def _folded(text: str) -> str:
    return " ".join(text.split())
