"""Queues jobs on Django's own connection, so that a job and its rows are one transaction.

In a worker, Procrastinate's app has a connection pool of its own. A job queued through that could run before
its document is committed, and find nothing.

Each workspace has a queue of its own, and another for what it fetches from the web: the worker takes from
them in turn (`ingestion.queues`). Jobs of no workspace are in the queue `default`.
"""

from __future__ import annotations

from uuid import UUID

from django.db import connection
from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.jobs import JobDeferrer
from procrastinate.manager import JobManager

from kb.models import Document

FETCH_TASK = "fetch_document"
INGEST_TASK = "ingest_document"
EMBED_TASK = "embed_document"
# All texts of a workspace become findable by words before the first is embedded.
PRIORITIES = {FETCH_TASK: 10, INGEST_TASK: 10, EMBED_TASK: 0}
FETCHING = "fetch "
"""The prefix of queues whose jobs wait for the web."""
COUNT_WAITING = """
    SELECT count(*) FROM (
        SELECT FROM procrastinate_jobs WHERE status = 'todo' AND queue_name = ANY(%s) LIMIT %s
    ) AS waiting
"""


def queue_of(task: str, workspace_id: UUID) -> str:
    """Return the queue of a workspace's jobs, short enough for the name of a PostgreSQL channel."""
    return f"{FETCHING if task == FETCH_TASK else ''}{workspace_id.hex}"


def defer_for_document(task: str, document_id: UUID) -> None:
    """Queue a job about a document; jobs of one document never run at once."""
    workspace_id = Document.unscoped.values_list("workspace_id", flat=True).get(pk=document_id)
    lock = str(document_id)
    configured = app.configure_task(
        task, lock=lock, priority=PRIORITIES[task], queue=queue_of(task, workspace_id)
    )
    manager = JobManager(DjangoConnector(alias="default"))
    JobDeferrer(job=configured.job, job_manager=manager).defer(document_id=lock)


def waiting_jobs(workspace_id: UUID, at_most: int) -> int:
    """Return how many jobs of a workspace wait, counting up to `at_most`."""
    queues = [queue_of(task, workspace_id) for task in PRIORITIES]
    with connection.cursor() as cursor:
        cursor.execute(COUNT_WAITING, [queues, at_most])
        row = cursor.fetchone()
    return int(row[0]) if row else 0
