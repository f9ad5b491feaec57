"""What a reranker is: a question and passages in, scores out, as many as there is time for."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence

from core.endpoint import EndpointRefusal, EndpointUnavailable
from core.errors import LocusError
from core.llm.payment import Payment

logger = logging.getLogger(__name__)


class Reranker(ABC):
    """A loaded reranker. Thread-safe; one lives in each process that searches."""

    name: str
    """The model, as results name it."""
    passages: int
    """How many of the best candidates to give it: what it is good for in its time."""
    budget_secs: float
    """How long a search waits for it unless RERANKER_BUDGET_MS says otherwise."""
    passages_per_step: int
    """How many passages are scored at once; between steps the clock is looked at."""
    fused_share: float | None = None
    """What the order before counts beside its scores, which count 1; None is what the calibration says."""
    gives_probabilities: bool = False
    """Whether its scores, 0 to 1, say how likely a passage answers; they compare across questions then."""
    is_paid: bool = False
    """Whether its scores cost money, and it is known how much."""

    def rerank(
        self,
        question: str,
        passages: Sequence[str],
        *,
        deadline: float,
        payment: Payment,
    ) -> list[float | None]:
        """Return a score for each passage, higher is better, None for those there was no time for.

        Passages come best first, so that a part of the scores is one for the top. A step that would not end
        by `deadline`, seconds of `time.monotonic()`, is not begun. Scores of one question can be compared,
        not those of two. An endpoint that fails is logged and leaves None, as does a budget that is used up:
        `payment` pays for what has a price.
        """
        scores: list[float | None] = [None] * len(passages)
        longest = 0.0
        for start in range(0, len(passages), self.passages_per_step):
            begun = time.monotonic()
            if begun + longest >= deadline:
                break
            step = passages[start : start + self.passages_per_step]
            try:
                scores[start : start + len(step)] = self.score(
                    question, step, within=deadline - begun, payment=payment
                )
            except (EndpointUnavailable, EndpointRefusal, LocusError) as error:
                logger.warning("not reranked: %s", error)
                break
            longest = max(longest, time.monotonic() - begun)
        return scores

    def suited_to(
        self,
        question: str,
        languages: Sequence[str | None],
        *,
        for_tables: bool = False,
        embedded_by: str = "",
    ) -> Reranker | None:
        """Return what reranks passages in these languages, some perhaps unknown; None if nothing does.

        Some put prose before tables, so it matters whether figures of tables are asked for. `embedded_by` is
        the model whose vectors found the passages.
        """
        return self

    def relevance(self, score: float, coverage: float, *, across: bool) -> float:
        """Return how likely a passage with this score is about the question, 0 where a score doesn't tell.

        `coverage` is the share of the question's weight that its words have; `across` tells that it is in
        another language than the question.
        """
        return score if self.gives_probabilities else 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all models that it reads with."""
        return (self.name,)

    @abstractmethod
    def score(
        self, question: str, passages: Sequence[str], *, within: float, payment: Payment
    ) -> Sequence[float]:
        """Return the scores of a few passages; who can be interrupted ends `within` so many seconds.

        Raise `EndpointUnavailable` or `EndpointRefusal` if there are none; `ProviderError`, `Timeout` or
        `Overloaded` where a chat model fails; `BudgetExceeded` where there is no money for it.
        """

    def describe(self) -> str:
        """Return what operators read about it."""
        return self.name
