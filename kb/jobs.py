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
# Within a workspace: all texts become findable by words before the first is embedded.
PRIORITIES = {FETCH_TASK: 10, INGEST_TASK: 10, EMBED_TASK: 0}
SOMEBODY_WAITS = 5
"""Added for what is attached to a conversation: it is asked about at once."""
IS_FOUND_ALREADY = -5
"""Added to reading what is processed again: its earlier chunks are found meanwhile."""
COUNT_WAITING = """
    SELECT count(*) FROM (
        SELECT FROM procrastinate_jobs
        WHERE status = 'todo' AND (%(queues)s::text[] IS NULL OR queue_name = ANY(%(queues)s))
        LIMIT %(at_most)s
    ) AS waiting
"""


def queue_of(task: str, workspace_id: UUID) -> str:
    """Return the queue of a workspace's jobs, short enough for the name of a PostgreSQL channel."""
    return f"{FETCHING if task == FETCH_TASK else ''}{workspace_id.hex}"


def defer_for_document(task: str, document_id: UUID) -> None:
    """Queue a job about a document; jobs of one document never run at once."""
    fields = ("workspace_id", "session_id", "indexed_at")
    workspace_id, session_id, indexed_at = Document.unscoped.values_list(*fields).get(pk=document_id)
    priority = PRIORITIES[task]
    if session_id is not None:
        priority += SOMEBODY_WAITS
    elif indexed_at is not None and task != EMBED_TASK:
        priority += IS_FOUND_ALREADY
    lock = str(document_id)
    queue = queue_of(task, workspace_id)
    defer_job(task, {"document_id": lock}, lock=lock, priority=priority, queue=queue)


def waiting_jobs(workspace_id: UUID, at_most: int) -> int:
    """Return how many jobs of a workspace wait, counting up to `at_most`."""
    return _count([queue_of(task, workspace_id) for task in PRIORITIES], at_most)


def all_waiting_jobs(at_most: int) -> int:
    """Return how many jobs of all workspaces wait, counting up to `at_most`."""
    return _count(None, at_most)


def _count(queues: list[str] | None, at_most: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(COUNT_WAITING, {"queues": queues, "at_most": at_most})
        row = cursor.fetchone()
    return int(row[0]) if row else 0
