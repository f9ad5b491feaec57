"""What no quotation answers: orders to analyse something, and names that a sentence does not tell.

“In the report, compare the inventory with the strategy.”          wants more than any sentence says
“Which datasets did they use?” – “We use two public datasets.”     says that there are some, and not which
"""

from __future__ import annotations

import re

from core.text.analysis import terms

_ORDERS = re.compile(
    r"(?:\A|[,;:.?!]\s|\b(?:please|and|then|bitte|und|dann|et|y)\s)(?:please\s|bitte\s)?"
    r"(?:compare|contrast|analy[sz]e|assess|evaluate|critique|correlate|reconcile|discuss"
    r"|vergleiche|analysiere|bewerte|beurteile|diskutiere"
    r"|comparez|analysez|évaluez|discutez|compara|compare|analiza|analice|evalúa|evalúe"
    r"|confronta|analizza|valuta|vergelijk|analyseer|beoordeel)\b",
    re.IGNORECASE,
)
"""“How does A compare with B?” is none: a sentence may say so."""
_ASKS_WHICH = re.compile(
    r"\A\W*(?:(?:on|in|for|with|from|to|of|by|at) )?(?:which|what)(?: [\w-]+){0,2}? (?P<things>[a-z-]{3,30}s)"
    r" (?:did|do|does|were|are|was|have|has|had|can|could|will|would|should|must|may)\b",
    re.IGNORECASE,
)
_SOME = (
    "some|several|various|many|multiple|numerous|different|both|all|other|certain|such|these|those|our|their"
    "|its|the|of|on|in|across|more|most|two|three|four|five|six|seven|eight|nine|ten|\\d{1,3}"
)
_IS_SOME = re.compile(rf"(?<![\w-])(?:{_SOME})(?:\s(?-i:[a-z])[\w-]*){{0,3}}\s\Z", re.IGNORECASE)
_IS_ONE = re.compile(r"\b(?:is|are|was|were) (?:the|an?|our|one of the) (?:[\w-]+ ){0,3}\Z", re.IGNORECASE)
"""“Pivoting is the strongest baseline.”"""
_SAYS_WHICH = re.compile(
    r"\s{0,9}+(?:\([^()]{0,20})?(?:[:,(—–]|-\s|such as\b|namely\b|like\b|including\b|include\b|called\b"
    r"|named\b|are\b|were\b|is\b|was\b|from\b|of\b|along\b|near\b|with\b)",
    re.IGNORECASE,
)
"""What may stand between things and their names."""


def wants_analysis(question: str) -> bool:
    """Tell whether a question orders an analysis."""
    return _ORDERS.search(question) is not None


def names_none(question: str, text: str) -> bool:
    """Tell whether a question asks which things, and a text only says that there are some."""
    asked = _ASKS_WHICH.search(question)
    if asked is None:
        return False
    things = terms(asked["things"], "en")
    mentioned = [word for word in re.finditer(r"[\w-]+", text) if terms(word[0], "en") == things]
    return bool(mentioned) and all(_is_vague(text, word) for word in mentioned)


def _is_vague(text: str, thing: re.Match[str]) -> bool:
    """Tell whether no name stands beside a thing: “two public datasets show that …”."""
    before = text[max(0, thing.start() - 60) : thing.start()]
    is_some = _IS_SOME.search(before) is not None and _IS_ONE.search(before) is None
    return is_some and _SAYS_WHICH.match(text, thing.end()) is None
