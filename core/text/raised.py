"""Raised figures: marks of notes and exponents.

A file draws “NER⁴” and “10⁶” with small raised type. Written as “NER4” and “106”, they are other words and
numbers. Unicode has a character for each raised digit.
"""

from __future__ import annotations

import re

_PLAIN = "0123456789+-\u2212,abcd"
_DRAWN = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻,ᵃᵇᶜᵈ"
_TO_RAISED = str.maketrans(_PLAIN, _DRAWN)
_MARKS = re.compile(r"[+\u2212,-]{0,3}\d[\d+\u2212,-]{0,7}|[abcd](?:,[abcd])?", re.ASCII)
RAISED = re.compile(r"[⁰¹²³⁴-⁹⁺⁻ᵃᵇᶜᵈ]++(?:,[⁰¹²³⁴-⁹⁺⁻ᵃᵇᶜᵈ]++)*+")
"""A run of raised figures or letters of notes: “⁴”, “⁻⁶”, “¹,²”, “ᵃ”."""


def raised(text: str) -> str:
    """Return figures such as “4” or “-6”, and the letter of a note, raised; “th” stays as it is."""
    return text.translate(_TO_RAISED) if _MARKS.fullmatch(text) else text


def without_raised(text: str) -> str:
    """Return a text without raised figures and letters."""
    return text if text.isascii() else RAISED.sub("", text)
