"""Which extractor reads a file: decided by its content, never by its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from extract.base import Element, Extractor, Finding, Kind, Request
from extract.invisible import without_invisible
from extract.kinds import KINDS
from extract.sniffing import sniff

__all__ = ["extract", "extractor_for", "sniff"]

# A file may be one endless line or paragraph; elements beyond this are cut so that no step meets a giant.
MAX_ELEMENT_CHARS = 10_000
# Nobody reads a longer heading as one, and every chunk below it would carry it.
MAX_HEADING_CHARS = 400


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield what the extractor for this file's content finds; raise `IngestionError`."""
    for finding in extractor_for(sniff(path))(path, request):
        if isinstance(finding, Element):
            for element in without_invisible(finding):
                yield from bounded(element)
        else:
            yield finding


def extractor_for(file_type: str) -> Extractor:
    """Return the extractor of a kind of file."""
    # Modules are imported on use: a text file must not wait for the PDF library.
    extractor: Extractor = import_module(KINDS[file_type].module).extract
    return extractor


def bounded(element: Element) -> Iterator[Element]:
    """Yield an element whole, or as paragraphs of bounded length, cut at white space; tables stay whole."""
    if element.kind is Kind.HEADING and len(element.text) > MAX_HEADING_CHARS:
        element = replace(element, kind=Kind.PARAGRAPH, level=None)
    if element.kind is Kind.TABLE or len(element.text) <= MAX_ELEMENT_CHARS:
        yield element
        return
    text = element.text
    start = 0
    while start < len(text):
        end = _end(text, start)
        yield replace(element, located=element.located.slice(start, end))
        start = end + 1 if text[end : end + 1].isspace() else end


def _end(text: str, start: int) -> int:
    """Return where the piece that begins at `start` ends: at white space in its second half if it can."""
    limit = start + MAX_ELEMENT_CHARS
    if limit >= len(text):
        return len(text)
    gaps = (text.rfind(gap, start + MAX_ELEMENT_CHARS // 2, limit) for gap in ("\n", " "))
    return next((gap for gap in gaps if gap > start), limit)
