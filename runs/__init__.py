"""Executions: a tool runs once, its events are stored, and any process can follow them.

    begin ─ creates the row, after checking what the caller may see                         lifecycle.py
    launch ─ a task of the event loop runs the tool; it outlives its client                 running.py
        its events are stored, with those of other runs, in one transaction                 journal.py
        a lease shows that its process lives; an expired lease ends the execution           leases.py
        a server that stops ends its runs first                                             stopping.py
    follow ─ reads stored events after a sequence number and waits for more                 following.py
    cancel ─ stores the terminal event; the process that runs the tool is notified          lifecycle.py
    withhold ─ hides what comes from documents that a reader no longer sees                 withholding.py
    scrub ─ deletes what comes from deleted documents                                       scrubbing.py
    jobs ─ end executions of dead processes, delete expired events                          jobs.py

The stored events are the only truth: messages between processes carry numbers, never text. A terminal event
is stored under a row lock and exactly once, so that a cancellation and the tool's last event can't both win.
"""
