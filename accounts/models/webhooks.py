"""Webhooks of workspaces, and what was sent to them."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models.people import User, Workspace
from accounts.principal import Principal
from accounts.roles import Role
from accounts.row_policies import ROWS_OF_WORKSPACE, RowPolicy, same_as
from accounts.scope import ScopedModel


class WebhookEvent(models.TextChoices):
    """What a webhook can be told."""

    DOCUMENT_INDEXED = "document.indexed"
    DOCUMENT_FAILED = "document.failed"
    DOCUMENT_DELETED = "document.deleted"
    EXECUTION_COMPLETED = "execution.completed"
    EXECUTION_FAILED = "execution.failed"


TEST_EVENT = "webhook.test"


class DisabledBecause(models.TextChoices):
    """Why a webhook gets nothing."""

    ADMIN = "admin"
    FAILURES = "failures"
    GONE = "gone"


class Webhook(ScopedModel):
    """An address that is told of a workspace's events. Admins of the workspace see it.

    Of executions it is told only those of `made_by`, because nobody else may see them.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    made_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    url = models.CharField(max_length=2048)
    description = models.CharField(max_length=200, blank=True)
    events = ArrayField(models.CharField(max_length=30, choices=WebhookEvent.choices))
    secret = models.TextField(editable=False, help_text="encrypted: core.encryption")
    old_secret = models.TextField(blank=True, editable=False)
    old_secret_until = models.DateTimeField(null=True, editable=False, help_text="it signs, too, until then")
    disabled_because = models.CharField(
        max_length=10, choices=DisabledBecause.choices, blank=True, help_text="blank while it is enabled"
    )
    failures = models.PositiveIntegerField(default=0, help_text="failed attempts since the last success")
    failing_since = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    row_policy: ClassVar[RowPolicy | None] = ROWS_OF_WORKSPACE

    class Meta(ScopedModel.Meta):
        ordering = ["-created_at", "id"]

    def __str__(self) -> str:
        return self.url

    @property
    def is_enabled(self) -> bool:
        """Whether it is told anything."""
        return not self.disabled_because

    def old_secret_signs(self) -> bool:
        """Whether the secret before the last rotation still signs, too."""
        return self.old_secret_until is not None and self.old_secret_until > timezone.now()

    @classmethod
    def scope(cls, principal: Principal) -> Q:
        """Return the webhooks of the workspaces that the principal administers; external users have none."""
        if principal.external_user_id is not None:
            return Q(pk__in=[])
        administered = [id for id, role in principal.roles.items() if role.covers(Role.ADMIN)]
        return Q(workspace_id__in=administered)


class DeliveryStatus(models.TextChoices):
    """The life of a delivery."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


class WebhookDelivery(models.Model):
    """One message to a webhook, with its attempts. Accessed only through a scoped webhook."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=30)
    body = models.TextField(help_text="the JSON that is sent: ids and states, no words")
    status = models.CharField(max_length=10, choices=DeliveryStatus.choices, default=DeliveryStatus.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    response_code = models.PositiveIntegerField(null=True, help_text="of the last attempt")
    error = models.CharField(max_length=300, blank=True, help_text="why the last attempt got no response")
    duration = models.DurationField(default=timedelta, help_text="of the last attempt")
    created_at = models.DateTimeField(auto_now_add=True)
    attempted_at = models.DateTimeField(null=True)
    next_attempt_at = models.DateTimeField(null=True)

    row_policy: ClassVar[RowPolicy | None] = same_as("accounts_webhook", "webhook_id")

    class Meta:
        ordering = ["-created_at", "id"]
        indexes = [
            models.Index(fields=["webhook", "-created_at"], name="delivery_list"),
            models.Index(fields=["created_at"], name="delivery_age"),
        ]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook_id}"
