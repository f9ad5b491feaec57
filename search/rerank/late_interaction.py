"""Late interaction: each token of the question looks for the nearest token of the passage.

MaxSim of Khattab and Zaharia (2020), “ColBERT”, over the token vectors of the model that embeds: no other
weights, nothing stored. Figures: docs/adr/0014-ranking.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from django.core.exceptions import ImproperlyConfigured

from core.llm.payment import Payment
from kb.embedding import EmbeddingModel, embedding_model
from kb.embedding.base import Vectors
from search.rerank.base import Reranker


class LateInteraction(Reranker):
    """Reranks with the resident embedding model, or with another."""

    passages = 12
    budget_secs = 0.45
    passages_per_step = 6

    def __init__(self, model: str = "", *, embedding: EmbeddingModel | None = None) -> None:
        """Take a model that embeds; raise `ImproperlyConfigured` if it has no vectors of tokens."""
        if model:
            raise ImproperlyConfigured(
                "RERANKER_MODEL is not for RERANKER late-interaction: it reranks with EMBEDDING_MODEL."
            )
        self._model = embedding or embedding_model()
        if not self._model.has_token_vectors:
            raise ImproperlyConfigured(
                f"RERANKER late-interaction needs vectors of tokens, which EMBEDDING_MODEL "
                f"{self._model.name} by {self._model.runs_on} does not give: choose another RERANKER."
            )
        # A question comes once for each step, and its vectors are small.
        self._asked = lru_cache(64)(self._tokens_of)
        self.name = f"{self._model.name}-late-interaction"

    def score(
        self, question: str, passages: Sequence[str], *, within: float, payment: Payment
    ) -> Sequence[float]:
        """Return the mean over the question's tokens of the cosine of the nearest token: -1 to 1."""
        asked = self._asked(question)
        return [max_sim(asked, read.vectors) for read in self._model.embed_tokens(passages)]

    def _tokens_of(self, question: str) -> Vectors:
        """Return the vectors of the tokens with a letter or digit, of all if none has."""
        (tokens,) = self._model.embed_tokens([question], as_queries=True)
        says = [any(map(str.isalnum, question[start:end])) for start, end in tokens.spans]
        return tokens.vectors[says] if any(says) else tokens.vectors


def max_sim(asked: Vectors, read: Vectors) -> float:
    """Return the mean of the greatest cosine of each row of `asked` with a row of `read`; 0 without rows.

    Both hold unit vectors, of shape (tokens, size).
    """
    if not len(asked) or not len(read):
        return 0.0
    return float(np.mean((asked @ read.T).max(axis=1)))
