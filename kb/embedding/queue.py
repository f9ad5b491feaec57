"""Re-embedding jobs: queued, running, or cancelled by the operator.

A cancelled job stays in the queue's table. It records that the operator stopped filling a space, so that the
next start does not resume it.
"""

from __future__ import annotations

from django.db import connection, transaction
from django.db.models import QuerySet
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob
from procrastinate.exceptions import AlreadyEnqueued

from kb.models import EmbeddingSpace

TASK = "reembed"
# New documents come first.
PRIORITY = -10


def enqueue(space: EmbeddingSpace, in_secs: int = 0) -> None:
    """Queue the re-embedding of all live chunks in `space`, unless it is already waiting."""
    lock = f"reembed {space.pk}"
    schedule = {"seconds": in_secs} if in_secs else None
    task = app.configure_task(TASK, lock=lock, queueing_lock=lock, priority=PRIORITY, schedule_in=schedule)
    try:
        with transaction.atomic():
            task.defer(space_id=space.pk)
    except AlreadyEnqueued:
        pass


def is_under_way(space: EmbeddingSpace) -> bool:
    """Return whether a job for `space` waits or runs."""
    return _jobs(space, "todo", "doing").exists()


def was_cancelled(space: EmbeddingSpace) -> bool:
    """Return whether the operator has cancelled `space` and not resumed it."""
    return _jobs(space, "cancelled", "aborted").exists()


def cancel(space: EmbeddingSpace) -> None:
    """Stop the re-embedding in `space` and record that the operator did so."""
    with transaction.atomic():
        # Even if no job waits: the cancelled job is the record.
        enqueue(space)
        for job in _jobs(space, "todo", "doing"):
            app.job_manager.cancel_job_by_id(job.pk, abort=True)


def forget_cancellation(space: EmbeddingSpace) -> None:
    """Delete the record that `space` was cancelled."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM procrastinate_jobs WHERE id = ANY(%s)",
            [[job.pk for job in _jobs(space, "cancelled", "aborted")]],
        )


def _jobs(space: EmbeddingSpace, *statuses: str) -> QuerySet[ProcrastinateJob]:
    return ProcrastinateJob.objects.filter(task_name=TASK, args__space_id=space.pk, status__in=statuses)
