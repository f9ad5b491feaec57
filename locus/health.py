"""`/health`: whether Locus works; `/healthz`, `/readyz`: whether this process lives, may be used."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from core.process.readiness import are_models_loaded, is_draining
from core.row_access import as_system
from kb.index import switching
from kb.models import IndexChange

FRESH_SECS = 2.0
"""How long an answer of the database serves all probes."""
LONGEST_SECS = 2.0
"""How long a probe waits for the database."""
TOLERATED_SECS = 10.0
"""A database that was there so lately keeps the process ready: all processes share it, and to take them all
away for the seconds of a failover would turn slow replies into none."""


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """What a probe knows of the database."""

    is_reachable: bool
    has_worker: bool
    is_usable: bool
    """Whether it is reachable, or was lately."""


class DatabaseProbe:
    """Asks the database at most every `FRESH_SECS`, and never longer than `LONGEST_SECS` for one probe.

    `ask` returns whether there is a worker, and raises `DatabaseError`. It runs in a thread of its own: where
    a network swallows packets nothing else bounds it. While one question is open, no second is asked.
    """

    def __init__(self, ask: Callable[[], bool]) -> None:
        self._ask = ask
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._asked = self._reached = float("-inf")
        self._has_answer = self._has_worker = False

    def look(self) -> DatabaseState:
        """Return the state, waiting for the database if nothing is known that is fresh."""
        with self._lock:
            is_open = self._thread is not None and self._thread.is_alive()
            if not is_open and time.monotonic() - self._asked >= FRESH_SECS:
                self._asked, self._has_answer = time.monotonic(), False
                self._thread = threading.Thread(target=self._question, name="probe", daemon=True)
                self._thread.start()
            thread, until = self._thread, self._asked + LONGEST_SECS
        if thread is not None:
            thread.join(max(0.0, until - time.monotonic()))
        is_usable = self._has_answer or time.monotonic() - self._reached < TOLERATED_SECS
        return DatabaseState(self._has_answer, self._has_worker, is_usable)

    def _question(self) -> None:
        try:
            self._has_worker = self._ask()
            self._reached, self._has_answer = time.monotonic(), True
        except DatabaseError:
            pass
        finally:
            connection.close()


def health(request: HttpRequest) -> JsonResponse:
    """Return `{status, version, database, worker}`; 503 when the database can't be reached.

    With a search engine outside of PostgreSQL, or while it changes, also `search`.
    """
    search: dict[str, object] = {}
    try:
        worker = "ok" if has_live_worker() else "absent"
        search = search_state()
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
    return JsonResponse(body | search, status=200 if healthy else 503)


@as_system("counts documents of all tenants that wait for the search engine")
def search_state() -> dict[str, object]:
    """Return `{search: {engine, waiting, filling?, done?, total?}}`; nothing for the default engine."""
    active, wanted = switching.active_engine().name, settings.SEARCH_ENGINE
    if active == wanted == switching.DEFAULT:
        return {}
    found: dict[str, object] = {"engine": active, "waiting": IndexChange.objects.count()}
    if active != wanted:
        state = switching.state()
        found |= {"filling": wanted, "done": state.done, "total": state.total}
    return {"search": found}


def live(request: HttpRequest) -> JsonResponse:
    """Return 200 while this process answers at all: who gets no answer should start it again.

    It asks nobody: a database that is down is no reason to start web servers again.
    """
    return JsonResponse({"status": "ok"})


def ready(request: HttpRequest) -> JsonResponse:
    """Return `{status, database, models, worker}`; 503 while requests should go to another process.

    A missing worker is said, but is no reason: questions are answered without one. Nor is a database that is
    away for some seconds (`TOLERATED_SECS`).
    """
    state = _probe.look()
    database = "ok" if state.is_reachable else "unreachable"
    worker = ("ok" if state.has_worker else "absent") if state.is_reachable else "unreachable"
    models = "loaded" if are_models_loaded() else "loading"
    if is_draining():
        status = "draining"
    else:
        status = "ok" if state.is_usable and models == "loaded" else "unavailable"
    body = {"status": status, "database": database, "models": models, "worker": worker}
    return JsonResponse(body, status=200 if status == "ok" else 503)


def has_live_worker() -> bool:
    """Return whether a worker has reported lately."""
    since = timezone.now() - timedelta(seconds=settings.WORKER_STALLED_SECS)
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM procrastinate_workers WHERE last_heartbeat > %s)", [since])
        row = cursor.fetchone()
    return bool(row and row[0])


_probe = DatabaseProbe(lambda: has_live_worker())
