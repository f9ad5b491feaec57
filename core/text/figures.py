"""Figures: the number that a cell or a word of text holds, and how a computed one is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from core.text.analysis import terms

MOST_DIGITS = 18
"""A longer run of digits is an identifier, nothing to compute with."""
COMMA_DECIMALS = frozenset(
    (
        "de",
        "fr",
        "es",
        "it",
        "nl",
        "pt",
        "da",
        "sv",
        "nb",
        "nn",
        "no",
        "fi",
        "pl",
        "cs",
        "ro",
        "ru",
        "tr",
        "id",
    )
)
"""Languages (ISO 639-1) that write 1.234,5 where English has 1,234.5."""
_NUMERAL = re.compile(r"\d+(?:\.\d+)?")
_CURRENCIES = "$€£¥"
CURRENCIES = frozenset(_CURRENCIES)
_MINUS = ("(", "-", "−", "–")
_OF_FIGURE = re.compile(r"[\d.,'’\s()−–-]+")
_NOTE_BEHIND = re.compile(r"(?<=\d)(?:[a-d]|[ᵃᵇᶜᵈ⁰¹²³⁴-⁹]{1,3})\Z")
_WRITTEN = re.compile(r"\d(?:[.,'’]?\d)*+")
_WRITTEN_WITH_SPACES = re.compile(r"\d(?:[.,'’]?\d|\s\d{3}(?!\d))*+")


@dataclass(frozen=True, slots=True)
class Figure:
    """`value` is the number, negative where it stands in parentheses; `text` its digits as written."""

    value: Decimal
    text: str
    is_percent: bool = False


def figure_of(text: str, language: str | None) -> Figure | None:
    """Return the one figure of a text such as “$ (3,200)” or “10.3 %”; None if it holds none or several."""
    pattern = _WRITTEN_WITH_SPACES if language in COMMA_DECIMALS else _WRITTEN
    written = pattern.findall(text)
    if len(written) != 1 or sum(map(str.isdigit, text)) > MOST_DIGITS:
        return None
    found = terms("".join(written[0].split()), language)
    readings = sorted({Decimal(term) for term in found if _NUMERAL.fullmatch(term)})
    if not readings:
        return None
    # “1.234” has two readings; the larger one is that of a language with decimal commas.
    value = readings[-1] if language in COMMA_DECIMALS else readings[0]
    sign = -1 if text.lstrip(f" {_CURRENCIES}").startswith(_MINUS) else 1
    return Figure(sign * value, written[0], "%" in text)


def unit_of(text: str) -> str:
    """Return what stands in a cell beside its figure: “kg”, “m³/h”, “$”; the mark of a note is none."""
    return _OF_FIGURE.sub("", _NOTE_BEHIND.sub("", text))


def write_figure(value: Decimal, places: int, language: str | None) -> str:
    """Return a number with so many decimal places and groups of three digits, as the language writes it.

    Less than zero is written with a minus sign (U+2212), as formulas have it.
    """
    rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    text = f"{abs(rounded):,.{places}f}"
    if language in COMMA_DECIMALS:
        text = text.translate({ord(","): ".", ord("."): ","})
    return f"−{text}" if rounded < 0 else text


def places_of(value: Decimal) -> int:
    """Return how many decimal places a number has."""
    exponent = value.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
