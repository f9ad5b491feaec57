"""Reads that need not be the very latest go to servers that follow the primary one (`DATABASE_REPLICA_URLS`).

  read(function) ─┬─ a replica that is fresh enough ─▶ the function's queries go there
                  └─ none, or it fails ──────────────▶ they go to the primary, as everything else does

Fresh enough is a replica that has replayed what the primary had written `REPLICA_MAX_LAG_SECS` ago, and what
the reader itself has written last. Positions in the primary's log say so; no clocks are compared.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from itertools import count
from typing import Any, TypeVar

from django.conf import settings
from django.core.cache import cache
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model

from core.row_access import current_access

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

PREFIX = "replica_"
SAMPLE_SECS = 0.5
"""So often a process asks the primary for its position."""
DOWN_SECS = 5.0
"""A replica that failed is left out for so long."""
WRITTEN = "written-{}"

_alias: ContextVar[str | None] = ContextVar("replica", default=None)
_turn = count()


class ReadRouter:
    """Sends the queries of Django's models to the replica of the context; all changes to the primary."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str | None:
        """Return the alias of the replica within `read`."""
        return _alias.get()

    def db_for_write(self, model: type[Model], **hints: Any) -> str:
        """Return the primary: a row that was read from a replica is changed there."""
        return DEFAULT_DB_ALIAS

    def allow_relation(self, one: Model, other: Model, **hints: Any) -> bool:
        """Return True: all hold the same rows."""
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        """Return whether this is the primary: replicas follow by themselves."""
        return db == DEFAULT_DB_ALIAS


def read_connection() -> BaseDatabaseWrapper:
    """Return the connection for a query in SQL that may go to a replica."""
    return connections[_alias.get() or DEFAULT_DB_ALIAS]


def read(function: Callable[[], Result]) -> Result:
    """Return the result of a function that only reads, from a replica if one is fresh enough for the reader.

    If the replica fails, the function is called again on the primary. Its result must hold no query that is
    still to be sent.
    """
    alias = _fresh_replica() if settings.DATABASE_REPLICA_URLS and _alias.get() is None else None
    if alias is None:
        return function()
    token = _alias.set(alias)
    try:
        return function()
    except (OperationalError, InterfaceError) as error:
        _replicas.note_failure(alias, error)
    finally:
        _alias.reset(token)
    return function()


def remember_write(user_id: int) -> None:
    """Let this user's next reads wait for no replica that lacks what it has just committed.

    Where the cache can't be reached, those of other hosts may lack it for as long as replicas may lag: what
    is committed must not be answered with a failure.
    """
    if settings.DATABASE_REPLICA_URLS:
        seconds = math.ceil(settings.REPLICA_MAX_LAG_SECS) + 1
        # Later than that, every replica in use has it.
        try:
            cache.set(WRITTEN.format(user_id), _primary_position(), seconds)
        except Exception as error:  # noqa: BLE001 - each backend has errors of its own
            logger.warning("What user %s has written is not remembered: %r", user_id, error)


class _Replicas:
    """What this process knows of the positions of the servers. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._samples: deque[tuple[float, int]] = deque()
        self._replayed: dict[str, int] = {}
        self._down_until: dict[str, float] = {}

    def required_position(self) -> int:
        """Return what a replica must have replayed: all that is older than the greatest lag."""
        now = time.monotonic()
        with self._lock:
            is_due = not self._samples or now - self._samples[-1][0] >= SAMPLE_SECS
        if is_due:
            # The position may be later than the moment that is noted for it, which is on the safe side.
            position = _primary_position()
            with self._lock:
                self._samples.append((now, position))
        with self._lock:
            while len(self._samples) > 1 and self._samples[0][0] < now - settings.REPLICA_MAX_LAG_SECS:
                self._samples.popleft()
            return self._samples[0][1]

    def has(self, alias: str, position: int) -> bool:
        """Return whether a replica works and has replayed this position."""
        if self._down_until.get(alias, 0.0) > time.monotonic():
            return False
        if self._replayed.get(alias, -1) >= position:
            return True
        try:
            with connections[alias].cursor() as cursor:
                # Null once it is a replica no longer: then it is not this primary's.
                cursor.execute("SELECT pg_last_wal_replay_lsn() WHERE pg_is_in_recovery()")
                row = cursor.fetchone()
        except (OperationalError, InterfaceError) as error:
            self.note_failure(alias, error)
            return False
        self._replayed[alias] = _number(row[0]) if row and row[0] else -1
        return self._replayed[alias] >= position

    def note_failure(self, alias: str, error: Exception) -> None:
        """Leave a replica out for some seconds."""
        logger.warning("The database server “%s” failed, the primary one is asked: %s", alias, error)
        self._down_until[alias] = time.monotonic() + DOWN_SECS
        self._replayed.pop(alias, None)
        connections[alias].close()


_replicas = _Replicas()


def _fresh_replica() -> str | None:
    """Return the alias of a replica that is fresh enough for whom this context works for."""
    required = _replicas.required_position()
    user_id = current_access().user_id
    if user_id is not None:
        try:
            required = max(required, cache.get(WRITTEN.format(user_id)) or 0)
        except Exception as error:  # noqa: BLE001 - each backend has errors of its own
            logger.warning("The cache can't be reached, the primary database is asked: %r", error)
            return None
    aliases = [f"{PREFIX}{number}" for number in range(len(settings.DATABASE_REPLICA_URLS))]
    first = next(_turn) % len(aliases)
    in_turn = aliases[first:] + aliases[:first]
    return next((alias for alias in in_turn if _replicas.has(alias, required)), None)


def _primary_position() -> int:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn()")
        return _number(cursor.fetchone()[0])


def _number(position: str) -> int:
    """Return a position in the log, such as “16/B374D848”, as a number of bytes."""
    high, _, low = position.partition("/")
    return (int(high, 16) << 32) + int(low, 16)
