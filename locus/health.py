"""`GET /health`: whether this installation works."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.utils import timezone


def health(request: HttpRequest) -> JsonResponse:
    """Return `{status, version, database, worker}`; 503 when the database can't be reached."""
    try:
        worker = "ok" if has_live_worker() else "absent"
        database = "ok"
    except DatabaseError:
        database = worker = "unreachable"
    healthy = database == "ok"
    body = {
        "status": "ok" if healthy else "unavailable",
        "version": settings.VERSION,
        "database": database,
        "worker": worker,
    }
    return JsonResponse(body, status=200 if healthy else 503)


def has_live_worker() -> bool:
    """Return whether a worker has reported lately."""
    since = timezone.now() - timedelta(seconds=settings.WORKER_STALLED_SECS)
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM procrastinate_workers WHERE last_heartbeat > %s)", [since])
        row = cursor.fetchone()
    return bool(row and row[0])
