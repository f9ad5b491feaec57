"""The plan of a readable document: its headings, and the windows in which a viewer loads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.fields.json import KT
from django.db.models.functions import Length
from pydantic import Field

from core.api.validation import ABSENT, ApiModel
from extract.base import Kind
from kb.models import Chunk

MOST_HEADINGS = 2_000
# A browser lays out so much text in a small part of a tenth of a second.
MOST_WINDOW_CHARS = 6_000
MOST_WINDOW_CHUNKS = 25
MOST_PER_REQUEST = 200
SHEETS = frozenset({"xlsx", "xlsb", "xls", "ods"})
SLIDES = frozenset({"pptx", "ppt", "odp"})


class OutlineHeading(ApiModel):
    """A heading, or a slide's title."""

    text: str
    level: int = Field(description="From 1.")
    chunk_id: UUID
    position: int = Field(description="Of its chunk in the document, from 0.")
    slide: int = ABSENT


class ReadingWindow(ApiModel):
    """Consecutive chunks to load at once, with the length of their texts."""

    start: int = Field(description="Position of the first chunk.")
    chunks: int
    characters: int
    sheet: str = ABSENT


class ReadingOutline(ApiModel):
    """What a viewer needs before it loads any text."""

    document_id: UUID
    chunks: int
    windows: list[ReadingWindow]
    headings: list[OutlineHeading]
    more_headings: bool = Field(description=f"There are more than {MOST_HEADINGS} headings.")
    position: int | None = Field(description="Of the chunk `chunk_id`, or of its successor; null if unknown.")


class _ChunkFacts(NamedTuple):
    id: UUID
    position: int
    headings: list[str]
    characters: int
    first_kind: str | None
    sheet: str | None
    slide: str | None


def outline_of(
    document_id: UUID, file_type: str, live: QuerySet[Chunk], cited: Chunk | None
) -> ReadingOutline:
    """Return the outline of a document; `live` are its live chunks, `cited` is a live or replaced one."""
    chunks = list(_facts(live, file_type))
    headings = list(_headings(chunks, has_slides=file_type in SLIDES))
    return ReadingOutline(
        document_id=document_id,
        chunks=len(chunks),
        windows=list(_windows(chunks)),
        headings=headings[:MOST_HEADINGS],
        more_headings=len(headings) > MOST_HEADINGS,
        position=_position_of(cited, chunks) if cited else None,
    )


def _facts(live: QuerySet[Chunk], file_type: str) -> Iterator[_ChunkFacts]:
    # Places are long, so they are opened only where they are of use.
    sheet = KT("spans__0__in__sheet") if file_type in SHEETS else None
    slide = KT("spans__0__in__slide") if file_type in SLIDES else None
    places = {name: path for name, path in (("sheet", sheet), ("slide", slide)) if path}
    rows = live.order_by("ordinal", "id").annotate(
        characters=Length("text"), first_kind=KT("elements__0__2"), **places
    )
    for row in rows.values("pk", "ordinal", "headings", "characters", "first_kind", *places):
        yield _ChunkFacts(
            row["pk"],
            row["ordinal"],
            row["headings"],
            row["characters"],
            row["first_kind"],
            row.get("sheet"),
            row.get("slide"),
        )


def _headings(chunks: Iterable[_ChunkFacts], *, has_slides: bool) -> Iterator[OutlineHeading]:
    """Yield a heading wherever the heading path changes, or a section with the same path begins."""
    path: list[str] = []
    for chunk in chunks:
        same = next(
            (at for at, pair in enumerate(zip(path, chunk.headings, strict=False)) if pair[0] != pair[1]),
            min(len(path), len(chunk.headings)),
        )
        if same == len(chunk.headings) == len(path) and chunk.first_kind == Kind.HEADING:
            same -= 1
        slide = {"slide": int(chunk.slide)} if has_slides and chunk.slide else {}
        for depth, text in enumerate(chunk.headings[max(same, 0) :], start=max(same, 0) + 1):
            yield OutlineHeading(text=text, level=depth, chunk_id=chunk.id, position=chunk.position, **slide)
        path = chunk.headings


def _windows(chunks: Iterable[_ChunkFacts]) -> Iterator[ReadingWindow]:
    window: ReadingWindow | None = None
    sheet: str | None = None
    slide: str | None = None
    for chunk in chunks:
        is_full = window and (
            window.chunks >= MOST_WINDOW_CHUNKS or window.characters + chunk.characters > MOST_WINDOW_CHARS
        )
        # A slide stays whole, unless it is very long.
        if is_full and slide and chunk.slide == slide:
            is_full = window and window.chunks >= MOST_PER_REQUEST
        slide = chunk.slide
        if window is None or is_full or chunk.sheet != sheet:
            if window:
                yield window
            sheet = chunk.sheet
            named = {} if sheet is None else {"sheet": sheet}
            window = ReadingWindow(start=chunk.position, chunks=0, characters=0, **named)
        window.chunks += 1
        window.characters += chunk.characters
    if window:
        yield window


def _position_of(cited: Chunk, chunks: Iterable[_ChunkFacts]) -> int | None:
    ids = {cited.pk} if cited.replaced_by is None else set(cited.replaced_by)
    return next((chunk.position for chunk in chunks if chunk.id in ids), None)
