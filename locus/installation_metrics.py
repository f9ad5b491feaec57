"""What Prometheus learns of the whole installation: the dashboard’s figures, the same in all processes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from django.db import Error as AnyDatabaseError
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from core.row_access import as_system
from locus.dashboard.figures import Figures, figures

logger = logging.getLogger(__name__)


class InstallationFigures(Collector):
    """Documents by status, the queue, runs, and room; what took too long to count is left out."""

    def collect(self) -> Iterable[Metric]:
        """Yield the metrics; nothing if the database does not tell."""
        try:
            with as_system("counts for the operator, who sees no rows"):
                counted = figures()
        except AnyDatabaseError:
            logger.warning("The figures of the installation can't be read.", exc_info=True)
            return
        yield from _of_documents(counted)
        yield from _of_jobs(counted)
        yield from _of_runs(counted)
        yield _gauge("kb_disk_free_bytes", "Free bytes of the disk that holds DATA_DIR", counted.disk.free)
        yield _gauge("kb_disk_bytes", "All bytes of the disk that holds DATA_DIR", counted.disk.total)
        if counted.disk.database is not None:
            yield _gauge("kb_database_bytes", "Bytes of the database", counted.disk.database)


def _of_documents(counted: Figures) -> Iterator[Metric]:
    if counted.states is None:
        return
    documents = GaugeMetricFamily("kb_documents", "Documents by status", labels=["status"])
    size = GaugeMetricFamily("kb_document_bytes", "Bytes of documents' files by status", labels=["status"])
    for state in counted.states:
        documents.add_metric([state.status], state.number)
        size.add_metric([state.status], state.bytes)
    yield documents
    yield size


def _of_jobs(counted: Figures) -> Iterator[Metric]:
    if (queue := counted.queue) is None:
        return
    jobs = GaugeMetricFamily("kb_jobs", "Jobs by state, at most 100,000 of each", labels=["state"])
    for state, number in (("waiting", queue.waiting), ("running", queue.running), ("failed", queue.failed)):
        jobs.add_metric([state], number)
    yield jobs
    waited = queue.oldest.total_seconds() if queue.oldest else 0
    yield _gauge("kb_oldest_job_seconds", "How long the oldest job that is due has waited", waited)
    yield _gauge("kb_workers", "Workers that have reported lately", queue.workers)


def _of_runs(counted: Figures) -> Iterator[Metric]:
    if counted.failed_runs is not None:
        yield _gauge("kb_runs_failed_last_day", "Runs that failed in the last 24 hours", counted.failed_runs)
    if counted.days:
        today = counted.days[-1]
        runs = GaugeMetricFamily("kb_runs_today", "Runs begun today (UTC) by outcome", labels=["outcome"])
        for outcome, number in (
            ("completed", today.completed),
            ("failed", today.failed),
            ("others", today.others),
        ):
            runs.add_metric([outcome], number)
        yield runs
        if today.p95 is not None:
            yield _gauge("kb_run_p95_seconds", "What 95 % of today's completed runs stayed below", today.p95)


def _gauge(name: str, what: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, what, value=value)
