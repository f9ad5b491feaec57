"""The audit log: who did what, as whom, to what, and from where.

recording.py ─ how an entry is written      retrievals.py ─ what searches and runs have retrieved
retention.py ─ when entries are deleted     models/audit.py ─ the table, and the actions
"""
