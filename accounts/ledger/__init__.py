"""The ledger of calls that cost money, and the limits it keeps (contract §6, ADR 22).

    reserve what a call may cost ─▶ call ─▶ settle what it has cost, or release if it has cost nothing

A sum per workspace and one for all are kept beside the charges and moved in the same transaction, by an
UPDATE that only succeeds below the limit: however many reserve at once, the limit holds to the millionth of a
dollar. A reservation has a lease, after which it is released: its process is gone.

    paying.py ─ around each call      base.py ─ who pays for what     balances.py ─ the transactions
    spending.py ─ what it came to     models.py ─ charges and balances
"""
