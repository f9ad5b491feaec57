"""Formulas in words, as people define measures: “365 * (average inventory between 2021 and 2022) / COGS”.

A line of a statement, or another measure, is meant of the period that the formula names with it, or else of
the one that the question names. What it amounts to is found in tables (`measuring.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from search.generation.extractive.lines import lines_named
from search.generation.extractive.measures import MEASURES, lines_of
from search.generation.extractive.periods import YEAR, period_before, periods_named, words_of

MOST_CHARS, MOST_DEPTH = 400, 6
MOST_PERIODS = 6
LATEST = "latest"
"""The period of a question that names none."""

_PERIOD = r"(?:q[1-4] (?:of )?)?(?:fiscal (?:year )?|fy ?['’]?)?(?:\d{4}|(?<=fy)\d\d|(?<=['’])\d\d)"
_RANGE = re.compile(rf"({_PERIOD})\s?[-–—]\s?({_PERIOD})", re.IGNORECASE)
_SIGNS = (
    (
        re.compile(
            r"\s(?:divided by|over|geteilt durch|dividiert durch|divisée?s? par"
            r"|dividid[oa]s? (?:por|entre))\s",
            re.IGNORECASE,
        ),
        " ÷ ",
    ),
    (
        re.compile(
            r",?\s(?:multiplied by|times|multipliziert mit|mal|multipliée?s? par|multiplicad[oa]s? por)\s",
            re.IGNORECASE,
        ),
        " × ",
    ),
    (re.compile(r"\s(?:plus|zuzüglich|más)\s", re.IGNORECASE), " + "),
    (re.compile(r"\s(?:minus|less|abzüglich|weniger|moins|menos)\s", re.IGNORECASE), " − "),
    (re.compile(r"(?<=[\s\d)])[*x·](?=[\s\d(])", re.IGNORECASE), " × "),
    (re.compile(r"(?<!\band)/(?!or\b)", re.IGNORECASE), " ÷ "),
    (re.compile(r"\s[-–—](?=[\s(])"), " − "),
)
SHARE_OF = "∕"
"""Divides all that stands before it by what stands behind: “gross profit minus costs as a % of revenue”."""
_OPERATORS = {SHARE_OF: 0, "+": 1, "−": 1, "×": 2, "÷": 2}
_PARTS = re.compile(r"[∕+−×÷()]|[^∕+−×÷()]+")
_MEAN = re.compile(r"\A(?:the )?(?:average|mean)(?: of)?\s++", re.IGNORECASE)
_CHANGE = re.compile(r"\A(?:the )?(?:change|increase|growth|difference) in\s++", re.IGNORECASE)
_NUMBER = re.compile(r"(\d{1,4}(?:\.\d{1,3})?)(?: days)?")
_BETWEEN = re.compile(
    rf"\s(?:between|from|during|in|of|for|at|over)\s(?=.{{0,20}}?{_PERIOD}).*\Z", re.IGNORECASE
)
_PERIODS = re.compile(_PERIOD, re.IGNORECASE)
_MEASURES = tuple(
    (re.compile(rf"(?:unadjusted )?(?:{measure.cue})", re.IGNORECASE), measure) for measure in MEASURES
)
_SAID_BESIDES = words_of(
    "total net gross unadjusted the a an of for in at as and end year ended ending fiscal from to its all"
    " shown cash flow flows income balance sheet statement statements attributable common shareholders"
    " stockholders company consolidated reported same period combined together"
)


@dataclass(frozen=True, slots=True)
class Worded:
    """A formula over lines of statements of certain periods: “{revenue@2022} ÷ {assets@2021}”.

    `dimension` is 1 for an amount, 0 for a ratio of amounts.
    """

    way: str
    strength: int
    """How tightly its last operator binds: 1 for sums, 2 for products, 3 for what needs no parentheses."""
    dimension: int

    def within(self, strength: int) -> str:
        """Return it in parentheses if its operator binds less tightly."""
        return f"({self.way})" if self.strength < strength else self.way


class NotUnderstood(ValueError):
    """Words that name no line, measure, number or operator."""


def of_period(way: str, period: str) -> str:
    """Return a formula over lines as one over those lines of a period."""
    return re.sub(r"{(\w+)}", rf"{{\1@{period}}}", way)


def expression_in(
    words: str, definitions: Mapping[str, str], periods: Sequence[str], choice: int = 0, depth: int = 0
) -> Worded:
    """Return the formula that words give; `periods` are those of the question, ascending.

    `choice` is which of the ways to work out a measure is taken, from 0, or its last one. Raise
    `NotUnderstood` for anything else.
    """
    if len(words) > MOST_CHARS or depth > MOST_DEPTH or not periods:
        raise NotUnderstood(words)
    text = _RANGE.sub(r"\1 to \2", f" {words} ")
    for sign, plain in _SIGNS:
        text = sign.sub(plain, text)
    return _Reader(list(filter(str.strip, _PARTS.findall(text))), definitions, periods, choice, depth).read()


def earlier(period: str) -> str:
    """Return the period before another one; raise `NotUnderstood` if that is not said."""
    if period == LATEST:
        raise NotUnderstood(period)
    return period_before(period)


def combined(left: Worded, sign: str, right: Worded) -> Worded:
    """Return two formulas joined by an operator: +, −, × or ÷; raise `NotUnderstood` for 3 m + 2."""
    if sign == SHARE_OF:
        sign = "÷"
    strength = _OPERATORS[sign]
    if strength == 1 and left.dimension != right.dimension:
        raise NotUnderstood(f"{left.way} {sign} {right.way}")
    dimension = {"×": left.dimension + right.dimension, "÷": left.dimension - right.dimension}.get(
        sign, left.dimension
    )
    behind = strength + (sign in "−÷")
    return Worded(f"{left.within(strength)} {sign} {right.within(behind)}", strength, dimension)


def mean_of(values: Sequence[Worded]) -> Worded:
    """Return the mean of formulas."""
    total = values[0]
    for value in values[1:]:
        total = combined(total, "+", value)
    return combined(total, "÷", Worded(str(len(values)), 3, 0))


class _Reader:
    """Reads the parts of a formula: what stands between operators and parentheses."""

    def __init__(
        self,
        parts: list[str],
        definitions: Mapping[str, str],
        periods: Sequence[str],
        choice: int,
        depth: int,
    ) -> None:
        self.parts = parts
        self.at = 0
        self.definitions = definitions
        self.periods = periods
        self.choice = choice
        self.depth = depth

    def read(self) -> Worded:
        found = self._joined(0)
        if self.at < len(self.parts):
            raise NotUnderstood(self.parts[self.at])
        return found

    def _joined(self, strength: int) -> Worded:
        """Read what operators of a strength, or stronger ones, join."""
        if strength > max(_OPERATORS.values()):
            return self._operand()
        left = self._joined(strength + 1)
        while self.at < len(self.parts) and _OPERATORS.get(self.parts[self.at]) == strength:
            sign = self.parts[self.at]
            self.at += 1
            left = combined(left, sign, self._joined(strength + 1))
        return left

    def _operand(self) -> Worded:
        if self.at == len(self.parts):
            raise NotUnderstood
        part = self.parts[self.at]
        self.at += 1
        if part == "(":
            found = self._joined(1)
            if self.at == len(self.parts) or self.parts[self.at] != ")":
                raise NotUnderstood(part)
            self.at += 1
            return found
        if part in _OPERATORS or part == ")":
            raise NotUnderstood(part)
        # “accounts payable (AP)”: a name that is only shortened.
        while self.parts[self.at : self.at + 1] == ["("] and self.parts[self.at + 2 : self.at + 3] == [")"]:
            self.at += 3
        return self._named(part.strip(" ,.:;"))

    def _named(self, words: str) -> Worded:
        if number := _NUMBER.fullmatch(words):
            return Worded(number[1], 3, 0)
        named = _between(periods_named(words)) if _PERIODS.search(words) else []
        if mean := _MEAN.match(words):
            periods = (
                named
                if len(named) > 1
                else [earlier((named or self.periods)[-1]), *(named or self.periods)[-1:]]
            )
            return mean_of([self._of(_without_period(words[mean.end() :]), period) for period in periods])
        if change := _CHANGE.match(words):
            last = (named or self.periods)[-1]
            first = named[0] if len(named) > 1 else earlier(last)
            of = _without_period(words[change.end() :])
            return combined(self._of(of, last), "−", self._of(of, first))
        return self._of(_without_period(words), (named or self.periods)[-1])

    def _of(self, name: str, period: str) -> Worded:
        """Return what a name means of a period: what the question defines it as, a measure, or a line."""
        plain = re.sub(r"\Athe ", "", name.casefold()).strip()
        if (defined := self.definitions.get(plain)) is not None:
            others = {known: words for known, words in self.definitions.items() if words != defined}
            return expression_in(defined, others, [*self.periods, period], self.choice, self.depth + 1)
        for called, measure in _MEASURES:
            if called.fullmatch(plain):
                way = measure.ways[min(self.choice, len(measure.ways) - 1)]
                return expression_of_measure(way, period, is_amount=measure.is_amount)
        lines = lines_named(name)
        if len(lines) != 1:
            raise NotUnderstood(name)
        [(key, match)] = lines
        besides = re.findall(r"[^\W\d_]+", f"{name[: match.start()]} {name[match.end() :]}".casefold())
        if not _SAID_BESIDES.issuperset(besides):
            raise NotUnderstood(name)
        return Worded(f"{{{key}@{period}}}", 3, 1)


def expression_of_measure(way: str, period: str, *, is_amount: bool) -> Worded:
    """Return the formula of a measure for a period."""
    is_line = len(lines_of(way)) == 1 and way.startswith("{") and way.endswith("}")
    return Worded(of_period(way, period), 3 if is_line else 1, int(is_amount))


def _without_period(words: str) -> str:
    """Return words without the periods in them: “accounts payable between 2021 and 2022”."""
    return " ".join(_PERIODS.sub(" ", _BETWEEN.sub("", words)).split())


def _between(periods: Sequence[str]) -> list[str]:
    return periods_through(sorted(set(periods)))


def periods_through(periods: Sequence[str]) -> list[str]:
    """Return the years from the first to the last of two; other periods as they are."""
    if len(periods) != 2 or not all(map(YEAR.fullmatch, periods)):
        return list(periods)
    first, last = map(int, periods)
    return list(map(str, range(first, last + 1))) if last - first < MOST_PERIODS else list(periods)
