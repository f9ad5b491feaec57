"""The candidates of a search: by words and by meaning, fused, and what is to rerank them.

                                  ┌─ words (BM25) ─┐
    question ─▶ scope ─▶ engine ──┤    at once     ├─▶ fused ─▶ the best passages, and a reranker
                                  └─ meaning      ─┘

Meaning is compared in an embedding space: the active one, or the multilingual one for what is not in English.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from accounts.principal import Principal
from core.database.replicas import read
from kb.embedding import ModelUnavailable, active_space, model_of, multilingual_space
from kb.embedding.base import Vectors
from kb.embedding.calibration import Calibration, FusionWeights, calibration_of
from kb.index.engines.base import Candidates, IndexQuery, IndexScope
from kb.index.switching import active_engine
from kb.models import Document, EmbeddingSpace
from kb.reembedding import multilingual
from kb.scheduled_deletion import NOT_MARKED
from search import fusion
from search.abbreviations import written_out
from search.passages import Passage, read_passages
from search.question_language import are_english, is_english
from search.questions import Question, RankingSettings
from search.rerank.base import Reranker
from search.rerank.registry import reranker
from search.timing import StageTimer

Numbers = NDArray[np.float64]
AFTER_QUESTION_SECS = 60
"""So long after a question the multilingual space begins to be filled: the question needs the cores first."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched for, in whichever space."""

    principal: Principal
    question: Question
    settings: RankingSettings
    scope: IndexScope
    text: str
    """The question, with abbreviations written out."""
    also: str
    """What they are written out as."""
    least: int
    """So many passages are wanted at least."""
    clock: StageTimer

    @classmethod
    def of(
        cls,
        principal: Principal,
        question: Question,
        settings: RankingSettings,
        limit: int,
        clock: StageTimer,
    ) -> Search:
        """Return a search of what `principal` may find; stages are marked on the clock."""
        scope = IndexScope(principal, question.workspace_ids, _documents(principal, question))
        also = written_out(question.text)
        text = f"{question.text} ({also})" if also else question.text
        least = limit if settings.near_duplicates else 2 * limit
        return cls(principal, question, settings, scope, text, also, least, clock)

    def in_space(self, space: EmbeddingSpace, *, elsewhere: bool) -> FoundInSpace:
        """Return what is found by words and by the vectors of a space.

        `elsewhere` tells that question or passages are not in English.
        """
        settings = self.settings
        embedding = _Embedding(space, self.text)
        embed = embedding if settings.vector else None
        query = IndexQuery(
            self.question.text, space, settings.candidates, embed, bool(settings.words), self.also
        )
        candidates = read(lambda: active_engine().candidates(self.scope, query, self.clock.mark))
        fused = Fused.of(candidates, calibration_of(space.model), settings, elsewhere=elsewhere)
        chosen = reranker(settings.reranker) if settings.rerank else None
        depth = max(self.least, chosen.passages if chosen else 0)
        passages = read(lambda: read_passages(self.principal, fused.best_ids(depth)))
        languages = [passage.language for passage in passages]
        if chosen is not None:
            chosen = chosen.suited_to(
                self.question.text, languages, for_tables=settings.for_tables, embedded_by=space.model
            )
        self.clock.mark("passages")
        return FoundInSpace(fused, passages, languages, chosen, embedding.secs)


@dataclass(frozen=True, slots=True)
class FoundInSpace:
    """What a search found in a space, and what reranks it."""

    candidates: Fused
    passages: Sequence[Passage]
    """The best of them, best first."""
    languages: Sequence[str | None]
    """Of the passages; ISO 639-1."""
    reranker: Reranker | None
    embedding_secs: float


def find(search: Search) -> FoundInSpace:
    """Search the space of the model that reads the question and what is found for it.

    Where the multilingual space lacks a chunk that may be found, the active one is searched, and the reranker
    compares what is not in English.
    """
    question = search.question.text
    asks_in_english = is_english(question)
    if not asks_in_english and (found := _find_in_any_language(search)):
        return found
    found = search.in_space(active_space(), elsewhere=not asks_in_english)
    if are_english(question, found.languages):
        return found
    if asks_in_english and (better := _find_in_any_language(search)):
        return better
    multilingual.begin(in_secs=AFTER_QUESTION_SECS)
    return found


def _find_in_any_language(search: Search) -> FoundInSpace | None:
    """Search the multilingual space; return None unless all that may be found is compared in it."""
    space = multilingual_space() if search.settings.vector else None
    found = search.in_space(space, elsewhere=True) if space else None
    return found if found and found.candidates.found.is_complete else None


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


# --- In a space --------------------------------------------------------------------------------------------


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
class Fused:
    """The candidates of both searches with one score each."""

    found: Candidates
    scores: Numbers
    calibration: Calibration
    weights: FusionWeights

    @classmethod
    def of(
        cls, found: Candidates, calibration: Calibration, settings: RankingSettings, *, elsewhere: bool
    ) -> Fused:
        """Fuse the scores of both searches by what was fitted to the embedding model."""
        weights = calibration.fusion_weights(elsewhere=elsewhere)
        words = (settings.words * weights.words, found.words)
        return cls(found, fusion.fuse(words, (settings.vector, found.similarity)), calibration, weights)

    def best_ids(self, count: int) -> list[UUID]:
        """Return the chunks with the highest fused scores, best first; ties in reading order."""
        return [self.found.ids[place] for place in np.argsort(-self.scores, kind="stable")[:count]]

    def with_reranked(self, scores: Mapping[UUID, float], by: Reranker | None) -> dict[UUID, float]:
        """Return the final score of each chunk."""
        reranked = np.array([scores.get(id, np.nan) for id in self.found.ids])
        share = by.fused_share if by else None
        if share is None:
            share = self.weights.fused_share
        final = fusion.fuse_reranked(self.scores, reranked, share) if scores else self.scores
        return dict(zip(self.found.ids, final.tolist(), strict=True))
