"""Database work outside the event loop.

`in_database` runs a function in one of a few threads. There are fewer of them than connections in the pool,
so that no thread waits for a connection. `Batcher` runs simultaneous requests of many tasks as one: with
hundreds of streams, one transaction and one query serve all of them.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, ParamSpec, TypeVar

from channels.db import database_sync_to_async
from django.conf import settings
from django.db import close_old_connections, connection, transaction

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")
P = ParamSpec("P")

# The other half is for views, each in a thread of its own, and for searching.
_executor = ThreadPoolExecutor(max(1, settings.DATABASE_POOL_SIZE // 2), thread_name_prefix="database")


async def in_database(function: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
    """Return the result of `function`, called in a thread that then returns its connection to the pool."""
    call = database_sync_to_async(
        partial(function, *args, **kwargs), thread_sensitive=False, executor=_executor
    )
    result: Result = await call()
    return result


async def in_database_to_the_end(function: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
    """Do as `in_database`; if the caller is cancelled meanwhile, let the function end before that is raised.

    `in_database` alone would drop a function that waits for a thread, and leave one that has begun behind.
    """
    work = asyncio.ensure_future(in_database(function, *args, **kwargs))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        # What it raised has nobody to tell.
        work.exception()
        raise


def give_connection_back() -> None:
    """Return this thread's connection to the pool before a long wait; the next query takes another."""
    if not connection.in_atomic_block:
        close_old_connections()


async def in_database_within(
    secs: float, function: Callable[P, Result], *args: P.args, **kwargs: P.kwargs
) -> Result:
    """Run `function` as a transaction with a time limit for each statement; raise `django.db.Error` beyond
    it.

    Only the database's time counts, not the wait for a thread. The database itself cancels the statement, so
    that no thread hangs.
    """

    def limited() -> Result:
        with transaction.atomic():
            with connection.cursor() as cursor:
                milliseconds = str(max(1, int(1000 * secs)))
                cursor.execute("SELECT set_config('statement_timeout', %s, true)", [milliseconds])
            return function(*args, **kwargs)

    return await in_database(limited)


class Batcher(Generic[Item, Result]):
    """Calls a function of many items in its own thread, with all items that came during the last call.

    The function returns one result for each item. A single item does not wait; the busier the process, the
    more items share a call. If a call for several items fails, each is tried alone, so that one bad item does
    not fail the others. So the function must do all or nothing.
    """

    def __init__(self, function: Callable[[Sequence[Item]], Sequence[Result]]) -> None:
        self._function = function
        self._waiting: SimpleQueue[tuple[Item, asyncio.Future[Result]]] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    async def __call__(self, item: Item) -> Result:
        """Return the result for the item, or raise the function's exception for it."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.put((item, future))
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="gathered", daemon=True)
                self._thread.start()
        return await future

    def _work(self) -> None:
        while True:
            calls = [self._waiting.get(), *self._more()]
            self._answer([call for call in calls if not call[1].cancelled()])
            del calls
            if self._waiting.empty():
                _close_old_connections()

    def _more(self) -> list[tuple[Item, asyncio.Future[Result]]]:
        calls: list[tuple[Item, asyncio.Future[Result]]] = []
        try:
            while True:
                calls.append(self._waiting.get_nowait())
        except Empty:
            return calls

    def _answer(self, calls: Sequence[tuple[Item, asyncio.Future[Result]]]) -> None:
        if not calls:
            return
        try:
            # A context of its own: what one call sets must not be there for the next.
            results = contextvars.Context().run(self._function, [item for item, _ in calls])
        except Exception as error:  # noqa: BLE001 - raised again where the result is awaited
            # The connection may be broken.
            _close_old_connections()
            self._alone(calls, error)
        else:
            _resolve_futures([(call[1], result, None) for call, result in zip(calls, results, strict=True)])

    def _alone(self, calls: Sequence[tuple[Item, asyncio.Future[Result]]], error: Exception) -> None:
        if len(calls) == 1:
            _resolve_futures([(calls[0][1], None, error)])
        else:
            for call in calls:
                self._answer([call])


def _close_old_connections() -> None:
    """Close what is no longer of use. Where that fails the thread goes on, for others wait for it."""
    try:
        close_old_connections()
    except Exception:
        logger.exception("A connection could not be closed.")


FutureOutcome = tuple[asyncio.Future[Any], Any, Exception | None]


def _resolve_futures(outcomes: Sequence[FutureOutcome]) -> None:
    """Resolve all futures of one loop at once: waking the loop for each would be the main cost."""
    for loop in {future.get_loop() for future, _, _ in outcomes}:
        with suppress(RuntimeError):  # the loop is closed, and nothing waits
            loop.call_soon_threadsafe(
                _resolve_in_loop, [each for each in outcomes if each[0].get_loop() is loop]
            )


def _resolve_in_loop(outcomes: Sequence[FutureOutcome]) -> None:
    for future, result, error in outcomes:
        if future.done():  # the waiting task was cancelled
            continue
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
