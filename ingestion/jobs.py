"""Ingestion jobs: a worker runs them, retries them where that can help, and never loses them.

`kb.documents` defers `ingest_document` in the transaction that stores the document, under a lock of the
document's id: two jobs of one document never run at once. Workspaces take turns (`ingestion.queues`). Within
a workspace, indexing words goes before making vectors, in whatever order documents were uploaded.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError
from procrastinate import BaseRetryStrategy, JobContext, PsycopgConnector, RetryDecision
from procrastinate.contrib.django import app
from procrastinate.exceptions import ConnectorException, JobAborted
from procrastinate.jobs import Job
from procrastinate.worker import Worker
from psycopg.conninfo import make_conninfo

from core.errors import DocumentError, Overloaded
from core.process.memory import give_memory_back
from core.tracing import span
from extract.errors import Internal
from ingestion.job_failures import note_failures
from ingestion.job_metrics import measure_job
from ingestion.pipeline import embed, fail, fetch, read
from ingestion.progress import Interrupted, Superseded
from ingestion.queues import ONE_MORE, FairJobManager, others_wait
from ingestion.worker_memory import watch_memory
from kb.jobs import EMBED_TASK, FETCH_TASK, INGEST_TASK

logger = logging.getLogger(__name__)

TRANSIENT = (OperationalError, InterfaceError, Overloaded)
# Each crash of a worker counts as an attempt: a file that kills every worker must not do so for ever.
MAX_ATTEMPTS = 15
TRIED_TOO_OFTEN = "The document could not be processed after many attempts. Ask your administrator."
LONGEST_WAIT_SECS = 60


class Retries(BaseRetryStrategy):
    """Decides all retries: failures that may pass are tried again after 1, 2, 4, … seconds."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """Return when to retry, or None."""
        if isinstance(exception, JobAborted):
            return RetryDecision(retry_in={"seconds": 0})
        if isinstance(exception, TRANSIENT) and job.attempts < MAX_ATTEMPTS:
            return RetryDecision(retry_in={"seconds": min(2**job.attempts, LONGEST_WAIT_SECS)})
        return None


@app.task(name=FETCH_TASK, pass_context=True, retry=Retries())
def fetch_document(context: JobContext, document_id: str) -> None:
    """Fetch a document's web page, and queue its extraction."""
    _run(context, UUID(document_id), partial(fetch, next_task=INGEST_TASK))


@app.task(name=INGEST_TASK, pass_context=True, retry=Retries())
def ingest_document(context: JobContext, document_id: str) -> None:
    """Make one document findable by words, and queue its embedding; store errors on the document."""
    _run(context, UUID(document_id), partial(read, next_task=EMBED_TASK))


@app.task(name=EMBED_TASK, pass_context=True, retry=Retries())
def embed_document(context: JobContext, document_id: str) -> None:
    """Embed one document's chunks, or some of them: if others wait, a new job continues later."""
    step = partial(
        embed,
        others_wait=partial(others_wait, context.job.queue, context.job.priority),
        next_task=EMBED_TASK,
    )
    _run(context, UUID(document_id), step)


def _run(context: JobContext, id: UUID, step: Callable[[UUID, Callable[[], bool]], None]) -> None:
    if context.job.attempts >= MAX_ATTEMPTS:
        fail(id, Internal(TRIED_TOO_OFTEN), has_begun=False)
        return
    try:
        step(id, context.should_abort)
    except Superseded:
        logger.info("Document %s was deleted, cancelled or queued again while it was processed.", id)
    except Interrupted as stop:
        raise JobAborted from stop
    except DocumentError as error:
        logger.info("Document %s failed: %s", id, error.code)
        fail(id, error)
    except TRANSIENT:
        raise
    except Exception:
        # A bug of ours must not leave the document “extracting” for ever.
        logger.exception("Document %s failed with an unexpected error.", id)
        fail(id, Internal())
    finally:
        give_memory_back()


async def run_worker() -> None:
    """Work until SIGTERM or SIGINT; then put running jobs back after their current step."""
    places = settings.WORKER_CONCURRENCY + ONE_MORE + settings.FETCH_CONCURRENCY
    # One thread for each job, and some for other tasks.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(places + 4))
    with _fair_queues():
        async with app.open_async():
            beside = [asyncio.create_task(_rescue_stalled_jobs()), asyncio.create_task(watch_memory())]
            try:
                await app.run_worker_async(
                    concurrency=places,
                    update_heartbeat_interval=settings.WORKER_HEARTBEAT_SECS,
                    stalled_worker_timeout=settings.WORKER_STALLED_SECS,
                    fetch_job_polling_interval=settings.WORKER_HEARTBEAT_SECS,
                    shutdown_graceful_timeout=0,
                    # Failed ones stay until an administrator has looked at them (locus/failed_work.py).
                    delete_jobs="successful",
                    worker_middleware=[note_failures, measure_job, trace_job],
                )
            finally:
                for task in beside:
                    task.cancel()


async def trace_job(call_next: Callable[[], Awaitable[Any]], context: JobContext, worker: Worker) -> Any:
    """Run a job as a trace of its own: a worker's middleware."""
    with span(
        f"job {context.job.task_name}", {"job.id": context.job.id or 0, "job.queue": context.job.queue}
    ):
        return await call_next()


def _worker_connector() -> Any:
    """Return a connector that can listen: behind a pooler of transactions it needs the server itself."""
    if settings.DATABASE_DIRECT_URL:
        database = str(settings.DATABASES["default"]["NAME"])
        return PsycopgConnector(conninfo=make_conninfo(settings.DATABASE_DIRECT_URL, dbname=database))
    return app.connector.get_worker_connector()  # type: ignore[attr-defined]


@contextmanager
def _fair_queues() -> Iterator[None]:
    """Let the app take jobs from each workspace in turn, over connections of its own."""
    connector = _worker_connector()
    with app.replace_connector(connector) as worker_app:
        usual, worker_app.job_manager = worker_app.job_manager, FairJobManager(connector)
        try:
            yield
        finally:
            worker_app.job_manager = usual


async def _rescue_stalled_jobs() -> None:
    """Put back, now and regularly, the jobs of workers that died."""
    while True:
        stalled = await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=settings.WORKER_STALLED_SECS)
        for job in stalled:
            logger.warning("Job %s runs again: its worker died.", job.id)
            try:
                await app.job_manager.retry_job(job)
            except ConnectorException:
                logger.info("Job %s was already put back by another worker.", job.id)
        await asyncio.sleep(settings.WORKER_STALLED_SECS / 2)
