"""Chunks of tables: each begins with the table's caption and header, the last one ends with its footnotes.

The first one begins with the headings above it, and with the sentence that announces it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Self

from core.locations import LocatedText
from core.text.tables import without_marks
from extract.base import Element, Kind
from ingestion.packing import draft_of, pack_paragraphs, split_piece
from ingestion.row_groups import GroupNames, Piece
from ingestion.short_chunks import join_chunks
from ingestion.token_counts import Tokenizer, count_tokens, least_tokens
from kb.chunks import ChunkDraft, ElementBounds

# A table's header is repeated above each group of its rows, unless it takes a larger share of the window.
HEADER_SHARE = 0.5
# The same for a row that names the rows below it, and for a caption.
GROUP_NAME_SHARE = CAPTION_SHARE = 0.25


def table_chunks(
    tables: Iterable[Element],
    above: Sequence[Element],
    tokenizer: Tokenizer,
    headings: tuple[str, ...],
    room: int,
) -> Iterator[ChunkDraft]:
    """Yield the chunks of tables; the first begins with what stands above: it says nothing alone."""
    lead = _lead_draft(above, headings) if above else None
    taken = sum(count_tokens([element.text for element in above], tokenizer)) + len(above)
    if lead and taken > room * HEADER_SHARE:
        yield lead
        lead, taken = None, 0
    for table in tables:
        for draft in _drafts_of(table, tokenizer, headings, room - taken):
            yield join_chunks(lead, draft) if lead else draft
            lead = None
        taken = 0


def _lead_draft(above: Sequence[Element], path: tuple[str, ...]) -> ChunkDraft:
    pieces = [Piece(element.located, 0, len(element.text), 0) for element in above]
    return draft_of(pieces, path, {id(element.located): element for element in above})


def _drafts_of(
    table: Element, tokenizer: Tokenizer, headings: tuple[str, ...], room: int
) -> Iterator[ChunkDraft]:
    """Yield a table whole or in parts, with what stands above and below it."""
    caption = _Beside.of([table.caption] if table.caption else [], Kind.CAPTION, tokenizer, room)
    notes = _Beside.of(table.notes, Kind.PARAGRAPH, tokenizer, room)
    if caption.tokens > room * CAPTION_SHARE:
        yield from caption.alone(headings, room)
        caption = _Beside([], Kind.CAPTION)
    left = room - caption.tokens
    parts = _parts(table, tokenizer, left, notes.tokens)
    has_room = parts[-1].tokens + notes.tokens <= left
    for number, part in enumerate(parts, start=1):
        below = notes.draft(headings) if has_room and number == len(parts) else None
        yield _framed(caption.draft(headings, is_repeated=number > 1), part.draft(headings), below)
    if not has_room:
        yield from notes.alone(headings, room)


@dataclass(frozen=True, slots=True)
class _Beside:
    """The caption or the footnotes of a table."""

    pieces: list[Piece]
    kind: Kind

    @classmethod
    def of(cls, texts: Sequence[LocatedText], kind: Kind, tokenizer: Tokenizer, room: int) -> Self:
        """Measure texts; one that no chunk holds is cut."""
        counts = count_tokens([each.text for each in texts], tokenizer)
        whole = [
            Piece(each, 0, len(each.text), max(count, least_tokens(len(each.text))) + 1)
            for each, count in zip(texts, counts, strict=True)
        ]
        return cls([part for piece in whole for part in split_piece(piece, tokenizer, room)], kind)

    @property
    def tokens(self) -> int:
        """How much of the window all pieces take."""
        return sum(piece.tokens for piece in self.pieces)

    def alone(self, headings: tuple[str, ...], room: int) -> Iterator[ChunkDraft]:
        """Yield chunks of these texts only."""
        for group in pack_paragraphs([[piece] for piece in self.pieces], room):
            yield self._draft(group, headings)

    def draft(self, headings: tuple[str, ...], *, is_repeated: bool = False) -> ChunkDraft | None:
        """Return the texts as the beginning or end of a chunk; what `is_repeated` is no sentence of it."""
        if not self.pieces:
            return None
        draft = self._draft(self.pieces, headings)
        if not is_repeated:
            return draft
        repeated = tuple(bounds._replace(continued=True) for bounds in draft.elements or ())
        return replace(draft, sentences=(), elements=repeated)

    def _draft(self, pieces: list[Piece], headings: tuple[str, ...]) -> ChunkDraft:
        owners = {id(piece.element): Element(self.kind, piece.element) for piece in pieces}
        return draft_of(pieces, headings, owners)


def _framed(above: ChunkDraft | None, rows: ChunkDraft, below: ChunkDraft | None) -> ChunkDraft:
    """Return rows between a caption and footnotes as one chunk of a table."""
    if above:
        rows = join_chunks(above, rows)
    return replace(join_chunks(rows, below), is_table=True) if below else rows


# --- Rows --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows of a table, below the rows that are repeated above them."""

    repeated: list[Piece]
    rows: list[Piece]

    @property
    def tokens(self) -> int:
        """How much of the window all rows take."""
        return sum(piece.tokens for piece in [*self.repeated, *self.rows])

    def draft(self, headings: tuple[str, ...]) -> ChunkDraft:
        """Return the rows as a chunk; repeated ones are no sentences of it."""
        cut = [piece.element.slice(piece.start, piece.end) for piece in [*self.repeated, *self.rows]]
        bounds = []
        at = 0
        for part in cut:
            bounds.append((at, at + len(part.text)))
            at += len(part.text) + 1
        return ChunkDraft(
            LocatedText.join(cut, "\n"),
            headings,
            tuple(bounds[len(self.repeated) :]),
            is_table=True,
            elements=(ElementBounds(0, at - 1, Kind.TABLE),),
        )


def _parts(table: Element, tokenizer: Tokenizer, room: int, below: int) -> list[_Part]:
    """Return a table whole, or as rows that each begin with its header and the name of their group.

    The last part leaves room for `below` tokens, but not if a single row and they don't fit.
    """
    texts = [without_marks(table.text[start:end]) for start, end in table.rows]
    rows = [
        Piece(table.located, start, end, max(count, least_tokens(end - start)) + 1)
        for (start, end), count in zip(table.rows, count_tokens(texts, tokenizer), strict=True)
    ]
    header = rows[:1] if rows[0].tokens <= room * HEADER_SHARE and len(rows) > 1 else []
    body = rows[len(header) :]
    left = room - sum(row.tokens for row in header)
    names = GroupNames.of(body, int(left * GROUP_NAME_SHARE))
    if sum(row.tokens for row in body) + below > left:
        left -= names.tokens
    pieces = [[piece] for row in body for piece in split_piece(row, tokenizer, left)]
    *groups, last = pack_paragraphs(pieces, left)
    groups += _with_room_below(last, left - below)
    return [_Part([*header, *names.above(group[0])], group) for group in groups]


def _with_room_below(rows: list[Piece], room: int) -> list[list[Piece]]:
    """Cut off as many of the last rows as fit into so many tokens; return all as one if they all do."""
    used = list(accumulate(row.tokens for row in reversed(rows)))
    fitting = sum(each <= room for each in used)
    at = len(rows) - fitting
    return [rows[:at], rows[at:]] if 0 < at < len(rows) else [rows]
