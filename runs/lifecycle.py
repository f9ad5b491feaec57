"""The life of an execution: creation, visibility, cancellation, deletion."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from accounts.idempotency import forget_outcome
from accounts.ledger.spending import cost_of_execution
from accounts.principal import Principal
from core.errors import Cancelled, EventsExpired, NotFound, RateLimited
from core.pubsub import publish
from core.text.storable import is_storable
from runs.journal import end_abandoned, failure, store_all
from runs.leases import CANCELLED
from runs.models import LIVE, Execution, ExecutionStatus
from runs.registry import Tool, ToolInput


def begin(principal: Principal, tool: Tool, inputs: ToolInput, workspace_id: UUID | None) -> Execution:
    """Create the execution's row.

    Raises `NotFound` for a workspace that the principal can't see, `RateLimited`, or the tool's own refusal.
    """
    paying = workspace_id or principal.default_workspace_id()
    principal.require_workspace(paying)
    tool.admit(principal, inputs, paying)
    _require_room(principal)
    return Execution.unscoped.create(
        tool=tool.name,
        user_id=principal.user_id,
        key_id=principal.key_id,
        workspace_id=paying,
        external_user_id=principal.external_user_id,
        session_id=principal.session_id,
        inputs=inputs.model_dump(mode="json"),
        read_workspaces=list(tool.searched_workspaces(principal, inputs)),
        lease_until=Now() + timedelta(seconds=settings.RUN_LEASE_SECS),
    )


def _require_room(principal: Principal) -> None:
    """Raise `RateLimited` if the user has too many running executions."""
    running = Execution.unscoped.filter(
        user_id=principal.user_id, status__in=LIVE, lease_until__gt=Now()
    ).count()
    limit = settings.MAX_RUNS_PER_USER
    if running >= limit:
        raise RateLimited(f"You have {running} runs in progress. Wait for one, or cancel it.", limit=limit)


def visible_execution(principal: Principal, id: str) -> Execution:
    """Return the principal's own execution, or raise `NotFound`; end it if its process is gone."""
    own = Execution.objects.restricted_to(principal).filter(pk=id) if is_storable(id) else None
    execution = own.first() if own is not None else None
    if execution is None:
        raise NotFound
    if execution.status in LIVE and execution.lease_until < timezone.now():
        end_abandoned([execution.pk])
        execution.refresh_from_db()
    return execution


@transaction.atomic
def cancel(execution: Execution) -> Execution:
    """End a live execution with `error {code: "cancelled"}`; a finished one stays as it is."""
    if store_all([failure(execution.pk, Cancelled.code, Cancelled.default_message)]) == [True]:
        publish(CANCELLED, execution.pk)
    execution.refresh_from_db()
    return execution


def delete_execution(execution: Execution) -> dict[str, int]:
    """Delete an execution with its events; return counts of deleted rows.

    A running one is cancelled first, which its followers still see. Its cost stays in the ledger.
    """
    cancel(execution)
    with transaction.atomic():
        forget_outcome(execution.user_id, execution.pk)
        events, _ = execution.events.all().delete()
        Execution.unscoped.filter(pk=execution.pk).delete()
    return {"executions": 1, "events": events}


def cost_of(execution: Execution) -> float | None:
    """Return the cost of an execution in US dollars; for one that ended early, the sum in the ledger."""
    if execution.cost is None and execution.status in (ExecutionStatus.FAILED, ExecutionStatus.CANCELLED):
        return float(cost_of_execution(execution.pk))
    return execution.cost


def is_at_end(execution: Execution, after: int) -> bool:
    """Return whether the execution is over and has no events above `after`."""
    return execution.finished_at is not None and after >= execution.last_seq


def require_events(execution: Execution, after: int) -> None:
    """Raise `EventsExpired` if events above `after` existed and were deleted."""
    if after < execution.last_seq and not execution.events.filter(seq=after + 1).exists():
        raise EventsExpired
