"""Paying for a call: its estimated cost is reserved before, its actual cost settled after."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction

from accounts.ledger import balances
from accounts.ledger.base import Order, Payer, Reservation
from accounts.models.ledger import Purpose
from core.llm.payment import ActualCost
from core.threads import in_database, in_database_to_the_end


@asynccontextmanager
async def paying(order: Order) -> AsyncIterator[ActualCost]:
    """Reserve the estimate for the block, and settle the cost that the block stores.

    Raises `BudgetExceeded` if the limit does not allow it. If the cost stays unknown, after a timeout or a
    cancellation, the estimate counts as spent.
    """
    reservation = await reserve(order)
    bill = ActualCost()
    try:
        yield bill
    finally:
        await settle(reservation, order.estimate if bill.cost is None else bill.cost)


@dataclass(frozen=True, slots=True)
class LedgerPayment:
    """Who pays for chat models, as `core.llm` takes it: a workspace, whose ledger records each call.

    `payer` is called in a thread of the database, and only for what has a price.
    """

    payer: Callable[[], Payer]

    @asynccontextmanager
    async def reserve(self, model: str, estimate: Decimal) -> AsyncIterator[ActualCost]:
        """Reserve the estimate for the block, and settle; raise `BudgetExceeded` if that is too much."""
        if not estimate:
            yield ActualCost()
            return
        payer = await in_database(self.payer)
        async with paying(Order(payer, Purpose.MODEL, model, estimate)) as bill:
            yield bill


async def reserve(order: Order) -> Reservation:
    """Reserve the estimate, or raise `BudgetExceeded`. A free call needs no reservation and no row."""
    reservation = Reservation(order)
    if order.estimate > 0:
        try:
            await in_database_to_the_end(balances.reserve, reservation)
        except asyncio.CancelledError:
            # It may have been reserved all the same, but there will be no call.
            await settle(reservation, Decimal(0))
            raise
    return reservation


async def settle(reservation: Reservation, cost: Decimal) -> None:
    """Store the actual cost in place of the reserved one; a cost of zero leaves no row."""
    if cost > 0 or reservation.order.estimate > 0:
        await in_database_to_the_end(balances.settle, reservation, cost)


def require_room(payer: Payer, amount: Decimal) -> None:
    """Raise `BudgetExceeded` if so much could not be reserved now."""
    with transaction.atomic():
        balances.reserve(Reservation(Order(payer, Purpose.SEARCH, "", amount)))
        transaction.set_rollback(True)
