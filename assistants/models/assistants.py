"""Assistants: named configurations with versions, and the bindings by which they are reached."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from accounts.models import ApiKey, Session, User, Workspace
from accounts.principal import Principal
from accounts.row_policies import EXTERNAL_USER, IN_WORKSPACE, USER, RowPolicy, same_as
from accounts.scope import ScopedModel

_NO_EXTERNAL_USER = f"{EXTERNAL_USER} IS NULL"
# External users ask the assistants of a workspace; what is a member's own is not theirs.
ROWS_OF_ASSISTANTS = RowPolicy(
    f"{IN_WORKSPACE} AND (visibility = 'workspace' OR (user_id = {USER} AND {_NO_EXTERNAL_USER}))",
    f"{IN_WORKSPACE} AND {_NO_EXTERNAL_USER} AND (visibility = 'workspace' OR user_id = {USER})",
)


_LIKE_ITS_ASSISTANT = same_as("assistants_assistant", "assistant_id")
ROWS_OF_AN_ASSISTANT = replace(
    _LIKE_ITS_ASSISTANT, writes=f"{_LIKE_ITS_ASSISTANT.writes} AND {_NO_EXTERNAL_USER}"
)
"""Of rows with `assistant_id`."""


class Visibility(models.TextChoices):
    """Who sees an assistant."""

    MINE = "mine"
    WORKSPACE = "workspace"


class Assistant(ScopedModel):
    """A named configuration of a workspace: of one member, or of all of them.

    What it is set to is in its newest version.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", help_text="who made it")
    external_user_id = models.CharField(max_length=255, null=True, editable=False, help_text="always null")
    name = models.CharField(max_length=100)
    description = models.CharField(max_length=300, blank=True)
    visibility = models.CharField(max_length=9, choices=Visibility.choices, default=Visibility.MINE)
    version = models.PositiveIntegerField(default=1, help_text="the number of its newest version")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    row_policy: ClassVar[RowPolicy | None] = ROWS_OF_ASSISTANTS

    class Meta(ScopedModel.Meta):
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "name"],
                name="one_assistant_per_workspace_and_name",
                condition=Q(visibility="workspace"),
            ),
            models.UniqueConstraint(
                fields=["workspace", "user", "name"],
                name="one_assistant_per_member_and_name",
                condition=Q(visibility="mine"),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def scope(cls, principal: Principal) -> Q:
        """Return the rule: those of a readable workspace, and one's own; an external user has none."""
        seen = Q(visibility=Visibility.WORKSPACE)
        if principal.external_user_id is None:
            seen |= Q(user_id=principal.user_id)
        return Q(workspace_id__in=principal.workspace_ids) & seen


class AssistantVersion(models.Model):
    """What an assistant was set to; never changed. Accessed only through a scoped assistant."""

    assistant = models.ForeignKey(Assistant, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField(help_text="from 1")
    name = models.CharField(max_length=100)
    settings = models.JSONField(help_text="assistants.configuration.settings.AssistantSettings")
    made_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    row_policy: ClassVar[RowPolicy | None] = ROWS_OF_AN_ASSISTANT

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["assistant", "number"], name="one_version_per_number")]

    def __str__(self) -> str:
        return f"{self.name} {self.number}"


class BindingKind(models.TextChoices):
    """The ways in which an assistant is reached."""

    PAGE = "page"
    API_KEY = "api_key"
    WEBSOCKET = "websocket"
    MCP = "mcp"
    WIDGET = "widget"


class Binding(models.Model):
    """How an assistant is reached, with settings of its own. Accessed only through its assistant."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    assistant = models.ForeignKey(Assistant, on_delete=models.CASCADE, related_name="bindings")
    kind = models.CharField(max_length=9, choices=BindingKind.choices)
    key = models.ForeignKey(
        ApiKey,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="of kind api_key: this key alone; null is every key",
    )
    origins = ArrayField(
        models.CharField(max_length=255),
        default=list,
        blank=True,
        help_text="of kind widget: the sites that may embed it",
    )
    overrides = models.JSONField(
        default=dict, help_text="by setting: an object that replaces the assistant's"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    row_policy: ClassVar[RowPolicy | None] = ROWS_OF_AN_ASSISTANT

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["assistant", "kind", "key"],
                name="one_binding_per_kind_and_key",
                condition=~Q(kind="widget"),
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.assistant_id}"


class SessionAssistant(models.Model):
    """Which assistant answers in a conversation. Accessed only through a scoped session."""

    session = models.OneToOneField(
        Session, primary_key=True, on_delete=models.CASCADE, related_name="assistant_link"
    )
    assistant = models.ForeignKey(Assistant, on_delete=models.CASCADE, related_name="+")

    row_policy: ClassVar[RowPolicy | None] = same_as("accounts_session", "session_id", only_user_writes=True)

    def __str__(self) -> str:
        return f"{self.assistant_id} in {self.session_id}"
