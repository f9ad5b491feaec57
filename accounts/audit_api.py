"""`/api/v1/workspaces/{id}/audit`: what happened in a workspace, for its admins."""

from __future__ import annotations

from datetime import datetime
from typing import Self
from uuid import UUID

from django.db.models import QuerySet
from pydantic import Field, JsonValue
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.models import AuditAction, AuditEntry
from accounts.principal import Principal
from accounts.roles import KeyScope, Role
from core.api.lists import ListPage, ListQuery, page_of
from core.api.operations import operation
from core.api.validation import ApiModel, Moment

NEWEST = ("-at", "-id")


class AuditQuery(ListQuery):
    """Which entries are listed."""

    action: list[AuditAction] = Field(default_factory=list, description="Only these actions.")
    user: str | None = Field(None, description="Only what the user with this e-mail address has done.")
    since: Moment | None = Field(None, description="Entries of then or later.")
    until: Moment | None = Field(None, description="Entries of earlier than that.")

    def entries(self, principal: Principal, workspace_id: UUID) -> QuerySet[AuditEntry]:
        """Return the entries of a workspace that the principal may read."""
        rows = AuditEntry.objects.restricted_to(principal).filter(workspace_id=workspace_id)
        if self.action:
            rows = rows.filter(action__in=self.action)
        if self.user is not None:
            rows = rows.filter(user__email=self.user.lower())
        if self.since is not None:
            rows = rows.filter(at__gte=self.since)
        if self.until is not None:
            rows = rows.filter(at__lt=self.until)
        return rows.select_related("user")


class AuditUser(ApiModel):
    """Who acted."""

    id: int
    email: str


class AuditRecord(ApiModel):
    """One entry of the audit log; it holds no words of documents or questions."""

    id: int
    at: datetime
    action: AuditAction
    user: AuditUser | None = Field(description="Null for a job or a command, or once the user is deleted.")
    key_id: UUID | None
    external_user_id: str | None = Field(description="For whom; empty once the external user is deleted.")
    target_type: str
    target_id: str
    address: str = Field(description="Of the client.")
    request_id: str
    details: dict[str, JsonValue]

    @classmethod
    def of(cls, entry: AuditEntry) -> Self:
        """Return an entry."""
        user = AuditUser(id=entry.user.pk, email=entry.user.email) if entry.user else None
        names = ("id", "at", "key_id", "external_user_id", "target_type", "target_id", "address")
        return cls(
            action=AuditAction(entry.action),
            user=user,
            request_id=entry.request_id,
            details=entry.details,
            **{name: getattr(entry, name) for name in names},
        )


class AuditRecordList(ListPage[AuditRecord]):
    """A page of the audit log."""


class WorkspaceAuditView(APIView):
    """What happened in a workspace."""

    required_scope = KeyScope.ADMIN

    @operation(
        "workspaces_audit",
        tag="Workspaces",
        query=AuditQuery,
        answers={200: AuditRecordList},
        fails=(404,),
    )
    def get(self, request: Request, id: UUID, query: AuditQuery) -> AuditRecordList:
        """List the workspace's audit log, newest first, for its admins."""
        principal = principal_of(request)
        principal.require_workspace(id, Role.ADMIN)
        principal.refuse_external_user("reads no audit log")
        return page_of(AuditRecordList, query.entries(principal, id), AuditRecord.of, request, query, NEWEST)
