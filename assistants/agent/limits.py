"""The cap on what one run of the agent may spend."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from decimal import Decimal

from accounts.ledger.spending import cost_of_execution
from core.errors import BudgetExceeded
from core.llm.payment import ActualCost, Payment
from core.threads import in_database


@dataclass(frozen=True, slots=True)
class CappedPayment:
    """Pays by the ledger, as long as the run stays below its cap. Calls of a run come one after the other."""

    payment: Payment
    execution_id: str
    cap: Decimal | None
    """US dollars; None where only the workspace's limit counts."""
    kept_back: Decimal = Decimal(0)
    """So much is left for what comes later: the answer."""

    def for_the_answer(self) -> CappedPayment:
        """Return what pays for the answer: nothing comes after it."""
        return replace(self, kept_back=Decimal(0))

    @asynccontextmanager
    async def reserve(self, model: str, estimate: Decimal) -> AsyncIterator[ActualCost]:
        """Reserve the estimate for the block, and settle; raise `BudgetExceeded` if that is too much."""
        await self.require(estimate)
        async with self.payment.reserve(model, estimate) as bill:
            yield bill

    async def require(self, estimate: Decimal) -> None:
        """Raise `BudgetExceeded` if a call of this price would be too much for the run."""
        if self.cap is None or not estimate:
            return
        spent = await in_database(cost_of_execution, self.execution_id)
        if spent + estimate + self.kept_back > self.cap:
            raise BudgetExceeded(f"One question of this assistant may cost {self.cap} US dollars.")
