"""Ranking by the meaning of whole passages, by a model for many languages.

The model that embeds may know English alone. Then what it finds for “Wie viele Menschen arbeiten dort?” among
English passages is roughly right: the passage that answers is among the first 48, but seldom the first. Where
vectors of the model for many languages found the passages, its tokens rerank. Figures:
docs/adr/0095-found-across-languages.md, 0096.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property

from django.conf import settings

from core.llm.payment import Payment
from kb.embedding import multilingual_model
from kb.embedding.base import Vectors
from kb.embedding.calibration import calibration_of
from search.rerank.base import Reranker
from search.rerank.late_interaction import LateInteraction


class AnyLanguage(Reranker):
    """Reranks with `MULTILINGUAL_MODEL`, loaded for the first question: many installations never need it.

    Vectors of passages are not kept for the next question: they would outlive documents that are deleted, and
    how quickly an answer comes would tell whether somebody else has read the same text.
    """

    passages = 48
    budget_secs = 2.5
    passages_per_step = 8
    fused_share = 0.1

    def __init__(self) -> None:
        """Name the model."""
        self._model: str = settings.MULTILINGUAL_MODEL
        self.name = f"{self._model}-similarity"

    def suited_to(
        self,
        question: str,
        languages: Sequence[str | None],
        *,
        for_tables: bool = False,
        embedded_by: str = "",
    ) -> Reranker | None:
        """Return what ranks by tokens where this model's vectors found the passages."""
        return self._by_tokens if embedded_by == self._model else self

    @cached_property
    def _by_tokens(self) -> Reranker | None:
        model = multilingual_model()
        helps = model.has_token_vectors and calibration_of(model.name).late_interaction
        return LateInteraction(embedding=model) if helps else None

    def rerank(
        self,
        question: str,
        passages: Sequence[str],
        *,
        deadline: float,
        payment: Payment,
    ) -> list[float | None]:
        """See `Reranker.rerank`; the time to load the model, once for a process, is not counted."""
        begun = time.monotonic()
        multilingual_model()
        later = deadline + time.monotonic() - begun
        return super().rerank(question, passages, deadline=later, payment=payment)

    def score(
        self, question: str, passages: Sequence[str], *, within: float, payment: Payment
    ) -> Sequence[float]:
        """Return the cosine of the question and each passage."""
        model = multilingual_model()
        scores: Vectors = model.embed_documents(passages) @ model.embed_query(question)
        return [float(score) for score in scores]

    def relevance(self, score: float, coverage: float, *, across: bool) -> float:
        """Return what the model's calibration says of such a cosine."""
        return calibration_of(self._model).relevance(score, coverage, across=across)
