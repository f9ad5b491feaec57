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

The stored events are the only truth: messages between processes carry numbers, never text. A terminal event
is stored under a row lock and exactly once, so that a cancel and the last event of the tool can't both win.
"""
