"""Does the best statement answer, or is it only about the same thing?

A model that reads a question and a statement together is sure of both. So the question is asked anew without
each of its words. What answers it answers worse without any of them; what is only about the same thing
answers better without the very word that it has nothing for:

    “How many days of leave do interns get?”    “Full-time staff get 27 days a year.”    without “interns”: +3

    belief = 0.4 lead + 0.2 log odds + 0.4 probability − 1.3 missing − 2.8 idle + 2.8

*Lead*: by how much its log odds are more than those of any other statement, −3 to 4. *Probability*: that its
passage answers. *Missing*: how much more its log odds are without one of the words that its passage does not
have, 0 to 4. *Idle*: the share of the words without which they are more. Where the constants come from:
docs/adr/0092-words-that-nothing-is-said-of.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.text.analysis import terms
from search.contexts import Context
from search.generation.extractive.reading import QuestionReading
from search.generation.extractive.rereading import probability, with_its_place
from search.generation.extractive.weighed import WeighedStatement

LEAD, ODDS, ANSWERS, MISSING, IDLE, BELIEF = 0.4, 0.2, 0.4, 1.3, 2.8, 2.8
LEADS = (-3.0, 4.0)
LEAD_OF_ONE = 3.0
"""Of the only statement that was read."""
MOST_MISSING = 4.0
MOST_WORDS = 12
"""Of a longer question only the first words are left out: each is one more text to read."""
_WORD = re.compile(r"[\w'’-]+")
_SAYS_LITTLE = frozenset(
    terms(
        "name kind type sort first last number year time long many much word term call new old own main", "en"
    )
)
"""Without a word that only tells what kind of thing is asked for, any statement answers better."""


def belief(
    question: str,
    best: WeighedStatement,
    evidence: Sequence[WeighedStatement],
    reading: QuestionReading,
) -> float:
    """Return how much speaks for a statement in English that a model has read: more than 0, that it answers.

    `question` is without what it says besides, such as how to answer. `evidence` are all statements, the best
    among them.
    """
    gains = _gains(question, best, reading)
    return (
        BELIEF
        + LEAD * _lead(best, evidence)
        + ODDS * (best.odds or 0.0)
        + ANSWERS * _passage_answers(best)
        - MISSING * _missing(gains, best.statement.context)
        - IDLE * _idle(gains)
    )


def _gains(question: str, best: WeighedStatement, reading: QuestionReading) -> list[tuple[str, float]]:
    """Return each word of the question, and by how much the log odds of a statement are more without it."""
    said = with_its_place(best.statement)
    words = [word for word in _WORD.finditer(question) if terms(word[0], "en")][:MOST_WORDS]
    without = [question[: word.start()] + question[word.end() :] for word in words]
    whole, *others = map(float, reading.answers([(each, said) for each in (question, *without)]))
    return [(word[0], other - whole) for word, other in zip(words, others, strict=True)]


def _missing(gains: Sequence[tuple[str, float]], context: Context) -> float:
    """Return the most that is gained without a word that neither a passage has nor what stands above it."""
    above = [context.document_name, *context.headings, context.introduction]
    known = _SAYS_LITTLE | {*terms(" ".join([*above, context.text]), "en")}
    of_missing = (gain for word, gain in gains if not known & {*terms(word, "en")})
    return min(max([0.0, *of_missing]), MOST_MISSING)


def _idle(gains: Sequence[tuple[str, float]]) -> float:
    """Return the share of the words without which anything is gained."""
    return sum(gain > 0 for _, gain in gains) / max(1, len(gains))


def _passage_answers(best: WeighedStatement) -> float:
    """Return how probably the passage of a statement answers; one that no model ranked answers as it does."""
    of_passage = best.statement.context.answers
    return probability(best.odds or 0.0) if of_passage is None else of_passage


def _lead(best: WeighedStatement, evidence: Sequence[WeighedStatement]) -> float:
    """Return by how much its log odds are more than those of the next that says other words."""
    odds = best.odds or 0.0
    others = [
        each.odds for each in evidence if each.odds is not None and each.statement.text != best.statement.text
    ]
    least, most = LEADS
    return min(max(odds - max(others, default=odds - LEAD_OF_ONE), least), most)
