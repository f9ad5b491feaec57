"""A statement, and how well it answers a question."""

from __future__ import annotations

from dataclasses import dataclass

from search.generation.extractive.statements import Statement

Terms = frozenset[str]
Place = tuple[int, int]
"""The rank of a context, and the number of a statement in it."""


@dataclass(frozen=True, slots=True)
class WeighedStatement:
    """A statement and its terms; `fit` is compared with the floor, `score` orders.

    What is certain needs no fit: it says in so many words what is asked.
    """

    statement: Statement
    terms: Terms
    cosine: float
    """With the question, on the scale of `QuestionReading.similarity`."""
    fit: float
    score: float
    is_certain: bool = False
    odds: float | None = None
    """The logarithm of the odds that it answers the question, None where no model has read it for that."""

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self.statement.context.rank, self.statement.at

    @property
    def may_be_english(self) -> bool:
        """Whether the model that reads English can read it; names and figures are of no language."""
        return self.statement.context.language in (None, "en")
