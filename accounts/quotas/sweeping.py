"""Deletion of empty buckets of rates: a missing bucket equals an empty one."""

from __future__ import annotations

from django.utils import timezone
from procrastinate.contrib.django import app

from accounts.models import RateBucket


@app.periodic(cron="37 * * * *")
@app.task(name="delete_empty_rate_buckets", queueing_lock="delete_empty_rate_buckets")
def delete_empty_rate_buckets(timestamp: int) -> None:
    """Delete the buckets that nothing counts in any more."""
    RateBucket.objects.filter(empty_at__lt=timezone.now()).delete()
