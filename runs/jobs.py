"""Periodic jobs of the worker for executions."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from procrastinate.contrib.django import app

from runs import journal
from runs.models import Execution, ExecutionEvent


@app.periodic(cron="* * * * *")
@app.task(name="end_abandoned_executions", queueing_lock="end_abandoned_executions")
def end_abandoned(timestamp: int) -> None:
    """End the executions whose process is gone, also if nobody follows them."""
    journal.end_abandoned()


@app.periodic(cron="7 * * * *")
@app.task(name="delete_expired_events", queueing_lock="delete_expired_events")
def delete_expired_events(timestamp: int) -> None:
    """Delete the events of executions that ended long ago; the executions and their results stay."""
    before = timezone.now() - timedelta(hours=settings.EVENT_RETENTION_HOURS)
    ExecutionEvent.objects.filter(execution__in=Execution.unscoped.filter(finished_at__lt=before)).delete()
