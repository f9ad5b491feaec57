"""From a question to ranked chunks.

    question ─▶ candidates, by words and by meaning (`candidates.py`) ─▶ reranked ─▶ chunks, best first

An engine (`kb.index.engines`) searches a scope, which has a principal. It returns what the asker may find and
nothing else, and the chunks are read through the same rule once more.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

import numpy as np

from accounts.principal import Principal
from core.database.replicas import read
from core.llm.payment import Payment
from kb.chunk_size import shorten
from kb.index.words import QueryWord
from kb.models import Chunk
from search.candidates import Fused, Search, find
from search.passages import Passage, distinct
from search.question_language import is_in_another_language
from search.questions import DEFAULT, Question, RankingSettings
from search.rerank.base import Reranker
from search.rerank.registry import budget_secs
from search.timing import StageTimer


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
    search = Search.of(principal, question, settings, limit, clock)
    found = find(search)
    candidates, passages, chosen = found.candidates, found.passages, found.reranker
    reranked = _rerank_scores(search.text, passages, chosen, payment)
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
        clock.timings | {"embedding": found.embedding_secs},
    )


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
    candidates: Fused,
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
