"""Executions of tools and the events they streamed.

The tables keep their old names, with the prefix `search`.
"""

from __future__ import annotations

import secrets

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils import timezone

from accounts.models import ApiKey, Session, User, Workspace
from accounts.scope import ScopedModel


def new_execution_id() -> str:
    """Return an id such as `call_zIsjIkJwvPrJTz2GbIRGg8DE`: 144 bits nobody can guess."""
    return f"call_{secrets.token_urlsafe(18)}"


class ExecutionStatus(models.TextChoices):
    """The life of an execution (contract §3)."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


LIVE = (ExecutionStatus.QUEUED, ExecutionStatus.RUNNING)


class Execution(ScopedModel):
    """One run of a tool; visible only to the user who made it, for the same external user."""

    id = models.CharField(primary_key=True, max_length=40, default=new_execution_id, editable=False)
    tool = models.CharField(max_length=50)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    key = models.ForeignKey(ApiKey, null=True, on_delete=models.SET_NULL, related_name="+")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    external_user_id = models.CharField(max_length=255, null=True, blank=True)
    session = models.ForeignKey(Session, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    inputs = models.JSONField()
    read_workspaces = ArrayField(
        models.UUIDField(), default=list, help_text="the workspaces whose documents it searched"
    )
    read_documents = ArrayField(
        models.UUIDField(),
        default=list,
        help_text="the documents whose text it used, those deleted since too",
    )
    status = models.CharField(max_length=10, choices=ExecutionStatus.choices, default=ExecutionStatus.QUEUED)
    result = models.JSONField(null=True)
    error = models.JSONField(null=True, help_text="{code, message}")
    usage = models.JSONField(null=True, help_text="{input_tokens, output_tokens}")
    cost = models.FloatField(null=True, help_text="US dollars; null where a price is unknown")
    trace = models.JSONField(null=True, help_text="{timings, steps}: how the result came about")
    last_seq = models.PositiveIntegerField(default=0, help_text="the number of its last event")
    lease_until = models.DateTimeField(
        default=timezone.now, help_text="the process that runs it moves this on for as long as it lives"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta(ScopedModel.Meta):
        app_label = "search"
        ordering = ["-created_at", "id"]
        indexes = [
            models.Index(fields=["user", "-created_at"], name="execution_history"),
            models.Index(fields=["finished_at"], name="execution_finished"),
            # Without the lease column, which changes all the time.
            models.Index(fields=["id"], name="execution_live", condition=models.Q(status__in=LIVE)),
            GinIndex(fields=["read_documents"], name="execution_read"),
        ]

    def __str__(self) -> str:
        return self.id


class ExecutionEvent(models.Model):
    """One stored event; `seq` starts at 1 without gaps. Accessed only through a scoped execution."""

    execution = models.ForeignKey(Execution, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField()
    event = models.CharField(max_length=30)
    data = models.JSONField()

    class Meta:
        app_label = "search"
        ordering = ["seq"]
        constraints = [models.UniqueConstraint(fields=["execution", "seq"], name="one_event_per_seq")]

    def __str__(self) -> str:
        return f"{self.execution_id}/{self.seq} {self.event}"
