"""The life of an execution: creation, visibility, cancellation, deletion."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from accounts.access.right_watch import require_right
from accounts.external_users.deletion import Removed
from accounts.external_users.listing import activity
from accounts.idempotency import forget_outcome, forget_outcomes_of
from accounts.ledger.spending import cost_of_execution
from accounts.models import Session
from accounts.principal import Principal
from accounts.quotas.limits import admit_run
from accounts.quotas.request_rates import count_run
from core.errors import Cancelled, EventsExpired, Forbidden, NotFound, RateLimited
from core.http.client_address import current_address
from core.http.request_id import current_request_id
from core.pubsub import publish
from core.row_access import as_system
from core.text.storable import is_storable
from runs.journal import end_abandoned, failure, store_all
from runs.leases import CANCELLED
from runs.models import LIVE, Execution, ExecutionEvent, ExecutionStatus
from runs.registry import Tool, ToolInput

DELETED_AT_ONCE = 500
"""So many executions of an external user are deleted in one transaction."""


def begin(principal: Principal, tool: Tool, inputs: ToolInput, workspace_id: UUID | None) -> Execution:
    """Create the execution's row.

    Raises `NotFound` for a workspace that the principal can't see, `RateLimited`, `QuotaExceeded`, the tool's
    own refusal, or `Unauthenticated` if the principal's key or user was deleted meanwhile.
    """
    paying = paying_workspace(principal, workspace_id)
    tool.admit(principal, inputs, paying)
    _require_room(principal)
    count_run(principal)
    admit_run(paying)
    try:
        with transaction.atomic():
            execution = _create(principal, tool, inputs, paying)
            if tool.begin is not None:
                execution.inputs = tool.begin(principal, inputs, execution)
                execution.save(update_fields=["inputs"])
    except IntegrityError:
        # The row names the key and the user.
        require_right(principal)
        raise
    return execution


def paying_workspace(principal: Principal, workspace_id: UUID | None) -> UUID:
    """Return the workspace that a run belongs to, if the request names this one; raise `NotFound`."""
    paying = workspace_id or _workspace_of_session(principal) or principal.default_workspace_id()
    principal.require_workspace(paying)
    return paying


def _workspace_of_session(principal: Principal) -> UUID | None:
    """Return the workspace of the conversation that a request is within."""
    if principal.session_id is None:
        return None
    return (
        Session.objects.restricted_to(principal)
        .values_list("workspace_id", flat=True)
        .get(pk=principal.session_id)
    )


def _create(principal: Principal, tool: Tool, inputs: ToolInput, paying: UUID) -> Execution:
    return Execution.unscoped.create(
        tool=tool.name,
        user_id=principal.user_id,
        key_id=principal.key_id,
        workspace_id=paying,
        external_user_id=principal.external_user_id,
        session_id=principal.session_id,
        inputs=inputs.model_dump(mode="json"),
        read_workspaces=list(tool.searched_workspaces(principal, inputs)),
        address=current_address(),
        request_id=current_request_id(),
        lease_until=Now() + timedelta(seconds=settings.RUN_LEASE_SECS),
    )


@as_system("counts the runs in all workspaces of the user")
def _require_room(principal: Principal) -> None:
    """Raise `RateLimited` if the user has too many running executions."""
    running = Execution.unscoped.filter(
        user_id=principal.user_id, status__in=LIVE, lease_until__gt=Now()
    ).count()
    limit = settings.MAX_RUNS_PER_USER
    if running >= limit:
        raise RateLimited(f"You have {running} runs in progress. Wait for one, or cancel it.", limit=limit)


def visible_execution(principal: Principal, id: str) -> Execution:
    """Return an execution that the principal may read, or raise `NotFound`; end it if its process is gone.

    It is the principal's own, or an answer in a conversation that is shared with it.
    """
    seen = Execution.objects.addressable_by(principal).filter(pk=id) if is_storable(id) else None
    execution = seen.first() if seen is not None else None
    if execution is None:
        raise NotFound
    if execution.status in LIVE and execution.lease_until < timezone.now():
        end_abandoned([execution.pk])
        execution.refresh_from_db()
    return execution


def own_execution(principal: Principal, id: str) -> Execution:
    """Return the principal's own execution; raise `NotFound`, or `Forbidden` for one shared with it."""
    execution = visible_execution(principal, id)
    if not Execution.objects.restricted_to(principal).filter(pk=id).exists():
        raise Forbidden("Only the person who asked can do this.")
    return execution


@transaction.atomic
def cancel(execution: Execution) -> Execution:
    """End a live execution with `error {code: "cancelled"}`; a finished one stays as it is."""
    if store_all([failure(execution.pk, Cancelled.code, Cancelled.default_message)]) == [True]:
        publish(CANCELLED, execution.pk)
    execution.refresh_from_db()
    return execution


@as_system("runs of all members and external users")
def cancel_runs_of(workspace_ids: Collection[UUID]) -> None:
    """Cancel the live executions of workspaces; for `accounts.people.deletion`."""
    for execution in Execution.unscoped.filter(workspace__in=workspace_ids, status__in=LIVE):
        cancel(execution)


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


def delete_executions_of_external_user(
    workspace_ids: Collection[UUID], external_user_id: str
) -> Removed | None:
    """Delete some executions of an external user: those of workspaces, and those of its conversations.

    Running ones are cancelled first. For `accounts.external_users.deletion`.
    """
    here = Q(workspace__in=workspace_ids, external_user_id=external_user_id)
    inside = Q(session__workspace__in=workspace_ids, session__external_user_id=external_user_id)
    executions = list(Execution.unscoped.filter(here | inside).only("status")[:DELETED_AT_ONCE])
    if not executions:
        return None
    for execution in executions:
        if execution.status in LIVE:
            cancel(execution)
    ids = [execution.pk for execution in executions]
    forget_outcomes_of(external_user_id, ids)
    events = ExecutionEvent.objects.filter(execution__in=ids)._raw_delete("default")
    Execution.unscoped.filter(pk__in=ids).delete()
    return Removed({"executions": len(ids), "events": events})


def executions_of_external_users(workspace_ids: Collection[UUID]) -> QuerySet[Any, Any]:
    """Return the number of executions of each external user of workspaces."""
    return activity(Execution.unscoped.filter(workspace__in=workspace_ids), executions=Count("pk"))


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
