"""Sentences that cross a chunk's border: the chunk with the other half is added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Q

from accounts.principal import Principal
from kb.chunk_size import shorten
from kb.models import Chunk
from search.retrieval import RankedChunk, Scores

SENTENCE_ENDS = (".", "!", "?", "…", ":", "。", "！", "？", "”", "“", '"', ")", "|")

Place = tuple[UUID, int]
"""A document, and where in its reading order."""


def with_continuations(principal: Principal, found: Sequence[RankedChunk], limit: int) -> list[RankedChunk]:
    """Add to each chunk the neighbour that holds the rest of its first or last sentence.

    At most `limit` chunks, each once, those that are needed before others; a neighbour gets the relevance of
    the chunk it completes.
    """
    neighbours = _neighbours(principal, [each.chunk for each in found])
    given = {each.chunk.pk: each for each in found}
    kept: dict[UUID, RankedChunk] = {}
    for part in (part for each in found for part in _complete(each, neighbours)):
        kept.setdefault(part.chunk.pk, given.get(part.chunk.pk, part))
    room = limit - sum(each.is_needed for each in kept.values())
    others = [each for each in kept.values() if not each.is_needed][: max(0, room)]
    left = {each.chunk.pk for each in others}
    return [each for each in kept.values() if each.is_needed or each.chunk.pk in left][:limit]


def runs_on(first: Chunk, second: Chunk) -> bool:
    """Return whether a sentence that begins in one chunk ends in the next."""
    if first.modality == "table" or second.modality == "table" or first.picture or second.picture:
        return False
    begins = next(filter(str.isalpha, second.text), "")
    return not first.text.rstrip().endswith(SENTENCE_ENDS) and begins.islower()


def _complete(found: RankedChunk, neighbours: dict[Place, Chunk]) -> Iterator[RankedChunk]:
    document, ordinal = _place(found.chunk)
    before, behind = neighbours.get((document, ordinal - 1)), neighbours.get((document, ordinal + 1))
    if before and runs_on(before, found.chunk):
        yield replace(found, chunk=before, scores=Scores())
    yield found
    if behind and runs_on(found.chunk, behind):
        yield replace(found, chunk=behind, scores=Scores())


def _neighbours(principal: Principal, chunks: Sequence[Chunk]) -> dict[Place, Chunk]:
    if not chunks:
        return {}
    beside = [
        Q(document_id=chunk.document_id, ordinal__in=[chunk.ordinal - 1, chunk.ordinal + 1])
        for chunk in chunks
    ]
    live = Chunk.objects.restricted_to(principal).filter(reduce(or_, beside), replaced_by=None)
    return {_place(chunk): shorten(chunk) for chunk in live.select_related("document")}


def _place(chunk: Chunk) -> Place:
    return chunk.document_id, chunk.ordinal
