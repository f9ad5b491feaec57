"""Streams and sockets end when the right that opened them ends (contract §2).

Every two seconds, every process checks all rights of its open streams and sockets, with a few queries for any
number of them. This also finds changes that are not published, such as an expired key.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from accounts.access.rights import still_hold
from accounts.principal import Principal
from core.errors import Unauthenticated
from core.threads import in_database

logger = logging.getLogger(__name__)
LOOK_SECS = 2.0
ENDED = "The key, login or membership that gave you access has ended. Log in or send a key again."


def right_ended() -> Unauthenticated:
    """Return the error that ends a stream or socket whose right has ended."""
    return Unauthenticated(ENDED)


def require_right(principal: Principal) -> None:
    """Raise `Unauthenticated` if the principal's right has ended or has become smaller."""
    if not still_hold([principal])[0]:
        raise right_ended()


class Right:
    """A principal's right to an open stream or socket; `wake` is called once when the right ends."""

    def __init__(self, principal: Principal, wake: Callable[[], None]) -> None:
        self.principal, self.has_ended = principal, False
        self._wake = wake

    def require(self) -> None:
        """Raise `Unauthenticated` once the right has ended."""
        if self.has_ended:
            raise right_ended()

    def end(self) -> None:
        """Mark the right as ended, and call `wake`."""
        self.has_ended = True
        self._wake()


class Watch:
    """Checks the rights in use in one event loop, as long as there are any."""

    def __init__(self) -> None:
        self._rights: set[Right] = set()
        self._task: asyncio.Task[None] | None = None

    def add(self, right: Right) -> None:
        """Start checking a right."""
        self._rights.add(right)
        if self._task is None or self._task.done():
            # The task needs a context of its own, because the request's context ends earlier.
            loop = asyncio.get_running_loop()
            self._task = loop.create_task(self._look_regularly(), context=contextvars.Context())

    def remove(self, right: Right) -> None:
        """Stop checking a right."""
        self._rights.discard(right)

    async def _look_regularly(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECS)
            if not self._rights:
                return
            try:
                await self._look()
            except Exception:
                # A short failure of the database must not end the watch for good.
                logger.exception("The rights of open streams could not be checked; trying again")

    async def _look(self) -> None:
        rights = list(self._rights)
        held = await in_database(still_hold, [right.principal for right in rights])
        for right, holds in zip(rights, held, strict=True):
            if not holds and right in self._rights:
                self.remove(right)
                right.end()


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, Watch] = WeakKeyDictionary()


def watch() -> Watch:
    """Return the running event loop's watch."""
    return _watches.setdefault(asyncio.get_running_loop(), Watch())


@asynccontextmanager
async def watch_right(principal: Principal, wake: Callable[[], None]) -> AsyncIterator[Right]:
    """Check a right as long as the block runs."""
    right = Right(principal, wake)
    watch().add(right)
    try:
        yield right
    finally:
        watch().remove(right)
