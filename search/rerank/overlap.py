"""A deterministic double: counts the question's words that a passage has. For tests only."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.llm.payment import Payment
from search.rerank.base import Reranker


class OverlapReranker(Reranker):
    """Needs no weights and loads at once."""

    name = "overlap of words, for tests only"
    passages = 16
    budget_secs = 1.0
    passages_per_step = 4

    def __init__(self, model: str = "") -> None:
        """Take any model's name, and no notice of it."""

    def score(
        self, question: str, passages: Sequence[str], *, within: float, payment: Payment
    ) -> Sequence[float]:
        """Return the share of the question's words."""
        asked = _words(question)
        return [len(asked & _words(passage)) / max(1, len(asked)) for passage in passages]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
