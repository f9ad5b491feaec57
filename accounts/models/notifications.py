"""Notifications: what a user is told of work that went on without them."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from accounts.models.people import User, Workspace
from accounts.scope import ScopedModel


class NotificationKind(models.TextChoices):
    """What a notification tells."""

    DOCUMENT_INDEXED = "document.indexed"
    DOCUMENT_FAILED = "document.failed"
    WEBHOOK_DISABLED = "webhook.disabled"


class Notification(ScopedModel):
    """One notification of a user. It holds no words: readers look up what it is about, within their scope."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=30, choices=NotificationKind.choices)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    external_user_id = models.CharField(max_length=255, null=True, editable=False, help_text="always null")
    document_id = models.UUIDField(null=True, help_text="deleting the document deletes this")
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True)
    mail_settled_at = models.DateTimeField(null=True, help_text="when it was mailed, or needed no mail")

    class Meta(ScopedModel.Meta):
        ordering = ["-created_at", "id"]
        indexes = [
            models.Index(fields=["user", "-created_at"], name="notification_list"),
            models.Index(
                fields=["document_id"], name="notification_document", condition=Q(document_id__isnull=False)
            ),
            models.Index(
                fields=["user"], name="notification_to_mail", condition=Q(mail_settled_at__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} for {self.user_id}"
