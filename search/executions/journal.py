"""The stored events of executions: written and read for many executions at once."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from accounts.errors import Cancelled
from kb.notifications import announce_all
from kb.threads import Gathered
from search.events import TERMINAL, Failure, ToolError, Trace, Yielded, event_data
from search.models import LIVE, Execution, ExecutionEvent, ExecutionStatus

STORE_SEQUENCE = """
    UPDATE search_execution SET last_seq = new.last_seq, status = %s
    FROM unnest(%s::text[], %s::int[]) AS new (id, last_seq) WHERE search_execution.id = new.id
"""
READ = """
    SELECT wanted.number, stored.seq, stored.event, stored.data
    FROM unnest(%s::text[], %s::int[]) WITH ORDINALITY AS wanted (id, after, number)
    JOIN search_executionevent stored ON stored.execution_id = wanted.id AND stored.seq > wanted.after
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
        """Whether the stream ends here."""
        return self.event in TERMINAL


def topic(execution_id: str) -> str:
    """Return the notification topic of an execution; the news is the number of its last event."""
    return f"execution:{execution_id}"


# --- Writing ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Write:
    """What a tool has yielded, in its order, to be stored together."""

    execution_id: str
    items: Sequence[Yielded]


@transaction.atomic
def store_all(writes: Sequence[Write]) -> list[bool]:
    """Store the events under the next numbers, with a terminal one the outcome; False for what is over."""
    last = _locked({write.execution_id for write in writes})
    accepted = [write for write in writes if write.execution_id in last]
    if not accepted:
        return [False] * len(writes)
    rows = [row for write in accepted for row in _numbered(write, last)]
    ExecutionEvent.objects.bulk_create(rows)
    with connection.cursor() as cursor:
        cursor.execute(STORE_SEQUENCE, [ExecutionStatus.RUNNING, list(last), list(last.values())])
    for write in accepted:
        for item in write.items:
            _store_outcome(write.execution_id, item)
    announce_all((topic(id), str(seq)) for id, seq in last.items())
    return [write.execution_id in last for write in writes]


store = Gathered(store_all)


def _locked(ids: Collection[str]) -> dict[str, int]:
    """Lock those that are not over, in an order that lets no two writers wait for each other."""
    live = Execution.unscoped.filter(pk__in=ids, status__in=LIVE).order_by("pk").select_for_update()
    return dict(live.values_list("pk", "last_seq"))


def _numbered(write: Write, last: dict[str, int]) -> Iterable[ExecutionEvent]:
    for item in write.items:
        if not isinstance(item, Trace):
            last[write.execution_id] += 1
            yield ExecutionEvent(
                execution_id=write.execution_id,
                seq=last[write.execution_id],
                event=item.event,
                data=event_data(item),
            )


def _store_outcome(execution_id: str, item: Yielded) -> None:
    row = Execution.unscoped.filter(pk=execution_id)
    if isinstance(item, Trace):
        trace = item.model_dump(mode="json")
        row.update(usage=trace.pop("usage"), cost=trace.pop("cost"), trace=trace)
    elif item.event == "tool_end":
        row.update(status=ExecutionStatus.COMPLETED, finished_at=timezone.now(), result=event_data(item))
    elif isinstance(item, ToolError):
        was_cancelled = item.data.code == Cancelled.code
        row.update(
            status=ExecutionStatus.CANCELLED if was_cancelled else ExecutionStatus.FAILED,
            finished_at=timezone.now(),
            result=_text_so_far(execution_id),
            error=event_data(item),
        )


def _text_so_far(execution_id: str) -> dict[str, Any]:
    partials = ExecutionEvent.objects.filter(execution_id=execution_id, event="tool_partial_update")
    texts = partials.order_by("seq").values_list("data__content", flat=True)
    return {"response": "".join(texts), "partial": True}


def failure(execution_id: str, code: str, message: str, **more: Any) -> Write:
    """Return the write that ends an execution badly; `more` may be `param` and `details`."""
    return Write(execution_id, [ToolError(data=Failure(code=code, message=message, **more))])


@transaction.atomic
def end_abandoned(ids: Collection[str] | None = None) -> None:
    """End the executions, of all or of `ids`, whose lease has expired: the process that ran them is gone."""
    expired = Execution.unscoped.filter(status__in=LIVE, lease_until__lt=Now())
    chosen = expired if ids is None else expired.filter(pk__in=ids)
    # Whom another process has locked, it is ending.
    locked = chosen.order_by("pk").select_for_update(skip_locked=True).values_list("pk", flat=True)
    message = "The server that was working on this has stopped. Ask again."
    store_all([failure(id, "internal", message) for id in locked])


# --- Reading ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wanted:
    """The events of an execution with a number above `after`."""

    execution_id: str
    after: int


@dataclass(frozen=True, slots=True)
class Found:
    """The events that are stored; `is_over` promises that there will be no more."""

    events: Sequence[StoredEvent]
    is_over: bool


def read_all(wishes: Sequence[Wanted]) -> list[Found]:
    """Return what is stored for each wish; end the executions that nobody runs any more."""
    different = list(dict.fromkeys(wishes))
    # Before the events: whatever is over now has its terminal event among them.
    live = _live({wish.execution_id for wish in different})
    events = _events(different)
    found = {wish: Found(events[wish], wish.execution_id not in live) for wish in different}
    return [found[wish] for wish in wishes]


read = Gathered(read_all)


def _live(ids: Collection[str]) -> set[str]:
    rows = Execution.unscoped.filter(pk__in=ids, status__in=LIVE)
    live = dict(rows.annotate(is_expired=Q(lease_until__lt=Now())).values_list("pk", "is_expired"))
    if expired := [id for id, is_expired in live.items() if is_expired]:
        end_abandoned(expired)
    return set(live)


def _events(wishes: Sequence[Wanted]) -> dict[Wanted, list[StoredEvent]]:
    events: dict[Wanted, list[StoredEvent]] = {wish: [] for wish in wishes}
    with connection.cursor() as cursor:
        cursor.execute(READ, [[wish.execution_id for wish in wishes], [wish.after for wish in wishes]])
        for number, seq, event, data in cursor:
            wish = wishes[number - 1]
            events[wish].append(StoredEvent(wish.execution_id, seq, event, json.loads(data)))
    return events
