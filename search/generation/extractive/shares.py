"""Who asks for a share wants a share: “What percentage of revenue …?” is not answered by an amount."""

from __future__ import annotations

import re
from collections.abc import Callable

from search.generation.extractive.calculations import asks_for_change

_WANTS_SHARE = re.compile(
    r"\bhow (?:big|large|high|great) (?:a|is the|was the) (?:share|stake|proportion|percentage|fraction)\b"
    r"|\b(?:what|which|by how many|wie ?viele?|welche[rsn]?|quel(?:le)?|qué)\b(?:\W+\w+){0,4}?\W+"
    r"(?:percent(?:age)?|per cent|proportion|stake|growth rate|prozent\w*|anteil|pourcentage|porcentaje"
    r"|proporción)\b",
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"\d\s?(?:%|per ?cent|prozent|pour ?cent|por ciento)|\b(?:percent|half|all|none|hälfte"
    r"|moitié|mitad|(?:one|a|two|three|ein|zwei|drei|un|deux|trois|dos|tres)[ -]"
    r"(?:thirds?|quarters?|fifths?|drittel|viertel|tiers|quarts?|tercios?|cuartos?))\b",
    re.IGNORECASE,
)
"""A share, as a percentage or in words."""
_RISES_BY = re.compile(
    r"\b(?:up(?! to\b)|down|increas\w*|decreas\w*|gr[eo]w\w*|rose|risen|fell|fallen|declin\w*)(?:\s\w+){0,2}?"
    r"\s\d[\d.,]*+\s?(?:%|per ?cent)",
    re.IGNORECASE,
)
"""What something rises by is no share of anything."""


def wants_share(question: str) -> bool:
    """Tell whether a question asks for a share of something."""
    return _WANTS_SHARE.search(question) is not None


def can_answer(question: str) -> Callable[[str], bool]:
    """Return the test whether a statement may be the answer to a question."""
    if not wants_share(question):
        return lambda _: True
    if asks_for_change(question):
        return lambda text: _SHARE.search(text) is not None
    return lambda text: _SHARE.search(_RISES_BY.sub(" ", text)) is not None
