"""The ledger of calls that cost money, and the limits it enforces (contract §6, ADR 22).

  reserve the estimate ─▶ call ─▶ settle the actual cost, or release if it cost nothing

One balance for each workspace and one for all are kept next to the charges. They change in the same
transaction, by an UPDATE that only succeeds below the limit. So the limit holds to the millionth of a dollar,
however many calls reserve at once. A reservation has a lease. After the lease it is released, because its
process is gone.

  paying.py ─ around each call      base.py ─ who pays for what     balances.py ─ the transactions
  spending.py ─ sums of charges     models/ledger.py ─ charges and balances
"""
