"""Deferring jobs on Django's own connection, so that a job and the rows it is about are one transaction.

In a worker, Procrastinate's app has a connection pool of its own: a job deferred through that could run
before its document is committed, and find nothing.
"""

from __future__ import annotations

from uuid import UUID

from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.jobs import JobDeferrer
from procrastinate.manager import JobManager

INGEST_TASK = "ingest_document"
EMBED_TASK = "embed_document"
# All texts are made findable by words before the first is embedded.
PRIORITIES = {INGEST_TASK: 10, EMBED_TASK: 0}


def defer_for_document(task: str, document_id: UUID) -> None:
    """Queue a job about a document; jobs of one document never run at once."""
    lock = str(document_id)
    configured = app.configure_task(task, lock=lock, priority=PRIORITIES[task])
    manager = JobManager(DjangoConnector(alias="default"))
    JobDeferrer(job=configured.job, job_manager=manager).defer(document_id=lock)
