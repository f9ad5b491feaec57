"""Webhooks: a workspace's events, sent signed to addresses that its admins choose (ADR 50).

emitting.py: an event ─▶ a delivery for each webhook that wants it, and a job, in one transaction
delivering.py: the job ─▶ signing.py ─▶ the guarded client ─▶ delivered, or again later, or failed
"""
