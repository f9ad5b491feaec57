"""The transactions of the ledger: charges and balances change together."""

from __future__ import annotations

from datetime import timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone
from procrastinate.contrib.django import app

from accounts.ledger.base import Reservation
from accounts.models.ledger import PLACES, Balance, Charge, Purpose
from core.errors import BudgetExceeded
from core.row_access import as_system

# Longer than any such call takes.
LEASES = {Purpose.SEARCH: timedelta(minutes=2), Purpose.MODEL: timedelta(minutes=30)}
_SMALLEST = Decimal(1).scaleb(-PLACES)
_NOTHING = Decimal(0)


@as_system("books for all workspaces together, too")
def reserve(reservation: Reservation) -> None:
    """Write the estimate into the ledger, or raise `BudgetExceeded`."""
    try:
        book(reservation, reservation.order.estimate)
    except BudgetExceeded:
        # Reservations of dead processes are not spent; the first to exceed the limit releases them for all.
        release_abandoned()
        book(reservation, reservation.order.estimate)


@transaction.atomic
@as_system("books for all workspaces together, too")
def book(reservation: Reservation, amount: Decimal, *, is_spent: bool = False) -> None:
    """Write a charge; money already spent counts whatever the limits are."""
    order, amount = reservation.order, _round_amount(amount)
    limits = (None, None) if is_spent else (order.payer.max_cost, settings.MAX_COST)
    _move(order.payer.workspace_id, amount, *limits)
    Charge.unscoped.create(
        id=reservation.id,
        workspace_id=order.payer.workspace_id,
        execution_id=order.payer.execution_id,
        purpose=order.purpose,
        provider=order.provider,
        user_id=order.payer.owner.user_id,
        key_id=order.payer.owner.key_id,
        external_user_id=order.payer.owner.external_user_id,
        amount=amount,
        settled_at=Now() if is_spent else None,
        lease_until=Now() + LEASES[order.purpose],
    )


@transaction.atomic
@as_system("books for all workspaces together, too")
def settle(reservation: Reservation, cost: Decimal) -> None:
    """Replace the reserved amount by the actual cost."""
    charge = Charge.unscoped.select_for_update().filter(pk=reservation.id).first()
    if charge is None:
        # There was no reservation, or its lease ended before the call did.
        if cost > 0:
            book(reservation, cost, is_spent=True)
        return
    if charge.settled_at is not None:
        raise ValueError(f"The charge {charge.pk} has been settled already.")
    cost = _round_amount(cost)
    _move(charge.workspace_id, cost - charge.amount)
    if cost == 0:
        charge.delete()
    else:
        charge.amount, charge.settled_at = cost, timezone.now()
        charge.save(update_fields=["amount", "settled_at"])


@transaction.atomic
@as_system("books for all workspaces together, too")
def release_abandoned() -> None:
    """Release the reservations whose lease has ended."""
    abandoned = Charge.unscoped.filter(settled_at=None, lease_until__lt=Now())
    charges = list(abandoned.order_by("pk").select_for_update())
    Charge.unscoped.filter(pk__in=[charge.pk for charge in charges]).delete()
    # Everybody locks in this order.
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

    The balance of all is locked last everywhere, so that there is no deadlock.
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
    total = balance.values_list("total", flat=True).first()
    if total is not None:
        raise _budget_error(total, amount, limit, of_all=workspace_id is None)
    Balance.unscoped.bulk_create([Balance(workspace_id=workspace_id)], ignore_conflicts=True)
    _add(workspace_id, amount, limit)


def _budget_error(total: Decimal, amount: Decimal, limit: Decimal | None, *, of_all: bool) -> BudgetExceeded:
    """Return the error, which says who can raise the limit; the total of all workspaces stays secret."""
    if of_all:
        whose = "deployment"
        what = "The budget of this server for searches and models is spent. Its operator can raise MAX_COST"
    else:
        whose = "workspace"
        what = (
            f"Of this workspace's budget of {_format_amount(limit)} US dollars, "
            f"{_format_amount(total)} are spent or reserved, this call may cost {_format_amount(amount)}. "
            "Its admins can raise max_cost, up to the quota that staff have set"
        )
    return BudgetExceeded(f"{what}; cached and free calls still work.", details={"limit": whose})


def _format_amount(amount: Decimal | None) -> str:
    """Return an amount without trailing zeros: 0.025 for 0.025000."""
    return f"{(amount or _NOTHING).normalize():f}"


def _round_amount(amount: Decimal) -> Decimal:
    return amount.quantize(_SMALLEST, ROUND_HALF_EVEN)


@app.periodic(cron="* * * * *")
@app.task(name="release_abandoned_charges", queueing_lock="release_abandoned_charges")
def release_abandoned_now_and_then(timestamp: int) -> None:
    """Release the reservations of processes that are gone."""
    release_abandoned()
