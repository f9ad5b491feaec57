"""What was spent day by day as bars: places in per cent of width and height, from the top left.

An SVG without a view box stretches bars and leaves letters as they are, so that it suits a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from math import ceil

from search.web.usage.money import dollars

ROUND = (1, 2, 5, 10)
MOST_LINES = 4
BAR_SHARE = Decimal("0.8")
"""How much of a day's width its bar takes."""


@dataclass(frozen=True, slots=True)
class Day:
    """What was paid on a day, in US dollars, for searches and for models, and for how many calls."""

    day: date
    searches: Decimal = Decimal(0)
    models: Decimal = Decimal(0)
    calls: int = 0

    @property
    def cost(self) -> Decimal:
        """What the day has cost."""
        return self.searches + self.models


@dataclass(frozen=True, slots=True)
class SpendingBar:
    """A day in the plot: its column, the bar in it, and where its two parts begin and how high they are."""

    day: Day
    column: str
    x: str
    searches: tuple[str, str]
    models: tuple[str, str]


@dataclass(frozen=True, slots=True)
class SpendingLine:
    """A line across the plot with its label."""

    y: str
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A bar for each day; `column` and `width` are how wide a day and its bar are."""

    bars: tuple[SpendingBar, ...]
    lines: tuple[SpendingLine, ...]
    column: str
    width: str

    @classmethod
    def of(cls, days: Sequence[Day]) -> Plot:
        """Work out all places; `days` are consecutive."""
        highest = max((day.cost for day in days), default=Decimal(0))
        step = _step(highest)
        lines = [step * number for number in range(1, max(ceil(highest / step), 1) + 1)]
        column = Decimal(1) / max(len(days), 1)
        return cls(
            tuple(_bar(day, number * column, column, lines[-1]) for number, day in enumerate(days)),
            tuple(SpendingLine(_percent(1 - amount / lines[-1]), dollars(amount)) for amount in lines),
            _percent(column),
            _percent(column * BAR_SHARE),
        )


def _bar(day: Day, column: Decimal, width: Decimal, top: Decimal) -> SpendingBar:
    searches, models = day.searches / top, day.models / top
    return SpendingBar(
        day,
        _percent(column),
        _percent(column + width * (1 - BAR_SHARE) / 2),
        (_percent(1 - searches), _percent(searches)),
        (_percent(1 - searches - models), _percent(models)),
    )


def _step(highest: Decimal) -> Decimal:
    """Return a round amount of which at most four reach the highest bar."""
    if highest <= 0:
        return Decimal(1)
    magnitude = Decimal(10) ** (highest / MOST_LINES).adjusted()
    return next(magnitude * each for each in ROUND if magnitude * each * MOST_LINES >= highest)


def _percent(share: Decimal) -> str:
    return f"{100 * share:.3f}%"
