"""From a question to ranked chunks: by words and by meaning, fused, then reranked.

                                  ┌─ words (BM25) ─┐
    question ─▶ scope ─▶ engine ──┤    at once     ├─▶ fused ─▶ reranked ─▶ chunks, best first
                                  └─ meaning      ─┘

An engine (`kb.index.engines`) searches a scope, which has a principal. It returns what the asker may find and
nothing else, and the chunks are read through the same rule once more.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

import numpy as np
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from accounts.principal import Principal
from core.database.replicas import read
from core.llm.payment import Payment
from kb.chunk_size import shorten
from kb.embedding import ModelUnavailable, active_space, model_of
from kb.embedding.base import Vectors
from kb.embedding.calibration import Calibration, calibration_of
from kb.index.engines.base import Candidates, IndexQuery, IndexScope
from kb.index.switching import active_engine
from kb.index.words import QueryWord
from kb.models import Chunk, Document, EmbeddingSpace
from kb.scheduled_deletion import NOT_MARKED
from search import fusion
from search.abbreviations import written_out
from search.passages import Passage, distinct, read_passages
from search.question_language import is_in_another_language
from search.rerank.base import Reranker
from search.rerank.registry import budget_secs, reranker
from search.timing import StageTimer

Numbers = NDArray[np.float64]


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
    for_tables: bool = False
    """Whether figures of tables are looked for."""
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
    answers: float | None = None
    """The probability that it answers the question, where the reranker gives one."""
    is_decisive: bool = False
    """Whether no other chunk of its table needs to be looked at (`companions.py`)."""
    is_needed: bool = False
    """Whether it has come along for what the answer is worked out from: nothing else may take its place."""


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
    scope = IndexScope(principal, question.workspace_ids, _documents(principal, question))
    also = written_out(question.text)
    text = f"{question.text} ({also})" if also else question.text
    embedding = _Embedding(space, text)
    embed = embedding if settings.vector else None
    query = IndexQuery(question.text, space, settings.candidates, embed, bool(settings.words), also)
    found = read(lambda: active_engine().candidates(scope, query, clock.mark))
    candidates = _fuse(found, space, settings)
    chosen = reranker(settings.reranker) if settings.rerank else None
    depth = max(limit if settings.near_duplicates else 2 * limit, chosen.passages if chosen else 0)
    passages = read(lambda: read_passages(principal, candidates.best_ids(depth)))
    if chosen is not None:
        languages = [passage.language for passage in passages]
        chosen = chosen.suited_to(question.text, languages, for_tables=settings.for_tables)
    clock.mark("passages")
    reranked = _rerank_scores(text, passages, chosen, payment)
    clock.mark("rerank")
    final = candidates.with_reranked(reranked, chosen)
    order = sorted(passages, key=lambda passage: -final[passage.chunk_id])
    kept = order if settings.near_duplicates else list(distinct(order))
    results = read(lambda: _read_chunks(principal, [passage.chunk_id for passage in kept[:limit]]))
    clock.mark("read")
    return Ranking(
        [_ranked_chunk(question.text, chunk, candidates, final, reranked, chosen) for chunk in results],
        len(candidates.found.ids),
        _state(reranked, passages, chosen),
        len(reranked),
        candidates.found.query_words,
        clock.timings | {"embedding": embedding.secs},
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


@dataclass(slots=True)
class _Embedding:
    """Embeds a question, in whichever thread the engine calls it."""

    space: EmbeddingSpace
    text: str
    secs: float = 0.0

    def __call__(self) -> Vectors | None:
        """Return the question's vector, or None if its model is not there."""
        begun = time.perf_counter()
        try:
            # While documents are embedded for another model, questions still use the old one.
            return model_of(self.space).embed_query(self.text)
        except ModelUnavailable:
            # The start and the log report it; words still find, and later vectors will too.
            return None
        finally:
            self.secs = round(time.perf_counter() - begun, 4)


@dataclass(frozen=True)
class _Fused:
    """The candidates of both searches with one score each."""

    found: Candidates
    scores: Numbers
    calibration: Calibration

    def best_ids(self, count: int) -> list[UUID]:
        """Return the chunks with the highest fused scores, best first; ties in reading order."""
        return [self.found.ids[place] for place in np.argsort(-self.scores, kind="stable")[:count]]

    def with_reranked(self, scores: Mapping[UUID, float], by: Reranker | None) -> dict[UUID, float]:
        """Return the final score of each chunk."""
        reranked = np.array([scores.get(id, np.nan) for id in self.found.ids])
        share = by.fused_share if by else None
        if share is None:
            share = self.calibration.fused_share
        final = fusion.fuse_reranked(self.scores, reranked, share) if scores else self.scores
        return dict(zip(self.found.ids, final.tolist(), strict=True))


def _fuse(found: Candidates, space: EmbeddingSpace, settings: RankingSettings) -> _Fused:
    calibration = calibration_of(space.model)
    words = (settings.words * calibration.words, found.words)
    return _Fused(found, fusion.fuse(words, (settings.vector, found.similarity)), calibration)


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
    question: str,
    chunk: Chunk,
    candidates: _Fused,
    final: Mapping[UUID, float],
    reranked: Mapping[UUID, float],
    by: Reranker | None,
) -> RankedChunk:
    found = candidates.found
    place = found.places[chunk.pk]
    cosine = float(found.similarity[place])
    has_vector, coverage = bool(np.isfinite(cosine)), float(found.coverage[place])
    known = cosine if has_vector else candidates.calibration.unrelated
    across = is_in_another_language(question, chunk.language)
    relevance = candidates.calibration.relevance(known, coverage, across=across)
    score = reranked.get(chunk.pk)
    answers = score if by is not None and by.gives_probabilities else None
    if by is not None and score is not None:
        # What answers is about the question, in whichever words.
        relevance = max(relevance, by.relevance(score, coverage, across=across))
    return RankedChunk(
        chunk,
        final[chunk.pk],
        relevance,
        Scores(
            words=float(found.words[place]),
            vector=cosine if has_vector else None,
            fused=float(candidates.scores[place]),
            rerank=score,
        ),
        coverage,
        answers,
    )
