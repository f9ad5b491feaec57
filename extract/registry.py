"""Chooses the extractor of a file by its content; the name only tells plain texts apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from extract.base import Element, Extractor, Finding, Kind, Request
from extract.invisible import strip_invisible
from extract.kinds import KINDS
from extract.sniffing import sniff

__all__ = ["extract", "extractor_for", "sniff"]

# A file may be one endless line or paragraph. Longer elements are cut, so that no later step gets a giant.
MAX_ELEMENT_CHARS = 10_000
# A longer heading is not read as one, and every chunk below it would repeat it.
MAX_HEADING_CHARS = 400


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the findings of the extractor for this file's content; raise a `DocumentError`."""
    for finding in extractor_for(sniff(path, request.promised))(path, request):
        if isinstance(finding, Element):
            for element in strip_invisible(finding):
                yield from split_long(element)
        else:
            yield finding


def extractor_for(file_type: str) -> Extractor:
    """Return the extractor of a kind of file."""
    # Modules are imported on use: a text file must not wait for the PDF library.
    extractor: Extractor = import_module(KINDS[file_type].module).extract
    return extractor


def split_long(element: Element) -> Iterator[Element]:
    """Yield the element unchanged, or as paragraphs of limited length, cut at white space; tables are never
    cut."""
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
    """Return the end of the piece that begins at `start`, at white space in its second half if possible."""
    limit = start + MAX_ELEMENT_CHARS
    if limit >= len(text):
        return len(text)
    gaps = (text.rfind(gap, start + MAX_ELEMENT_CHARS // 2, limit) for gap in ("\n", " "))
    return next((gap for gap in gaps if gap > start), limit)
