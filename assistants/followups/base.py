"""What a follow-up is made self-contained from, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

MOST_TURNS = 4
"""So many turns are looked at, the last ones: what was said earlier is rarely meant."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a conversation and its answer."""

    question: str
    """As the person wrote it."""
    asked: str
    """As it was searched: self-contained. The same as `question` where nothing was carried."""
    answer: str
    """The words of the answer, without citations; empty where there was none."""
    document_ids: tuple[UUID, ...] = ()
    """The documents that the answer cites, the most cited first."""
    document_names: tuple[str, ...] = ()
    """Their names, in the same order."""
    headings: tuple[str, ...] = ()
    """Headings of the passages that the answer cites, the first cited first."""


@dataclass(frozen=True, slots=True)
class SelfContained:
    """A question that can be searched without what was said before."""

    question: str
    document_ids: tuple[UUID, ...] | None
    """The documents it is about, where it points at them (“in that report”); None: all in scope.

    A caller that searches them finds nothing else. They come from the history, so a scope still decides.
    """
    carried: bool
    """Whether `question` or `document_ids` hold more than what was typed."""
    by: Literal["model", "rules", "nothing"]
    """Who found out: “nothing” where the question stood alone, or there is no history."""


class Rewriter(Protocol):
    """Rewrites a question with the help of a chat model."""

    async def rewrite(self, question: str, history: Sequence[Turn]) -> str:
        """Return the self-contained question.

        Raise `ProviderError`, `Timeout`, `Overloaded` or `BudgetExceeded`.
        """
