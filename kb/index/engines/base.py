"""What an index engine is: it is told of changes, and finds candidates within a scope."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from accounts.principal import Principal
from kb.embedding.base import Vectors
from kb.index.words import QueryWord
from kb.models import EmbeddingSpace

Numbers = NDArray[np.float64]
Mark = Callable[[str], None]
"""Closes a stage of a search: “scope”, “words” or “vector”, for its timings."""


@dataclass(frozen=True, slots=True)
class IndexScope:
    """What may be found: what `principal` may, in some workspaces or documents; None does not restrict."""

    principal: Principal
    workspaces: Collection[UUID] | None = None
    documents: frozenset[UUID] | None = None


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """A question to the index: its text, and how many candidates each search contributes.

    `embed` returns the question's vector of shape (dimensions,), or None without a model; it may be called in
    another thread. None instead leaves the vectors out, and `by_words` False the words.
    """

    text: str
    space: EmbeddingSpace
    count: int
    embed: Callable[[], Vectors | None] | None
    by_words: bool = True
    also: str = ""
    """Words that stand for others of the text, and count where they occur."""


@dataclass(frozen=True)
class Candidates:
    """The best chunks of both searches, in reading order, each scored by both: arrays of one length."""

    ids: list[UUID]
    words: Numbers
    """BM25 (`kb.index.words`); 0 where no word of the question occurs."""
    similarity: Numbers
    """The cosine; NaN where the chunk has no vector yet, or nothing was compared."""
    coverage: Numbers
    """The share, 0 to 1, of the weight of the question's words that the chunk has."""
    query_words: Sequence[QueryWord] = ()
    """The words of the question as they were looked for."""
    is_complete: bool = False
    """Whether the question was compared with all that may be found: every chunk has a vector in the space."""

    @cached_property
    def places(self) -> Mapping[UUID, int]:
        """Where each chunk stands in the arrays."""
        return {id: place for place, id in enumerate(self.ids)}


@dataclass(frozen=True, slots=True)
class EngineHealth:
    """Whether an engine answers, how many documents wait to be written, and since when the oldest does."""

    is_reachable: bool
    waiting: int = 0
    problem: str = ""


class IndexEngine(ABC):
    """Finds chunks. What it finds is checked again in PostgreSQL, so that it may lag behind, but not miss.

    `write`, `write_vectors` and `forget` belong to the caller's transaction: if that is rolled back, nothing
    has happened. An engine outside of PostgreSQL notes the change there and makes it soon afterwards.
    """

    name: ClassVar[str]

    @abstractmethod
    def write(self, document_id: UUID) -> None:
        """Make exactly a document's live chunks findable; after they, or their scope, have changed."""

    @abstractmethod
    def write_vectors(
        self, document_id: UUID, space: EmbeddingSpace, ids: Sequence[UUID], vectors: Vectors
    ) -> None:
        """Make chunks findable by these new vectors, of shape (len(ids), dimensions)."""

    @abstractmethod
    def forget(self, document_ids: Iterable[UUID]) -> None:
        """Remove the chunks of these documents."""

    @abstractmethod
    def complete(self, space: EmbeddingSpace) -> None:
        """Add all stored vectors of `space` that are missing, before it becomes the searched one."""

    @abstractmethod
    def candidates(self, scope: IndexScope, query: IndexQuery, mark: Mark) -> Candidates:
        """Return the best chunks within a scope; raise `EngineUnavailable`."""

    @abstractmethod
    def clear(self) -> None:
        """Remove everything: another engine serves."""

    @abstractmethod
    def settle(self, document_id: UUID) -> bool:
        """Make noted changes of a document now; return whether all are made."""

    @abstractmethod
    def health(self) -> EngineHealth:
        """Ask whether the engine answers, within seconds."""

    @abstractmethod
    def indexed_documents(self, among: Collection[UUID]) -> Mapping[UUID, int]:
        """Return how many chunks of each of these documents are indexed; those without any are left out."""
