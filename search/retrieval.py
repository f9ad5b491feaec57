"""From a question to ranked chunks: by words and by meaning, fused, then reranked.

                       ┌─ words   (BM25)                 ─┐
    question ─▶ view ──┤                at once           ├─▶ fused ─▶ reranked ─▶ chunks, best first
                       └─ meaning (codes, then vectors)  ─┘

A view holds what the asker may find and nothing else; there is no way to open one without a principal, and
the chunks are read through the same rule once more.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Literal
from uuid import UUID

import numpy as np
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from accounts.principal import Principal
from core.llm.payment import Payment
from kb.chunk_size import shorten
from kb.embedding import ModelUnavailable, active_space, model_of
from kb.embedding.base import Vectors
from kb.embedding.calibration import Calibration, calibration_of
from kb.index.nearest import best, similarities, worth_comparing
from kb.index.view import Rows, View, open_view
from kb.index.words import QueryWord, WordScores, question_words, score_words
from kb.models import Chunk, Document, EmbeddingSpace
from kb.scheduled_deletion import NOT_MARKED
from search import fusion
from search.passages import Passage, distinct, read_passages
from search.phrases import narrow_to_phrases
from search.rerank.base import Reranker
from search.rerank.registry import budget_secs, reranker
from search.timing import StageTimer

Numbers = NDArray[np.float64]
# For parts of a search that can run while another core counts words.
_search_threads = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="search")


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on documents, all of which must hold; an empty tuple or None sets none."""

    tags: tuple[str, ...] = ()
    metadata: tuple[tuple[str, tuple[object, ...]], ...] = ()
    """A key and the values it may have."""
    created_after: datetime | None = None
    created_before: datetime | None = None
    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    collection_ids: tuple[UUID, ...] = ()

    def __bool__(self) -> bool:
        return self != Filters()

    def condition(self) -> Q:
        """Return the condition on documents."""
        condition = Q()
        if self.tags:
            condition &= Q(tags__overlap=list(self.tags))
        for key, values in self.metadata:
            condition &= Q(*(Q(metadata__contains={key: value}) for value in values), _connector=Q.OR)
        if self.created_after:
            condition &= Q(created_at__gte=self.created_after)
        if self.created_before:
            condition &= Q(created_at__lt=self.created_before)
        if self.kinds:
            condition &= Q(file_type__in=self.kinds)
        if self.languages:
            condition &= Q(language__in=self.languages)
        if self.collection_ids:
            condition &= Q(collection_ids__overlap=list(self.collection_ids))
        return condition


@dataclass(frozen=True, slots=True)
class Question:
    """The question and its restrictions: None restricts nothing, an empty tuple excludes everything."""

    text: str
    document_ids: tuple[UUID, ...] | None = None
    workspace_ids: tuple[UUID, ...] | None = None
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """What can be tuned about ranking; the defaults are the product's (docs/adr/0014-ranking.md)."""

    words: float = 1.0
    """The words' scores weigh so many times what the embedding model's calibration says; 0 leaves that search
    out."""
    vector: float = 1.0
    rerank: float = 1.0
    """0 leaves the reranker out."""
    reranker: str | None = None
    """One of `offered_rerankers()`; None is the deployment's."""
    candidates: int = 100
    """How many chunks each search contributes."""
    near_duplicates: bool = True
    """False leaves out chunks that say what a better one says."""


DEFAULT = RankingSettings()


@dataclass(frozen=True, slots=True)
class Scores:
    """What each stage gave a chunk; None where a stage did not run for it."""

    words: float | None = None
    vector: float | None = None
    fused: float | None = None
    rerank: float | None = None


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A chunk with its final score and those of the stages."""

    chunk: Chunk
    score: float
    """Compares chunks of one ranking only."""
    relevance: float
    """How likely the chunk is about what is asked, 0 to 1; compares across rankings."""
    scores: Scores
    coverage: float = 0.0
    """The share of the question's weight that the chunk's words have, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best chunks, best first, and the number of candidates; `timings` are seconds by stage.

    The embedding runs in parallel with the words; the rest of the vector search is a stage of its own.
    """

    results: list[RankedChunk]
    total_candidates: int
    reranked: bool | Literal["partial"]
    reranked_count: int
    words: Sequence[QueryWord]
    """The words of the question as they were looked for."""
    timings: dict[str, float]


def rank(
    principal: Principal,
    question: Question,
    *,
    limit: int,
    settings: RankingSettings = DEFAULT,
    payment: Payment,
) -> Ranking:
    """Return the best chunks for a question, best first; ties are broken by reading order.

    `payment` pays for the reranker, if that costs money.
    """
    clock = StageTimer()
    space = active_space()
    view = open_view(
        principal, space, workspaces=question.workspace_ids, documents=_documents(principal, question)
    )
    view = narrow_to_phrases(principal, view, question.text)
    clock.mark("scope")
    near = _search_threads.submit(_near, view, space, question.text) if settings.vector else None
    words = score_words(view, question_words(question.text, view.languages) if settings.words else [])
    clock.mark("words")
    meaning = near.result() if near else _Meaning()
    candidates = _candidates(view, space, words, meaning, settings)
    clock.mark("vector")
    chosen = reranker(settings.reranker) if settings.rerank else None
    depth = max(limit if settings.near_duplicates else 2 * limit, chosen.passages if chosen else 0)
    passages = read_passages(principal, candidates.best_ids(depth))
    clock.mark("passages")
    reranked = _rerank_scores(question.text, passages, chosen, payment)
    clock.mark("rerank")
    final = candidates.with_reranked(reranked)
    order = sorted(passages, key=lambda passage: -final[passage.chunk_id])
    kept = order if settings.near_duplicates else list(distinct(order))
    results = _read_chunks(principal, [passage.chunk_id for passage in kept[:limit]])
    clock.mark("read")
    return Ranking(
        [_ranked_chunk(chunk, candidates, final, reranked) for chunk in results],
        len(candidates.ids),
        _state(reranked, passages, chosen),
        len(reranked),
        words.words,
        clock.timings | {"embedding": meaning.embedding_secs},
    )


# --- Narrowing ---------------------------------------------------------------------------------------------


def _documents(principal: Principal, question: Question) -> frozenset[UUID] | None:
    """Return to which documents a question is narrowed; None where it is not."""
    visible = Document.objects.restricted_to(principal)
    if not question.filters and not visible.exclude(NOT_MARKED).exists():
        return None if question.document_ids is None else frozenset(question.document_ids)
    documents: QuerySet[Document] = visible.filter(NOT_MARKED, question.filters.condition())
    if question.document_ids is not None:
        documents = documents.filter(pk__in=question.document_ids)
    return frozenset(documents.order_by().values_list("pk", flat=True))


# --- Searching ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Candidates:
    """The candidates of both searches, with their scores: arrays of one length."""

    ids: list[UUID]
    words: Numbers
    vector: Numbers
    """NaN where the chunk has no vector yet, or nothing was compared."""
    coverage: Numbers
    fused: Numbers
    calibration: Calibration

    @cached_property
    def places(self) -> dict[UUID, int]:
        """Where each chunk stands in the arrays."""
        return {id: place for place, id in enumerate(self.ids)}

    def best_ids(self, count: int) -> list[UUID]:
        """Return the chunks with the highest fused scores, best first; ties in reading order."""
        return [self.ids[place] for place in np.argsort(-self.fused, kind="stable")[:count]]

    def with_reranked(self, scores: Mapping[UUID, float]) -> dict[UUID, float]:
        """Return the final score of each chunk."""
        reranked = np.array([scores.get(id, np.nan) for id in self.ids])
        final = (
            fusion.fuse_reranked(self.fused, reranked, self.calibration.fused_share) if scores else self.fused
        )
        return dict(zip(self.ids, final.tolist(), strict=True))


@dataclass(frozen=True)
class _Meaning:
    """A question's vector, and the rows among which the nearest are; None and no rows without a model."""

    query: Vectors | None = None
    rows: Rows = field(default_factory=lambda: np.zeros(0, np.intp))
    embedding_secs: float = 0.0


def _near(view: View, space: EmbeddingSpace, text: str) -> _Meaning:
    """Embed a question and scan the codes; no step of it queries the database."""
    clock = StageTimer()
    query = _embed(space, text)
    clock.mark("embedding")
    if query is None:
        return _Meaning()
    return _Meaning(query, worth_comparing(view, space, query), clock.timings["embedding"])


def _candidates(
    view: View, space: EmbeddingSpace, words: WordScores, meaning: _Meaning, settings: RankingSettings
) -> _Candidates:
    """Return the best of both searches; candidates of one search are also scored by the other."""
    rows = np.sort(words.best(settings.candidates))
    similarity = np.full(len(rows), np.nan)
    if meaning.query is not None:
        compared = np.union1d(rows, meaning.rows)
        found = similarities(view, space, meaning.query, compared)
        rows = np.union1d(rows, best(compared, found, settings.candidates)[0])
        similarity = found[np.searchsorted(compared, rows)].astype(np.float64)
        similarity[~np.isfinite(similarity)] = np.nan
    scores = words.scores[rows].astype(np.float64)
    calibration = calibration_of(space.model)
    fused = fusion.fuse((settings.words * calibration.words, scores), (settings.vector, similarity))
    return _Candidates(view.chunk_ids(rows), scores, similarity, words.coverage(rows), fused, calibration)


def _embed(space: EmbeddingSpace, text: str) -> Vectors | None:
    # While documents are embedded for another model, questions still use the old one.
    try:
        return model_of(space).embed_query(text)
    except ModelUnavailable:
        # The start and the log report it; words still find, and later vectors will too.
        return None


# --- Reranking ---------------------------------------------------------------------------------------------


def _rerank_scores(
    question: str,
    passages: Sequence[Passage],
    chosen: Reranker | None,
    payment: Payment,
) -> dict[UUID, float]:
    """Return the scores of the first passages, as many as the reranker had time for."""
    if chosen is None:
        return {}
    first = passages[: chosen.passages]
    deadline = time.monotonic() + budget_secs(chosen)
    texts = [passage.text for passage in first]
    scores = chosen.rerank(question, texts, deadline=deadline, payment=payment)
    return {
        passage.chunk_id: score for passage, score in zip(first, scores, strict=True) if score is not None
    }


def _state(
    reranked: Mapping[UUID, float], passages: Sequence[Passage], chosen: Reranker | None
) -> bool | Literal["partial"]:
    if chosen is None or not reranked:
        return False
    return True if len(reranked) == len(passages[: chosen.passages]) else "partial"


# --- Results -----------------------------------------------------------------------------------------------


def _read_chunks(principal: Principal, ids: Sequence[UUID]) -> list[Chunk]:
    live = Chunk.objects.restricted_to(principal).filter(pk__in=ids, replaced_by=None)
    chunks = {chunk.pk: shorten(chunk) for chunk in live.select_related("document")}
    return [chunks[id] for id in ids if id in chunks]


def _ranked_chunk(
    chunk: Chunk, candidates: _Candidates, final: Mapping[UUID, float], reranked: Mapping[UUID, float]
) -> RankedChunk:
    place = candidates.places[chunk.pk]
    cosine = float(candidates.vector[place])
    has_vector, coverage = bool(np.isfinite(cosine)), float(candidates.coverage[place])
    return RankedChunk(
        chunk,
        final[chunk.pk],
        candidates.calibration.relevance(
            cosine if has_vector else candidates.calibration.unrelated, coverage
        ),
        Scores(
            words=float(candidates.words[place]),
            vector=cosine if has_vector else None,
            fused=float(candidates.fused[place]),
            rerank=reranked.get(chunk.pk),
        ),
        coverage,
    )
