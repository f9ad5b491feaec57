"""The figures of the dashboard, by queries with a time limit.

A query that takes too long leaves None, and the page says so: no table is so large that the page hangs.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

from django.conf import settings
from django.core.cache import cache
from django.db import OperationalError, connection
from django.db.models import Count, F, Min, Q, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateEvent, ProcrastinateJob, ProcrastinateWorker
from pydantic import TypeAdapter

from accounts.models.ledger import Charge
from core.limited import limited_statements
from kb.models import Document, Status
from locus.dashboard.percentile import Percentile
from runs.models import Execution, ExecutionStatus
from search.web.usage.spent import SpendingOverview

DAYS = 30
# Shown figures may be so old; many administrators who look at once cost one look at the database.
CACHE_SECS = 15
CACHE_KEY = "dashboard-figures"
STATEMENT_SECS = 2.0
# More waiting jobs than this are not counted.
MOST_JOBS = 100_000

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class StateCount:
    """How many documents are in a state, and the bytes of their files."""

    status: str
    number: int
    bytes: int


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """The jobs: waiting (at most `MOST_JOBS` are counted), running, failed; the wait of the oldest."""

    waiting: int
    running: int
    failed: int
    oldest: timedelta | None
    workers: int
    """Workers that have reported lately."""

    @property
    def is_cut(self) -> bool:
        """Whether there may be more waiting jobs than were counted."""
        return self.waiting >= MOST_JOBS


@dataclass(frozen=True, slots=True)
class RunDay:
    """The executions begun on a day (UTC), and how long the completed ones took, in seconds."""

    day: date
    completed: int = 0
    failed: int = 0
    others: int = 0
    """Cancelled, or still running."""
    p50: float | None = None
    p95: float | None = None

    @property
    def total(self) -> int:
        """All executions of the day."""
        return self.completed + self.failed + self.others


@dataclass(frozen=True, slots=True)
class DiskFigures:
    """Bytes of the disk that holds `DATA_DIR`, and of the database wherever it is."""

    free: int
    total: int
    database: int | None

    @property
    def is_short(self) -> bool:
        """Whether uploads are refused soon, or already."""
        return self.free < 4 * settings.MIN_FREE_DISK_BYTES


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything that the dashboard counts; None where counting took too long."""

    at: datetime
    states: tuple[StateCount, ...] | None
    queue: QueueFigures | None
    days: tuple[RunDay, ...] | None
    failed_runs: int | None
    """Executions that failed in the last 24 hours."""
    spent: SpendingOverview | None
    disk: DiskFigures


_FIGURES = TypeAdapter(Figures)


def figures() -> Figures:
    """Return the figures, at most `CACHE_SECS` old."""
    kept: str | None = cache.get(CACHE_KEY)
    if kept is not None:
        return _FIGURES.validate_json(kept)
    found = fresh_figures(timezone.now())
    cache.set(CACHE_KEY, _FIGURES.dump_json(found).decode(), CACHE_SECS)
    return found


def fresh_figures(now: datetime) -> Figures:
    """Count now."""
    return Figures(
        at=now,
        states=_within_limit(_states),
        queue=_within_limit(lambda: _queue(now)),
        days=_within_limit(lambda: _days(now)),
        failed_runs=_within_limit(lambda: _failed_runs(now)),
        spent=_within_limit(lambda: SpendingOverview.of(Charge.unscoped.all(), DAYS, now.date())),
        disk=_disk(),
    )


def day_before(now: datetime) -> datetime:
    """Return the moment from which failures count, to the second, as addresses write it."""
    return (now - timedelta(days=1)).replace(microsecond=0)


def _within_limit(count: Callable[[], Result]) -> Result | None:
    try:
        with limited_statements(STATEMENT_SECS):
            return count()
    except OperationalError:
        return None


def _states() -> tuple[StateCount, ...]:
    rows = Document.unscoped.order_by().values_list("status").annotate(Count("pk"), Sum("size"))
    found = {status: StateCount(status, number, total or 0) for status, number, total in rows}
    return tuple(found.get(status, StateCount(status, 0, 0)) for status in Status.values)


def _queue(now: datetime) -> QueueFigures:
    jobs = ProcrastinateJob.objects
    due = jobs.filter(status="todo").filter(Q(scheduled_at=None) | Q(scheduled_at__lte=now))
    first = due.aggregate(first=Min("pk"))["first"]
    deferred = ProcrastinateEvent.objects.filter(job=first, type="deferred")
    since = deferred.aggregate(since=Min("at"))["since"] if first else None
    alive = now - timedelta(seconds=settings.WORKER_STALLED_SECS)
    return QueueFigures(
        waiting=jobs.filter(status="todo")[:MOST_JOBS].count(),
        running=jobs.filter(status="doing")[:MOST_JOBS].count(),
        failed=jobs.filter(status="failed")[:MOST_JOBS].count(),
        oldest=now - since if since else None,
        workers=ProcrastinateWorker.objects.filter(last_heartbeat__gt=alive).count(),
    )


def _days(now: datetime) -> tuple[RunDay, ...]:
    first = now.astimezone(UTC).date() - timedelta(days=DAYS - 1)
    since = datetime(first.year, first.month, first.day, tzinfo=UTC)
    completed = Q(status=ExecutionStatus.COMPLETED, finished_at__isnull=False)
    took = F("finished_at") - F("created_at")
    rows = (
        Execution.unscoped.filter(created_at__gte=since)
        .order_by()
        .values(day=TruncDate("created_at", tzinfo=UTC))
        .annotate(
            total=Count("pk"),
            completed=Count("pk", filter=completed),
            failed=Count("pk", filter=Q(status=ExecutionStatus.FAILED)),
            p50=Percentile(took, 0.5, filter=completed),
            p95=Percentile(took, 0.95, filter=completed),
        )
    )
    known = {
        row["day"]: RunDay(
            row["day"],
            row["completed"],
            row["failed"],
            row["total"] - row["completed"] - row["failed"],
            _seconds(row["p50"]),
            _seconds(row["p95"]),
        )
        for row in rows
    }
    days = (first + timedelta(days=number) for number in range(DAYS))
    return tuple(known.get(day, RunDay(day)) for day in days)


def _failed_runs(now: datetime) -> int:
    lately = Execution.unscoped.filter(status=ExecutionStatus.FAILED, created_at__gte=day_before(now))
    return lately.count()


def _disk() -> DiskFigures:
    disk = shutil.disk_usage(settings.DATA_DIR)
    return DiskFigures(disk.free, disk.total, _within_limit(_database_bytes))


def _database_bytes() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        [(size,)] = cursor.fetchall()
    return int(size)


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else duration.total_seconds()
