"""Who pays in tests and benchmarks: nobody, or somebody who writes it down."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal

from core.errors import BudgetExceeded
from core.llm.payment import ActualCost, NoCharge

UNRECORDED = NoCharge("a test or a benchmark")


@dataclass
class RecordedPayment:
    """Keeps what was reserved for which model, and the bills; refuses what is above its limit."""

    limit: Decimal | None = None
    reserved: list[tuple[str, Decimal]] = field(default_factory=list)
    bills: list[ActualCost] = field(default_factory=list)

    @asynccontextmanager
    async def reserve(self, model: str, estimate: Decimal) -> AsyncIterator[ActualCost]:
        if self.limit is not None and estimate > self.limit:
            raise BudgetExceeded("spent")
        self.reserved.append((model, estimate))
        bill = ActualCost()
        self.bills.append(bill)
        yield bill
