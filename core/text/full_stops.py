"""Full stops that end no sentence: of ordinals and abbreviations that `sentencex` takes for ends.

“Des 19. Jahrhunderts” is one thing: in German nouns have capitals, so a capital behind a full stop tells
nothing. Elsewhere a small letter behind it tells that the sentence goes on.
"""

from __future__ import annotations

import re

from core.text.analysis import terms
from core.text.months import months, short_months

LOOKED_BACK = 40
"""In characters; what stands before a full stop is told by one or two words."""

_LAST_WORD = re.compile(r"(?<![\w.])(?P<word>\w[\w.°º-]{0,20})\.\Z")
_FIRST_WORD = re.compile(r"\w{1,40}")
_ORDINAL = re.compile(r"(?:(?<!\w)(?P<before>[^\W\d_]{1,20})\s)?(?<![\w.,])(?:\d{1,2}|[IVXLC]{1,6})\.\Z")
_TWO_ORDINALS = re.compile(r"(?<![\w.,])(?:\d{1,2}|[IVXLC]{1,6})\. (?:und|bis|oder|bzw\.) \w{1,6}\.\Z")
"""“Im 18. und 19.”"""

_MONTHS = "|".join(map(re.escape, short_months(("en", "de", "fr", "es", "it", "nl", "pt"))))
_BEFORE_FIGURES = re.compile(
    rf"nos?|nrs?|n[º°]|n[uú]m|p[aá]gs?|pp?|s|figs?|vol|[ck]ap|chap|ch|sect?|séc|tel|art|abs|approx|ca|al|{_MONTHS}"
)
"""“Nr. 5”, “pág. 3”, “Kim et al. 2015”, “3 okt. 1990”."""
_BEFORE_CAPITALS = re.compile(r"dr|mme|mlle|mgr|fa|hd|hab|inkl|exkl")
"""A name, a title or a German noun; the library knows most."""
_BEFORE_SMALL_LETTERS = re.compile(
    rf"\w|\d{{1,9}}|św|tzn|tj|etc|{_BEFORE_FIGURES.pattern}|{_BEFORE_CAPITALS.pattern}"
)
"""A letter, an ordinal, and others."""

_DETERMINERS = re.compile(
    r"(?:de[rsmn]|die|das|a[mn]|im|vom|zu[mr]|beim|ins|dies\w{0,2}|jede\w?|(?:k?ein|mein|dein|sein|ihr|unser)(?:e\w?)?)",
    re.IGNORECASE,
)
_GERMAN_MONTHS = "|".join(months(["de"]))
NUMBERED = re.compile(
    rf"jahr(?:hundert|tausend)(?:s|e[ns]?)?|weltkrieg(?:e?s)?|quartals?|halbjahr(?:e?s)?|lebensjahr(?:e?s)?|auflage"
    rf"|kapitels?|klasse|etage|stock(?:werk)?|platz|{_GERMAN_MONTHS}"
)
"""What Germans number: “Anfang 19. Jahrhundert”, “seit 1. Januar”."""


def ends_no_sentence(text: str, end: int, start: int, language: str | None) -> bool:
    """Tell whether a sentence that seems to end at `end` goes on at `start`."""
    if "\n" in text[end:start] or not text.endswith(".", 0, end):
        return False
    if start == end and text.startswith("-", start):  # “J.-C.”
        return True
    before, behind = text[max(0, end - LOOKED_BACK) : end], _FIRST_WORD.match(text, start)
    last = _LAST_WORD.search(before)
    if behind is None or last is None:
        return False
    word, follows = last["word"].casefold(), behind[0]
    if follows[0].isdigit():
        return _BEFORE_FIGURES.fullmatch(word) is not None
    if follows.islower():  # “J.-C.” has a full stop within.
        return "." in word or _BEFORE_SMALL_LETTERS.fullmatch(word) is not None
    return _BEFORE_CAPITALS.fullmatch(word) is not None or (language == "de" and _is_ordinal(before, follows))


def _is_ordinal(before: str, follows: str) -> bool:
    """Tell whether German text ends with an ordinal, and not with a figure, before a word with a capital."""
    ordinal = _ORDINAL.search(before)
    if ordinal is None or not terms(follows, "de"):
        return False
    is_determined = _DETERMINERS.fullmatch(ordinal["before"] or "") is not None
    return (
        is_determined
        or NUMBERED.fullmatch(follows.casefold()) is not None
        or _TWO_ORDINALS.search(before) is not None
    )
