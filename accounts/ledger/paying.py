"""Paying for a call: its estimated cost is reserved before, its actual cost settled after."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from decimal import Decimal

from django.db import close_old_connections, transaction

from accounts.ledger import balances
from accounts.ledger.base import Order, Payer, Reservation
from accounts.models.ledger import Purpose
from core.threads import in_database


@dataclass(slots=True)
class ActualCost:
    """The actual cost of a call in US dollars; None as long as it is unknown."""

    cost: Decimal | None = None


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


@contextmanager
def paying_in_thread(order: Order) -> Iterator[ActualCost]:
    """Do the same for a thread that may wait for the database; no connection is held meanwhile."""
    reservation, bill = Reservation(order), ActualCost()
    if order.estimate > 0:
        balances.reserve(reservation)
        close_old_connections()
    try:
        yield bill
    finally:
        cost = order.estimate if bill.cost is None else bill.cost
        if cost > 0 or order.estimate > 0:
            balances.settle(reservation, cost)
            close_old_connections()


async def reserve(order: Order) -> Reservation:
    """Reserve the estimate, or raise `BudgetExceeded`. A free call needs no reservation and no row."""
    reservation = Reservation(order)
    if order.estimate > 0:
        await in_database(balances.reserve, reservation)
    return reservation


async def settle(reservation: Reservation, cost: Decimal) -> None:
    """Store the actual cost in place of the reserved one; a cost of zero leaves no row."""
    if cost > 0 or reservation.order.estimate > 0:
        await in_database(balances.settle, reservation, cost)


def require_room(payer: Payer, amount: Decimal) -> None:
    """Raise `BudgetExceeded` if so much could not be reserved now."""
    with transaction.atomic():
        balances.reserve(Reservation(Order(payer, Purpose.SEARCH, "", amount)))
        transaction.set_rollback(True)
