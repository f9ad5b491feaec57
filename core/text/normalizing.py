"""Unicode's normal forms in linear time; Python needs quadratic time for a run of combining marks."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

MOST_MARKS = 30
"""Further marks on one character are dropped; no script uses as many.

https://www.unicode.org/reports/tr15/#Stream_Safe_Text_Format
"""


def _is_mark(character: str) -> bool:
    """Return whether a character is a combining mark or becomes one, as some Tibetan vowels do."""
    return unicodedata.combining(unicodedata.normalize("NFKD", character)[0]) > 0


# A class of single characters beyond the first 65,536 is slow, so those are checked one by one.
_MARKS = "".join(filter(_is_mark, map(chr, range(1 << 16))))
_RUN = re.compile(f"[{_MARKS}\U00010000-\U0010ffff]{{{MOST_MARKS + 1},}}+")


def normalize(form: Form, text: str) -> str:
    """Return `text` in a normal form, with at most `MOST_MARKS` combining marks in a row."""
    return text if text.isascii() else unicodedata.normalize(form, _RUN.sub(_fewer_marks, text))


def _fewer_marks(run: re.Match[str]) -> str:
    kept, marks = [], 0
    for character in run[0]:
        marks = marks + 1 if _is_mark(character) else 0
        if marks <= MOST_MARKS:
            kept.append(character)
    return "".join(kept)
