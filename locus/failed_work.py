"""Failed jobs in words: what they were about, why they failed; how to try them again or dismiss them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, Min
from procrastinate.contrib.django.models import ProcrastinateEvent
from procrastinate.exceptions import AlreadyEnqueued
from procrastinate.jobs import Job

from accounts.models import User, Workspace
from core.jobs import FETCHING, queue_job
from kb.models import Document, JobFailure
from locus.models import QueuedJob
from locus.tasks import task_title

ENDED_BADLY = ("failed", "aborted")
"""The states of failed jobs. Cancelled ones are kept by the queue for reasons of its own."""
NO_REASON = "The worker's log has the reason."
DELETE = "DELETE FROM procrastinate_jobs WHERE id = ANY(%s) AND status::text = ANY(%s) RETURNING id"


@dataclass(frozen=True, slots=True)
class JobWords:
    """A job for people: what it does, and the document, workspaces or people that it is about."""

    title: str
    about: str
    document_id: UUID | None
    reason: str


@dataclass(frozen=True, slots=True)
class QueueState:
    """How much work waits, and since when; counts by state."""

    waiting: int
    running: int
    failed: int
    oldest: str
    """What the job does that has waited longest, of those that are due; empty if none waits."""
    oldest_since: datetime | None


def words_of(jobs: Iterable[QueuedJob]) -> dict[int, JobWords]:
    """Return words for jobs, by their ids, with a query for each kind of thing that they are about."""
    rows = list(jobs)
    documents = _names(Document.unscoped, [id for row in rows if (id := _document_id(row))])
    workspaces = _names(
        Workspace.objects.select_related("personal_of"), [id for row in rows for id in _workspace_ids(row)]
    )
    people = _names(User.objects, [id for row in rows for id in row.args.get("user_ids", [])])
    reasons = dict(JobFailure.objects.filter(pk__in=[row.pk for row in rows]).values_list("job_id", "reason"))
    return {row.pk: _words(row, documents, workspaces, people, reasons) for row in rows}


def _words(
    row: QueuedJob,
    documents: Mapping[Any, str],
    workspaces: Mapping[Any, str],
    people: Mapping[Any, str],
    reasons: Mapping[int, str],
) -> JobWords:
    document_id = _document_id(row)
    about = [documents.get(document_id, "a document that is deleted")] if document_id else []
    about += [workspaces.get(id, "a workspace that is deleted") for id in _workspace_ids(row)]
    about += [people.get(id, "a person who is deleted") for id in row.args.get("user_ids", [])]
    reason = reasons.get(row.pk, NO_REASON) if row.status == "failed" else ""
    return JobWords(
        title=task_title(row.task_name),
        about=", in ".join(about) if document_id else ", ".join(about),
        document_id=document_id if document_id in documents else None,
        reason="Stopped by an administrator." if row.status == "aborted" else reason,
    )


def queue_state() -> QueueState:
    """Return what waits, runs and has failed."""
    counts = dict(QueuedJob.objects.values_list("status").annotate(number=Count("pk")))
    oldest = QueuedJob.objects.filter(status="todo", scheduled_at=None).order_by("pk").first()
    return QueueState(
        waiting=counts.get("todo", 0),
        running=counts.get("doing", 0),
        failed=sum(counts.get(status, 0) for status in ENDED_BADLY),
        oldest=task_title(oldest.task_name) if oldest else "",
        oldest_since=oldest and ProcrastinateEvent.objects.filter(job=oldest).aggregate(at=Min("at"))["at"],
    )


def retry_jobs(ids: Iterable[int]) -> int:
    """Queue the work of failed jobs anew, and dismiss them; return how many were queued.

    A new job has all its attempts before it. Work that is queued already is not queued twice.
    """
    rows = QueuedJob.objects.filter(pk__in=list(ids), status__in=ENDED_BADLY)
    return sum(_retry(row.procrastinate_job) for row in rows)


@transaction.atomic
def _retry(job: Job) -> bool:
    if job.id is None or not dismiss_jobs([job.id]):
        return False
    new = job.evolve(id=None, status=None, scheduled_at=None, attempts=0, worker_id=None)
    try:
        with transaction.atomic():
            queue_job(new, job.task_kwargs)
    except AlreadyEnqueued:
        return False
    return True


@transaction.atomic
def dismiss_jobs(ids: Iterable[int]) -> int:
    """Delete failed jobs with their reasons; return how many."""
    with connection.cursor() as cursor:
        cursor.execute(DELETE, [list(ids), list(ENDED_BADLY)])
        gone = [id for (id,) in cursor]
    JobFailure.objects.filter(pk__in=gone).delete()
    return len(gone)


def _document_id(row: QueuedJob) -> UUID | None:
    return _uuid(row.args.get("document_id", ""))


def _workspace_ids(row: QueuedJob) -> list[UUID]:
    """Return the workspaces that a job names, or that its queue belongs to."""
    named = [row.args.get("workspace_id"), *row.args.get("workspace_ids", [])]
    if _document_id(row):
        named.append(row.queue_name.removeprefix(FETCHING))
    return [id for each in named if each and (id := _uuid(str(each)))]


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _names(rows: Any, ids: Iterable[Any]) -> dict[Any, str]:
    return {row.pk: str(row) for row in rows.filter(pk__in=set(ids))}
