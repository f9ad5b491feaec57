"""The words of one page with their boxes: for readers who select and search in scanned pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet

from core.locations import Box, Page, PageLine, WordRun
from kb.models import Chunk, Modality

MOST_LINES = 5_000
"""A page has fewer; what comes after is left out."""


@dataclass(frozen=True)
class LocatedLine:
    """A line or table cell, and the chunk it is in."""

    text: str
    box: Box
    chunk_id: UUID


@dataclass(frozen=True)
class LocatedPage:
    """The lines of a page in reading order; `page` is None if nothing was read there."""

    page: Page | None
    lines: list[LocatedLine]


def page_text(chunks: QuerySet[Chunk], number: int) -> LocatedPage:
    """Return what stands on page `number`; `chunks` are a document's live chunks that the caller may see."""
    page: Page | None = None
    lines: list[LocatedLine] = []
    seen: set[tuple[int, Box]] = set()
    for chunk in _touching(chunks, number):
        for line, text, box in _lines_of(chunk, number):
            # The rows of a long table are in several chunks, which all repeat its header.
            if (line.number, box) in seen or len(lines) == MOST_LINES:
                continue
            seen.add((line.number, box))
            page = line.page
            lines.append(LocatedLine(text, box, chunk.pk))
    return LocatedPage(page, lines)


def _touching(chunks: QuerySet[Chunk], number: int) -> Iterator[Chunk]:
    """Yield the chunks that may have words on a page, in reading order.

    They begin there, or are the last that begin before. A part of a table begins where its header stands,
    however far before: of tables the places decide.
    """
    before = chunks.filter(page_number__lt=number).order_by("-ordinal").values("pk")[:1]
    continued = Q(modality=Modality.TABLE, page_number__lt=number, spans__contains=[{"page": [number]}])
    touching = chunks.filter(Q(page_number=number) | Q(pk__in=before) | continued)
    yield from touching.order_by("ordinal").only("pk", "text", "spans")


def _lines_of(chunk: Chunk, number: int) -> Iterator[tuple[PageLine, str, Box]]:
    for run in chunk.located.runs:
        if isinstance(run.place, PageLine) and run.place.page.number == number:
            yield run.place, chunk.text[run.words[0][0] : run.words[-1][1]], _box_of(run)


def _box_of(run: WordRun) -> Box:
    _, _, lefts, tops, rights, bottoms = zip(*run.words, strict=True)
    return Box(min(lefts), min(tops), max(rights), max(bottoms))
