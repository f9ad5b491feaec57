"""Requests with an `Idempotency-Key`. The table keeps its old name, with the prefix `kb`."""

from __future__ import annotations

from django.db import models

from accounts.models.people import User


class IdempotentRequest(models.Model):
    """The outcome of a request with an `Idempotency-Key`; accessed only through `accounts.idempotency`."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    external_user_id = models.CharField(max_length=255, null=True)
    narrowing = models.CharField(
        max_length=64, default="", help_text="digest of the workspaces that the API key is narrowed to"
    )
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 of what was asked")
    outcome = models.JSONField(null=True, help_text="what the same reply is made from")
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        app_label = "kb"
        constraints = [
            models.UniqueConstraint(
                fields=["user", "external_user_id", "narrowing", "key"],
                name="one_idempotency_key",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return self.key
