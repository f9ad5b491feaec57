"""The stored events of executions, written and read for many executions at once."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils import timezone

from accounts.audit.retrievals import Retrieval, record_retrievals
from accounts.models import WebhookEvent
from accounts.principal import UsageOwner
from accounts.usage.counting import UsageCount, count_usage
from accounts.webhooks.emitting import EmittedEvent, emit
from core.database.replicas import read as read_from_replica
from core.errors import Cancelled
from core.pubsub import publish_all, publish_sql
from core.row_access import as_system
from core.threads import Batcher
from runs.events import TERMINAL, DocumentsRead, Failure, ToolError, Trace, Usage, Yielded, event_data
from runs.models import LIVE, Execution, ExecutionEvent, ExecutionStatus
from runs.scrubbing import scrub_ended

TOPIC = "execution:"
NOT_STREAMED = (Trace, DocumentsRead)
"""Stored with the execution, but not streamed."""

# One statement each: with hundreds of streams, round trips to the database cost most. Rows are locked in an
# order that prevents deadlocks.
STORE = f"""
    WITH live AS (
        SELECT id, last_seq, read_documents <> '{{}}' AS has_read FROM search_execution
        WHERE id = ANY(%s) AND status = ANY(%s) ORDER BY id FOR UPDATE
    ), numbered AS (
        SELECT live.id, new.event, new.data,
            live.last_seq + row_number() OVER (PARTITION BY live.id ORDER BY new.at) AS seq
        FROM unnest(%s::text[], %s::text[], %s::jsonb[]) WITH ORDINALITY AS new (id, event, data, at)
        JOIN live USING (id)
    ), stored AS (
        INSERT INTO search_executionevent (execution_id, seq, event, data)
        SELECT id, seq, event, data FROM numbered
    ), counted AS (
        UPDATE search_execution SET last_seq = last.seq, status = %s
        FROM (SELECT id, max(seq) AS seq FROM numbered GROUP BY id) AS last
        WHERE search_execution.id = last.id
        RETURNING last.id, last.seq, {publish_sql(f"'{TOPIC}' || last.id", "last.seq")}
    )
    SELECT live.id, has_read, counted.seq FROM live LEFT JOIN counted USING (id)
"""  # noqa: S608
READ = """
    SELECT wanted.number, run.status = ANY(%s), run.lease_until < now(),
        CASE WHEN wanted.documents THEN array_to_string(run.read_documents, ' ') END,
        stored.seq, stored.event, stored.data
    FROM unnest(%s::text[], %s::int[], %s::bool[]) WITH ORDINALITY AS wanted (id, after, documents, number)
    LEFT JOIN search_execution run USING (id)
    LEFT JOIN search_executionevent stored ON stored.execution_id = wanted.id AND stored.seq > wanted.after
    ORDER BY wanted.number, stored.seq
"""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as every transport sends it."""

    execution_id: str
    seq: int
    event: str
    data: dict[str, Any]

    @property
    def is_terminal(self) -> bool:
        """Whether this event ends the stream."""
        return self.event in TERMINAL


def topic(execution_id: str) -> str:
    """Return the notification topic of an execution; the message is the number of its last event."""
    return f"{TOPIC}{execution_id}"


# --- Writing ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Items that a tool has yielded, in order, to be stored together."""

    execution_id: str
    items: Sequence[Yielded]


@as_system("stores for many executions at once")
def store_all(writes: Sequence[EventBatch]) -> list[bool]:
    """Store the events with the next numbers; a terminal event also sets the outcome. Return False for
    finished ones."""
    outcomes = [(write.execution_id, item) for write in writes for item in write.items if _is_outcome(item)]
    # A statement alone is a transaction of its own.
    with transaction.atomic() if outcomes else nullcontext():
        live = _store_batches(writes)
        changes: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for execution_id, item in outcomes:
            if execution_id in live:
                changes[execution_id] |= _outcome(execution_id, item)
        for execution_id, change in changes.items():
            Execution.unscoped.filter(pk=execution_id).update(**change)
        ended = [id for id, change in changes.items() if "finished_at" in change]
        if read := [id for id in ended if live[id] or changes[id].get("read_documents")]:
            scrub_ended(read)
        _record_retrievals(
            [(id, item) for id, item in outcomes if id in live and isinstance(item, DocumentsRead)]
        )
        # Last: others who count for the same user wait from here to the end of the transaction.
        _report_ended(ended)
    return [write.execution_id in live for write in writes]


store = Batcher(store_all)


def _is_outcome(item: Yielded) -> bool:
    return isinstance(item, NOT_STREAMED) or item.event in TERMINAL


def _store_batches(writes: Sequence[EventBatch]) -> dict[str, bool]:
    """Store and publish events of unfinished executions; return by id whether each has read documents."""
    events = [
        (write.execution_id, item.event, json.dumps(event_data(item)))
        for write in writes
        for item in write.items
        if not isinstance(item, NOT_STREAMED)
    ]
    columns = map(list, zip(*events, strict=True)) if events else ([], [], [])
    with connection.cursor() as cursor:
        ids = list({write.execution_id for write in writes})
        cursor.execute(STORE, [ids, list(LIVE), *columns, ExecutionStatus.RUNNING])
        stored = cursor.fetchall()
    if settings.REDIS_URL:
        publish_all([(topic(id), str(seq)) for id, _, seq in stored if seq])
    return {id: has_read for id, has_read, _ in stored}


def _outcome(execution_id: str, item: Yielded) -> dict[str, Any]:
    """Return the changes that an item makes to its execution's row."""
    if isinstance(item, Trace):
        trace = item.model_dump(mode="json")
        return {"usage": trace.pop("usage"), "cost": trace.pop("cost"), "trace": trace}
    if isinstance(item, DocumentsRead):
        return {"read_documents": item.documents}
    if isinstance(item, ToolError):
        was_cancelled = item.data.code == Cancelled.code
        return {
            "status": ExecutionStatus.CANCELLED if was_cancelled else ExecutionStatus.FAILED,
            "finished_at": timezone.now(),
            "result": _text_so_far(execution_id),
            "error": event_data(item),
        }
    return {"status": ExecutionStatus.COMPLETED, "finished_at": timezone.now(), "result": event_data(item)}


def _record_retrievals(reads: Sequence[tuple[str, DocumentsRead]]) -> None:
    """Write into the audit log what runs have retrieved, before their followers see any of it.

    A run that reads several times within a batch gets one entry for each workspace, with all chunks.
    """
    chunks: dict[str, defaultdict[UUID, list[UUID]]] = {id: defaultdict(list) for id, _ in reads}
    for id, read in reads:
        for workspace_id, chunk_ids in read.chunks.items():
            chunks[id][workspace_id] += chunk_ids
    runs = Execution.unscoped.in_bulk(list(chunks)) if chunks else {}
    record_retrievals(
        Retrieval(
            tool=run.tool,
            owner=_owner(run),
            workspace_id=run.workspace_id,
            searched=run.read_workspaces,
            document_ids=run.inputs.get("document_ids"),
            chunks=chunks[id],
            execution_id=id,
            address=run.address,
            request_id=run.request_id,
        )
        for id, run in runs.items()
    )


def _report_ended(ended: Collection[str]) -> None:
    """Tell webhooks of the runs that end in this transaction, and count them; a run ends once."""
    runs = list(Execution.unscoped.filter(pk__in=ended).defer("result", "trace", "inputs")) if ended else []
    emit(map(_emitted, filter(_is_reported, runs)))
    count_usage(
        UsageCount(run.workspace_id, _owner(run), questions=1, **Usage(**run.usage or {}).model_dump())
        for run in runs
    )


def _is_reported(run: Execution) -> bool:
    """Tell whether webhooks are told of an end: not of a cancellation."""
    return run.status in (ExecutionStatus.COMPLETED, ExecutionStatus.FAILED)


def _emitted(run: Execution) -> EmittedEvent:
    is_completed = run.status == ExecutionStatus.COMPLETED
    return EmittedEvent(
        WebhookEvent.EXECUTION_COMPLETED if is_completed else WebhookEvent.EXECUTION_FAILED,
        run.workspace_id,
        {
            "id": run.pk,
            "tool": run.tool,
            "workspace_id": str(run.workspace_id),
            "external_user_id": run.external_user_id,
            "session_id": str(run.session_id) if run.session_id else None,
            "status": run.status,
            "error_code": run.error["code"] if run.error else None,
        },
        private_to=run.user_id,
    )


def _owner(run: Execution) -> UsageOwner:
    return UsageOwner(run.user_id, run.key_id, run.external_user_id)


def _text_so_far(execution_id: str) -> dict[str, Any]:
    partials = ExecutionEvent.objects.filter(execution_id=execution_id, event="tool_partial_update")
    texts = partials.order_by("seq").values_list("data__content", flat=True)
    return {"response": "".join(texts), "partial": True}


def failure(execution_id: str, code: str, message: str, **more: Any) -> EventBatch:
    """Return the batch that ends an execution with an error; `more` may be `param` and `details`."""
    return EventBatch(execution_id, [ToolError(data=Failure(code=code, message=message, **more))])


@as_system("ends executions of any user")
@transaction.atomic
def end_abandoned(ids: Collection[str] | None = None) -> None:
    """End the executions, all or those in `ids`, whose lease has expired: their process is gone."""
    expired = Execution.unscoped.filter(status__in=LIVE, lease_until__lt=Now())
    chosen = expired if ids is None else expired.filter(pk__in=ids)
    # Rows locked by another process are skipped: that process is ending them.
    locked = chosen.order_by("pk").select_for_update(skip_locked=True).values_list("pk", flat=True)
    message = "The server that ran this has stopped. Ask again."
    store_all([failure(id, "internal", message) for id in locked])


# --- Reading ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EventCursor:
    """Selects the events of an execution with a number above `after`, and on request the documents read."""

    execution_id: str
    after: int
    with_documents: bool = False


@dataclass(frozen=True, slots=True)
class EventPage:
    """The stored events; `is_over` promises that there will be no more."""

    events: Sequence[StoredEvent]
    is_over: bool
    documents: frozenset[UUID] | None = None
    """The documents read up to the last of these events; None if they were not requested."""


@as_system("reads for the followers of many executions, each found by a scoped query")
def read_all(cursors: Sequence[EventCursor]) -> list[EventPage]:
    """Return the stored events for each cursor; end executions whose process is gone.

    Their followers see this end like any other event.
    """
    different = list(dict.fromkeys(cursors))
    events: dict[EventCursor, list[StoredEvent]] = {cursor: [] for cursor in different}
    documents: dict[EventCursor, frozenset[UUID] | None] = {}
    live: set[str] = set()
    expired: set[str] = set()
    for number, is_live, is_expired, read_documents, *event in _read(different):
        cursor = different[number - 1]
        if cursor not in documents:
            documents[cursor] = _parse_documents(read_documents) if cursor.with_documents else None
        if is_live:
            (expired if is_expired else live).add(cursor.execution_id)
        if event[0] is not None:
            events[cursor].append(StoredEvent(cursor.execution_id, *event))
    if expired:
        end_abandoned(expired)
    return [
        EventPage(events[cursor], cursor.execution_id not in live | expired, documents[cursor])
        for cursor in cursors
    ]


read = Batcher(read_all)


@as_system("replays what the caller may see")
def replay(execution_id: str, after: int) -> list[StoredEvent]:
    """Return the events of an execution that has ended, from a replica if there is one that has all of them.

    Returns nothing for one that goes on: what a replica lacks would come late.
    """
    rows = ExecutionEvent.objects.filter(execution=execution_id, seq__gt=after).order_by("seq")
    events = read_from_replica(lambda: list(rows.values_list("seq", "event", "data")))
    found = [StoredEvent(execution_id, *event) for event in events]
    return found if found and found[-1].is_terminal else []


def _parse_documents(read_documents: str | None) -> frozenset[UUID]:
    return frozenset(map(UUID, (read_documents or "").split()))


def _read(
    cursors: Sequence[EventCursor],
) -> Iterator[tuple[int, bool | None, bool | None, str | None, int, str, Any]]:
    """Yield number, whether it runs, whether its lease has expired, documents, and an event or three None."""
    columns = zip(*((each.execution_id, each.after, each.with_documents) for each in cursors), strict=True)
    with connection.cursor() as cursor:
        cursor.execute(READ, [list(LIVE), *map(list, columns)])
        for *standing, data in cursor:
            yield (*standing, data and json.loads(data))
