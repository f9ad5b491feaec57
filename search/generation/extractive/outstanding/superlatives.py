"""What a question wants the most or the least of: “Which city has the most inhabitants?”.

Adjectives of seven languages tell it (`adjectives.py`). Which row of a table has it is found beside this: in
a column (`records.py`), among the parts of a total (`parts.py`), by how much these have changed
(`changes.py`), by year (`years.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from search.generation.extractive.outstanding.adjectives import ADJECTIVES, GOOD
from search.generation.extractive.periods import YEAR, words_of
from search.generation.extractive.yes_no import Direction, direction_of, without_change

_LESS_IS_BETTER = re.compile(
    r"\b(?:times?|duration|prices?|costs?|fees?|errors?|loss(?:es)?|noise|latency|delays?|ranks?|weight|zeit|dauer"
    r"|preis\w*|kosten|gebühr\w*|fehler\w*|verlust\w*|lärm|temps|prix|coûts?|erreurs?|bruit|tiempo|precios?|costes?"
    r"|errores|ruido|tempi|prezz[io]|cost[io]|errori|rumore|tempos?|preços?|custos?|erros|ruído|tijd\w*|duur|prijs"
    r"|prijzen|fouten|geluid)\b",
    re.IGNORECASE,
)
"""Of what the best has least."""
_PERIOD = (
    r"(?!\s(?:\w+\s)?(?:months|weeks|quarter|half|monate|wochen|quartal|halbjahr|mois|trimestre|semestre|meses|semanas"
    r"|mesi|maanden|kwartaal)\b)"
)
"""What may not follow: “the first nine months” is no first one of several."""
_PATTERNS = [
    (
        re.compile(rf"(?<!\w)(?:{words})(?!\w){_PERIOD if adjective.is_of_time else ''}", re.IGNORECASE),
        is_most,
        adjective,
    )
    for adjective in ADJECTIVES
    for words, is_most in ((adjective.most, True), (adjective.least, False))
]
_PERFORMS = re.compile(r"perform", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Superlative:
    """`rest` is what a question says besides; `columns` has what an adjective such as “tallest” measures.

    `is_of_time` is what asks for the earliest or the latest, `is_of_money` for the cheapest. `change` is the
    direction, up or down, of what has changed most.
    """

    question: str
    is_most: bool
    rest: str
    columns: str = ""
    is_of_time: bool = False
    is_of_money: bool = False
    change: Direction | None = None
    needs_name: bool = False
    """Whether the question must name what it compares: what is best is so by something."""

    @property
    def years(self) -> frozenset[str]:
        """The years that the question names."""
        return frozenset(filter(YEAR.fullmatch, words_of(self.question)))

    @property
    def is_of_the_highest(self) -> bool:
        """Whether the highest value has it: the largest decline is the lowest change."""
        return self.is_most is not (self.change is Direction.DOWN)


def superlatives_of(question: str) -> list[Superlative]:
    """Return what a question may want the most or the least of, in the order in which to look for it.

    “The highest growth” is that of the amounts, or that of a column which is called so.
    """
    for cue, is_most, adjective in _PATTERNS:
        if match := cue.search(question):
            rest = cue.sub(" ", question)
            if adjective is GOOD:
                is_more = is_most is not (_LESS_IS_BETTER.search(rest) is not None)
                return [Superlative(question, is_more, rest, needs_name=True)]
            if adjective.is_of_time:
                return [Superlative(question, is_most, rest, is_of_time=True)]
            # What performs best has grown most.
            change = Direction.UP if _PERFORMS.search(match[0]) else direction_of(rest)
            of_amount = Superlative(
                question, is_most, rest, adjective.columns, is_of_money=adjective.is_of_money
            )
            if change in (None, Direction.EITHER):
                return [of_amount]
            return [Superlative(question, is_most, without_change(rest), change=change), of_amount]
    return []
