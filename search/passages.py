"""The texts of candidates, for rerankers and for finding near duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from accounts.principal import Principal
from kb.chunk_size import MOST_CHARS, MOST_HEADING_CHARS
from kb.models import Chunk

MOST_PASSAGE_CHARS = MOST_CHARS + MOST_HEADING_CHARS
"""Only chunks stored by earlier releases are longer."""
NEAR_DUPLICATE_SHARE = 0.95
"""Two passages with this share of common words are near duplicates."""


@dataclass(frozen=True)
class Passage:
    """A chunk's text as the embedding model reads it."""

    chunk_id: UUID
    text: str
    language: str | None = None

    @cached_property
    def words(self) -> frozenset[str]:
        """The words, folded; numbers count as words, because two years' reports differ in little else."""
        return frozenset(self.text.casefold().split())


def read_passages(principal: Principal, ids: Sequence[UUID]) -> list[Passage]:
    """Return the passages of these chunks in order, without those that the principal can't find."""
    live = Chunk.objects.restricted_to(principal).filter(pk__in=ids, replaced_by=None)
    found = {chunk.pk: chunk for chunk in live.only("pk", "headings", "text", "modality", "language")}
    return [
        Passage(id, found[id].text_to_embed[:MOST_PASSAGE_CHARS], found[id].language)
        for id in ids
        if id in found
    ]


def distinct(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Yield the passages without near duplicates of earlier ones."""
    said: list[frozenset[str]] = []
    for passage in passages:
        if not any(_are_near_duplicates(passage.words, words) for words in said):
            said.append(passage.words)
            yield passage


def _are_near_duplicates(one: frozenset[str], other: frozenset[str]) -> bool:
    if min(len(one), len(other)) < NEAR_DUPLICATE_SHARE * max(len(one), len(other)):
        return False
    return len(one & other) >= NEAR_DUPLICATE_SHARE * len(one | other)
