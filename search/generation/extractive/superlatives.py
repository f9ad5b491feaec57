"""What a question wants the most or the least of: “Which city has the most inhabitants?”.

Cues of four languages tell it. Which row of a table has it is found in `outstanding.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from search.generation.extractive.periods import YEAR, words_of

_TIME = "time"
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
     "price cost preis kosten prix coût precio coste"),
    ("hottest|warmest|wärmste[nrsm]?|heißeste[nrsm]?", "coldest|kälteste[nrsm]?",
     "temperature temperatur"),
    ("newest|latest|most recent(?:ly)?|neueste[nrsm]?|jüngste[nrsm]?|l[ea]s? plus récente?s?|más recientes?",
     "oldest|earliest|älteste[nrsm]?|früheste[nrsm]?|l[ea]s? plus ancien(?:ne)?s?|más antigu[oa]s?",
     _TIME),
    ("(?<!at )most|highest|largest|biggest|greatest|maximum"
     "|meisten?|höchste[nrsm]?|größte[nrsm]?|maximale[nrsm]?"
     "|l[ea]s? plus(?: (?:grande?s?|élevée?s?|haute?s?|importante?s?)|(?= d[e'’]))"
     "|tienen? más|mayor(?:es)?(?! que)|más (?:alt|grand|elevad)[oae]s?(?! que)",
     "(?<!at )least|fewest|lowest|smallest|minimum"
     "|wenigsten?|niedrigste[nrsm]?|kleinste[nrsm]?|geringste[nrsm]?|minimale[nrsm]?"
     "|l[ea]s? moins(?= d[e'’])|l[ea]s? plus (?:petite?s?|faibles?|basse?s?)"
     "|tienen? menos|menor(?:es)?(?! que)|más (?:baj|pequeñ)[oa]s?(?! que)",
     ""),
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


@dataclass(frozen=True, slots=True)
class Superlative:
    """`rest` is what a question says besides; `columns` has what an adjective such as “tallest” measures.

    `is_of_time` is what asks for the earliest or the latest.
    """

    question: str
    is_most: bool
    rest: str
    columns: str = ""
    is_of_time: bool = False

    @property
    def years(self) -> frozenset[str]:
        """The years that the question names."""
        return frozenset(filter(YEAR.fullmatch, words_of(self.question)))


def superlative_of(question: str) -> Superlative | None:
    """Return what a question wants the most or the least of; None if it asks for nothing such."""
    for cue, is_most, columns in _PATTERNS:
        if cue.search(question):
            rest = cue.sub(" ", question)
            is_of_time = columns == _TIME
            return Superlative(question, is_most, rest, "" if is_of_time else columns, is_of_time)
    return None
