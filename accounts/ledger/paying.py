"""Paying for a call: its price is reserved before, and settled after."""

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
class Bill:
    """What a call has cost, in US dollars; None as long as nobody knows."""

    cost: Decimal | None = None


@asynccontextmanager
async def paying(order: Order) -> AsyncIterator[Bill]:
    """Reserve the estimate for the block, and settle what the block writes on its bill.

    Raise `BudgetExceeded` if that would be too much. Where nobody knows the cost, after a timeout or a
    cancellation, the estimate counts as spent.
    """
    reservation = await reserve(order)
    bill = Bill()
    try:
        yield bill
    finally:
        await settle(reservation, order.estimate if bill.cost is None else bill.cost)


@contextmanager
def paying_in_thread(order: Order) -> Iterator[Bill]:
    """Do the same for callers in a thread that may wait for the database; no connection is held meanwhile."""
    reservation, bill = Reservation(order), Bill()
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
    """Put the estimate aside, or raise `BudgetExceeded`. What is free needs no reservation and no row."""
    reservation = Reservation(order)
    if order.estimate > 0:
        await in_database(balances.reserve, reservation)
    return reservation


async def settle(reservation: Reservation, cost: Decimal) -> None:
    """Record what the call has cost in place of what was reserved; nothing leaves no trace."""
    if cost > 0 or reservation.order.estimate > 0:
        await in_database(balances.settle, reservation, cost)


def require_room(payer: Payer, amount: Decimal) -> None:
    """Raise `BudgetExceeded` if so much could not be reserved now."""
    with transaction.atomic():
        balances.reserve(Reservation(Order(payer, Purpose.SEARCH, "", amount)))
        transaction.set_rollback(True)
