"""Executions: run a tool once, store its events, let anyone entitled follow them from any process.

    begin ─ the row exists, its visibility is decided                                        lifecycle.py
    launch ─ a task of the event loop runs the tool; it outlives its client                  running.py
        its events are stored, with those of other runs, in one transaction                  journal.py
        a lease says that its process lives; who finds it expired ends the execution         leases.py
        a server that is told to stop ends its runs first                                    stopping.py
    follow ─ reads stored events after a sequence number and waits for more                  following.py
    cancel ─ stores the terminal event; the process that runs the tool hears of it and stops lifecycle.py
    withhold ─ what comes from documents that a reader no longer sees is not shown           withholding.py
    scrub ─ what comes from deleted documents does not stay                                  scrubbing.py
    jobs ─ end what nobody runs any more, delete events that are past their time             jobs.py

The stored events are the only truth: news between processes carry numbers, never text. A terminal event is
stored under a row lock and exactly once, so that a cancel and the last event of the tool can't both win.
"""

from search.executions.following import ended, follow
from search.executions.journal import StoredEvent
from search.executions.lifecycle import (
    begin,
    cancel,
    cost_of,
    delete_execution,
    is_at_end,
    require_events,
    visible_execution,
)
from search.executions.running import launch
from search.executions.stopping import lifespan
from search.executions.withholding import (
    hidden_documents,
    shown_inputs,
    shown_result,
    withheld,
    withheld_trace,
)

__all__ = [
    "StoredEvent",
    "begin",
    "cancel",
    "cost_of",
    "delete_execution",
    "ended",
    "follow",
    "hidden_documents",
    "is_at_end",
    "launch",
    "lifespan",
    "require_events",
    "shown_inputs",
    "shown_result",
    "visible_execution",
    "withheld",
    "withheld_trace",
]
