"""Leases: a process renews those of its runs, and learns which runs another process has ended."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from core.row_access import as_system
from runs.models import LIVE, Execution

CANCELLED = "cancelled-executions"
"""The topic of cancelled executions; the message is the id."""
RENEWALS = 3
"""How often a lease is renewed before it could expire."""


def renewal_secs() -> float:
    """Return the time between two renewals, in seconds."""
    return float(settings.RUN_LEASE_SECS) / RENEWALS


@transaction.atomic
@as_system("renews the runs of all users in this process")
def renew(ids: Collection[str]) -> set[str]:
    """Renew the leases of unfinished executions, and return their ids."""
    live = Execution.unscoped.filter(pk__in=ids, status__in=LIVE).order_by("pk").select_for_update()
    kept = set(live.values_list("pk", flat=True))
    lease_until = Now() + timedelta(seconds=settings.RUN_LEASE_SECS)
    Execution.unscoped.filter(pk__in=kept).update(lease_until=lease_until)
    return kept
