"""How the quotas of a workspace stand: the limit, what is used, and when that is over."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from accounts.ledger.base import max_cost_of
from accounts.models import Balance
from accounts.quotas.limits import next_midnight, quota_limits, tokens_today
from accounts.usage.storage import stored_amount


@dataclass(frozen=True, slots=True)
class QuotaStanding:
    """A quota; without a limit, `used` is told all the same."""

    name: str
    limit: Decimal | None
    used: Decimal
    resets_at: datetime | None = None

    @property
    def left(self) -> Decimal | None:
        """What is left of it."""
        return None if self.limit is None else max(Decimal(0), self.limit - self.used)

    @property
    def share(self) -> Decimal:
        """How much of it is used, in per cent, at most 100."""
        if self.limit is None:
            return Decimal(0)
        return min(Decimal(100), 100 * self.used / self.limit) if self.limit else Decimal(100)


def quota_standings(workspace_id: UUID) -> list[QuotaStanding]:
    """Return the quotas of a workspace that hold something: all but the rate of its runs."""
    limits, held = quota_limits(workspace_id), stored_amount(workspace_id)
    spent = Balance.unscoped.filter(workspace_id=workspace_id).values_list("total", flat=True).first()
    tokens = _decimal(limits.tokens_per_day)
    return [
        QuotaStanding("documents", _decimal(limits.documents), Decimal(held.documents)),
        QuotaStanding("storage_bytes", _decimal(limits.storage_bytes), Decimal(held.bytes)),
        QuotaStanding("tokens_per_day", tokens, Decimal(tokens_today(workspace_id)), next_midnight()),
        QuotaStanding("max_cost", max_cost_of(workspace_id), spent or Decimal(0)),
    ]


def _decimal(number: int | None) -> Decimal | None:
    return None if number is None else Decimal(number)
