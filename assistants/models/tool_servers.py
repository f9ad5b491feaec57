"""Servers of other people, whose tools an admin of a workspace lets its assistants use."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from accounts.models import User, Workspace
from accounts.principal import Principal
from accounts.roles import Role
from accounts.row_policies import ROWS_OF_WORKSPACE, RowPolicy
from accounts.scope import ScopedModel

MAX_NAME, MAX_TOOL_NAME = 20, 40


class ToolServer(ScopedModel):
    """A server of the Model Context Protocol. Admins of the workspace see it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    made_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    name = models.CharField(max_length=MAX_NAME, help_text="the first part of its tools' names")
    url = models.CharField(max_length=2048)
    secret = models.TextField(blank=True, editable=False, help_text="encrypted: core.encryption")
    offered = models.JSONField(
        default=list,
        help_text="what it said of its tools at the last look: name, description, schema",
    )
    tools = ArrayField(
        models.CharField(max_length=MAX_TOOL_NAME),
        default=list,
        help_text="the names of those in use",
    )
    assistant_ids = ArrayField(models.UUIDField(), default=list, help_text="the assistants that may use them")
    is_enabled = models.BooleanField(default=True)
    looked_at = models.DateTimeField(null=True, help_text="when an admin last looked at its tools")
    created_at = models.DateTimeField(auto_now_add=True)

    row_policy: ClassVar[RowPolicy | None] = ROWS_OF_WORKSPACE

    class Meta(ScopedModel.Meta):
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "name"], name="one_tool_server_per_workspace_and_name"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def scope(cls, principal: Principal) -> Q:
        """Return the servers of the workspaces that the principal administers; external users have none."""
        if principal.external_user_id is not None:
            return Q(pk__in=[])
        administered = [id for id, role in principal.roles.items() if role.covers(Role.ADMIN)]
        return Q(workspace_id__in=administered)
