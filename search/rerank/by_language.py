"""What `auto` means: the packaged cross-encoder where all is in English, late interaction elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from core.llm.payment import Payment
from search.question_language import is_english
from search.rerank.base import Reranker

MOSTLY = 0.75
"""Of the passages whose language is known, so many must be in English."""


class ByLanguage(Reranker):
    """Two rerankers, of which one suits a question; `others` is None where nothing reads other languages."""

    def __init__(self, english: Reranker, others: Reranker | None) -> None:
        self._english, self._others = english, others
        self.name = english.name
        self.passages = english.passages
        self.budget_secs = english.budget_secs
        self.passages_per_step = english.passages_per_step

    def suited_to(
        self, question: str, languages: Sequence[str | None], *, for_tables: bool = False
    ) -> Reranker | None:
        """Return the one that reads these languages; tables are for the other one, if it is there."""
        if for_tables and self._others:
            return self._others
        known = [language for language in languages if language]
        in_english = known.count("en") >= MOSTLY * len(known)
        return self._english if in_english and is_english(question) else self._others

    @property
    def names(self) -> tuple[str, ...]:
        """Both, or the English one alone."""
        return (*self._english.names, *(self._others.names if self._others else ()))

    def score(
        self, question: str, passages: Sequence[str], *, within: float, payment: Payment
    ) -> Sequence[float]:
        """Return the scores of the reranker that reads the question, of the English one if none does."""
        chosen = self.suited_to(question, []) or self._english
        return chosen.score(question, passages, within=within, payment=payment)

    def describe(self) -> str:
        """Return both."""
        others = f", other languages with {self._others.describe()}" if self._others else ""
        return f"{self._english.describe()}{others}"
