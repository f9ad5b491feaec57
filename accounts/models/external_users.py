"""Deletions of external users: each is a receipt, and while it runs the job's memory."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from accounts.models.people import User
from accounts.principal import Principal
from accounts.row_policies import ROWS_OF_USER, RowPolicy
from accounts.scope import ScopedModel


class ExternalUserDeletion(ScopedModel):
    """The deletion of an external user from some workspaces; visible to the user who asked for it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    key_id = models.UUIDField(null=True, help_text="the API key with which the user asked")
    workspace_ids = ArrayField(models.UUIDField())
    external_user_id = models.CharField(max_length=255, help_text="blank once it is done")
    deleted = models.JSONField(default=dict, help_text="rows that are gone, by kind")
    scrubbed = models.JSONField(default=dict, help_text="rows that lost words of deleted documents, by kind")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    row_policy: ClassVar[RowPolicy | None] = ROWS_OF_USER

    class Meta(ScopedModel.Meta):
        ordering = ["-created_at", "id"]

    def __str__(self) -> str:
        return str(self.id)

    @classmethod
    def scope(cls, principal: Principal) -> Q:
        """Return the deletions that the user asked for, in workspaces that the principal may read."""
        return Q(user_id=principal.user_id, workspace_ids__contained_by=list(principal.workspace_ids))
