"""Queues the jobs of documents.

Each workspace has a queue of its own, and another for what it fetches from the web: the worker takes from
them in turn (`ingestion.queues`). Jobs of no workspace are in the queue `default`.
"""

from __future__ import annotations

from uuid import UUID

from django.db import connection

from core.jobs import FETCHING, defer_job
from kb.models import Document

FETCH_TASK = "fetch_document"
INGEST_TASK = "ingest_document"
EMBED_TASK = "embed_document"
# All texts of a workspace become findable by words before the first is embedded.
PRIORITIES = {FETCH_TASK: 10, INGEST_TASK: 10, EMBED_TASK: 0}
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
    queue = queue_of(task, workspace_id)
    defer_job(task, {"document_id": lock}, lock=lock, priority=PRIORITIES[task], queue=queue)


def waiting_jobs(workspace_id: UUID, at_most: int) -> int:
    """Return how many jobs of a workspace wait, counting up to `at_most`."""
    queues = [queue_of(task, workspace_id) for task in PRIORITIES]
    with connection.cursor() as cursor:
        cursor.execute(COUNT_WAITING, [queues, at_most])
        row = cursor.fetchone()
    return int(row[0]) if row else 0
