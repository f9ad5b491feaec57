"""What a question wants counted: “how many trainable parameters” is answered by no number of questions.

A model that reads a question and a sentence together is fond of any number beside the right subject. So where
it is not sure, the sentence must name what is counted, or stand below a heading that does. Where it names
that, a number must stand near: “6 million units will be granted to its chief executive and employees” counts
no employees.
"""

from __future__ import annotations

import re

from core.text.analysis import terms
from search.generation.extractive.expected import lacks_figure, without_dates
from search.generation.extractive.statements import Statement

_HOW_MANY = re.compile(r"\bhow many ((?:[\w'’&-]+ ?){1,6})", re.IGNORECASE)
_ENDS = re.compile(
    r"\b(?:does|do|did|is|are|was|were|has|have|had|can|could|will|would|should|must|may|might|of|in|on|at|for|to|that"
    r"|which|who|from|by|with|than|there|it|he|she|they|we|you|i|the|a|an|his|her|its|their|as|under|per)\b",
    re.IGNORECASE,
)
"""Where the name of what is counted ends."""
_PEOPLE = frozenset(
    terms(
        "people persons person men women children employees employed employ staff workers workforce headcount"
        " residents inhabitants population citizens members students pupils players guests visitors victims",
        "en",
    )
)
"""People are counted by many names."""
_WORD = re.compile(r"\w[\w.,'’%-]*")
NEAR = 4
"""A number is no more words away from what it counts: so it was in all of 54 right answers."""


def lacks_counted(question: str, statement: Statement) -> bool:
    """Tell whether a question in English asks how many there are of something, and a statement names no such
    thing."""
    named, context = _counted_by(question), statement.context
    said = frozenset(terms(" ".join([*context.headings[-1:], context.introduction, statement.meaning]), "en"))
    return bool(named) and not named & said


def counts_other_things(question: str, text: str) -> bool:
    """Tell whether a question in English asks how many there are of something, and a sentence that names it
    has its numbers far from there."""
    named = _counted_by(question)
    words = _WORD.findall(without_dates(text))
    things = [at for at, word in enumerate(words) if named & frozenset(terms(word, "en"))]
    numbers = [at for at, word in enumerate(words) if not lacks_figure(question, word)]
    return bool(things and numbers) and all(
        abs(number - thing) > NEAR for number in numbers for thing in things
    )


def _counted_by(question: str) -> frozenset[str]:
    """Return the terms of what a question wants counted; of people all that they are called."""
    asked = _HOW_MANY.search(question)
    named = frozenset(terms(_ENDS.split(asked[1], maxsplit=1)[0], "en")) if asked else frozenset()
    return named | _PEOPLE if named & _PEOPLE else named
