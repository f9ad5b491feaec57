"""Usage: what was used on each day by whom; money is in the ledger.

counting.py ─ one statement in the transaction that finishes a run or a step of ingestion
reading.py ─ sums by day, user, key, external user, workspace      forgetting.py ─ without personal ids
"""
