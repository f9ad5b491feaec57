"""`/health`: whether Locus works; `/healthz`, `/readyz`: whether this process lives, may be used."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from core.process.readiness import are_models_loaded, is_draining


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


def live(request: HttpRequest) -> JsonResponse:
    """Return 200 while this process answers at all: who gets no answer should start it again.

    It asks nobody: a database that is down is no reason to start web servers again.
    """
    return JsonResponse({"status": "ok"})


def ready(request: HttpRequest) -> JsonResponse:
    """Return `{status, database, models, worker}`; 503 while requests should go to another process.

    A missing worker is said, but is no reason: questions are answered without one.
    """
    try:
        worker, database = ("ok" if has_live_worker() else "absent"), "ok"
    except DatabaseError:
        worker = database = "unreachable"
    models = "loaded" if are_models_loaded() else "loading"
    if is_draining():
        status = "draining"
    else:
        status = "ok" if (database, models) == ("ok", "loaded") else "unavailable"
    body = {"status": status, "database": database, "models": models, "worker": worker}
    return JsonResponse(body, status=200 if status == "ok" else 503)


def has_live_worker() -> bool:
    """Return whether a worker has reported lately."""
    since = timezone.now() - timedelta(seconds=settings.WORKER_STALLED_SECS)
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM procrastinate_workers WHERE last_heartbeat > %s)", [since])
        row = cursor.fetchone()
    return bool(row and row[0])
