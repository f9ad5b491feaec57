"""Large deletions of external users, in the worker, so that no request waits."""

from __future__ import annotations

from uuid import UUID

from procrastinate.contrib.django import app

from accounts.external_users.deletion import resume
from accounts.models import ExternalUserDeletion
from core.jobs import defer_job

TASK = "delete_external_user"


@app.task(name=TASK)
def delete_external_user(deletion_id: str) -> None:
    """Carry out a deletion; an earlier attempt of this job may have done some of it."""
    deletion = ExternalUserDeletion.unscoped.filter(pk=UUID(deletion_id)).first()
    if deletion is not None:
        resume(deletion)


def resume_later(deletion: ExternalUserDeletion) -> None:
    """Queue a deletion, in the transaction that created it."""
    defer_job(TASK, {"deletion_id": str(deletion.pk)})
