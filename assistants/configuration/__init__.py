"""What assistants are set to: shapes, versions, bindings, and what counts for a request (ADR 63).

    newest version ─┐
                    ├─▶ resolved settings ─▶ the agent
    binding's own ──┘

settings.py   the shapes                     assistants.py  making, changing and deleting
resolving.py  which binding, what counts     bindings.py    the same of bindings
people.py     what becomes of them when people take their data, or leave
"""
