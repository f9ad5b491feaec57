"""Money spent: by an execution, and by day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import TruncDate

from accounts.models.ledger import Charge
from core.row_access import as_system


@as_system("the costs of an execution that the caller has found")
def cost_of_execution(execution_id: str) -> Decimal:
    """Return the cost of an execution so far, in US dollars."""
    charges = Charge.unscoped.filter(execution_id=execution_id)
    total: Decimal | None = charges.aggregate(total=Sum("amount"))["total"]
    return total or Decimal(0)


@dataclass(frozen=True, slots=True)
class Spending:
    """The money that a workspace paid a provider on a day (UTC); the workspace is None once it is gone."""

    day: date
    workspace_id: UUID | None
    purpose: str
    """One of `Purpose`."""
    provider: str
    calls: int
    cost: Decimal


def spending(charges: QuerySet[Charge], since: datetime) -> list[Spending]:
    """Return the settled charges since a moment, by day from the latest, and by sum from the largest.

    The caller chooses the rows: `Charge.objects.restricted_to(principal)`, or all of them in the admin panel.
    """
    settled = charges.filter(settled_at__isnull=False, created_at__gte=since)
    days = settled.annotate(day=TruncDate("created_at")).values("day", "workspace_id", "purpose", "provider")
    sums = days.annotate(calls=Count("pk"), cost=Sum("amount")).order_by("-day", "-cost", "provider")
    columns = ("day", "workspace_id", "purpose", "provider", "calls", "cost")
    return [Spending(*row) for row in sums.values_list(*columns)]
