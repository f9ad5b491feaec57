"""Raised figures: marks of notes and exponents.

A file draws “NER⁴” and “10⁶” with small raised type. Written as “NER4” and “106”, they are other words and
numbers. Unicode has a character for each raised digit.
"""

from __future__ import annotations

import re

_PLAIN = "0123456789+-\u2212,"
_DRAWN = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻,"
_TO_RAISED = str.maketrans(_PLAIN, _DRAWN)
_FIGURES = re.compile(rf"(?=.*\d)[{re.escape(_PLAIN)}]{{1,8}}", re.ASCII)
RAISED = re.compile(r"[⁰¹²³⁴-⁹⁺⁻]++(?:,[⁰¹²³⁴-⁹⁺⁻]++)*+")
"""A run of raised figures: “⁴”, “⁻⁶”, “¹,²”."""


def raised(text: str) -> str:
    """Return figures such as “4” or “-6” raised; what is none, as “th”, stays as it is."""
    return text.translate(_TO_RAISED) if _FIGURES.fullmatch(text) else text


def without_raised(text: str) -> str:
    """Return a text without raised figures."""
    return text if text.isascii() else RAISED.sub("", text)
