"""Deletions in the worker, so that nobody waits for them.

Staff delete a workspace or a person at once; what an owner deletes is hidden, and erased after
`WORKSPACE_GRACE_DAYS`. Each job may be interrupted and run again: documents go first, some hundred at a time.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from procrastinate.contrib.django import app

from accounts.audit.recording import record
from accounts.models import AuditAction, AuditEntry, Invitation, Membership, User, Workspace
from accounts.people.deletion import delete_users, delete_workspaces, resumers, stoppers
from core.jobs import defer_job

DELETE = "delete_workspaces_and_people"
INVITATIONS_KEPT = timedelta(days=30)
"""So long an invitation is listed after it has expired."""
STOP = "stop_work_of_workspaces"
RESUME = "resume_work_of_workspaces"


@app.task(name=DELETE)
def delete_workspaces_and_people(workspace_ids: list[str], user_ids: list[int]) -> None:
    """Delete them for good; earlier attempts of this job may have deleted some of it."""
    for id in workspace_ids:
        _erase(UUID(id), timezone.now())
    delete_users(user_ids)


@app.periodic(cron="41 3 * * *")
@app.task(name="delete_old_invitations", queueing_lock="delete_old_invitations")
def delete_old_invitations(timestamp: int) -> None:
    """Delete the invitations that expired long ago."""
    before = timezone.now() - INVITATIONS_KEPT
    Invitation.unscoped.filter(expires_at__lt=before).delete()


@app.periodic(cron="37 * * * *")
@app.task(name="erase_deleted_workspaces", queueing_lock="erase_deleted_workspaces")
def erase_deleted_workspaces(timestamp: int) -> None:
    """Erase the workspaces whose grace period is over, and any that another job left behind."""
    expired = timezone.now() - timedelta(days=settings.WORKSPACE_GRACE_DAYS)
    ids = list(Workspace.objects.filter(deleted_at__lte=expired).values_list("pk", flat=True))
    for id in ids:
        _erase(id, expired)


@app.task(name=STOP)
def stop_work_of_workspaces(workspace_ids: list[str]) -> None:
    """End what runs in workspaces that were hidden."""
    for stop in stoppers:
        stop(list(map(UUID, workspace_ids)))


@app.task(name=RESUME)
def resume_work_of_workspaces(workspace_ids: list[str], since: str) -> None:
    """Take up again what was ended when the workspaces were hidden."""
    for resume in resumers:
        resume(list(map(UUID, workspace_ids)), datetime.fromisoformat(since))


@transaction.atomic
def delete_later(workspace_ids: Collection[UUID], user_ids: Collection[int]) -> None:
    """Hide the workspaces for good and end the people's logins at once, and queue the rest."""
    Workspace.objects.filter(pk__in=workspace_ids).update(deleted_at=timezone.now())
    User.objects.filter(pk__in=user_ids).update(is_active=False)
    stop_work_later(workspace_ids)
    erase_later(workspace_ids, user_ids)


def erase_later(workspace_ids: Collection[UUID], user_ids: Collection[int] = ()) -> None:
    """Queue the deletion of workspaces and people, as part of the caller's transaction."""
    # Without owners nobody can restore it.
    Membership.objects.filter(workspace__in=workspace_ids).delete()
    defer_job(DELETE, {"workspace_ids": [str(id) for id in workspace_ids], "user_ids": list(user_ids)})


def stop_work_later(workspace_ids: Collection[UUID]) -> None:
    """Queue the end of what runs in workspaces, as part of the caller's transaction."""
    defer_job(STOP, {"workspace_ids": [str(id) for id in workspace_ids]})


def resume_work_later(workspace_ids: Collection[UUID], since: datetime) -> None:
    """Queue the processing of documents that a deletion ended, as part of the caller's transaction."""
    defer_job(RESUME, {"workspace_ids": [str(id) for id in workspace_ids], "since": since.isoformat()})


def _erase(id: UUID, hidden_before: datetime) -> None:
    """Delete a workspace for good that is hidden since then, and write what it held into the audit log."""
    with transaction.atomic():
        rows = Workspace.objects.select_for_update().filter(pk=id, deleted_at__lte=hidden_before)
        workspace = rows.first()
        if workspace is None:
            return  # restored, or erased by another job
        # From here on nobody can restore it.
        Membership.objects.filter(workspace=id).delete()
    # Counted when it was hidden: an attempt that was interrupted may have deleted a part.
    hidden = AuditEntry.unscoped.filter(action=AuditAction.WORKSPACE_DELETED, target_id=str(id)).first()
    removed = delete_workspaces([id])
    details = (hidden.details if hidden else dict(removed)) | {"name": workspace.name}
    record(AuditAction.WORKSPACE_ERASED, workspace.deleted_by, target=("workspace", id), **details)
