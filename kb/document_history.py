"""What happened to a document: its own times, its jobs, the audit log and the admin panel's history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from operator import attrgetter

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from procrastinate.contrib.django.models import ProcrastinateEvent, ProcrastinateJob

from accounts.models import AuditEntry
from kb.jobs import EMBED_TASK, FETCH_TASK, INGEST_TASK
from kb.models import FINISHED, Document, Status

NEWEST = 200
"""So many moments are shown, and read of each kind."""
STEPS = {FETCH_TASK: "fetch the web page", INGEST_TASK: "extract", EMBED_TASK: "embed"}
JOB_EVENTS = {
    "deferred": "queued",
    "scheduled": "queued for later",
    "started": "started",
    "deferred_for_retry": "put back, to be tried again",
    "failed": "failed",
    "succeeded": "succeeded",
    "cancelled": "cancelled",
    "abort_requested": "asked to stop",
    "aborted": "stopped",
}
END_WORDS = {
    Status.READY: "Ready",
    Status.PARTIAL: "Ready, but parts could not be read",
    Status.FAILED: "Failed",
    Status.CANCELLED: "Cancelled",
}


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened; `who` is empty for the product itself."""

    at: datetime
    what: str
    who: str = ""


@dataclass(frozen=True, slots=True)
class JobState:
    """A job about a document that has not succeeded yet: those that have are deleted."""

    step: str
    status: str
    attempts: int
    scheduled_at: datetime | None


def moments_of(document: Document) -> list[Moment]:
    """Return what happened to a document, newest first, at most `NEWEST` of it."""
    found = [*_own(document), *_of_jobs(document), *_audited(document), *_of_panel(document)]
    return nlargest(NEWEST, found, key=attrgetter("at"))


def jobs_of(document: Document) -> list[JobState]:
    """Return the document's jobs that wait, run or have failed, newest first."""
    rows = ProcrastinateJob.objects.filter(lock=str(document.pk)).order_by("-id")[:NEWEST]
    words = {"todo": "waiting", "doing": "running"}
    return [
        JobState(
            STEPS.get(row.task_name, row.task_name),
            words.get(row.status, row.status),
            row.attempts,
            row.scheduled_at,
        )
        for row in rows
    ]


def _own(document: Document) -> Iterator[Moment]:
    uploader = document.uploaded_by.email if document.uploaded_by else ""
    yield Moment(document.created_at, "Added and queued", uploader)
    if document.text_ready_at:
        yield Moment(document.text_ready_at, "Text extracted: findable by words")
    if document.indexed_at:
        yield Moment(document.indexed_at, "Vectors complete: findable by meaning")
    if document.status in FINISHED:
        yield Moment(document.updated_at, END_WORDS[Status(document.status)])
    else:
        yield Moment(document.updated_at, f"Last progress: {document.get_stage_display()}")


def _of_jobs(document: Document) -> Iterator[Moment]:
    events = ProcrastinateEvent.objects.filter(job__lock=str(document.pk), at__isnull=False)
    for event in events.select_related("job").order_by("-id")[:NEWEST]:
        step = STEPS.get(event.job.task_name, event.job.task_name)
        yield Moment(event.at, f"Job “{step}”: {JOB_EVENTS.get(event.type, event.type)}")


def _audited(document: Document) -> Iterator[Moment]:
    entries = AuditEntry.unscoped.filter(target_id=str(document.pk)).select_related("user")
    for entry in entries.order_by("-at")[:NEWEST]:
        yield Moment(entry.at, entry.get_action_display(), entry.user.email if entry.user else "")


def _of_panel(document: Document) -> Iterator[Moment]:
    entries = LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(Document), object_id=str(document.pk)
    )
    for entry in entries.select_related("user").order_by("-action_time")[:NEWEST]:
        yield Moment(entry.action_time, entry.get_change_message() or "Changed", entry.user.email)
