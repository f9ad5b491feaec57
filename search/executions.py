"""Executions: run a tool once, store its events, let anyone entitled follow them from any process.

    begin ─ the row exists, its visibility is decided
    launch ─ a task of the event loop runs the tool and appends its events; it outlives its client
    follow ─ reads stored events after a sequence number and waits for more
    cancel ─ appends the terminal event; the running task finds the execution finished and stops

The stored events are the only truth. A terminal event is appended under a row lock and exactly once, so
that a cancel and the last event of the tool can't both win.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from django.db import transaction
from django.utils import timezone

from accounts.errors import LocusError, NotFound
from accounts.principal import Principal, is_clean
from kb.models import Document
from kb.notifications import announce, listener
from search.events import TERMINAL, Event, Failure, ToolError, event_data
from search.models import Execution, ExecutionEvent, ExecutionStatus
from search.tools import Tool, ToolInput

logger = logging.getLogger(__name__)
LIVE = (ExecutionStatus.QUEUED, ExecutionStatus.RUNNING)
# The loop keeps only weak references to tasks: without this set one could be collected while it runs.
_running: dict[str, asyncio.Task[None]] = {}


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as every transport sends it."""

    execution_id: str
    seq: int
    event: str
    data: dict[str, Any]

    @property
    def is_terminal(self) -> bool:
        """Whether the stream ends here."""
        return self.event in TERMINAL


def begin(principal: Principal, tool: Tool, inputs: ToolInput, workspace_id: UUID | None) -> Execution:
    """Create the execution's row; raise `NotFound` for a workspace the principal can't see."""
    paying = workspace_id or principal.default_workspace_id()
    principal.require_workspace(paying)
    return Execution.unscoped.create(
        tool=tool.name,
        user_id=principal.user_id,
        key_id=principal.key_id,
        workspace_id=paying,
        external_user_id=principal.external_user_id,
        session_id=principal.session_id,
        inputs=inputs.model_dump(mode="json"),
    )


def visible_execution(principal: Principal, id: str) -> Execution:
    """Return the principal's own execution, or raise `NotFound`."""
    execution = Execution.objects.restricted_to(principal).filter(pk=id).first() if is_clean(id) else None
    if execution is None:
        raise NotFound
    return execution


async def launch(principal: Principal, tool: Tool, inputs: ToolInput, execution: Execution) -> None:
    """Start running the execution in this event loop; it goes on when its client leaves."""
    # A context of its own: the request's ends before the task does, and takes its thread with it.
    task = asyncio.create_task(_run(principal, tool, inputs, execution.pk), context=contextvars.Context())
    _running[execution.pk] = task
    task.add_done_callback(lambda _: _running.pop(execution.pk, None))


async def run_to_end(principal: Principal, tool: Tool, inputs: ToolInput, execution: Execution) -> Execution:
    """Run the execution and return it finished."""
    await launch(principal, tool, inputs, execution)
    # `wait` rather than `await`: a cancelled execution is a result here, not an exception.
    await asyncio.wait({_running[execution.pk]})
    finished: Execution = await _in_thread(Execution.unscoped.get, pk=execution.pk)
    return finished


async def _run(principal: Principal, tool: Tool, inputs: ToolInput, execution_id: str) -> None:
    try:
        async for event in tool.run(principal, inputs, execution_id):
            if not await _in_thread(append, execution_id, event.event, event_data(event)):
                return
    except LocusError as error:
        await _fail(execution_id, error.code, error.message)
    except asyncio.CancelledError:
        await _fail(execution_id, "cancelled", "The server stopped.")
        raise
    except Exception:
        # The last resort of a task nobody awaits: the client must get its terminal event.
        logger.exception("Execution %s failed", execution_id)
        await _fail(execution_id, "internal", "Something went wrong here. It has been logged.")


async def _fail(execution_id: str, code: str, message: str) -> None:
    error: Event = ToolError(data=Failure(code=code, message=message))
    await _in_thread(append, execution_id, error.event, event_data(error))


def append(execution_id: str, event: str, data: dict[str, Any]) -> bool:
    """Store the next event, and with a terminal one the outcome; False if the execution is over already."""
    with transaction.atomic():
        execution = Execution.unscoped.select_for_update().filter(pk=execution_id, status__in=LIVE).first()
        if execution is None:
            return False
        seq = execution.events.count() + 1
        ExecutionEvent.objects.create(execution=execution, seq=seq, event=event, data=data)
        execution.status = _status_after(event, data)
        if event in TERMINAL:
            execution.finished_at = timezone.now()
            execution.result = data if event == "tool_end" else _text_so_far(execution)
            execution.error = data if event == "error" else None
        execution.save()
        announce(topic(execution_id), str(seq))
    return True


def cancel(execution: Execution) -> Execution:
    """End a live execution with `error {code: "cancelled"}`; a finished one stays as it is."""
    append(execution.pk, "error", {"code": "cancelled", "message": "The execution was cancelled."})
    task = _running.get(execution.pk)
    if task is not None:
        task.get_loop().call_soon_threadsafe(task.cancel)
    execution.refresh_from_db()
    return execution


async def follow(
    principal: Principal, execution_id: str, after: int, ping_secs: float
) -> AsyncIterator[StoredEvent | None]:
    """Yield the events with a sequence number above `after` until the terminal one; None when all is quiet.

    The caller has decided that the principal may see the execution; what it no longer sees of the contexts'
    documents is blanked here, whether the events are new or replayed.
    """
    async with listener().subscribe(topic(execution_id)) as news:
        while True:
            events = await _in_thread(stored_events, principal, execution_id, after)
            for event in events:
                yield event
                after = event.seq
            if events[-1].is_terminal if events else await _in_thread(is_over, execution_id):
                return
            try:
                await asyncio.wait_for(news.get(), ping_secs)
            except TimeoutError:
                yield None


def stored_events(principal: Principal, execution_id: str, after: int) -> list[StoredEvent]:
    """Return the events stored so far with a sequence number above `after`."""
    rows = ExecutionEvent.objects.filter(execution_id=execution_id, seq__gt=after).order_by("seq")
    return [
        StoredEvent(execution_id, row.seq, row.event, without_invisible(principal, row.data)) for row in rows
    ]


HIDDEN = {"text_preview": None, "quote": None, "quotes": None, "bbox": None, "unavailable": True}


def without_invisible(principal: Principal, data: Any) -> Any:
    """Return an event's data or a result with the contexts blanked whose document the reader no longer sees.

    They keep `rank` and `document_id` (contract §2).
    """
    if not data or not data.get("contexts"):
        return data
    named = {context["document_id"] for context in data["contexts"]}
    documents = Document.objects.addressable_by(principal).filter(pk__in=named)
    seen = {str(pk) for pk in documents.values_list("pk", flat=True)}
    contexts = [
        context if context["document_id"] in seen else _blanked(context) for context in data["contexts"]
    ]
    return data | {"contexts": contexts}


def _blanked(context: dict[str, Any]) -> dict[str, Any]:
    return {"rank": context["rank"], "document_id": context["document_id"], **HIDDEN}


def is_over(execution_id: str) -> bool:
    """Whether the terminal event is stored."""
    return not Execution.unscoped.filter(pk=execution_id, status__in=LIVE).exists()


def topic(execution_id: str) -> str:
    """Return the notification topic of an execution."""
    return f"execution:{execution_id}"


def _status_after(event: str, data: dict[str, Any]) -> ExecutionStatus:
    if event == "tool_end":
        return ExecutionStatus.COMPLETED
    if event == "error":
        return ExecutionStatus.CANCELLED if data["code"] == "cancelled" else ExecutionStatus.FAILED
    return ExecutionStatus.RUNNING


def _text_so_far(execution: Execution) -> dict[str, Any]:
    partials = execution.events.filter(event="tool_partial_update").values_list("data__content", flat=True)
    return {"response": "".join(partials), "partial": True}


async def _in_thread(function: Any, *args: Any, **kwargs: Any) -> Any:
    return await database_sync_to_async(function, thread_sensitive=False)(*args, **kwargs)
