"""Running tools as tasks of an event loop, independent of any client."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import suppress
from weakref import WeakKeyDictionary

from django.db import Error as DatabaseError

from accounts.principal import Principal
from core.errors import LocusError, Overloaded
from core.pubsub import subscriber
from core.threads import in_database
from runs.context import Run
from runs.events import MAX_PARTIAL_BYTES, PartialText, ToolPartialUpdate, Yielded, escaped_bytes
from runs.journal import EventBatch, failure, store, store_all
from runs.leases import CANCELLED, renewal_secs, renewed
from runs.models import Execution
from runs.registry import Tool, ToolInput

logger = logging.getLogger(__name__)
GATHER_SECS = 0.03
"""Text that comes within this time after other text is stored together."""

STOP_SECS = 4.0
"""How long a server that stops waits for its runs: less than whoever stops it."""


async def launch(principal: Principal, tool: Tool, inputs: ToolInput, execution: Execution) -> None:
    """Start running the execution in this event loop; it goes on when its client leaves."""
    loop = asyncio.get_running_loop()
    _runs.setdefault(loop, Runs()).start(
        execution.pk, _run(principal, tool, inputs, Run(execution.pk, execution.workspace_id))
    )


class Runs:
    """The runs of one event loop. Their leases are kept here, and here they are stopped."""

    def __init__(self) -> None:
        # The loop keeps only weak references to tasks: without these one could be collected while it runs.
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._keepers: list[asyncio.Task[None]] = []
        self._is_stopping = False

    def start(self, execution_id: str, run: Coroutine[None, None, None]) -> None:
        """Make a task of a run; one that comes while the server stops only ends."""
        if self._is_stopping:
            run.close()
            run = _only_end(execution_id)
        if not self._keepers:
            self._keepers = [_task(self._renew_regularly()), _task(self._heed_cancels())]
        task = self._tasks[execution_id] = _task(run)
        task.add_done_callback(lambda _: self._tasks.pop(execution_id, None))

    async def _renew_regularly(self) -> None:
        while True:
            await asyncio.sleep(renewal_secs())
            await self._renew()

    async def _heed_cancels(self) -> None:
        async with subscriber().subscribe(CANCELLED) as messages:
            while True:
                if id := await messages.get():
                    self._stop(id)
                else:
                    # The connection was new or lost: a cancel may have been missed.
                    await self._renew()

    async def _renew(self) -> None:
        ids = list(self._tasks)
        with suppress(DatabaseError):
            for id in set(ids) - (await in_database(renewed, ids) if ids else set()):
                self._stop(id)

    def _stop(self, execution_id: str) -> None:
        if task := self._tasks.get(execution_id):
            task.cancel()

    def stop(self) -> None:
        """End all runs, now and from now on."""
        self._is_stopping = True
        for task in self._tasks.values():
            task.cancel()

    async def stopped(self) -> None:
        """Wait until all have ended."""
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=STOP_SECS)


def stop_all(loop: asyncio.AbstractEventLoop) -> None:
    """End the runs of an event loop, for its server stops: each with its terminal event."""
    _runs.setdefault(loop, Runs()).stop()


async def stopped() -> None:
    """Wait until the runs of this event loop have ended, but not for ever."""
    await _runs[asyncio.get_running_loop()].stopped()


_runs: WeakKeyDictionary[asyncio.AbstractEventLoop, Runs] = WeakKeyDictionary()


def _task(work: Coroutine[None, None, None]) -> asyncio.Task[None]:
    # A context of its own: the request's ends before the task does, and takes its thread with it.
    return asyncio.get_running_loop().create_task(work, context=contextvars.Context())


# --- One run ---------------------------------------------------------------------------------------------


async def _run(principal: Principal, tool: Tool, inputs: ToolInput, run: Run) -> None:
    execution_id = run.execution_id
    try:
        await _store_events(execution_id, tool.run(principal, inputs, run))
        # Refused unless the tool forgot to end its stream.
        ending = failure(execution_id, "internal", "The tool ended without a result.")
    except LocusError as error:
        ending = failure(execution_id, error.code, error.message, param=error.param, details=error.details)
    except asyncio.CancelledError:
        # By who has ended the execution already, or by the end of the server.
        await in_database(store_all, [_stopped(execution_id)])
        raise
    except Exception:
        # The last resort of a task nobody awaits: the client must get its terminal event.
        logger.exception("Execution %s failed", execution_id)
        ending = failure(
            execution_id, "internal", "Something went wrong on this server. The log has the details."
        )
    # Who stops the run now must not lose its end.
    await asyncio.shield(store(ending))


def _stopped(execution_id: str) -> EventBatch:
    """Return the end of a run whose server stops: another one may take the question at once."""
    return failure(execution_id, Overloaded.code, "The server is being stopped. Ask again in a moment.")


async def _only_end(execution_id: str) -> None:
    await store(_stopped(execution_id))


async def _store_events(execution_id: str, items: AsyncIterator[Yielded]) -> None:
    """Store what the tool yields, together what comes while other things are being stored."""
    waiting: asyncio.Queue[Yielded | None] = asyncio.Queue()
    reading = asyncio.create_task(_read(items, waiting))
    try:
        while batch := await _next_batch(waiting):
            if not await store(EventBatch(execution_id, list(joined(batch)))):
                break
            if isinstance(batch[-1], ToolPartialUpdate):
                await asyncio.sleep(GATHER_SECS)
        else:
            await reading
    finally:
        reading.cancel()
        # Until it has let go of the model.
        await asyncio.wait([reading])


async def _read(items: AsyncIterator[Yielded], into: asyncio.Queue[Yielded | None]) -> None:
    try:
        async for item in items:
            into.put_nowait(item)
    finally:
        into.put_nowait(None)


async def _next_batch(waiting: asyncio.Queue[Yielded | None]) -> list[Yielded]:
    """Return what is waiting, at least one item; nothing at the end."""
    batch = [await waiting.get()]
    while not waiting.empty():
        batch.append(waiting.get_nowait())
    if batch[-1] is None:
        waiting.put_nowait(None)
    return [item for item in batch if item is not None]


def joined(items: Iterable[Yielded]) -> Iterable[Yielded]:
    """Yield the items, with consecutive pieces of text joined up to the limit of a partial.

    Pieces are never cut, and so neither is a marker.
    """
    text = ""
    for item in items:
        piece = item.data.content if isinstance(item, ToolPartialUpdate) else None
        if text and (piece is None or escaped_bytes(text + piece) > MAX_PARTIAL_BYTES):
            yield _partial(text)
            text = ""
        if piece is None:
            yield item
        else:
            text += piece
    if text:
        yield _partial(text)


def _partial(text: str) -> ToolPartialUpdate:
    return ToolPartialUpdate(data=PartialText(content=text))
