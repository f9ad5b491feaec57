"""Conversations; their messages are in `assistants.models`."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models.people import User, Workspace
from accounts.principal import Principal
from accounts.row_policies import OWN_OR_SHARED_SESSIONS, RowPolicy
from accounts.scope import ScopedModel, owned_by, shared_rule


class Session(ScopedModel):
    """A conversation; documents may be attached to it.

    Only the user who created it lists it and changes it. Members of its workspace can read it by its id once
    it is shared.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    external_user_id = models.CharField(max_length=255, null=True, blank=True)
    title = models.CharField(max_length=200, blank=True)
    pinned = models.BooleanField(default=False)
    shared = models.BooleanField(default=False, help_text="Members of the workspace can read it.")
    searches_documents = models.BooleanField(default=True)
    searches_web = models.BooleanField(default=False)
    search_scope = models.JSONField(
        default=dict,
        blank=True,
        help_text="{workspace_ids?, document_ids?, tags?}; what is missing narrows nothing",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(default=timezone.now, help_text="of the last message or change")

    row_policy: ClassVar[RowPolicy | None] = OWN_OR_SHARED_SESSIONS

    class Meta(ScopedModel.Meta):
        ordering = ["-created_at", "id"]
        indexes = [models.Index(fields=["user", "-updated_at"], name="session_list")]

    def __str__(self) -> str:
        return self.title or str(self.id)

    @classmethod
    def scope_by_id(cls, principal: Principal) -> Q:
        """Return the rule for a session named by its id: one's own, and those that members share."""
        return owned_by(principal) | shared_rule(principal)
