"""Executions of tools and the events they streamed.

The tables keep their old names, with the prefix `search`.
"""

from __future__ import annotations

import secrets
import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import ApiKey, Session, User, Workspace
from accounts.principal import Principal
from accounts.row_policies import ROWS_OF_EXECUTIONS, ROWS_OF_USER, RowPolicy, same_as
from accounts.scope import ScopedModel, owned_by, owned_or_in_shared_session

CHAT = "chat"
"""The tool that answers in conversations (`assistants.chat`)."""


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
    """One run of a tool; visible only to the user who made it, for the same external user.

    Members also see by its id a run that answers in a conversation which is shared with them.
    """

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
    feedback = models.JSONField(null=True, help_text="{rating, reasons, comment, at} of the user who asked")
    last_seq = models.PositiveIntegerField(default=0, help_text="the number of its last event")
    lease_until = models.DateTimeField(
        default=timezone.now, help_text="the process that runs it moves this on for as long as it lives"
    )
    address = models.CharField(max_length=45, default="", help_text="of the client that asked")
    request_id = models.CharField(max_length=128, default="", help_text="of the request that asked")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    row_policy: ClassVar[RowPolicy | None] = ROWS_OF_EXECUTIONS

    class Meta(ScopedModel.Meta):
        app_label = "search"
        ordering = ["-created_at", "id"]
        indexes = [
            models.Index(fields=["user", "-created_at"], name="execution_history"),
            models.Index(fields=["finished_at"], name="execution_finished"),
            # Of all users: the dashboard counts by day without a look at the rows.
            models.Index(fields=["created_at"], include=["status", "finished_at"], name="execution_created"),
            # Without the lease column, which changes all the time.
            models.Index(fields=["id"], name="execution_live", condition=models.Q(status__in=LIVE)),
            GinIndex(fields=["read_documents"], name="execution_read"),
        ]

    def __str__(self) -> str:
        return self.id

    @classmethod
    def scope_by_id(cls, principal: Principal) -> Q:
        """Return the rule for an execution named by its id: one's own, and the answers members share."""
        return owned_by(principal) | (Q(tool=CHAT) & owned_or_in_shared_session(principal))


class ExecutionEvent(models.Model):
    """One stored event; `seq` starts at 1 without gaps. Accessed only through a scoped execution."""

    execution = models.ForeignKey(Execution, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField()
    event = models.CharField(max_length=30)
    data = models.JSONField()

    row_policy: ClassVar[RowPolicy | None] = same_as(
        "search_execution", "execution_id", only_user_writes=True
    )

    class Meta:
        app_label = "search"
        ordering = ["seq"]
        constraints = [models.UniqueConstraint(fields=["execution", "seq"], name="one_event_per_seq")]

    def __str__(self) -> str:
        return f"{self.execution_id}/{self.seq} {self.event}"


class TransferKind(models.TextChoices):
    """Which way a workspace goes."""

    EXPORT = "export"
    IMPORT = "import"


class TransferStatus(models.TextChoices):
    """The life of a transfer."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


class WorkspaceTransfer(ScopedModel):
    """An export or import of a workspace (`runs.archives`); visible only to the user who began it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=6, choices=TransferKind.choices)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    external_user_id = models.CharField(max_length=255, null=True, editable=False, help_text="always null")
    status = models.CharField(max_length=9, choices=TransferStatus.choices, default=TransferStatus.QUEUED)
    done = models.PositiveIntegerField(default=0, help_text="documents")
    total = models.PositiveIntegerField(null=True, help_text="documents")
    file = models.CharField(max_length=200, blank=True, help_text="the archive's name in the storage")
    size = models.BigIntegerField(null=True, help_text="bytes of the archive")
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, help_text="when the archive is removed")

    # The workspace of an import is newer than the rights of the request that makes it.
    row_policy: ClassVar[RowPolicy | None] = ROWS_OF_USER

    class Meta(ScopedModel.Meta):
        app_label = "search"
        ordering = ["-created_at", "id"]

    def __str__(self) -> str:
        return f"{self.kind} of {self.workspace_id}"
