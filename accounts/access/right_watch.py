"""Streams and sockets end when the right behind them ends (contract §2).

Every process looks every two seconds after all rights that something in it is open by: a few queries for
however many streams. That also finds what nobody announces, such as a key whose time is over.
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
ENDED = "What you were let in by has ended: a key, login or membership. Identify yourself again."


def right_ended() -> Unauthenticated:
    """Return the error with which a stream or socket ends whose right has ended."""
    return Unauthenticated(ENDED)


def require_right(principal: Principal) -> None:
    """Raise `Unauthenticated` if the principal's right has ended, or is less than it was."""
    if not still_hold([principal])[0]:
        raise right_ended()


class Right:
    """A principal's right to something that is open: `wake` is called once when it ends."""

    def __init__(self, principal: Principal, wake: Callable[[], None]) -> None:
        self.principal, self.has_ended = principal, False
        self._wake = wake

    def require(self) -> None:
        """Raise `Unauthenticated` once the right has ended."""
        if self.has_ended:
            raise right_ended()

    def end(self) -> None:
        """Note that it has ended."""
        self.has_ended = True
        self._wake()


class Watch:
    """The rights that are in use in one event loop, looked after as long as there are any."""

    def __init__(self) -> None:
        self._rights: set[Right] = set()
        self._task: asyncio.Task[None] | None = None

    def add(self, right: Right) -> None:
        """Look after a right from now on."""
        self._rights.add(right)
        if self._task is None or self._task.done():
            # A context of its own: that of the request ends before the task does.
            loop = asyncio.get_running_loop()
            self._task = loop.create_task(self._look_regularly(), context=contextvars.Context())

    def remove(self, right: Right) -> None:
        """Look after it no more."""
        self._rights.discard(right)

    async def _look_regularly(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECS)
            if not self._rights:
                return
            try:
                await self._look()
            except Exception:
                # A database that is away for a moment must not end the watch for good.
                logger.exception("The rights of open streams could not be looked up")

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
async def watched(principal: Principal, wake: Callable[[], None]) -> AsyncIterator[Right]:
    """Look after a right for as long as the block lasts."""
    right = Right(principal, wake)
    watch().add(right)
    try:
        yield right
    finally:
        watch().remove(right)
