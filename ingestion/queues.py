"""Which job is next: workspaces take turns, so that many or long jobs of one delay another's by at most one.

  workspace A   read read read embed …  ─┐
  workspace B   read                    ─┼─ in turn ─▶ WORKER_CONCURRENCY jobs, one more for an idle workspace
  default       housekeeping            ─┘
  fetch A       url url url …           ─┐
  fetch B       url                     ─┴─ in turn ─▶ FETCH_CONCURRENCY, FETCHES_PER_WORKSPACE of each

Within a queue the order is Procrastinate's: priority, then age. Jobs of negative priority (merging segments,
embedding again) run when no other job waits. Fetching waits for the network, so it takes no place of jobs
that compute.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection
from procrastinate.jobs import Job, Notification, Status
from procrastinate.manager import JobManager, NotificationCallback

from core.jobs import FETCHING
from ingestion.job_failures import store_reason
from ingestion.worker_memory import is_memory_short

REMEMBERED = 1000
"""Queues whose last turn is remembered; a forgotten queue counts as not served for long."""
ATTEMPTS = 5
ONE_MORE = 1
"""Jobs beyond `WORKER_CONCURRENCY` for workspaces that have none running, while others have long ones."""

IS_FREE = """
    j.status = 'todo' AND (j.scheduled_at IS NULL OR j.scheduled_at <= now())
    AND NOT EXISTS (
        -- Of jobs with the same lock one runs at a time: by priority, then by age.
        SELECT FROM procrastinate_jobs AS other
        WHERE other.lock = j.lock AND (
            other.status = 'doing' OR other.status = 'todo'
            AND (other.priority > j.priority OR other.priority = j.priority AND other.id < j.id)))
"""
FETCH_JOB = f"""
    WITH RECURSIVE queues (name) AS (
        (SELECT queue_name FROM procrastinate_jobs WHERE status = 'todo' ORDER BY queue_name LIMIT 1)
        UNION ALL
        SELECT (SELECT queue_name FROM procrastinate_jobs
                WHERE status = 'todo' AND queue_name > queues.name ORDER BY queue_name LIMIT 1)
        FROM queues WHERE queues.name IS NOT NULL
    ), running AS (
        SELECT queue_name AS name, queue_name LIKE %(fetching)s AS fetches,
               count(*) AS number, count(*) FILTER (WHERE worker_id = %(worker_id)s) AS here
        FROM procrastinate_jobs WHERE status = 'doing' AND worker_id IS NOT NULL GROUP BY queue_name
    ), here AS (
        SELECT coalesce(sum(here) FILTER (WHERE fetches), 0) AS fetching,
               coalesce(sum(here) FILTER (WHERE NOT fetches), 0) AS computing FROM running
    ), candidate AS (
        SELECT head.id FROM queues
        CROSS JOIN here
        LEFT JOIN running USING (name)
        CROSS JOIN LATERAL (
            SELECT j.id, j.priority FROM procrastinate_jobs AS j
            WHERE j.queue_name = queues.name AND {IS_FREE}
            ORDER BY j.priority DESC, j.id LIMIT 1
        ) AS head
        WHERE CASE WHEN queues.name LIKE %(fetching)s
            THEN here.fetching < %(fetches)s AND coalesce(running.number, 0) < %(fetches_each)s
            ELSE here.computing < %(jobs)s
                OR here.computing < %(jobs_at_most)s AND running.number IS NULL AND head.priority >= 0
            END
        ORDER BY head.priority < 0, array_position(%(served)s::text[], queues.name::text) NULLS FIRST,
                 head.priority DESC, head.id
        LIMIT 1
    ), taken AS (
        UPDATE procrastinate_jobs SET status = 'doing', worker_id = %(worker_id)s
        WHERE id = (SELECT id FROM candidate) AND status = 'todo'
        RETURNING id, status, task_name, priority, lock, queueing_lock, args, scheduled_at, queue_name,
                  attempts, worker_id
    )
    SELECT taken.*, (SELECT count(*) FROM candidate) AS candidates
    FROM (SELECT) AS always LEFT JOIN taken ON true
"""  # noqa: S608 - nothing but constants
OTHERS_WAIT = """
    SELECT EXISTS (
        SELECT FROM procrastinate_jobs
        WHERE status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now())
          AND queue_name NOT LIKE %s AND priority >= 0 AND (queue_name <> %s OR priority > %s))
"""


class FairJobManager(JobManager):
    """Procrastinate's job manager, with another choice of the next job and of when to look for it."""

    def __init__(self, connector: Any) -> None:
        super().__init__(connector)
        self._served: OrderedDict[str, None] = OrderedDict()
        self._listeners: list[NotificationCallback] = []
        self._news = 0
        """How often the worker was told that there may be a job."""

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """Take the next job, or return None if there is none that may run now."""
        if is_memory_short():
            return None
        attempts = ATTEMPTS
        while attempts:
            news = self._news
            row = await self.connector.execute_query_one_async(
                query=FETCH_JOB, served=list(self._served), **limits(), worker_id=worker_id
            )
            if row["id"] is not None:
                job = Job.from_row({name: value for name, value in row.items() if name != "candidates"})
                self._note_turn(job.queue)
                return job
            if row["candidates"]:
                # Another worker took the candidate first.
                attempts -= 1
            elif news == self._news:
                return None
            # Else a job came, or its lock became free, after the statement had looked. The worker forgets
            # what it is told while it looks, and would look again only after its pause.
        return None

    def _note_turn(self, queue: str) -> None:
        self._served[queue] = None
        self._served.move_to_end(queue)
        if len(self._served) > REMEMBERED:
            self._served.popitem(last=False)

    async def listen_for_jobs(
        self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        """Listen as usual, and remember the callback that wakes the worker."""

        async def wake(*, channel: str, notification: Notification) -> None:
            self._news += 1
            await on_notification(channel=channel, notification=notification)

        self._listeners.append(wake)
        try:
            await super().listen_for_jobs(on_notification=wake, queues=queues)
        finally:
            self._listeners.remove(wake)

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """Finish the job as usual, keep why it failed, and look for jobs that had to wait for it."""
        await super().finish_job(job, status, delete_job)
        if job.id is not None:
            await store_reason(job.id, has_failed=status is Status.FAILED)
        await self._wake(job)

    async def retry_job(
        self,
        job: Job,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        """Put the job back as usual, and look for jobs that had to wait for it."""
        await super().retry_job(job, retry_at, priority, queue, lock)
        if job.id is not None:
            await store_reason(job.id, has_failed=False)
        await self._wake(job)

    async def _wake(self, job: Job) -> None:
        assert job.id is not None
        for listener in self._listeners:
            await listener(channel="", notification={"type": "job_inserted", "job_id": job.id})


def limits() -> dict[str, Any]:
    """Return how many jobs of each kind a worker runs at once."""
    return {
        "fetching": f"{FETCHING}%",
        "fetches": settings.FETCH_CONCURRENCY,
        "fetches_each": settings.FETCHES_PER_WORKSPACE,
        "jobs": settings.WORKER_CONCURRENCY,
        "jobs_at_most": settings.WORKER_CONCURRENCY + ONE_MORE,
    }


def others_wait(queue: str, priority: int) -> bool:
    """Return whether a job of another workspace waits for a place, or a more urgent one of the same queue."""
    with connection.cursor() as cursor:
        cursor.execute(OTHERS_WAIT, [f"{FETCHING}%", queue, priority])
        row = cursor.fetchone()
    return bool(row and row[0])
