"""What `auto` means: the packaged cross-encoder for English, and another reranker for other languages."""

from __future__ import annotations

from collections.abc import Sequence

from core.llm.payment import Payment
from search.question_language import are_english
from search.rerank.base import Reranker


class ByLanguage(Reranker):
    """Rerankers of which one suits a question.

    `others` reads other languages, `tables` figures in English; each may be None.
    """

    def __init__(self, english: Reranker, others: Reranker | None, tables: Reranker | None) -> None:
        self._english, self._others, self._tables = english, others, tables
        self.name = english.name
        self.passages = max(each.passages for each in (english, others, tables) if each)
        self.budget_secs = english.budget_secs
        self.passages_per_step = english.passages_per_step

    def suited_to(
        self,
        question: str,
        languages: Sequence[str | None],
        *,
        for_tables: bool = False,
        embedded_by: str = "",
    ) -> Reranker | None:
        """Return the one that reads these languages."""
        if are_english(question, languages):
            return self._tables if for_tables and self._tables else self._english
        return self._others and self._others.suited_to(
            question, languages, for_tables=for_tables, embedded_by=embedded_by
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All that there are, each once."""
        rerankers = (self._english, self._others, self._tables)
        return tuple(dict.fromkeys(name for each in rerankers if each for name in each.names))

    def score(
        self, question: str, passages: Sequence[str], *, within: float, payment: Payment
    ) -> Sequence[float]:
        """Return the scores of the reranker that reads the question, of the English one if none does."""
        chosen = self.suited_to(question, []) or self._english
        return chosen.score(question, passages, within=within, payment=payment)

    def describe(self) -> str:
        """Return what reads English, and what reads other languages."""
        others = f", other languages with {self._others.describe()}" if self._others else ""
        return f"{self._english.describe()}{others}"
