"""Removes the words of deleted documents from stored executions.

`kb.deletion` calls `scrub_documents` in its transaction. A run that has read a document meanwhile may store
more of it later. So its last event checks for deleted documents, and a job checks once more, for a run that
ended just before the deletion was visible.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from procrastinate.contrib.django import app

from core.jobs import defer_job
from core.row_access import as_system
from runs.models import LIVE, Execution, ExecutionEvent
from runs.withholding import MADE_OF_ALL, withhold, withhold_trace

AT_ONCE = 500
TASK = "scrub_documents"
AGAIN_AFTER_SECS = 60
"""By then a run that had read a document, but not yet stored that fact, has stored it."""
NO_TEXT = {"content": None, "output_key": "response", "unavailable": True}
GONE = """
    SELECT run.id, read.document FROM search_execution run, unnest(run.read_documents) AS read (document)
    WHERE run.id = ANY(%s) AND NOT EXISTS (SELECT FROM kb_document WHERE kb_document.id = read.document)
"""


@as_system("other users have read the deleted documents, too")
@transaction.atomic
def scrub_documents(ids: Collection[UUID]) -> Mapping[str, int]:
    """Remove the words of deleted documents from results, traces and events; return how many were changed."""
    reading = Execution.unscoped.filter(read_documents__overlap=list(ids)).order_by("pk")
    # Locked before their events are read: events stored later check for deleted documents themselves.
    executions = list(reading.select_for_update().only("result", "trace"))
    if Execution.unscoped.filter(status__in=LIVE).exists():
        _scrub_again(ids)
    return _scrub(executions, dict.fromkeys((run.pk for run in executions), frozenset(map(str, ids))))


@as_system("a document is gone only if nobody sees it")
def scrub_ended(ids: Collection[str]) -> None:
    """Scrub these executions (locked by the caller) if they have read documents that are now deleted."""
    gone: defaultdict[str, set[str]] = defaultdict(set)
    with connection.cursor() as cursor:
        cursor.execute(GONE, [list(ids)])
        for id, document in cursor:
            gone[id].add(str(document))
    if gone:
        _scrub(list(Execution.unscoped.filter(pk__in=gone).only("result", "trace")), gone)


@app.task(name=TASK)
def scrub_again(document_ids: list[str]) -> None:
    """Scrub what was stored of deleted documents after their deletion."""
    scrub_documents([UUID(id) for id in document_ids])


def _scrub_again(ids: Collection[UUID]) -> None:
    arguments = {"document_ids": [str(id) for id in ids]}
    defer_job(TASK, arguments, schedule_in={"seconds": AGAIN_AFTER_SECS})


def _scrub(executions: Collection[Execution], hidden: Mapping[str, Collection[str]]) -> dict[str, int]:
    """Scrub executions, by their ids of what; return how many of them and of their events had any words."""
    changed = [run for run in executions if _is_changed(run, hidden[run.pk])]
    Execution.unscoped.bulk_update(changed, ["result", "trace"], AT_ONCE)
    partials = ExecutionEvent.objects.filter(execution__in=hidden, event="tool_partial_update")
    blanked = partials.exclude(data__has_key="unavailable").update(data=NO_TEXT)
    events = list(_changed_events(hidden))
    ExecutionEvent.objects.bulk_update(events, ["data"], AT_ONCE)
    with_words = {run.pk for run in changed} | {event.execution_id for event in events}
    return {"executions": len(with_words), "events": blanked + len(events)}


def _is_changed(run: Execution, hidden: Collection[str]) -> bool:
    before = run.result, run.trace
    run.result, run.trace = withhold(run.result, hidden), withhold_trace(run.trace, hidden)
    return before != (run.result, run.trace)


def _changed_events(hidden: Mapping[str, Collection[str]]) -> Iterator[ExecutionEvent]:
    stored = ExecutionEvent.objects.filter(execution__in=hidden, event__in=("tool_update", "tool_end"))
    with_words = stored.filter(data__has_any_keys=["contexts", *MADE_OF_ALL])
    for event in with_words.iterator(chunk_size=AT_ONCE):
        before: Any = event.data
        event.data = withhold(before, hidden[event.execution_id])
        if event.data != before:
            yield event
