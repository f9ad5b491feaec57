"""The default engine: segments in PostgreSQL, scanned in full (docs/adr/0015-segments.md)."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

import numpy as np
from django.db import transaction

from kb.embedding.base import Vectors
from kb.index import segments
from kb.index.engines.base import Candidates, EngineHealth, IndexEngine, IndexQuery, IndexScope, Mark
from kb.index.nearest import best, similarities, worth_comparing
from kb.index.phrases import narrow_to_phrases
from kb.index.postings import POSITION
from kb.index.view import Rows, View, open_view
from kb.index.words import WordScores, question_words, score_words
from kb.models import EmbeddingSpace, Segment

# For parts of a search that can run while another core counts words.
_search_threads = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="search")


class SegmentsEngine(IndexEngine):
    """Everything in PostgreSQL, in the transaction that changes the chunks."""

    name = "segments"

    def write(self, document_id: UUID) -> None:
        """Store one unmerged segment of the document's live chunks."""
        segments.index_document(document_id)

    def write_vectors(
        self, document_id: UUID, space: EmbeddingSpace, ids: Sequence[UUID], vectors: Vectors
    ) -> None:
        """Store the codes of these vectors."""
        segments.index_vectors(document_id, space, ids, vectors)

    def forget(self, document_ids: Iterable[UUID]) -> None:
        """Delete unmerged segments, and mark chunks of merged ones as dead."""
        segments.forget(document_ids)

    def complete(self, space: EmbeddingSpace) -> None:
        """Add the missing codes of stored vectors."""
        segments.complete(space)

    def candidates(self, scope: IndexScope, query: IndexQuery, mark: Mark) -> Candidates:
        """Scan the segments of the scope; words are scored while the question is embedded."""
        view = open_view(scope.principal, query.space, workspaces=scope.workspaces, documents=scope.documents)
        view = narrow_to_phrases(scope.principal, view, query.text)
        mark("scope")
        near = _search_threads.submit(partial(_near, view, query.space, query.embed)) if query.embed else None
        asked, also = (
            question_words(text, view.languages) if query.by_words else []
            for text in (query.text, query.also)
        )
        words = score_words(view, asked, also)
        mark("words")
        found = _candidates(view, query, words, near.result() if near else _Meaning())
        mark("vector")
        return found

    def clear(self) -> None:
        """Delete all segments."""
        with transaction.atomic():
            Segment.unscoped.all().delete()

    def settle(self, document_id: UUID) -> bool:
        """Return True: a change is made in the transaction that causes it."""
        return True

    def health(self) -> EngineHealth:
        """Return that PostgreSQL answers: whoever asks has just asked it."""
        return EngineHealth(is_reachable=True)

    def indexed_documents(self, among: Collection[UUID]) -> Mapping[UUID, int]:
        """Count the live chunks in segments."""
        counts: dict[UUID, int] = {}
        holding = Segment.unscoped.filter(document_ids__overlap=list(among))
        for segment in holding.only("document_ids", "document_of", "dead"):
            owners = np.delete(np.frombuffer(segment.document_of, POSITION), segment.dead)
            sizes = np.bincount(owners, minlength=len(segment.document_ids)).tolist()
            for id, size in zip(segment.document_ids, sizes, strict=True):
                if size and id in among:
                    counts[id] = counts.get(id, 0) + size
        return counts


@dataclass(frozen=True)
class _Meaning:
    """A question's vector, and the rows among which the nearest are; None and no rows without a model."""

    query: Vectors | None = None
    rows: Rows = field(default_factory=lambda: np.zeros(0, np.intp))


def _near(view: View, space: EmbeddingSpace, embed: Callable[[], Vectors | None]) -> _Meaning:
    """Embed a question and scan the codes; no step of it queries the database."""
    query = embed()
    return _Meaning() if query is None else _Meaning(query, worth_comparing(view, space, query))


def _candidates(view: View, query: IndexQuery, words: WordScores, meaning: _Meaning) -> Candidates:
    """Return the best of both searches; candidates of one search are also scored by the other."""
    rows = np.sort(words.best(query.count))
    similarity = np.full(len(rows), np.nan)
    if meaning.query is not None:
        compared = np.union1d(rows, meaning.rows)
        found = similarities(view, query.space, meaning.query, compared)
        rows = np.union1d(rows, best(compared, found, query.count)[0])
        similarity = found[np.searchsorted(compared, rows)].astype(np.float64)
        similarity[~np.isfinite(similarity)] = np.nan
    scores = words.scores[rows].astype(np.float64)
    return Candidates(
        view.chunk_ids(rows),
        scores,
        similarity,
        words.coverage(rows),
        words.words,
        is_complete=meaning.query is not None and view.is_compared,
    )
