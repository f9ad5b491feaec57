"""Spending over a period for pages: by day, by provider, by workspace, and what is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext

from accounts.ledger.spending import Spending, spending
from accounts.models.ledger import Balance, Charge, Purpose
from core.languages.numbers import percentage
from search.web.usage.health import label_of

PERIODS = (7, 30, 90)
USUAL = 30


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
    """A day as a bar: how high its two parts are, in per cent of the dearest day."""

    day: Day
    searches: str
    models: str


@dataclass(frozen=True, slots=True)
class SpendingRow:
    """Part of what was spent: who or what it went to, for how many calls, and its share of all."""

    name: str
    purpose: str
    calls: int
    cost: Decimal
    share: str


@dataclass(frozen=True, slots=True)
class SpendingLimit:
    """The sum of all charges, and what they may come to; None is no limit. Both in US dollars."""

    total: Decimal
    most: Decimal | None

    @property
    def is_reached(self) -> bool:
        """Whether there is nothing left."""
        return self.most is not None and self.total >= self.most

    @property
    def share(self) -> str:
        """How much of it is used, at most all."""
        if self.most is None:
            return "0%"
        return f"{100 * min(self.total / self.most, Decimal(1)) if self.most else 100:.1f}%"


@dataclass(frozen=True, slots=True)
class SpendingOverview:
    """What was spent in the last days (UTC), today included."""

    days: tuple[Day, ...]
    by_provider: tuple[SpendingRow, ...]
    parts: tuple[Spending, ...]

    @classmethod
    def of(cls, charges: QuerySet[Charge], days: int, today: date) -> SpendingOverview:
        """Read and add up; the caller chooses whose charges."""
        first = today - timedelta(days=days - 1)
        parts = spending(charges, datetime.combine(first, time(), UTC))
        by_day = tuple(_day(first + timedelta(days=number), parts) for number in range(days))
        rows = rows_by(_payee, parts)
        return cls(by_day, rows, tuple(parts))

    @property
    def cost(self) -> Decimal:
        """What all of it has cost."""
        return sum((day.cost for day in self.days), start=Decimal(0))

    @property
    def calls(self) -> int:
        """How many calls that were."""
        return sum(day.calls for day in self.days)

    @property
    def highest(self) -> Decimal:
        """What the dearest day has cost."""
        return max(day.cost for day in self.days)

    @property
    def bars(self) -> list[SpendingBar]:
        """A bar for each day; only where anything was spent."""
        unit = self.highest / 100
        return [
            SpendingBar(day, f"{day.searches / unit:.2f}", f"{day.models / unit:.2f}") for day in self.days
        ]

    def by_workspace(self, names: Mapping[UUID, str]) -> tuple[SpendingRow, ...]:
        """Return a row for each workspace; what one that is gone has spent stays spent."""

        def owner(part: Spending) -> tuple[str, str]:
            name = names.get(part.workspace_id) if part.workspace_id else None
            return name or gettext("deleted workspaces"), ""

        return rows_by(owner, self.parts)


def rows_by(key: Callable[[Spending], tuple[str, str]], parts: Iterable[Spending]) -> tuple[SpendingRow, ...]:
    """Return a row for each name and purpose, the largest first."""
    groups: defaultdict[tuple[str, str], list[Spending]] = defaultdict(list)
    for part in parts:
        groups[key(part)].append(part)
    total = _cost(part for group in groups.values() for part in group)
    rows = [_row(*names, group, total) for names, group in groups.items()]
    return tuple(sorted(rows, key=lambda row: (-row.cost, row.name)))


def limit_of(balances: QuerySet[Balance], most: Decimal | None) -> SpendingLimit:
    """Return what a balance, if there is one yet, leaves of a limit."""
    total = balances.values_list("total", flat=True).first()
    return SpendingLimit(total or Decimal(0), most)


def period(given: str | None) -> int:
    """Return how many days to show: one of `PERIODS`, whatever is asked for."""
    return next((days for days in PERIODS if str(days) == given), USUAL)


def _payee(part: Spending) -> tuple[str, str]:
    purpose = Purpose(part.purpose)
    if purpose is Purpose.SEARCH:
        return label_of(part.provider), gettext("search")
    return part.provider, gettext("model")


def _row(name: str, purpose: str, parts: Sequence[Spending], total: Decimal) -> SpendingRow:
    cost = _cost(parts)
    share = percentage(cost / total if total else Decimal(0))
    return SpendingRow(name, purpose, sum(part.calls for part in parts), cost, share)


def _day(day: date, parts: Iterable[Spending]) -> Day:
    own = [part for part in parts if part.day == day]
    searches, models = (_cost(part for part in own if part.purpose == purpose) for purpose in Purpose)
    return Day(day, searches, models, sum(part.calls for part in own))


def _cost(parts: Iterable[Spending]) -> Decimal:
    return sum((part.cost for part in parts), start=Decimal(0))
