"""The ledger of calls that cost money, and the limits it keeps (contract §6, ADR 22).

    reserve what a call may cost ─▶ call ─▶ settle what it has cost, or release if it has cost nothing

A sum per workspace and one for all are kept beside the charges and moved in the same transaction, by an
UPDATE that only succeeds below the limit: however many reserve at once, the limit holds to the millionth of a
dollar. A reservation has a lease, after which it is released: its process is gone.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Now, TruncDate
from django.utils import timezone
from procrastinate.contrib.django import app

from accounts.errors import BudgetExceeded
from kb.threads import in_database
from search.web.base import Found, Outcome, Provider, ProviderFailed, WebQuery
from search.web.models import PLACES, Balance, Charge, Purpose
from search.web.providers.registry import configured

# Longer than any such call takes.
LEASES = {Purpose.SEARCH: timedelta(minutes=2), Purpose.MODEL: timedelta(minutes=30)}
_SMALLEST = Decimal(1).scaleb(-PLACES)
_NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Payer:
    """Who pays for a call: a workspace, with its own limit in US dollars if it has one."""

    workspace_id: UUID
    max_cost: Decimal | None = None
    execution_id: str | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """A call that may cost money: the search provider or model, and the US dollars it is likely to cost."""

    payer: Payer
    purpose: Purpose
    provider: str
    estimate: Decimal


@dataclass(frozen=True, slots=True)
class Reservation:
    """Money put aside for an order, until it is settled or released."""

    order: Order
    id: UUID = field(default_factory=uuid.uuid4)


@dataclass(slots=True)
class Bill:
    """What a call has cost, in US dollars; None as long as nobody knows."""

    cost: Decimal | None = None


@asynccontextmanager
async def paying(order: Order) -> AsyncIterator[Bill]:
    """Reserve the estimate for the block, and settle what the block writes on its bill.

    Raise `BudgetExceeded` if that would be too much. A provider that failed bills nothing. Where nobody
    knows, after a timeout or a cancellation, the estimate counts as spent.
    """
    reservation = await reserve(order)
    bill = Bill()
    try:
        yield bill
    except ProviderFailed as failure:
        if bill.cost is None and failure.outcome is not Outcome.TIMEOUT:
            bill.cost = _NOTHING
        raise
    finally:
        await settle(reservation, order.estimate if bill.cost is None else bill.cost)


async def reserve(order: Order) -> Reservation:
    """Put the estimate aside, or raise `BudgetExceeded`. What is free needs no reservation and no row."""
    reservation = Reservation(order)
    if order.estimate > 0:
        await in_database(_reserve, reservation)
    return reservation


def is_limited(payer: Payer) -> bool:
    """Tell whether there is any limit to what may be spent."""
    return payer.max_cost is not None or settings.MAX_COST is not None


def require_room(payer: Payer, amount: Decimal) -> None:
    """Raise `BudgetExceeded` if so much could not be reserved now."""
    with transaction.atomic():
        _reserve(Reservation(Order(payer, Purpose.SEARCH, "", amount)))
        transaction.set_rollback(True)


async def settle(reservation: Reservation, cost: Decimal) -> None:
    """Record what the call has cost in place of what was reserved; nothing leaves no trace."""
    if cost > 0 or reservation.order.estimate > 0:
        await in_database(_settle, reservation, cost)


# --- What calls cost -------------------------------------------------------------------------------------


def price_of(provider: Provider | type[Provider]) -> Decimal:
    """Return the US dollars for one call: by `WEB_PRICES`, or else as the provider's price list says."""
    prices = dict(entry.split("=") for entry in settings.WEB_PRICES)
    own = prices.get(provider.name)
    return provider.price if own is None else Decimal(own) / 1000


def prices() -> dict[str, float]:
    """Return the US dollars for a call of each provider that is configured."""
    return {provider.name: float(price_of(provider)) for provider in configured()}


def estimate_of(provider: Provider, query: WebQuery) -> Decimal:
    """Return what a search may cost, in US dollars."""
    return price_of(provider) * provider.most_calls(query) + provider.likely_extra


def cost_of(provider: Provider, found: Found) -> Decimal:
    """Return what a search has cost, in US dollars."""
    return price_of(provider) * found.calls + found.extra_cost


# --- The ledger ------------------------------------------------------------------------------------------


def _reserve(reservation: Reservation) -> None:
    try:
        _book(reservation, reservation.order.estimate)
    except BudgetExceeded:
        # What the dead have reserved is not spent; who comes first releases it for all that wait here.
        release_abandoned()
        _book(reservation, reservation.order.estimate)


@transaction.atomic
def _book(reservation: Reservation, amount: Decimal, *, is_spent: bool = False) -> None:
    """Write a charge into the ledger; what is spent already counts whatever the limits say."""
    order, amount = reservation.order, _rounded(amount)
    limits = (None, None) if is_spent else (order.payer.max_cost, settings.MAX_COST)
    _move(order.payer.workspace_id, amount, *limits)
    Charge.unscoped.create(
        id=reservation.id,
        workspace_id=order.payer.workspace_id,
        execution_id=order.payer.execution_id,
        purpose=order.purpose,
        provider=order.provider,
        amount=amount,
        settled_at=Now() if is_spent else None,
        lease_until=Now() + LEASES[order.purpose],
    )


@transaction.atomic
def _settle(reservation: Reservation, cost: Decimal) -> None:
    charge = Charge.unscoped.select_for_update().filter(pk=reservation.id).first()
    if charge is None:
        # Nothing was reserved, or the lease was over before the call was.
        if cost > 0:
            _book(reservation, cost, is_spent=True)
        return
    if charge.settled_at is not None:
        raise ValueError(f"The charge {charge.pk} has been settled already.")
    cost = _rounded(cost)
    _move(charge.workspace_id, cost - charge.amount)
    if cost == 0:
        charge.delete()
    else:
        charge.amount, charge.settled_at = cost, timezone.now()
        charge.save(update_fields=["amount", "settled_at"])


@transaction.atomic
def release_abandoned() -> None:
    """Release the reservations whose lease is over."""
    abandoned = Charge.unscoped.filter(settled_at=None, lease_until__lt=Now())
    charges = list(abandoned.order_by("pk").select_for_update())
    Charge.unscoped.filter(pk__in=[charge.pk for charge in charges]).delete()
    # In the order in which everybody takes them.
    for charge in sorted(charges, key=lambda charge: str(charge.workspace_id)):
        if charge.workspace_id is not None:
            _add(charge.workspace_id, -charge.amount)
    if charges:
        _add(None, -sum((charge.amount for charge in charges), start=_NOTHING))


def _move(
    workspace_id: UUID | None,
    amount: Decimal,
    limit: Decimal | None = None,
    limit_of_all: Decimal | None = None,
) -> None:
    """Add to the balance of a workspace, unless it is gone, and to that of all.

    The one of all comes last everywhere, so that nobody waits in a circle.
    """
    if workspace_id is not None:
        _add(workspace_id, amount, limit)
    _add(None, amount, limit_of_all)


def _add(workspace_id: UUID | None, amount: Decimal, limit: Decimal | None = None) -> None:
    """Add to a balance, or raise `BudgetExceeded` if that would exceed the limit."""
    balance = Balance.unscoped.filter(Q(workspace_id=workspace_id))
    below = balance if limit is None else balance.filter(total__lte=limit - amount)
    if below.update(total=F("total") + amount):
        return
    if balance.exists():
        raise _exceeded(limit, of_all=workspace_id is None)
    Balance.unscoped.bulk_create([Balance(workspace_id=workspace_id)], ignore_conflicts=True)
    _add(workspace_id, amount, limit)


def _exceeded(limit: Decimal | None, *, of_all: bool) -> BudgetExceeded:
    """Return what tells who can raise the limit. How much all may spend is nobody's business here."""
    if of_all:
        whose, told = "deployment", "what it may on searches and models. Whoever runs it can raise MAX_COST"
    else:
        whose = "workspace"
        told = f"the {limit} US dollars it may spend on searches and models. Its admins can raise max_cost"
    message = f"This {whose} has spent {told}; what is cached or free goes on."
    return BudgetExceeded(message, details={"limit": whose})


def _rounded(amount: Decimal) -> Decimal:
    return amount.quantize(_SMALLEST, ROUND_HALF_EVEN)


@app.periodic(cron="* * * * *")
@app.task(name="release_abandoned_charges", queueing_lock="release_abandoned_charges")
def release_abandoned_now_and_then(timestamp: int) -> None:
    """Release what processes that are gone have reserved."""
    release_abandoned()


# --- What was spent --------------------------------------------------------------------------------------


def cost_of_execution(execution_id: str) -> Decimal:
    """Return what an execution has cost so far, in US dollars."""
    charges = Charge.unscoped.filter(execution_id=execution_id)
    total: Decimal | None = charges.aggregate(total=Sum("amount"))["total"]
    return total or _NOTHING


@dataclass(frozen=True, slots=True)
class Spending:
    """What a workspace paid a provider on a day (UTC); the workspace is None once it is gone."""

    day: date
    workspace_id: UUID | None
    purpose: str
    """One of `Purpose`."""
    provider: str
    calls: int
    cost: Decimal


def spending(charges: QuerySet[Charge], since: datetime) -> list[Spending]:
    """Return what was settled since a moment, the latest day first and the largest sums first in it.

    The caller chooses whose: `Charge.objects.restricted_to(principal)`, or the admin's everybody.
    """
    settled = charges.filter(settled_at__isnull=False, created_at__gte=since)
    days = settled.annotate(day=TruncDate("created_at")).values("day", "workspace_id", "purpose", "provider")
    sums = days.annotate(calls=Count("pk"), cost=Sum("amount")).order_by("-day", "-cost", "provider")
    columns = ("day", "workspace_id", "purpose", "provider", "calls", "cost")
    return [Spending(*row) for row in sums.values_list(*columns)]
