"""Running tools as tasks of an event loop, independent of any client."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import suppress
from weakref import WeakKeyDictionary

from django.db import Error as DatabaseError
from opentelemetry.context import Context

from accounts.principal import Principal
from accounts.scope import continue_as
from core.errors import LocusError, Overloaded
from core.pubsub import subscriber
from core.threads import in_database
from core.tracing import current_trace, span
from core.unavailable import PASSING, refusal_for
from runs.context import PLAIN_STYLE, Run, WritingStyle
from runs.events import MAX_PARTIAL_BYTES, PartialText, ToolPartialUpdate, Yielded, escaped_bytes
from runs.journal import EventBatch, failure, store, store_all
from runs.leases import CANCELLED, renew, renewal_secs
from runs.models import Execution
from runs.registry import Tool, ToolInput

logger = logging.getLogger(__name__)
GATHER_SECS = 0.03
"""Text that follows other text within this time is stored together with it."""

STOP_SECS = 4.0
"""How long a stopping server waits for its runs: less than its supervisor waits for it."""


async def launch(
    principal: Principal,
    tool: Tool,
    inputs: ToolInput,
    execution: Execution,
    *,
    holds_statements: bool = False,
    style: WritingStyle = PLAIN_STYLE,
) -> None:
    """Start running the execution in this event loop; it continues when its client leaves."""
    run = Run(execution.pk, execution.workspace_id, holds_statements, style)
    loop = asyncio.get_running_loop()
    work = _traced_run(current_trace(), principal, tool, inputs, run)
    _runs.setdefault(loop, Runs()).start(execution.pk, work)


class Runs:
    """The runs of one event loop: it renews their leases, and stops them."""

    def __init__(self) -> None:
        # The loop keeps only weak references to tasks: without these one could be collected while it runs.
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._keepers: list[asyncio.Task[None]] = []
        self._is_stopping = False

    def start(self, execution_id: str, run: Coroutine[None, None, None]) -> None:
        """Start a task for a run; while the server stops, a new run only ends."""
        if self._is_stopping:
            run.close()
            run = _only_end(execution_id)
        if not self._keepers:
            self._keepers = [_task(self._renew_regularly()), _task(self._watch_cancellations())]
        task = self._tasks[execution_id] = _task(run)
        task.add_done_callback(lambda _: self._tasks.pop(execution_id, None))

    async def _renew_regularly(self) -> None:
        while True:
            await asyncio.sleep(renewal_secs())
            await self._renew()

    async def _watch_cancellations(self) -> None:
        async with subscriber().subscribe(CANCELLED) as messages:
            while True:
                if id := await messages.get():
                    self._stop(id)
                else:
                    # After a new or lost connection, a cancellation may have been missed.
                    await self._renew()

    async def _renew(self) -> None:
        ids = list(self._tasks)
        with suppress(DatabaseError):
            for id in set(ids) - (await in_database(renew, ids) if ids else set()):
                self._stop(id)

    def _stop(self, execution_id: str) -> None:
        if task := self._tasks.get(execution_id):
            task.cancel()

    def stop(self) -> None:
        """End all runs, and every run that starts later."""
        self._is_stopping = True
        for task in self._tasks.values():
            task.cancel()

    async def wait_until_idle(self, secs: float) -> None:
        """Wait until all runs have ended by themselves, those too that begin meanwhile, or time is over."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + secs
        while self._tasks and (left := deadline - loop.time()) > 0:
            await asyncio.wait(self._tasks.values(), timeout=left)

    async def wait_until_stopped(self) -> None:
        """Wait until all have ended."""
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=STOP_SECS)


def stop_all(loop: asyncio.AbstractEventLoop) -> None:
    """End the runs of an event loop whose server stops, each with its terminal event."""
    _runs.setdefault(loop, Runs()).stop()


async def wait_until_idle(secs: float) -> None:
    """Wait until this event loop has no runs, at most so many seconds."""
    await _runs.setdefault(asyncio.get_running_loop(), Runs()).wait_until_idle(secs)


async def wait_until_stopped() -> None:
    """Wait until the runs of this event loop have ended, up to a limit."""
    await _runs[asyncio.get_running_loop()].wait_until_stopped()


_runs: WeakKeyDictionary[asyncio.AbstractEventLoop, Runs] = WeakKeyDictionary()


def _task(work: Coroutine[None, None, None]) -> asyncio.Task[None]:
    # A context of its own: the request's context ends before the task does, and takes its thread with it.
    return asyncio.get_running_loop().create_task(work, context=contextvars.Context())


# --- One run ---------------------------------------------------------------------------------------------


async def _traced_run(
    parent: Context | None, principal: Principal, tool: Tool, inputs: ToolInput, run: Run
) -> None:
    """Do a run as a part of the trace of the request that begins it."""
    with span(f"run {tool.name}", parent=parent):
        await _run(principal, tool, inputs, run)


async def _run(principal: Principal, tool: Tool, inputs: ToolInput, run: Run) -> None:
    execution_id = run.execution_id
    continue_as(principal)
    try:
        await _store_events(execution_id, tool.run(principal, inputs, run))
        # Ignored unless the tool forgot to end its stream.
        ending = failure(execution_id, "internal", "The tool ended without a result.")
    except LocusError as error:
        ending = failure(execution_id, error.code, error.message, param=error.param, details=error.details)
    except asyncio.CancelledError:
        # Cancelled by the code that ended the execution, or by the server's stop.
        await in_database(store_all, [_stop_failure(execution_id)])
        raise
    except PASSING as error:
        refusal = refusal_for(error)
        ending = failure(execution_id, refusal.code, refusal.message)
    except Exception:
        # Nobody awaits this task, so unexpected errors end here: the client must get its terminal event.
        logger.exception("Execution %s failed", execution_id)
        ending = failure(
            execution_id, "internal", "Something went wrong on this server. The log has the details."
        )
    # A cancellation at this point must not lose the terminal event.
    await asyncio.shield(store(ending))


def _stop_failure(execution_id: str) -> EventBatch:
    """Return the terminal event of a run whose server stops: another server may take the question at once."""
    return failure(execution_id, Overloaded.code, "The server is stopping. Ask again in a moment.")


async def _only_end(execution_id: str) -> None:
    await store(_stop_failure(execution_id))


async def _store_events(execution_id: str, items: AsyncIterator[Yielded]) -> None:
    """Store what the tool yields; items that come during one write share the next."""
    waiting: asyncio.Queue[Yielded | None] = asyncio.Queue()
    reading = asyncio.create_task(_read_into(items, waiting))
    try:
        while batch := await _next_batch(waiting):
            if not await store(EventBatch(execution_id, list(join_partials(batch)))):
                break
            if isinstance(batch[-1], ToolPartialUpdate):
                await asyncio.sleep(GATHER_SECS)
        else:
            await reading
    finally:
        reading.cancel()
        # Wait until it has closed the model's stream.
        await asyncio.wait([reading])


async def _read_into(items: AsyncIterator[Yielded], into: asyncio.Queue[Yielded | None]) -> None:
    try:
        async for item in items:
            into.put_nowait(item)
    finally:
        into.put_nowait(None)


async def _next_batch(waiting: asyncio.Queue[Yielded | None]) -> list[Yielded]:
    """Return the waiting items, at least one; nothing at the end."""
    batch = [await waiting.get()]
    while not waiting.empty():
        batch.append(waiting.get_nowait())
    if batch[-1] is None:
        waiting.put_nowait(None)
    return [item for item in batch if item is not None]


def join_partials(items: Iterable[Yielded]) -> Iterable[Yielded]:
    """Yield the items, with consecutive pieces of text joined up to the limit of a partial.

    Pieces are never cut, so markers are not cut either.
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
