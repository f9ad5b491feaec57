"""Chunks that say too little by themselves are joined with their neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from core.locations import LocatedText
from extract.base import Kind
from ingestion.chunk_flaws import FEWEST_CHARS
from ingestion.token_counts import LARGEST, SPECIAL_TOKENS, Tokenizer, count_tokens
from kb.chunk_size import MOST_CHARS
from kb.chunks import ChunkDraft

SEPARATOR = "\n\n"


def join_short_chunks(drafts: Iterable[ChunkDraft], tokenizer: Tokenizer) -> Iterator[ChunkDraft]:
    """Yield the chunks; headings alone go with what follows, other short ones with a neighbour."""
    before: ChunkDraft | None = None
    for draft in drafts:
        joined = before and _join_if_short(before, draft, tokenizer)
        if before and not joined:
            yield before
        before = joined or draft
    if before:
        yield before


def join_chunks(first: ChunkDraft, second: ChunkDraft) -> ChunkDraft:
    """Return two chunks as one, under the path of the second; a table stays one below its headings."""
    by = len(first.located.text) + len(SEPARATOR)
    moved = tuple((start + by, end + by) for start, end in second.sentences)
    elements = tuple(
        bound._replace(start=bound.start + by, end=bound.end + by) for bound in second.elements or ()
    )
    return ChunkDraft(
        LocatedText.join((first.located, second.located), SEPARATOR),
        second.headings,
        first.sentences + moved,
        is_table=second.is_table,
        elements=(first.elements or ()) + elements,
    )


def _join_if_short(first: ChunkDraft, second: ChunkDraft, tokenizer: Tokenizer) -> ChunkDraft | None:
    """Return both as one chunk if one of them is short, they belong together and the window holds both."""
    if first.picture or second.picture or first.is_table:
        return None
    path = _path_of_both(first, second)
    if path is None:
        return None
    joined = replace(join_chunks(first, second), headings=path)
    return joined if _fits(joined, tokenizer) else None


def _path_of_both(first: ChunkDraft, second: ChunkDraft) -> tuple[str, ...] | None:
    """Return the path under which two chunks belong together, None if they don't."""
    if _is_heading_alone(first):
        return second.headings
    if _is_heading_alone(second):
        return None
    # A few words above a table say what its figures mean: “(in millions)”.
    is_short = _is_short(first) or (_is_short(second) and not second.is_table)
    if not is_short:
        return None
    if _is_within(first.headings, second.headings):
        return second.headings if _is_short(first) else first.headings
    return first.headings if _is_within(second.headings, first.headings) else None


def _is_heading_alone(draft: ChunkDraft) -> bool:
    bounds = draft.elements or ()
    return bool(bounds) and all(bound.kind is Kind.HEADING for bound in bounds)


def _is_short(draft: ChunkDraft) -> bool:
    return len(draft.located.text) < FEWEST_CHARS


def _is_within(inner: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Whether a path begins with another one."""
    return path[: len(inner)] == inner


def _fits(draft: ChunkDraft, tokenizer: Tokenizer) -> bool:
    window = min(LARGEST, tokenizer.max_tokens) - SPECIAL_TOKENS
    text = draft.located.text
    texts = [text, *(f"{heading} >" for heading in draft.headings)]
    return len(text) <= MOST_CHARS and sum(count_tokens(texts, tokenizer)) <= window
