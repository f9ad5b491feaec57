"""Deletion of old entries of the audit log."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from procrastinate.contrib.django import app

from accounts.models import AuditEntry

AT_ONCE = 10_000


def delete_old_entries() -> int:
    """Delete the entries older than `AUDIT_RETENTION_DAYS`, some thousand at once; return their number.

    0 days keeps them for ever.
    """
    if not settings.AUDIT_RETENTION_DAYS:
        return 0
    old = AuditEntry.unscoped.filter(at__lt=timezone.now() - timedelta(days=settings.AUDIT_RETENTION_DAYS))
    count = 0
    while ids := list(old.order_by("at").values_list("pk", flat=True)[:AT_ONCE]):
        count += AuditEntry.unscoped.filter(pk__in=ids).delete()[0]
    return count


@app.periodic(cron="23 3 * * *")
@app.task(name="delete_old_audit_entries", queueing_lock="delete_old_audit_entries")
def delete_old_audit_entries(timestamp: int) -> None:
    """Delete entries that are older than the retention."""
    delete_old_entries()
