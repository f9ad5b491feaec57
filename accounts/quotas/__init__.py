"""What users and workspaces may use: rates of requests, and quotas of workspaces (ADR 40).

rates.py ─ so many per minute, counted by all processes together      request_rates.py ─ whose rates count
limits.py ─ the quotas, and their refusals      standing.py ─ what is left of them
headers.py ─ `RateLimit-*`      sweeping.py ─ empty buckets are deleted
"""
