"""Limits on what one user has open at once in this process: uploads, streams, sockets."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

from django.conf import settings

from core.errors import RateLimited

CLOSING = "locus.closing"
"""In an ASGI scope: an `ExitStack` that is closed after the response or when the socket closes."""


class OpenLimit:
    """Counts what each user has open, and refuses more than a setting allows."""

    def __init__(self, setting: str, what: str) -> None:
        self._setting, self._what = setting, what
        self._open: Counter[int] = Counter()
        self._lock = threading.Lock()

    def count(self, user_id: int, scope: Mapping[str, Any]) -> None:
        """Count one until the request or socket of the ASGI scope ends; raise `RateLimited` for too many.

        A scope that has not passed through the middleware, as in unit tests, has no end and is not counted.
        """
        closing: ExitStack | None = scope.get(CLOSING)
        if closing is not None:
            closing.callback(self.take(user_id))

    def take(self, user_id: int) -> Callable[[], None]:
        """Count one and return the function that uncounts it; raise `RateLimited` for too many."""
        limit = int(getattr(settings, self._setting))
        with self._lock:
            if self._open[user_id] >= limit:
                raise RateLimited(f"You have {limit} {self._what} open. Close some of them.", limit=limit)
            self._open[user_id] += 1
        return lambda: self._give_back(user_id)

    def _give_back(self, user_id: int) -> None:
        with self._lock:
            self._open[user_id] -= 1
            if not self._open[user_id]:
                del self._open[user_id]


streams = OpenLimit("MAX_STREAMS_PER_USER", "event streams")
sockets = OpenLimit("MAX_SOCKETS_PER_USER", "websockets")
uploads = OpenLimit("MAX_UPLOADS_PER_USER", "uploads")
