"""Ranking by the meaning of whole passages, by a model for many languages: no vectors of it are stored.

The model that embeds may know English alone. Then what it finds for “Wie viele Menschen arbeiten dort?” among
English passages is roughly right: the passage that answers is among the first 48, but seldom among the
first. Figures: docs/adr/0095-found-across-languages.md.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from django.conf import settings

from core.llm.payment import Payment
from kb.embedding import EmbeddingModel, multilingual_model
from kb.embedding.base import Vectors
from kb.embedding.calibration import calibration_of
from search.rerank.base import Reranker

MOST_KEPT = 4096
"""Vectors of passages that stay in memory, 6 MB: the next question is often about the same document."""


class AnyLanguage(Reranker):
    """Reranks with `MULTILINGUAL_MODEL`, which is loaded for the first question that it suits."""

    passages = 48
    budget_secs = 2.5
    passages_per_step = 8
    fused_share = 0.1

    def __init__(self) -> None:
        """Name the model; it isn't loaded yet, because many installations never need it."""
        self._model: str = settings.MULTILINGUAL_MODEL
        self.name = f"{self._model}-similarity"
        self._kept: OrderedDict[str, Vectors] = OrderedDict()
        self._keeping = threading.Lock()

    def suited_to(
        self, question: str, languages: Sequence[str | None], *, for_tables: bool = False
    ) -> Reranker:
        """Return this one, and load its model before the time for a search begins to count."""
        multilingual_model()
        return self

    def score(
        self, question: str, passages: Sequence[str], *, within: float, payment: Payment
    ) -> Sequence[float]:
        """Return the cosine of the question and each passage."""
        model = multilingual_model()
        scores: Vectors = self._vectors(passages, model) @ model.embed_query(question)
        return [float(score) for score in scores]

    def relevance(self, score: float, coverage: float, *, across: bool) -> float:
        """Return what the model's calibration says of such a cosine."""
        return calibration_of(self._model).relevance(score, coverage, across=across)

    def _vectors(self, passages: Sequence[str], model: EmbeddingModel) -> Vectors:
        """Return the vectors of passages, of shape (passages, size); those seen lately are known."""
        with self._keeping:
            known = {passage: self._kept[passage] for passage in passages if passage in self._kept}
        if new := [passage for passage in dict.fromkeys(passages) if passage not in known]:
            known |= dict(zip(new, model.embed_documents(new), strict=True))
        with self._keeping:
            self._kept.update(known)
            for passage in known:
                self._kept.move_to_end(passage)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return np.stack([known[passage] for passage in passages])
