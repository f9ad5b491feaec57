"""From a stored chunk to the blocks that a reader sees: headings, paragraphs, list items, code, tables.

A block's text is a stretch of its chunk. So each character of the chunk has exactly one place in the blocks,
except white space between blocks and the marks of tables. That is how a citation is marked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from core.api.validation import ABSENT, ApiModel
from core.locations import LocatedText
from core.text.tables import cells_of, table_start
from extract.base import Kind
from kb.chunks import ElementBounds
from kb.models import Chunk, Modality
from kb.reading.tables import CellBounds, header_line, rows_of, sheet_cells

SEPARATOR = "\n\n"
VERBATIM = frozenset({"code", "json", "xml"})
# Their readers fold white space, so only preformatted text has line breaks.
FOLDED = frozenset({"md", "html", "mhtml", "epub"})

BlockKind = Literal["heading", "paragraph", "list_item", "caption", "picture", "code", "table"]


class ReadingCell(ApiModel):
    """A cell of a table; an empty text where the table has nothing."""

    text: str
    start: int = Field(description="Code points into the chunk's text, as `end`.")
    end: int
    row: int = Field(default_factory=lambda: 0, description="Only in a sheet: from 1, as `column`.")
    column: int = ABSENT


class ReadingRow(ApiModel):
    """A row of a table."""

    cells: list[ReadingCell]


class TimedSentence(ApiModel):
    """A sentence of a recording."""

    start: int = Field(description="Code points into the chunk's text, as `end`.")
    end: int
    start_time: float = Field(description="Seconds, as `end_time`.")
    end_time: float


class ReadingBlock(ApiModel):
    """A heading, paragraph, list item, picture, piece of code or table, in reading order."""

    chunk_id: UUID
    position: int = Field(description="Of the chunk in the document, from 0.")
    start: int = Field(description="Code points into the chunk's text, as `end`.")
    end: int
    kind: BlockKind
    text: str = Field(default_factory=str, description="Of all but tables.")
    level: int = Field(default_factory=lambda: 1, description="Of headings, from 1.")
    continued: bool = Field(
        default_factory=bool,
        description="It belongs to the block before: a long paragraph's next part, or more rows of a table, "
        "whose first row only repeats the header.",
    )
    has_header: bool = Field(default_factory=bool, description="The first row of `rows` names the columns.")
    rows: Annotated[
        list[ReadingRow], Field(description="Of tables; in sheets also the cells of titles and remarks.")
    ] = ABSENT
    sentences: list[TimedSentence] = ABSENT
    page_number: int = ABSENT
    slide: int = ABSENT
    sheet: str = ABSENT
    lines: tuple[int, int] = ABSENT
    speaker: Annotated[
        str, Field(description="Who says it, if that can be told: `channel 1` or `speaker 1`.")
    ] = ABSENT
    machine_made: bool = Field(default_factory=bool, description="A model wrote it.")


def blocks_of(chunk: Chunk, before: Chunk | None, file_type: str) -> Iterator[ReadingBlock]:
    """Yield the blocks of a chunk; `before` is the chunk before it in the document."""
    located = chunk.located
    for bounds in elements_of(chunk, file_type):
        if bounds.kind is Kind.CAPTION and bounds.continued and chunk.modality == Modality.TABLE:
            continue  # repeated above each part of a long table, as the header is
        if bounds.kind is Kind.TABLE:
            details = _table(chunk, located, before)
        else:
            details = _text(chunk, bounds, file_type) | _times(chunk, located, bounds)
            details |= _cells_of_remark(chunk, located, bounds)
        yield ReadingBlock(
            chunk_id=chunk.pk,
            position=chunk.ordinal,
            start=bounds.start,
            end=bounds.end,
            **details,
            **_place(located, bounds),
        )


def elements_of(chunk: Chunk, file_type: str) -> list[ElementBounds]:
    """Return the stored elements of a chunk, or what its text and heading path say of them."""
    stored = _stored_elements(chunk)
    return _derived_elements(chunk, file_type) if stored is None else stored


def _stored_elements(chunk: Chunk) -> list[ElementBounds] | None:
    if chunk.elements is None:
        return None
    size = len(chunk.text)
    elements = [
        ElementBounds(start, min(end, size), Kind(kind), level, continued, *speaker)
        for start, end, kind, level, continued, *speaker in chunk.elements
        if start < size
    ]
    # An archive may say anything.
    is_in_order = all(one.end <= following.start for one, following in pairwise(elements))
    return elements if is_in_order else None


def _derived_elements(chunk: Chunk, file_type: str) -> list[ElementBounds]:
    if file_type in VERBATIM:
        return [ElementBounds(0, len(chunk.text), Kind.PARAGRAPH)]
    if chunk.modality != Modality.TABLE:
        return _derived_parts(chunk, chunk.text)
    start = table_start(chunk.text)
    return [*_derived_parts(chunk, chunk.text[:start]), ElementBounds(start, len(chunk.text), Kind.TABLE)]


def _derived_parts(chunk: Chunk, text: str) -> list[ElementBounds]:
    elements = []
    at = depth = 0
    for part in text.split(SEPARATOR):
        end = at + len(part)
        if part in chunk.headings[depth:]:
            depth = chunk.headings.index(part, depth) + 1
            elements.append(ElementBounds(at, end, Kind.HEADING, depth))
        elif part.strip():
            elements.append(ElementBounds(at, end, Kind.PARAGRAPH))
        at = end + len(SEPARATOR)
    return elements


# --- Details -----------------------------------------------------------------------------------------------


def _text(chunk: Chunk, bounds: ElementBounds, file_type: str) -> dict[str, Any]:
    text = chunk.text[bounds.start : bounds.end]
    details: dict[str, Any] = {"kind": _block_kind(bounds.kind, text, file_type), "text": text}
    if bounds.kind is Kind.HEADING:
        details["level"] = bounds.level or 1
    if bounds.continued:
        details["continued"] = True
    if bounds.speaker:
        details["speaker"] = bounds.speaker
    if chunk.shown and chunk.shown.is_machine_made(bounds.start):
        details["machine_made"] = True
    return details


def _block_kind(kind: Kind, text: str, file_type: str) -> BlockKind:
    match kind:
        case Kind.HEADING:
            return "heading"
        case Kind.LIST_ITEM:
            return "list_item"
        case Kind.CAPTION:
            return "caption"
        case Kind.PICTURE:
            return "picture"
    is_code = file_type in VERBATIM or (file_type in FOLDED and "\n" in text)
    return "code" if is_code else "paragraph"


def _table(chunk: Chunk, located: LocatedText, before: Chunk | None) -> dict[str, Any]:
    rows = [ReadingRow(cells=[_cell(chunk.text, cell) for cell in row]) for row in rows_of(located)]
    header = header_line(chunk.text)
    if header and not cells_of(header):
        # A table that names no column has a header without words, which Markdown needs and nobody else.
        return {"kind": "table", "rows": rows[1:]}
    details: dict[str, Any] = {"kind": "table", "rows": rows}
    if header:
        details["has_header"] = True
        if before and before.modality == Modality.TABLE and before.headings == chunk.headings:
            details["continued"] = header_line(before.text) == header
    return details


def _cells_of_remark(chunk: Chunk, located: LocatedText, bounds: ElementBounds) -> dict[str, Any]:
    """Return the cells of a title or remark in a sheet; nothing elsewhere."""
    cells = [cell for cell in sheet_cells(located) if bounds.start <= cell.start < bounds.end]
    rows = [ReadingRow(cells=[_cell(chunk.text, cell) for cell in cells])]
    return {"rows": rows} if cells else {}


def _cell(text: str, cell: CellBounds) -> ReadingCell:
    place = {} if cell.row is None else {"row": cell.row, "column": cell.column}
    return ReadingCell(text=text[cell.start : cell.end], start=cell.start, end=cell.end, **place)


def _times(chunk: Chunk, located: LocatedText, bounds: ElementBounds) -> dict[str, Any]:
    """Return the sentences of a recording's block with their times; none of other kinds."""
    if chunk.start_time is None:
        return {}
    inside = [(start, end) for start, end in chunk.sentences if bounds.start <= start and end <= bounds.end]
    return {"sentences": list(_timed(located, inside or [(bounds.start, bounds.end)]))}


def _timed(located: LocatedText, sentences: Sequence[tuple[int, int]]) -> Iterator[TimedSentence]:
    for start, end in sentences:
        if times := located.times(start, end):
            yield TimedSentence(start=start, end=end, start_time=times[0], end_time=times[1])


def _place(located: LocatedText, bounds: ElementBounds) -> dict[str, Any]:
    if located.page_number() is not None:
        boxes = located.boxes(bounds.start, bounds.end)
        return {"page_number": boxes[0].page.number} if boxes else {}
    places = located.files(bounds.start, bounds.end)
    if not places:
        return {}
    first = places[0]
    named = {"slide": first.slide, "sheet": first.sheet, "lines": first.lines}
    return {name: value for name, value in named.items() if value is not None}
