"""What Prometheus learns of jobs: how they end and how long they take, in the processes of this host."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from procrastinate import JobContext
from procrastinate.exceptions import JobAborted
from procrastinate.worker import Worker
from prometheus_client import Counter, Histogram

_jobs = Counter(
    "kb_jobs_run", "Jobs by how they ended: done, error (perhaps tried again), aborted", ["task", "end"]
)
_seconds = Histogram(
    "kb_job_seconds",
    "Seconds that jobs took",
    ["task"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800),
)


async def measure_job(call_next: Callable[[], Awaitable[Any]], context: JobContext, worker: Worker) -> Any:
    """Run a job, and count it: a worker's middleware."""
    # Also a job that its worker cancels, to be put back, counts as aborted.
    task, begun, end = context.job.task_name, time.perf_counter(), "aborted"
    try:
        result = await call_next()
        end = "done"
        return result
    except JobAborted:
        raise
    except Exception:
        end = "error"
        raise
    finally:
        _jobs.labels(task, end).inc()
        _seconds.labels(task).observe(time.perf_counter() - begun)
