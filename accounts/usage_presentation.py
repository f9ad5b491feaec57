"""Usage as pages show it: plots, tables and bars of quotas, with all numbers in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Self

from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from accounts.principal import Principal
from accounts.quotas.standing import QuotaStanding
from accounts.usage.naming import NamedUsage, named_usage
from accounts.usage.reading import Period, UsageGrouping, UsageRows, UsageSums, in_total
from core.languages.numbers import grouped, price, size_in_words

PERIODS = (7, 30, 90)
USUAL = 30
MOST_ROWS = 50
"""Groups in a table; the API has all of them."""


@dataclass(frozen=True, slots=True)
class PlotColumn:
    """A day of a plot: how high it is, in per cent of the highest."""

    title: str
    height: str


@dataclass(frozen=True, slots=True)
class UsagePlot:
    """One measure, day by day."""

    title: str
    total: str
    highest: str
    columns: Sequence[PlotColumn]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.columns


@dataclass(frozen=True, slots=True)
class UsageLine:
    """A row of a table: who or when, and the numbers in the order of `HEADINGS`."""

    label: str
    cells: Sequence[tuple[str, str]]
    """Heading and number."""


@dataclass(frozen=True, slots=True)
class UsageTable:
    """Usage by user, key, external user or workspace."""

    title: str
    lines: Sequence[UsageLine]
    left_out: int
    """Groups that are not shown."""


@dataclass(frozen=True, slots=True)
class UsageOverview:
    """What the page of a period shows."""

    period: Period
    plots: Sequence[UsagePlot]
    days: Sequence[UsageLine]
    """The days on which anything was used, the latest first."""
    tables: Sequence[UsageTable]

    @classmethod
    def of(cls, principal: Principal, rows: UsageRows, period: Period, by: Sequence[UsageGrouping]) -> Self:
        """Read the sums: by day, and by each of these groupings."""
        sums = rows.sums(UsageGrouping.DAY)
        named = named_usage(principal, period, UsageGrouping.DAY, sums)
        used = [_line(_day(one.id), one.sums) for one in reversed(named) if one.sums != UsageSums()]
        tables = [_table(grouping, principal, rows, period) for grouping in by]
        plots = [_plot(*measure, named, in_total(dict(sums))) for measure in MEASURES]
        return cls(period, plots, used, [table for table in tables if table.lines])


@dataclass(frozen=True, slots=True)
class QuotaBar:
    """A quota in words, and how much of it is used."""

    title: str
    used: str
    limit: str | None
    left: str
    share: str
    is_reached: bool
    note: str


def quota_bars(standings: Sequence[QuotaStanding]) -> list[QuotaBar]:
    """Return a bar for each quota."""
    return [_bar(standing) for standing in standings]


def days_of(given: str | None) -> int:
    """Return how many days to show: one of `PERIODS`, whatever is asked for."""
    return next((days for days in PERIODS if str(days) == given), USUAL)


def whole_number(number: int | Decimal) -> str:
    """Return a number as its reader writes it."""
    return grouped(int(number))


def in_bytes(amount: Decimal) -> str:
    """Return an amount of bytes, such as 1.5 GB."""
    return size_in_words(int(amount))


Measure = tuple[str | Promise, Callable[[UsageSums], Decimal | int], Callable[[Any], str]]
MEASURES: Sequence[Measure] = [
    (gettext_lazy("Questions"), lambda sums: sums.questions, whole_number),
    (gettext_lazy("Tokens"), lambda sums: sums.tokens, whole_number),
    (gettext_lazy("Pages read"), lambda sums: sums.pages, whole_number),
    (gettext_lazy("Cost"), lambda sums: sums.cost, price),
]
HEADINGS = (
    gettext_lazy("Questions"),
    gettext_lazy("Tokens read"),
    gettext_lazy("Tokens written"),
    gettext_lazy("Pages"),
    gettext_lazy("Documents"),
    gettext_lazy("Cost"),
)
TITLES = {
    UsageGrouping.USER: gettext_lazy("By user"),
    UsageGrouping.KEY: gettext_lazy("By API key"),
    UsageGrouping.EXTERNAL_USER: gettext_lazy("By external user"),
    UsageGrouping.WORKSPACE: gettext_lazy("By workspace"),
}
QUOTAS: dict[str, tuple[str | Promise, Callable[[Decimal], str], str | Promise]] = {
    "documents": (
        gettext_lazy("Documents"),
        whole_number,
        gettext_lazy("Deleting documents makes room at once."),
    ),
    "storage_bytes": (
        gettext_lazy("Storage"),
        in_bytes,
        gettext_lazy("The files that were uploaded or fetched."),
    ),
    "tokens_per_day": (
        gettext_lazy("Tokens today"),
        whole_number,
        gettext_lazy("Begins anew at midnight (UTC)."),
    ),
    "max_cost": (
        gettext_lazy("Cost in all"),
        price,
        gettext_lazy("US dollars since the first call, with what calls under way may cost."),
    ),
}


def _plot(
    title: str | Promise,
    value: Callable[[UsageSums], Decimal | int],
    words: Callable[[Any], str],
    days: Sequence[NamedUsage],
    total: UsageSums,
) -> UsagePlot:
    values = [value(day.sums) for day in days]
    highest = max(values)
    columns = [
        PlotColumn(f"{_day(day.id)}: {words(one)}", f"{100 * one / highest:.2f}")
        for day, one in zip(days, values, strict=True)
        if highest
    ]
    return UsagePlot(str(title), words(value(total)), words(highest), columns)


def _table(grouping: UsageGrouping, principal: Principal, rows: UsageRows, period: Period) -> UsageTable:
    named = named_usage(principal, period, grouping, rows.sums(grouping))
    # A table of those without any says nothing.
    shown = [] if {one.id for one in named} <= {None} and grouping is not UsageGrouping.USER else named
    lines = [_line(one.label, one.sums) for one in shown[:MOST_ROWS]]
    return UsageTable(str(TITLES[grouping]), lines, max(0, len(shown) - MOST_ROWS))


def _line(label: str, sums: UsageSums) -> UsageLine:
    numbers = (sums.questions, sums.input_tokens, sums.output_tokens, sums.pages, sums.documents)
    cells = [*map(whole_number, numbers), price(sums.cost)]
    return UsageLine(label, list(zip(map(str, HEADINGS), cells, strict=True)))


def _bar(standing: QuotaStanding) -> QuotaBar:
    title, words, note = QUOTAS[standing.name]
    left = standing.left
    return QuotaBar(
        str(title),
        words(standing.used),
        None if standing.limit is None else words(standing.limit),
        gettext("No limit") if left is None else gettext("%(amount)s left") % {"amount": words(left)},
        f"{standing.share:.1f}%",
        left is not None and not left,
        str(note),
    )


def _day(iso: str | None) -> str:
    """Return a day as the reader writes it: 3 November 2026."""
    day = date.fromisoformat(iso or "0001-01-01")
    return date_format(day, gettext("j F Y"))
