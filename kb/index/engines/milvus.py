"""Milvus: a distributed engine for installations that outgrow one database server.

  scopes of the principal ─▶ conditions ─┬─ sparse vectors (words)  ─┬─▶ checked in PostgreSQL ─▶ scored
                                         └─ dense vectors (meaning) ─┘

Milvus proposes. PostgreSQL decides which chunks the principal may find, and compares the vectors themselves.
Words get the scores that the engine “segments” gives them, from the same formula and the counts of the scope.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from heapq import nlargest
from typing import NamedTuple
from uuid import UUID

import numpy as np

from core.text import analysis
from kb.embedding.base import Vectors
from kb.index.engines.base import (
    Candidates,
    EngineHealth,
    IndexEngine,
    IndexQuery,
    IndexScope,
    Mark,
    Numbers,
)
from kb.index.errors import EngineUnavailable
from kb.index.milvus import changes, collection, statistics
from kb.index.milvus.connection import check_package, milvus_client
from kb.index.nearest import compare
from kb.index.phrases import MOST_READ, holding_phrases, phrases_in
from kb.index.words import QueryWord, length_norms, question_words, read_words
from kb.models import Chunk, EmbeddingSpace, IndexChange, IndexedDocument, IndexedScope

MOST_SCOPES = 500
"""So many scopes stand in one condition, and"""
MOST_DOCUMENTS = 1000
"""so many documents. More take several searches, whose results are merged."""
MOST_NAMED = 8000
"""If more documents are searched, none is named. What is found is then looked up among them."""
MOST_HITS = 16_384
"""Milvus returns no more for one search."""

_search_threads = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="milvus")

Find = Callable[[str, int], list[collection.IndexHit]]
"""One search in Milvus: for a condition and a limit."""


class _Place(NamedTuple):
    """Where a chunk stands: in reading order."""

    document_id: UUID
    ordinal: int


class MilvusEngine(IndexEngine):
    """Collections of Milvus, with counts of terms in PostgreSQL."""

    name = "milvus"

    def __init__(self) -> None:
        check_package()

    def write(self, document_id: UUID) -> None:
        """Note the change; a job makes it."""
        changes.note([document_id])

    def write_vectors(
        self, document_id: UUID, space: EmbeddingSpace, ids: Sequence[UUID], vectors: Vectors
    ) -> None:
        """Note the change; it is made at the end of the ingestion, or within a minute."""
        changes.note([document_id], at_once=False)

    def forget(self, document_ids: Iterable[UUID]) -> None:
        """Note the change; PostgreSQL hides the documents from now on."""
        changes.note(list(document_ids))

    def complete(self, space: EmbeddingSpace) -> None:
        """Write the documents whose vectors of `space` are missing; raise `EngineUnavailable`."""
        changes.note(list(changes.documents_without(space)))
        changes.apply_all()

    def candidates(self, scope: IndexScope, query: IndexQuery, mark: Mark) -> Candidates:
        """Search all scopes of the principal; words and vectors at the same time."""
        search = _Search.open(scope, query)
        mark("scope")
        if not search.lexicon.scopes:
            return _no_candidates()
        vector = _search_threads.submit(query.embed) if query.embed else None
        words = search.read_words()
        held = search.holding_phrases()
        places = held or search.by_words(words)
        mark("words")
        meaning = vector.result() if vector else None
        if meaning is not None and not held:
            places |= search.by_meaning(meaning)
        found = search.scored(places, words, meaning)
        mark("vector")
        return found

    def clear(self) -> None:
        """Drop all collections and counts; raise `EngineUnavailable`."""
        for each in collection.all_collections():
            each.drop()
        IndexChange.objects.all().delete()
        statistics.forget_all()

    def settle(self, document_id: UUID) -> bool:
        """Make the noted change of a document now."""
        return changes.settle(document_id)

    def health(self) -> EngineHealth:
        """Ask Milvus for its version, and count what waits."""
        waiting = IndexChange.objects.count()
        try:
            with milvus_client() as client:
                client.get_server_version()
        except EngineUnavailable as error:
            return EngineHealth(is_reachable=False, waiting=waiting, problem=str(error.__cause__ or error))
        return EngineHealth(is_reachable=True, waiting=waiting)

    def indexed_documents(self, among: Collection[UUID]) -> Mapping[UUID, int]:
        """Return how many chunks were written, without those whose change still waits."""
        indexed = IndexedDocument.objects.filter(pk__in=among)
        return dict(indexed.values_list("pk", "chunks"))


@dataclass(frozen=True, slots=True)
class _Search:
    """One search: what may be found, and the conditions that say so to Milvus."""

    scope: IndexScope
    query: IndexQuery
    lexicon: statistics.ScopeLexicon
    conditions: Sequence[str]
    collection: collection.MilvusCollection
    phrases: Sequence[str]

    @classmethod
    def open(cls, scope: IndexScope, query: IndexQuery) -> _Search:
        found = statistics.visible_scopes(scope.principal, scope.workspaces)
        conditions = list(_conditions(found, scope.documents))
        used = collection.MilvusCollection.of(query.space)
        if not conditions or not used.exists():
            found, conditions = [], []
        return cls(scope, query, statistics.ScopeLexicon(found), conditions, used, phrases_in(query.text))

    def read_words(self) -> list[QueryWord]:
        """Weigh the words of the question by the counts of these scopes."""
        if not self.query.by_words:
            return []
        question, also = (
            question_words(text, self._languages) for text in (self.query.text, self.query.also)
        )
        self.lexicon.load(term for expansions in (*question, *also) for term in expansions)
        return read_words(self.lexicon, question, also)

    def by_words(self, words: Sequence[QueryWord]) -> dict[UUID, _Place]:
        """Return the best chunks by words."""
        weights = {
            collection.sparse_index(term): word.similarity * idf
            for word in words
            for term, idf in word.idf.items()
            if idf > 0 and self.lexicon.holds(term)
        }
        if not weights:
            return {}
        return self._best(lambda condition, limit: self.collection.find_words(weights, condition, limit))

    def by_meaning(self, vector: Vectors) -> dict[UUID, _Place]:
        """Return the nearest chunks."""
        return self._best(lambda condition, limit: self.collection.find_near(vector, condition, limit))

    def scored(
        self, places: Mapping[UUID, _Place], words: Sequence[QueryWord], vector: Vectors | None
    ) -> Candidates:
        """Return chunks in reading order with their exact scores."""
        ids = sorted(places, key=lambda id: places[id])
        scores, coverage = self._word_scores(ids, words)
        similarity = np.full(len(ids), np.nan)
        if vector is not None:
            compared = compare([id.hex for id in ids], self.query.space, vector)
            similarity = np.where(np.isfinite(compared), compared, np.nan).astype(np.float64)
        is_complete = vector is not None and self._has_all_vectors()
        return Candidates(ids, scores, similarity, coverage, words, is_complete)

    def _has_all_vectors(self) -> bool:
        """Return whether all documents of these scopes were written with their vectors."""
        written = IndexedDocument.objects.filter(scope__in=self.lexicon.scopes)
        if self.scope.documents is not None:
            written = written.filter(pk__in=self.scope.documents)
        return not written.exclude(space_ids__contains=[self.query.space.pk]).exists()

    def _best(self, find: Find) -> dict[UUID, _Place]:
        """Return the first chunks that the principal may find; look further while they are too few."""
        wanted, limit = self.query.count, self.query.count
        while True:
            searches = [_search_threads.submit(find, condition, limit) for condition in self.conditions]
            found = [search.result() for search in searches]
            is_all = all(len(hits) < limit for hits in found)
            hits = sorted((hit for hits in found for hit in hits), key=lambda hit: -hit.score)
            if not is_all:
                # What comes later may be worse than hits that one of the searches has not returned.
                hits = hits[:limit]
            visible = self._visible([hit.chunk_id for hit in hits])
            if len(visible) >= wanted or is_all or limit == MOST_HITS:
                best = [hit.chunk_id for hit in hits if hit.chunk_id in visible]
                return {id: visible[id] for id in best[:wanted]}
            limit = min(4 * limit, MOST_HITS)

    def _visible(self, ids: Sequence[UUID]) -> dict[UUID, _Place]:
        """Return which of the chunks may be found, by the rule of all other queries."""
        chunks = Chunk.objects.restricted_to(self.scope.principal).filter(pk__in=ids, replaced_by=None)
        if self.scope.workspaces is not None:
            chunks = chunks.filter(workspace_id__in=self.scope.workspaces)
        rows = chunks.order_by().values_list("pk", "document_id", "ordinal")
        documents = self.scope.documents
        return {
            id: _Place(document_id, ordinal)
            for id, document_id, ordinal in rows
            if documents is None or document_id in documents
        }

    def holding_phrases(self) -> dict[UUID, _Place]:
        """Return the chunks that hold all phrases word for word; none if the question has none.

        They are looked for among those with most of the phrases' words.
        """
        terms = {
            term
            for language in self._languages
            for phrase in self.phrases
            for term in analysis.terms(phrase, language or None)
        }
        weights = dict.fromkeys(map(collection.sparse_index, terms), 1.0)
        if not weights:
            return {}
        found = [self.collection.find_words(weights, each, MOST_READ) for each in self.conditions]
        hits = nlargest(MOST_READ, (hit for hits in found for hit in hits), key=lambda hit: hit.score)
        places = self._visible([hit.chunk_id for hit in hits])
        held = holding_phrases(self.scope.principal, list(places), self.phrases)
        return {id: place for id, place in places.items() if id in held}

    def _word_scores(self, ids: Sequence[UUID], words: Sequence[QueryWord]) -> tuple[Numbers, Numbers]:
        scores, covered = np.zeros(len(ids)), np.zeros(len(ids))
        stored = self.collection.read(ids) if words else {}
        whole = sum(word.weight for word in words if not word.is_added)
        for place, id in enumerate(ids):
            if id not in stored:
                continue
            length, weights = stored[id]
            norm = float(length_norms(np.array([length]), self.lexicon.mean_length)[0])
            for word in words:
                present = {term: weights.get(collection.sparse_index(term), 0.0) for term in word.idf}
                often = {t: collection.term_count(w, length) for t, w in present.items() if w}
                scores[place] += sum(
                    word.similarity * word.idf[term] * count / (count + norm) for term, count in often.items()
                )
                covered[place] += word.weight if often and not word.is_added else 0.0
        return scores, covered / whole if whole else covered

    @property
    def _languages(self) -> list[str]:
        return sorted({language for scope in self.lexicon.scopes for language in scope.languages})


def _conditions(scopes: Sequence[IndexedScope], documents: frozenset[UUID] | None) -> Iterable[str]:
    """Yield conditions of bounded length that together mean these scopes, or these documents of them."""
    if documents is None or len(documents) > MOST_NAMED:
        for start in range(0, len(scopes), MOST_SCOPES):
            yield _in_scopes(scopes[start : start + MOST_SCOPES])
        return
    by_id = {scope.pk: scope for scope in scopes}
    rows = IndexedDocument.objects.filter(pk__in=documents, scope__in=list(by_id)).order_by("scope_id", "pk")
    pairs = list(rows.values_list("pk", "scope_id"))
    for start in range(0, len(pairs), MOST_DOCUMENTS):
        some = pairs[start : start + MOST_DOCUMENTS]
        named = ", ".join(f'"{id.hex}"' for id, _ in some)
        within = [by_id[scope] for scope in dict.fromkeys(scope for _, scope in some)]
        yield f"{_in_scopes(within)} and document in [{named}]"


def _in_scopes(scopes: Sequence[IndexedScope]) -> str:
    # The workspaces choose the partitions, the scopes what is visible in them.
    workspaces = ", ".join(f'"{id.hex}"' for id in dict.fromkeys(scope.workspace_id for scope in scopes))
    return f"workspace in [{workspaces}] and scope in [{', '.join(str(scope.pk) for scope in scopes)}]"


def _no_candidates() -> Candidates:
    nothing = np.zeros(0)
    return Candidates([], nothing, nothing, nothing)
