"""`/api/v1/external-users` and `external-user-deletions`: for admins of workspaces."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import transaction
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import path_ends_with, principal_of
from accounts.external_users.deletion import begin_deletion, resume
from accounts.external_users.jobs import resume_later
from accounts.external_users.listing import ExternalUserActivity, ExternalUsers, administered
from accounts.models import ExternalUserDeletion
from accounts.principal import Principal
from accounts.roles import KeyScope
from core.api.lists import ListPage, ListQuery, page_of
from core.api.operations import ApiQuery, operation, respond
from core.api.validation import ApiModel
from core.errors import NotFound
from core.text.storable import is_storable

# The worker deletes anything larger.
MAX_DOCUMENTS, MAX_EXECUTIONS = 100, 1000


class InWorkspace(ApiQuery):
    """In which workspace."""

    workspace_id: UUID | None = Field(
        None, description="Only in this workspace; by default in all that you administer."
    )


class ExternalUserQuery(InWorkspace, ListQuery):
    """Which external users are listed."""

    q: str | None = Field(None, max_length=255, description="Only ids that contain this, whatever its case.")


class ExternalUserShape(ApiModel):
    """An external user, and how much there is of it in the workspaces that were asked about."""

    id: str
    documents: int
    bytes: int
    executions: int
    sessions: int
    questions: int = Field(description="Runs that ended, deleted ones included.")
    tokens: int = Field(description="Tokens that models read and wrote for it.")
    last_seen_at: datetime = Field(description="When it last added a document, asked, or began a session.")

    @classmethod
    def of(cls, found: ExternalUserActivity) -> ExternalUserShape:
        """Return what admins see of an external user."""
        counts = {name: getattr(found, name) for name in ("documents", "bytes", "executions", "sessions")}
        used = {"questions": found.questions, "tokens": found.tokens}
        return cls(id=found.id, last_seen_at=found.seen_at, **counts, **used)


class ExternalUserList(ListPage[ExternalUserShape]):
    """A page of external users, the last seen first."""


class ExternalUserReceipt(ApiModel):
    """What the deletion of an external user has removed, so far or in all."""

    id: UUID = Field(description="Of the deletion: look it up at `external-user-deletions/{id}`.")
    is_complete: bool = Field(description="False while the worker goes on.")
    deleted: dict[str, int] = Field(description="Rows and bytes that are gone, by kind.")
    scrubbed: dict[str, int] = Field(
        description="By kind, how many rows of others lost words of its documents and stayed."
    )
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, deletion: ExternalUserDeletion) -> ExternalUserReceipt:
        """Return the receipt."""
        return cls(
            id=deletion.pk,
            is_complete=deletion.finished_at is not None,
            deleted=deletion.deleted,
            scrubbed=deletion.scrubbed,
            created_at=deletion.created_at,
            finished_at=deletion.finished_at,
        )


class ExternalUsersView(APIView):
    """The external users of workspaces."""

    required_scope = KeyScope.ADMIN

    @operation(
        "external_users_list",
        tag="External users",
        query=ExternalUserQuery,
        answers={200: ExternalUserList},
        fails=(404,),
    )
    def get(self, request: Request, query: ExternalUserQuery) -> ExternalUserList:
        """List the external users of the workspaces that the caller administers, the last seen first."""
        workspaces = administered(principal_of(request), query.workspace_id)
        found = ExternalUsers(workspaces, part=query.q or "")
        return page_of(ExternalUserList, found, ExternalUserShape.of, request, query)


class ExternalUserView(APIView):
    """One external user. Its id is percent-encoded as a whole, with `/` as `%2F`."""

    required_scope = KeyScope.ADMIN

    @operation(
        "external_users_read",
        tag="External users",
        query=InWorkspace,
        answers={200: ExternalUserShape},
        fails=(404,),
    )
    def get(self, request: Request, id: str, query: InWorkspace) -> ExternalUserShape:
        """Return how much there is of the external user."""
        workspaces = _administered(principal_of(request), query)
        return ExternalUserShape.of(_find(request, id, workspaces))

    @operation(
        "external_users_delete",
        tag="External users",
        query=InWorkspace,
        answers={200: ExternalUserReceipt, 202: ExternalUserReceipt},
        fails=(404,),
    )
    def delete(self, request: Request, id: str, query: InWorkspace) -> Response:
        """Delete the external user with its documents, executions and sessions; return a receipt.

        What was counted of it (usage, money) and the audit log stay without its id. The same string in other
        workspaces is another person and stays. Large deletions answer 202 and go on in the worker. The id may
        be used again afterwards: tokens that name it work until they expire.
        """
        principal = principal_of(request)
        workspaces = _administered(principal, query)
        found = _find(request, id, workspaces)
        holding = [each for each in workspaces if ExternalUsers([each], id=found.id)]
        if found.documents > MAX_DOCUMENTS or found.executions > MAX_EXECUTIONS:
            with transaction.atomic():
                deletion = begin_deletion(principal, holding, found.id)
                resume_later(deletion)
            location = request.build_absolute_uri(f"/api/v1/external-user-deletions/{deletion.pk}")
            return respond(ExternalUserReceipt.of(deletion), 202, {"Location": location})
        with transaction.atomic():
            deletion = begin_deletion(principal, holding, found.id)
            resume(deletion)
        return respond(ExternalUserReceipt.of(deletion))


class ExternalUserDeletionView(APIView):
    """The receipt of a deletion."""

    required_scope = KeyScope.ADMIN

    @operation(
        "external_user_deletions_read",
        tag="External users",
        answers={200: ExternalUserReceipt},
        fails=(404,),
    )
    def get(self, request: Request, id: UUID) -> ExternalUserReceipt:
        """Return the receipt of a deletion that the caller asked for; `deleted` grows while it runs."""
        principal = principal_of(request)
        deletion = ExternalUserDeletion.objects.restricted_to(principal).filter(pk=id).first()
        if deletion is None or principal.external_user_id is not None:
            raise NotFound
        return ExternalUserReceipt.of(deletion)


def _administered(principal: Principal, query: InWorkspace) -> list[UUID]:
    """Return the workspaces of an external user that a request names; for external users there is none."""
    if principal.external_user_id is not None:
        raise NotFound
    return administered(principal, query.workspace_id)


def _find(request: Request, id: str, workspace_ids: list[UUID]) -> ExternalUserActivity:
    """Return the external user with exactly this id, or raise `NotFound`."""
    if not is_storable(id) or not path_ends_with(request._request, id):
        raise NotFound
    found = ExternalUsers(workspace_ids, id=id)[:1]
    if not found:
        raise NotFound
    return found[0]
