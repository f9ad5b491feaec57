"""Jobs about the segments of one scope: at most one of a kind waits, and at most one runs."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from procrastinate.exceptions import AlreadyEnqueued

from core.jobs import defer_job
from kb.index.segments import ScopeKey

PRIORITY = -5


def defer_for_scope(task: str, kind: str, key: ScopeKey, *, after_secs: int | None = None) -> None:
    """Queue a job of some kind, such as `merge`, for a scope, unless one waits already."""
    arguments = {field: value and str(value) for field, value in key._asdict().items()}
    name = f"{kind} {tuple(arguments.values())}"
    schedule_in = {"seconds": after_secs} if after_secs else None
    options = {"lock": name, "queueing_lock": name, "priority": PRIORITY, "schedule_in": schedule_in}
    try:
        with transaction.atomic():
            defer_job(task, arguments, **options)
    except AlreadyEnqueued:
        pass


def scope_of_job(workspace_id: str, external_user_id: str | None, session_id: str | None) -> ScopeKey:
    """Return the scope that a job was queued for, from its arguments."""
    return ScopeKey(UUID(workspace_id), external_user_id, UUID(session_id) if session_id else None)
