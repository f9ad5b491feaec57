"""Questions that want a reason: “What drove the growth of revenue?”, “Woran lag der Rückgang?”.

The figures that changed are no answer to them; a sentence is that says what they changed for.
"""

from __future__ import annotations

import re

from search.generation.extractive.question_parts import parts_of_question

_CUES = (
    # English
    r"why|how come"
    r"|what (?:drove|drives|caused?|causes|led|made|prompted|triggered|explain(?:s|ed)|contributed to)"
    r"|what (?:is|are|was|were|lies|lay) behind"
    r"|(?:reasons?|causes?|drivers?) (?:for|of|behind|that|why)"
    r"|(?:what|which|main|primary|key|chief) (?:factors|reasons?|causes?|drivers?)"
    r"|what\b[^?]{1,120}\battribut(?:ed|able) to(?=\W{0,3}\Z)|to what\b[^?]{1,120}\battribut\w+",
    # German
    r"warum|wieso|weshalb|wodurch|woran (?:lag|liegt|lagen)|was (?:verursachte|führte zu)"
    r"|(?:gründe?|ursachen?) (?:für|der|des|von)|worauf\b[^?]{1,120}\bzurück(?:zuführen|führen)?",
    # French
    r"pourquoi|(?:raisons?|causes?) d(?:e|u|es)|à quoi\b[^?]{1,80}\bd(?:û|ue?)s?",
    # Spanish
    r"por qué|a qué se deb\w+|(?:razón|razones|motivos?|causas?) (?:de|del|por|para)",
    # Italian, Dutch, Portuguese
    r"perché|waarom|por que",
)
ASKS_WHY = re.compile(rf"\b(?:{'|'.join(_CUES)})\b", re.IGNORECASE)
_TELLS_WHY = re.compile(
    r"\b(?:because|due to|since|as a result|result(?:ed|ing)? (?:of|from|in)|caused?|led (?:to|by)"
    r"|in order to|so that|driven by|attribut(?:able|ed) to|reflect(?:s|ed|ing)?|owing to|thanks to"
    r"|weil|wegen|aufgrund|dadurch|infolge|zurückzuführen|bedingt durch"
    r"|parce que|car|grâce|en raison d\w{0,2}|porque|debido|gracias a"
    r"|perché|poiché|omdat|doordat|devido)\b",
    re.IGNORECASE,
)


def asks_why(question: str) -> bool:
    """Tell whether a question asks for a cause; not if an order behind it does: “If it did not, say why.”."""
    return ASKS_WHY.search(parts_of_question(question).question) is not None


def tells_why(text: str) -> bool:
    """Tell whether a statement gives a cause: “… primarily due to higher volumes”."""
    return _TELLS_WHY.search(text) is not None
