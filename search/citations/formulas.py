"""Formulas in answers: “(3,200 − 2,900) ÷ 2,900 = 10.3 %” proves its result from its operands.

A source has to hold the operands and not the result, if that is right. A wrong result is a number like any
other, which no source has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, DecimalException, localcontext

from core.text.analysis import terms
from core.text.figures import Figure, figure_of, places_of

Terms = frozenset[str]

PRECISION = 40
MOST_TOKENS = 60
"""A longer formula is none that anybody would check."""
_LEFT = r"\d\s.,()%$€£¥+*/×÷·−–-"
_FORMULA = re.compile(
    rf"(?<![{_LEFT}])([{_LEFT}]++)[=≈]\s*+([−–+-]?\s?[$€£¥]?\s?\d(?:[.,]?\d|\s\d{{3}}(?!\d))*+)(\s?%)?"
)
_TOKEN = re.compile(r"\s?(?:(\d(?:[.,]?\d|\s\d{3}(?!\d))*+)(\s?%)?|([()+*/×÷·−–-])|[$€£¥])")
_DIVISOR = re.compile(r"\)\s*+[÷/]\s*+(\d{1,2})(?![\d.,]*\d)")
_DAYS_OF_YEAR = re.compile(r"(?<![\d.,])365(?=\s?[×*·])|(?<=[×*·])\s?365(?![\d.,]*\d)")
_WHOLE = re.compile(r"(?:\A|\()\s*+1\s?[−–-]")
_SIGNS = {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/"}


class NotAFormula(ValueError):
    """A text that looks like a formula can't be computed."""


def proven(text: str, language: str | None) -> Terms:
    """Return the terms of the numbers that formulas in a text prove: results, and constants.

    A result is right if the exact one, rounded to as many places, is the same.
    """
    found: set[str] = set()
    for left, right, percent in _FORMULA.findall(text):
        result = figure_of(f"{right}{percent}", language)
        if result is not None and _is_right(left, result, language):
            found.update(terms(result.text, language))
            found.update(_constants(left))
    return frozenset(found)


def _is_right(left: str, result: Figure, language: str | None) -> bool:
    try:
        with localcontext(prec=PRECISION):
            exact = Expression(left, language).value() * (100 if result.is_percent else 1)
            # What is rounded may be off by half of its last place.
            return abs(exact - result.value) <= Decimal("0.5").scaleb(-places_of(result.value))
    except (NotAFormula, DecimalException):
        return False


def _constants(left: str) -> Iterator[str]:
    """Yield what no source has: how many summands a mean has, the days of a year, the whole of a share."""
    if _DAYS_OF_YEAR.search(left):
        yield "365"
    if _WHOLE.search(left):
        yield "1"
    for divisor in _DIVISOR.finditer(left):
        if _summands_before(left, divisor.start()) == int(divisor[1]):
            yield divisor[1]


def _summands_before(left: str, end: int) -> int:
    """Return how many summands stand in the parentheses that close at `end`."""
    depth, summands = 0, 1
    for sign in reversed(left[:end]):
        if sign == "(" and not depth:
            return summands
        depth += {")": 1, "(": -1}.get(sign, 0)
        summands += sign == "+" and not depth
    return 0


class Expression:
    """Sums, differences, products and quotients of figures, in parentheses or not; “10 %” is 0.1."""

    def __init__(self, text: str, language: str | None) -> None:
        """Take it apart; raise `NotAFormula` for anything else, or if there is no operator."""
        self._tokens: list[Decimal | str] = []
        self._at = 0
        at = 0
        folded = " ".join(text.split())
        while at < len(folded):
            token = _TOKEN.match(folded, at)
            if token is None or len(self._tokens) == MOST_TOKENS:
                raise NotAFormula(text)
            at = token.end()
            if token[1]:
                self._tokens.append(_number(token[1], bool(token[2]), language))
            elif token[3]:
                self._tokens.append(_SIGNS.get(token[3], token[3]))
        if not any(each in ("+", "-", "*", "/") for each in self._tokens):
            raise NotAFormula(text)

    def value(self) -> Decimal:
        """Compute it; raise `NotAFormula` or, as for a division by zero, an error of `decimal`."""
        value = self._sum()
        if self._at < len(self._tokens):
            raise NotAFormula
        return value

    def _sum(self) -> Decimal:
        value = self._product()
        while (sign := self._take("+", "-")) is not None:
            following = self._product()
            value = value + following if sign == "+" else value - following
        return value

    def _product(self) -> Decimal:
        value = self._factor()
        while (sign := self._take("*", "/")) is not None:
            following = self._factor()
            value = value * following if sign == "*" else value / following
        return value

    def _factor(self) -> Decimal:
        if self._take("-"):
            return -self._factor()
        if self._take("("):
            value = self._sum()
            if not self._take(")"):
                raise NotAFormula
            return value
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        if not isinstance(token, Decimal):
            raise NotAFormula
        self._at += 1
        return token

    def _take(self, *signs: str) -> str | None:
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        if isinstance(token, str) and token in signs:
            self._at += 1
            return token
        return None


def _number(text: str, is_percent: bool, language: str | None) -> Decimal:
    figure = figure_of(text, language)
    if figure is None:
        raise NotAFormula(text)
    return figure.value / 100 if is_percent else figure.value
