"""What a question wants the most or the least of: “Which city has the most inhabitants?”.

Cues of four languages tell it. Which row of a table has it is found beside this: in a column (`records.py`),
among the parts of a total (`parts.py`), by how much these have changed (`changes.py`), by year (`years.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from search.generation.extractive.periods import YEAR, words_of
from search.generation.extractive.yes_no import Direction, direction_of, without_change

_TIME, _GOOD = "time", "good"
_LESS_IS_BETTER = re.compile(
    r"\b(?:times?|duration|prices?|costs?|fees?|errors?|loss(?:es)?|noise|latency|delays?|ranks?|weight|zeit|dauer"
    r"|preis\w*|kosten|gebühr\w*|fehler\w*|verlust\w*|lärm|temps|prix|coûts?|erreurs?|bruit|tiempo|precios?|costes?"
    r"|errores|ruido)\b",
    re.IGNORECASE,
)
"""Of what the best has least."""
_CUES = (
    # Those of several words first: “least expensive” asks for the least price.
    ("longest|längste[nrsm]?|l[ea]s? plus longu?e?s?|más larg[oa]s?(?! que)",
     "shortest|kürzeste[nrsm]?|l[ea]s? plus courte?s?|más cort[oa]s?(?! que)",
     "length duration länge dauer longueur durée longitud duración"),
    ("tallest", "(?!)", "height"),
    ("deepest|tiefste[nrsm]?", "shallowest|flachste[nrsm]?", "depth tiefe"),
    ("heaviest|schwerste[nrsm]?|l[ea]s? plus lourde?s?|más pesad[oa]s?(?! que)",
     "lightest|leichteste[nrsm]?|l[ea]s? plus lég(?:er|ère)s?|más liger[oa]s?(?! que)",
     "weight mass gewicht masse poids peso masa"),
    ("most expensive|teuerste[nrsm]?|l[ea]s? plus ch(?:er|ère)s?|más car[oa]s?(?! que)",
     "cheapest|least expensive|billigste[nrsm]?|günstigste[nrsm]?|l[ea]s? moins ch(?:er|ère)s?"
     "|más barat[oa]s?(?! que)",
     "price cost charge fee rate tariff preis kosten gebühr tarif prix coût precio coste tarifa"),
    ("hottest|warmest|wärmste[nrsm]?|heißeste[nrsm]?", "coldest|kälteste[nrsm]?",
     "temperature temperatur"),
    ("newest|latest|most recent(?:ly)?|neueste[nrsm]?|jüngste[nrsm]?|l[ea]s? plus récente?s?|más recientes?",
     "oldest|earliest|älteste[nrsm]?|früheste[nrsm]?|l[ea]s? plus ancien(?:ne)?s?|más antigu[oa]s?",
     _TIME),
    ("fastest|schnellste[nrsm]?|l[ea]s? plus rapides?|más rápid[oa]s?(?! que)",
     "slowest|langsamste[nrsm]?|l[ea]s? plus lente?s?|más lent[oa]s?(?! que)",
     "speed velocity geschwindigkeit tempo vitesse velocidad"),
    ("(?<!at )most|highest|largest|biggest|greatest|maximum|strongest|steepest|sharpest"
     "|perform(?:s|ed|ing)? (?:the )?best|best[- ]performing"
     "|meisten?|höchste[nrsm]?|größte[nrsm]?|stärkste[nrsm]?|maximale[nrsm]?"
     "|l[ea]s? plus(?: (?:grande?s?|élevée?s?|haute?s?|importante?s?)|(?= d[e'’]))"
     "|tienen? más|mayor(?:es)?(?! que)|más (?:alt|grand|elevad)[oae]s?(?! que)",
     "(?<!at )least|fewest|lowest|smallest|minimum|weakest"
     "|perform(?:s|ed|ing)? (?:the )?worst|worst[- ]performing"
     "|wenigsten?|niedrigste[nrsm]?|kleinste[nrsm]?|geringste[nrsm]?|schwächste[nrsm]?|minimale[nrsm]?"
     "|l[ea]s? moins(?= d[e'’])|l[ea]s? plus (?:petite?s?|faibles?|basse?s?)"
     "|tienen? menos|menor(?:es)?(?! que)|más (?:baj|pequeñ)[oa]s?(?! que)",
     ""),
    ("best(?! of all)|beste[nrsm]?|l[ea]s? meilleure?s?|mejor(?:es)?(?! que)",
     "worst|schlechteste[nrsm]?|l[ea]s? pires?|peor(?:es)?(?! que)",
     _GOOD),
    ("last|zuletzt|letzte[nrsm]?|derni(?:er|ère)s?|últim[oa]s?",
     "first|zuerst|erste[nrsm]?|premi(?:er|ère)s?|primer[oa]?s?",
     _TIME),
)  # fmt: skip
"""What asks for the most, and for the least, in four languages; adjectives with the names of columns."""
_PATTERNS = [
    (re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE), is_most, columns)
    for most, least, columns in _CUES
    for words, is_most in ((most, True), (least, False))
]


_PERFORMS = re.compile(r"perform", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Superlative:
    """`rest` is what a question says besides; `columns` has what an adjective such as “tallest” measures.

    `is_of_time` is what asks for the earliest or the latest. `change` is the direction, up or down, of what
    has changed most.
    """

    question: str
    is_most: bool
    rest: str
    columns: str = ""
    is_of_time: bool = False
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
    for cue, is_most, columns in _PATTERNS:
        if match := cue.search(question):
            rest = cue.sub(" ", question)
            if columns == _GOOD:
                is_more = is_most is not (_LESS_IS_BETTER.search(rest) is not None)
                return [Superlative(question, is_more, rest, needs_name=True)]
            if columns == _TIME:
                return [Superlative(question, is_most, rest, is_of_time=True)]
            # What performs best has grown most.
            change = Direction.UP if _PERFORMS.search(match[0]) else direction_of(rest)
            of_amount = Superlative(question, is_most, rest, columns)
            if change in (None, Direction.EITHER):
                return [of_amount]
            return [Superlative(question, is_most, without_change(rest), change=change), of_amount]
    return []
