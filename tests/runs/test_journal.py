"""The journal of executions: numbers without gaps, whoever writes, and what readers are told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.access.identity import principal_of_user
from runs.events import PartialText, ToolPartialUpdate, Trace, Usage
from runs.journal import EventBatch, EventCursor, failure, read_all, store_all
from runs.lifecycle import begin
from runs.models import Execution, ExecutionEvent, ExecutionStatus
from runs.registry import TOOLS
from tests.conftest import Cast

pytestmark = pytest.mark.django_db(transaction=True)
WRITERS, WRITES = 4, 15


@pytest.fixture
def execution(cast: Cast) -> Execution:
    return started(cast)


def started(cast: Cast) -> Execution:
    """An execution that has no events yet."""
    principal, tool = principal_of_user(cast.alice), TOOLS["rag_search"]
    return begin(principal, tool, tool.parse(principal, {"query": "Who kept the light?"}), None)


def said(*texts: str) -> list[ToolPartialUpdate]:
    return [ToolPartialUpdate(data=PartialText(content=text)) for text in texts]


def stored(execution: Execution) -> list[tuple[int, str]]:
    """The numbers and texts of its events."""
    events = ExecutionEvent.objects.filter(execution=execution).order_by("seq")
    return list(events.values_list("seq", "data__content"))


def test_writers_at_the_same_time_leave_no_gap(execution: Execution) -> None:
    def write(writer: int) -> None:
        for number in range(WRITES):
            assert store_all([EventBatch(execution.pk, said(f"{writer}/{number}"))]) == [True]
        connection.close()

    with ThreadPoolExecutor(WRITERS) as threads:
        list(threads.map(write, range(WRITERS)))
    events = stored(execution)
    execution.refresh_from_db()
    assert [seq for seq, _ in events] == list(range(1, WRITERS * WRITES + 1))
    assert execution.last_seq == WRITERS * WRITES
    for writer in range(WRITERS):
        own = [text for _, text in events if text.startswith(f"{writer}/")]
        assert own == [f"{writer}/{number}" for number in range(WRITES)]


def test_one_call_serves_many_and_keeps_the_order_of_each(cast: Cast) -> None:
    one, other, over = started(cast), started(cast), started(cast)
    assert store_all([failure(over.pk, "cancelled", "Enough.")]) == [True]
    writes = [
        EventBatch(one.pk, said("a", "b")),
        EventBatch(over.pk, said("too late")),
        EventBatch(other.pk, said("x")),
        EventBatch(one.pk, said("c")),
    ]
    assert store_all(writes) == [True, False, True, True]
    assert stored(one) == [(1, "a"), (2, "b"), (3, "c")]
    assert stored(other) == [(1, "x")]
    assert [seq for seq, _ in stored(over)] == [1]


def test_how_a_result_came_about_is_no_event(execution: Execution) -> None:
    trace = Trace(usage=Usage(input_tokens=7), cost=0.25, timings={"generation": 0.1}, steps={"kept": 1})
    assert store_all([EventBatch(execution.pk, [trace])]) == [True]
    execution.refresh_from_db()
    assert stored(execution) == []
    assert (execution.last_seq, execution.cost, execution.trace) == (
        0,
        0.25,
        {"timings": {"generation": 0.1}, "steps": {"kept": 1}},
    )


def test_readers_get_what_is_above_their_number(execution: Execution) -> None:
    store_all([EventBatch(execution.pk, said("a", "b", "c"))])
    all_of_it, rest, none, unknown = read_all(
        [
            EventCursor(execution.pk, 0),
            EventCursor(execution.pk, 2),
            EventCursor(execution.pk, 3),
            EventCursor("call_none", 0),
        ]
    )
    assert [event.data["content"] for event in all_of_it.events] == ["a", "b", "c"]
    assert [(event.seq, event.event) for event in rest.events] == [(3, "tool_partial_update")]
    assert (none.events, none.is_over) == ([], False)
    assert (unknown.events, unknown.is_over) == ([], True)


def test_a_reader_ends_what_nobody_runs_any_more(execution: Execution) -> None:
    store_all([EventBatch(execution.pk, said("a"))])
    Execution.unscoped.filter(pk=execution.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    [found] = read_all([EventCursor(execution.pk, 0)])
    assert ([event.seq for event in found.events], found.is_over) == ([1], False)
    [found] = read_all([EventCursor(execution.pk, 1)])
    assert [(event.seq, event.event, event.data["code"]) for event in found.events] == [
        (2, "error", "internal")
    ]
    assert found.is_over
    execution.refresh_from_db()
    assert execution.status == ExecutionStatus.FAILED
    assert execution.result == {"response": "a", "partial": True}
