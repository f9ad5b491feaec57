"""Sums of usage over days, by day, user, key, external user or workspace; money is added from the ledger."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from accounts.models import Charge, DailyUsage
from accounts.principal import Principal
from accounts.roles import Role
from accounts.usage.counting import COUNTED

NOTHING = Decimal(0)


class UsageGrouping(StrEnum):
    """By what usage is summed."""

    DAY = "day"
    USER = "user"
    KEY = "key"
    EXTERNAL_USER = "external_user"
    WORKSPACE = "workspace"


COLUMNS = {
    UsageGrouping.USER: "user_id",
    UsageGrouping.KEY: "key_id",
    UsageGrouping.EXTERNAL_USER: "external_user_id",
    UsageGrouping.WORKSPACE: "workspace_id",
}


@dataclass(frozen=True, slots=True)
class UsageSums:
    """What was used; `cost` is in US dollars, for settled charges."""

    questions: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    pages: int = 0
    documents: int = 0
    cost: Decimal = NOTHING

    def __add__(self, other: Self) -> Self:
        """Return the sum of two."""
        names = [field.name for field in fields(self)]
        return type(self)(**{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def tokens(self) -> int:
        """Tokens that models have read and written."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Period:
    """Days (UTC), the first and the last included."""

    first: date
    last: date

    @classmethod
    def of_days(cls, days: int) -> Self:
        """Return the last days, today included."""
        today = datetime.now(UTC).date()
        return cls(today - timedelta(days=days - 1), today)

    def days(self) -> list[date]:
        """Return each day."""
        return [self.first + timedelta(days=number) for number in range((self.last - self.first).days + 1)]


class UsageRows:
    """The usage and the charges that somebody may see."""

    def __init__(self, usage: QuerySet[DailyUsage], charges: QuerySet[Charge], period: Period) -> None:
        begin = datetime.combine(period.first, time(), UTC)
        end = datetime.combine(period.last + timedelta(days=1), time(), UTC)
        self._usage = usage.filter(day__range=(period.first, period.last))
        self._charges = charges.filter(settled_at__isnull=False, created_at__gte=begin, created_at__lt=end)

    @classmethod
    def of_workspace(cls, principal: Principal, workspace_id: UUID, period: Period) -> Self:
        """Return those of a workspace: all for its admins, for other members their own."""
        charges = Charge.objects.restricted_to(principal).filter(workspace_id=workspace_id)
        if not sees_all(principal, workspace_id):
            charges = charges.filter(_own(principal))
        usage = DailyUsage.objects.restricted_to(principal).filter(workspace_id=workspace_id)
        return cls(usage, charges, period)

    @classmethod
    def of_principal(cls, principal: Principal, period: Period) -> Self:
        """Return the principal's own, in all workspaces that it may read."""
        own = _own(principal)
        usage = DailyUsage.objects.restricted_to(principal).filter(own)
        return cls(usage, Charge.objects.restricted_to(principal).filter(own), period)

    def sums(self, by: UsageGrouping) -> dict[Any, UsageSums]:
        """Return the sums of each group; the key None is of those without one, or deleted."""
        if by is UsageGrouping.DAY:
            return self._add(
                self._usage, self._charges.annotate(day=TruncDate("created_at", tzinfo=UTC)), "day"
            )
        return self._add(self._usage, self._charges, COLUMNS[by])

    @staticmethod
    def _add(usage: QuerySet[Any], charges: QuerySet[Any], column: str) -> dict[Any, UsageSums]:
        sums: defaultdict[Any, UsageSums] = defaultdict(UsageSums)
        counts = {f"sum_{name}": Sum(name) for name in COUNTED}
        for key, *counted in usage.order_by().values_list(column).annotate(**counts):
            sums[key] += UsageSums(*counted)
        for key, cost in charges.order_by().values_list(column).annotate(cost=Sum("amount")):
            sums[key] += UsageSums(cost=cost)
        return dict(sums)


def sees_all(principal: Principal, workspace_id: UUID) -> bool:
    """Tell whether a principal sees the usage of a whole workspace, and not only its own."""
    return principal.external_user_id is None and principal.roles[workspace_id].covers(Role.ADMIN)


def _own(principal: Principal) -> Q:
    own = Q(user_id=principal.user_id)
    if principal.external_user_id is None:
        return own
    return own & Q(external_user_id=principal.external_user_id)


def in_total(sums: dict[Any, UsageSums]) -> UsageSums:
    """Return the sum of all groups."""
    return sum(sums.values(), start=UsageSums())
