"""The audit log. A new action is a line here."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy

from accounts.models.people import User
from accounts.principal import Principal
from accounts.roles import Role
from accounts.row_policies import OWN_ENTRIES, RowPolicy
from accounts.scope import ScopedModel


class AuditAction(models.TextChoices):
    """What the audit log records: the noun that was acted on, a dot, and the verb in the past."""

    USER_CREATED = "user.created", gettext_lazy("User created")
    USER_CHANGED = "user.changed", gettext_lazy("User changed")
    USER_DELETED = "user.deleted", gettext_lazy("User deleted")
    LOGIN_SUCCEEDED = "login.succeeded", gettext_lazy("Logged in")
    LOGIN_FAILED = "login.failed", gettext_lazy("Login failed")
    LOGIN_ENDED = "login.ended", gettext_lazy("Login ended")
    PASSWORD_CHANGED = "password.changed", gettext_lazy("Password changed")
    SECOND_FACTOR_ADDED = "second_factor.added", gettext_lazy("Second factor added")
    SECOND_FACTOR_REMOVED = "second_factor.removed", gettext_lazy("Second factor removed")
    DATA_EXPORTED = "data.exported", gettext_lazy("Own data exported")
    WORKSPACE_CREATED = "workspace.created", gettext_lazy("Workspace created")
    WORKSPACE_CHANGED = "workspace.changed", gettext_lazy("Workspace changed")
    WORKSPACE_DELETED = "workspace.deleted", gettext_lazy("Workspace deleted")
    WORKSPACE_ERASED = "workspace.erased", gettext_lazy("Workspace deleted for good")
    WORKSPACE_TRANSFERRED = "workspace.transferred", gettext_lazy("Workspace handed over")
    WORKSPACE_RESTORED = "workspace.restored", gettext_lazy("Workspace restored")
    WORKSPACE_EXPORTED = "workspace.exported", gettext_lazy("Workspace exported")
    WORKSPACE_IMPORTED = "workspace.imported", gettext_lazy("Workspace imported")
    MEMBER_ADDED = "member.added", gettext_lazy("Member added")
    MEMBER_CHANGED = "member.changed", gettext_lazy("Role changed")
    MEMBER_REMOVED = "member.removed", gettext_lazy("Member removed")
    INVITATION_CREATED = "invitation.created", gettext_lazy("Invitation created")
    INVITATION_REVOKED = "invitation.revoked", gettext_lazy("Invitation revoked")
    INVITATION_ACCEPTED = "invitation.accepted", gettext_lazy("Invitation accepted")
    KEY_CREATED = "key.created", gettext_lazy("API key created")
    KEY_ROTATED = "key.rotated", gettext_lazy("API key rotated")
    KEY_CHANGED = "key.changed", gettext_lazy("API key changed")
    KEY_REVOKED = "key.revoked", gettext_lazy("API key revoked")
    PROGRAM_CONNECTED = "program.connected", gettext_lazy("Program connected")
    PROGRAM_DISCONNECTED = "program.disconnected", gettext_lazy("Program disconnected")
    WEBHOOK_CREATED = "webhook.created", "Webhook created"
    WEBHOOK_CHANGED = "webhook.changed", "Webhook changed"
    WEBHOOK_ROTATED = "webhook.rotated", "Webhook's secret rotated"
    WEBHOOK_DELETED = "webhook.deleted", "Webhook deleted"
    TOKEN_CREATED = "token.created", gettext_lazy("Token created")
    EXTERNAL_USER_DELETED = "external_user.deleted", gettext_lazy("External user deleted")
    DOCUMENT_ADDED = "document.added", gettext_lazy("Document added")
    DOCUMENT_CHANGED = "document.changed", gettext_lazy("Document changed")
    DOCUMENT_DELETED = "document.deleted", gettext_lazy("Document deleted")
    SESSION_SHARED = "session.shared", gettext_lazy("Conversation shared")
    SESSION_UNSHARED = "session.unshared", gettext_lazy("Conversation no longer shared")
    SESSION_DELETED = "session.deleted", gettext_lazy("Conversation deleted")
    ASSISTANT_CREATED = "assistant.created", gettext_lazy("Assistant created")
    ASSISTANT_CHANGED = "assistant.changed", gettext_lazy("Assistant changed")
    ASSISTANT_DELETED = "assistant.deleted", gettext_lazy("Assistant deleted")
    TOOL_SERVER_CREATED = "tool_server.created", gettext_lazy("Tool server added")
    TOOL_SERVER_CHANGED = "tool_server.changed", gettext_lazy("Tool server changed")
    TOOL_SERVER_DELETED = "tool_server.deleted", gettext_lazy("Tool server removed")
    TOOL_CALLED = "tool.called", gettext_lazy("Tool of a server called")
    CHUNKS_RETRIEVED = "chunks.retrieved", gettext_lazy("Chunks retrieved")
    CONTENT_VIEWED = "content.viewed", gettext_lazy("Content viewed by staff")
    REPAIR_STARTED = "repair.started", gettext_lazy("Repair started")
    COMPONENT_TESTED = "component.tested", gettext_lazy("Provider or model tested")
    MODEL_CONNECTED = "model.connected", gettext_lazy("Model connected")
    MODEL_DISCONNECTED = "model.disconnected", gettext_lazy("Model disconnected")
    SETTINGS_CHANGED = "settings.changed", gettext_lazy("Settings changed")


class AuditEntry(ScopedModel):
    """One action; admins of its workspace and staff may read it, and nobody changes it.

    Ids are values and no foreign keys: an entry outlives what it names.
    """

    at = models.DateTimeField(auto_now_add=True)
    action = models.CharField(max_length=40, choices=AuditAction.choices)
    user = models.ForeignKey(
        User, null=True, on_delete=models.SET_NULL, related_name="+", help_text="who; null once deleted"
    )
    key_id = models.UUIDField(null=True, help_text="the API key with which the user acted")
    external_user_id = models.CharField(max_length=255, null=True, help_text="for whom the user acted")
    workspace_id = models.UUIDField(null=True, help_text="whose admins may read this")
    target_type = models.CharField(max_length=30, blank=True, help_text="e.g. document")
    target_id = models.CharField(max_length=255, blank=True)
    address = models.CharField(
        max_length=45, blank=True, help_text="of the client; blank for jobs and commands"
    )
    request_id = models.CharField(max_length=128, blank=True)
    details = models.JSONField(default=dict, help_text="ids, counts and settings; no words of documents")

    row_policy: ClassVar[RowPolicy | None] = OWN_ENTRIES

    class Meta(ScopedModel.Meta):
        ordering = ["-at", "-id"]
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["-at"], name="audit_time"),
            models.Index(fields=["workspace_id", "-at"], name="audit_of_workspace"),
            models.Index(fields=["user", "-at"], name="audit_of_user"),
            models.Index(fields=["target_id", "-at"], name="audit_of_target"),
        ]

    def __str__(self) -> str:
        return self.get_action_display()

    @classmethod
    def scope(cls, principal: Principal) -> Q:
        """Return the entries of the workspaces in which the principal is an admin."""
        administered = [id for id, role in principal.roles.items() if role.covers(Role.ADMIN)]
        return Q(workspace_id__in=administered)
