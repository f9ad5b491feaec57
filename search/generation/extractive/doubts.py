"""Does the best statement answer, or is it only about the same thing?

A model that reads a question and a statement together is sure of both. So the question is asked anew without
each of its words. What answers it answers worse without any of them; what is only about the same thing
answers better without the very word that it has nothing for:

    “How many days of leave do interns get?”    “Full-time staff get 27 days a year.”    without “interns”: +3

    belief = 0.3 lead + 0.12 log odds + 0.8 probability − 0.75 missing − 2.6 idle + 1.6

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
from search.generation.extractive.rereading import with_its_place
from search.generation.extractive.weighed import WeighedStatement

LEAD, ODDS, ANSWERS, MISSING, IDLE, BELIEF = 0.3, 0.12, 0.8, 0.75, 2.6, 1.6
LEADS = (-3.0, 4.0)
LEAD_OF_ONE = 3.0
"""Of the only statement that was read."""
MOST_MISSING = 4.0
MOST_WORDS = 24
"""Of a longer question only the first words are left out."""
_WORD = re.compile(r"[\w'’-]+")
_SAYS_LITTLE = frozenset(
    terms(
        "name kind type sort first last number year time long many much word term call new old own main", "en"
    )
)
"""Without a word that only tells what kind of thing is asked for, any statement answers better."""


def belief(best: WeighedStatement, evidence: Sequence[WeighedStatement], reading: QuestionReading) -> float:
    """Return how much speaks for a statement in English that a model has read: more than 0, that it answers.

    `evidence` are all statements, the best among them.
    """
    question, said = reading.question, with_its_place(best.statement)
    words = [word for word in _WORD.finditer(question) if terms(word[0], "en")][:MOST_WORDS]
    without = [question[: word.start()] + question[word.end() :] for word in words]
    whole, *others = map(float, reading.answers([(each, said) for each in (question, *without)]))
    more = [odds - whole for odds in others]
    known = _terms_around(best.statement.context) | _SAYS_LITTLE
    missing = [gain for word, gain in zip(words, more, strict=True) if not known & {*terms(word[0], "en")}]
    idle = sum(gain > 0 for gain in more) / len(more) if more else 0.0
    return (
        BELIEF
        + LEAD * _lead(best, evidence)
        + ODDS * (best.odds or 0.0)
        + ANSWERS * (best.statement.context.answers or 0.0)
        - MISSING * min(max([0.0, *missing]), MOST_MISSING)
        - IDLE * idle
    )


def _lead(best: WeighedStatement, evidence: Sequence[WeighedStatement]) -> float:
    """Return by how much its log odds are more than those of the next that says other words."""
    odds = best.odds or 0.0
    others = [
        each.odds for each in evidence if each.odds is not None and each.statement.text != best.statement.text
    ]
    least, most = LEADS
    return min(max(odds - max(others, default=odds - LEAD_OF_ONE), least), most)


def _terms_around(context: Context) -> frozenset[str]:
    """Return the terms of a passage, its headings and the name of its document."""
    said = [context.document_name, *context.headings, context.introduction, context.text]
    return frozenset(terms(" ".join(said), "en"))
