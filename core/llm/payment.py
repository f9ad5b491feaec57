"""Who pays for a call of a model. The ledger is above this room: it comes as an argument."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol


@dataclass(slots=True)
class ActualCost:
    """The actual cost of a call in US dollars; None as long as it is unknown."""

    cost: Decimal | None = None


class Payment(Protocol):
    """The means by which a call is paid; `accounts.ledger.paying.LedgerPayment` charges a workspace."""

    def reserve(self, model: str, estimate: Decimal) -> AbstractAsyncContextManager[ActualCost]:
        """Reserve the estimate, in US dollars, for the block, and settle what is on its bill in the end.

        Raise `BudgetExceeded` if that would be too much. A bill without a cost counts as the estimate.
        """


@dataclass(frozen=True, slots=True)
class NoCharge:
    """A call that no ledger records, for the reason given: checks and evaluations by the operator."""

    reason: str

    @asynccontextmanager
    async def reserve(self, model: str, estimate: Decimal) -> AsyncIterator[ActualCost]:
        """Reserve nothing."""
        yield ActualCost()
