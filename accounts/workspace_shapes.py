"""How the API shows workspaces, members and invitations, and what it takes to make them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from django.core.exceptions import ValidationError as DjangoError
from django.core.validators import validate_email
from pydantic import AfterValidator, Field, StringConstraints

from accounts.models import Invitation, Membership, Workspace
from accounts.people.workspaces import WorkspaceDeletion, restorable_until
from accounts.principal import Principal
from accounts.roles import Role
from core.api.lists import ListPage, ListQuery
from core.api.validation import ABSENT, ApiModel
from core.text.visible_text import one_line


def _visible_name(value: str) -> str:
    if not one_line(value):
        raise ValueError("must have a visible character")
    return one_line(value)


WorkspaceName = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=200), AfterValidator(_visible_name)
]


def _address(value: str) -> str:
    try:
        validate_email(value)
    except DjangoError:
        raise ValueError("must be an e-mail address") from None
    return value.lower()


Email = Annotated[str, StringConstraints(strip_whitespace=True, max_length=254), AfterValidator(_address)]
UserId = Annotated[int, Field(ge=1, lt=2**63)]


class WorkspaceShape(ApiModel):
    """A workspace, and the caller's role in it."""

    id: UUID
    name: str
    role: Role
    personal: bool
    share_with_external_users: bool
    created_at: datetime
    deleted_at: datetime | None
    restorable_until: datetime | None

    @classmethod
    def of(cls, principal: Principal, workspace: Workspace, role: Role | None = None) -> WorkspaceShape:
        """Return what a member sees of a workspace; `role` is for one that the principal was made without."""
        return cls(
            id=workspace.pk,
            name=workspace.name,
            role=role or principal.roles[workspace.pk],
            personal=workspace.personal_of_id == principal.user_id,
            share_with_external_users=workspace.share_with_external_users,
            created_at=workspace.created_at,
            deleted_at=workspace.deleted_at,
            restorable_until=restorable_until(workspace),
        )


class WorkspaceList(ListPage[WorkspaceShape]):
    """A page of workspaces."""


class WorkspaceListQuery(ListQuery):
    """Which workspaces are listed."""

    deleted: bool = Field(False, description="Those that you own, have deleted, and can still restore.")


class NewWorkspace(ApiModel):
    """The body of `POST workspaces`."""

    name: WorkspaceName


class WorkspacePatch(ApiModel):
    """What an admin may change."""

    name: WorkspaceName = ABSENT
    share_with_external_users: bool = ABSENT


class HiddenCounts(ApiModel):
    """What a deleted workspace held."""

    documents: int
    chunks: int
    bytes: int


class WorkspaceDeletionReceipt(ApiModel):
    """What was deleted; until `restorable_until` its owners can restore it, null if they can't."""

    id: UUID
    deleted: HiddenCounts
    restorable_until: datetime | None

    @classmethod
    def of(cls, deletion: WorkspaceDeletion) -> Self:
        """Return the receipt of a deletion."""
        counts = {name: deletion.counts.get(name, 0) for name in HiddenCounts.model_fields}
        return cls(
            id=deletion.workspace_id,
            deleted=HiddenCounts(**counts),
            restorable_until=deletion.restorable_until,
        )


class NewOwner(ApiModel):
    """The body of `POST workspaces/{id}/transfer`."""

    user_id: UserId


class MemberShape(ApiModel):
    """A member of a workspace."""

    user_id: int
    email: str
    name: str
    role: Role
    joined_at: datetime

    @classmethod
    def of(cls, member: Membership) -> Self:
        """Return what other members see of a member."""
        return cls(
            user_id=member.user_id,
            email=member.user.email,
            name=member.user.get_full_name(),
            role=Role(member.role),
            joined_at=member.created_at,
        )


class MemberList(ListPage[MemberShape]):
    """A page of members."""


class NewMember(ApiModel):
    """The body of `POST workspaces/{id}/members`."""

    email: Email
    role: Role = Role.VIEWER


class MemberPatch(ApiModel):
    """What may be changed of a member."""

    role: Role


class InvitationShape(ApiModel):
    """An invitation without its secret; `email` is null for one that anybody with the link may accept."""

    id: UUID
    workspace_id: UUID
    role: Role
    email: str | None
    invited_by: str
    open: bool
    uses: int
    max_uses: int
    expires_at: datetime
    created_at: datetime

    @classmethod
    def of(cls, row: Invitation, **more: str | bool) -> Self:
        """Return what admins see of an invitation, and `more`."""
        return cls(
            id=row.pk,
            workspace_id=row.workspace_id,
            role=Role(row.role),
            email=row.email or None,
            invited_by=row.made_by.email,
            open=row.is_open,
            uses=row.uses,
            max_uses=row.max_uses,
            expires_at=row.expires_at,
            created_at=row.created_at,
            **more,
        )


class InvitationList(ListPage[InvitationShape]):
    """A page of invitations."""


class CreatedInvitation(InvitationShape):
    """A new invitation with its secret, which can't be had again, and whether an e-mail took it along."""

    secret: str
    link: str
    mailed: bool


class NewInvitation(ApiModel):
    """The body of `POST workspaces/{id}/invitations`."""

    role: Role = Role.VIEWER
    email: Email | None = Field(None, description="Who may accept it, once; null: whoever has the link.")
    max_uses: Annotated[int, Field(ge=1, le=1000)] = 1
    expires_in_days: Annotated[int, Field(ge=1, le=90)] = 7


class AcceptedInvitation(ApiModel):
    """The body of `POST invitations/accept`."""

    secret: Annotated[str, StringConstraints(min_length=1, max_length=200)]
