"""Statements whose answer is a word that points back: the statement before says what it stands for.

“In what episode does it happen?” ─▶ “… the same episode depicts it.” is no answer without the one before.
"""

from __future__ import annotations

import re

from core.text.analysis import terms

_ASKS = re.compile(
    r"\b(?:what|which|was|welche[mnrs]?|que|quel(?:le)?s?|qué|cuál(?:es)?)\b((?:\W+\w+){1,3})", re.IGNORECASE
)
_POINTS = re.compile(
    r"\b(?:this|these|that|those|the same|such(?: an?)?|diese[mnrs]?|derselben?|dasselbe|dieselben?"
    r"|cet(?:te)?|ces?|este|esta|estos|estas|el mismo|la misma)\s(\w+(?:\s\w+)?)",
    re.IGNORECASE,
)


def points_back(question: str, text: str, language: str | None) -> bool:
    """Tell whether a statement says “this” where a question says “what”: “All of this set the stage.”.

    “These files can be read: …” points at what comes, and answers by itself.
    """
    asked = _ASKS.search(question)
    if asked is None:
        return False
    wanted = frozenset(terms(asked[1], language))
    last_colon = text.rstrip(" :").rfind(": ")
    return any(
        found.end() > last_colon and wanted & frozenset(terms(found[1], language))
        for found in _POINTS.finditer(text)
    )
