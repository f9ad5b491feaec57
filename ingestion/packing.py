"""Sentences and rows as pieces of bounded size, packed into chunks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from core.locations import LocatedText
from extract.base import Element
from ingestion.row_groups import Piece
from ingestion.short_chunks import SEPARATOR
from ingestion.token_counts import CHARS_PER_TOKEN, Tokenizer, count_tokens, least_tokens
from kb.chunks import ChunkDraft, ElementBounds

# In running text, fewer blanks stand between two words; longer gaps separate texts.
MOST_BLANK = 4 * CHARS_PER_TOKEN
# No tokenizer makes more tokens of so few characters than a window holds; longer words are cut.
WORD = re.compile(r"\S{1,60}")
VISIBLE = re.compile(r"\S")


def pack_paragraphs(paragraphs: Iterable[list[Piece]], room: int) -> Iterator[list[Piece]]:
    """Fill chunks with sentences. A paragraph that fits into one chunk does not start in the last half of
    another."""
    chunk: list[Piece] = []
    used = 0
    for paragraph in paragraphs:
        whole = sum(piece.tokens for piece in paragraph)
        if used >= room / 2 and used + whole > room >= whole:
            yield chunk
            chunk, used = [], 0
        for piece in paragraph:
            if used + piece.tokens > room and chunk:
                yield chunk
                chunk, used = [], 0
            chunk.append(piece)
            used += piece.tokens
    if chunk:
        yield chunk


def split_piece(piece: Piece, tokenizer: Tokenizer, room: int) -> Iterator[Piece]:
    """Cut a sentence that is larger than `room` between its words."""
    if piece.tokens <= room:
        yield piece
        return
    words = list(WORD.finditer(piece.element.text, piece.start, piece.end))
    counts = count_tokens([word[0] for word in words], tokenizer)
    start, end, used = piece.start, piece.start, 1
    for word, count in zip(words, counts, strict=True):
        is_far = word.start() - end > MOST_BLANK
        size = max(count, least_tokens(word.end() - (word.start() if is_far else end)))
        if (used + size > room or is_far) and word.start() > start:
            yield Piece(piece.element, start, end, used)
            start, used = word.start(), 1
        used += size
        end = word.end()
    yield Piece(piece.element, start, end, used)


def _runs(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Yield pieces that are consecutive in an element; long stretches of blanks are left out."""
    run: list[Piece] = []
    for piece in pieces:
        if run and (piece.element is not run[-1].element or piece.start - run[-1].end > MOST_BLANK):
            yield run
            run = []
        run.append(piece)
    if run:
        yield run


def draft_of(pieces: list[Piece], headings: tuple[str, ...], owners: Mapping[int, Element]) -> ChunkDraft:
    """Join pieces into a chunk; `owners` are the elements of their texts, by the texts' identity."""
    parts: list[LocatedText] = []
    sentences: list[tuple[int, int]] = []
    bounds: list[ElementBounds] = []
    at = 0
    for run in _runs(pieces):
        start, owner = run[0].start, owners[id(run[0].element)]
        part = run[0].element.slice(start, run[-1].end)
        sentences += [(at + p.start - start, at + p.end - start) for p in run]
        is_continued = VISIBLE.search(owner.text, 0, start) is not None
        end = at + len(part.text)
        bounds.append(ElementBounds(at, end, owner.kind, owner.level, is_continued, owner.speaker))
        parts.append(part)
        at += len(part.text) + len(SEPARATOR)
    return ChunkDraft(LocatedText.join(parts, SEPARATOR), headings, tuple(sentences), elements=tuple(bounds))
