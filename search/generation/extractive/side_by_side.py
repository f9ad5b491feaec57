"""Things that a question names side by side: each is asked for alone.

“What were the net sales of Flexibles and Rigid Packaging in 2023?”
─▶ “What were the net sales of Flexibles in 2023?”, “What were the net sales of Rigid Packaging in 2023?”
"""

from __future__ import annotations

import re

from search.generation.extractive.calculations import calculation_of
from search.generation.extractive.outstanding.superlatives import superlatives_of
from search.generation.extractive.yes_no import wants_yes_or_no

_NAME = r"[A-ZÀ-ÖØ-Þ][^\W\d]+(?: (?:& )?[A-ZÀ-ÖØ-Þ][^\W\d]+){0,3}"
_SIDE_BY_SIDE = re.compile(rf"(?<=\s)({_NAME}(?:, {_NAME}){{0,3}}),? (?:and|und|et|y) ({_NAME})\b")


def one_by_one(question: str) -> list[str]:
    """Return a question for each of the names that stand side by side in one; none if it compares them.

    “Research and Development” is one name: whoever answers must find something for each, or ask for all.
    """
    named = _SIDE_BY_SIDE.search(question)
    if named is None or wants_yes_or_no(question) or calculation_of(question) or superlatives_of(question):
        return []
    before, behind = question[: named.start()], question[named.end() :]
    return [f"{before}{name}{behind}" for name in (*named[1].split(", "), named[2])]
