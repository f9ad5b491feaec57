"""`/api/v1/workspaces` with their members and invitations, and `/api/v1/invitations`."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.models import Workspace
from accounts.people.invitation_mail import invitation_link, mail_invitation
from accounts.people.invitations import (
    accept_invitation,
    invitations_of,
    invite,
    revoke_invitation,
    unknown_secrets_counted,
)
from accounts.people.members import add_member, change_role, members_of, remove_member
from accounts.people.workspaces import (
    change_workspace,
    create_workspace,
    delete_workspace,
    deleted_workspaces,
    readable_workspaces,
    restore_workspace,
    transfer_workspace,
)
from accounts.roles import Role
from accounts.workspace_shapes import (
    AcceptedInvitation,
    CreatedInvitation,
    InvitationList,
    InvitationShape,
    MemberList,
    MemberPatch,
    MemberShape,
    NewInvitation,
    NewMember,
    NewOwner,
    NewWorkspace,
    WorkspaceDeletionReceipt,
    WorkspaceList,
    WorkspaceListQuery,
    WorkspacePatch,
    WorkspaceShape,
)
from core.api.lists import ListQuery, page_of
from core.api.operations import ReadBody, operation, respond

OLDEST_FIRST = ("created_at", "id")


class WorkspacesView(APIView):
    """The caller's workspaces."""

    @operation("workspaces_list", tag="Workspaces", query=WorkspaceListQuery, answers={200: WorkspaceList})
    def get(self, request: Request, query: WorkspaceListQuery) -> WorkspaceList:
        """List the workspaces the caller may read, with its role in each."""
        principal = principal_of(request)
        if query.deleted:
            rows, shown = (
                deleted_workspaces(principal),
                partial(WorkspaceShape.of, principal, role=Role.OWNER),
            )
        else:
            rows = readable_workspaces(principal)
            shown = partial(WorkspaceShape.of, principal)
        return page_of(WorkspaceList, rows, shown, request, query, ("name", "id"))

    @operation("workspaces_create", tag="Workspaces", body=NewWorkspace, answers={201: WorkspaceShape})
    def post(self, request: Request, read_body: ReadBody[NewWorkspace]) -> Response:
        """Create a workspace, which the caller owns."""
        principal = principal_of(request)
        workspace = create_workspace(principal, read_body().name)
        location = request.build_absolute_uri(f"/api/v1/workspaces/{workspace.pk}")
        shape = WorkspaceShape.of(principal, workspace, Role.OWNER)
        return respond(shape, 201, {"Location": location})


class WorkspaceView(APIView):
    """One workspace."""

    @operation("workspaces_read", tag="Workspaces", answers={200: WorkspaceShape}, fails=(404,))
    def get(self, request: Request, id: UUID) -> WorkspaceShape:
        """Return the workspace, with the caller's role in it."""
        principal = principal_of(request)
        principal.require_workspace(id)
        return WorkspaceShape.of(principal, Workspace.objects.get(pk=id))

    @operation(
        "workspaces_change",
        tag="Workspaces",
        body=WorkspacePatch,
        answers={200: WorkspaceShape},
        fails=(404,),
    )
    def patch(self, request: Request, id: UUID, read_body: ReadBody[WorkspacePatch]) -> WorkspaceShape:
        """Rename the workspace, or share its own documents with external users; for admins."""
        principal = principal_of(request)
        principal.require_workspace(id, Role.ADMIN)
        body = read_body()
        workspace = change_workspace(
            principal, id, name=body.name, share_with_external_users=body.share_with_external_users
        )
        return WorkspaceShape.of(principal, workspace)

    @operation("workspaces_delete", tag="Workspaces", answers={200: WorkspaceDeletionReceipt}, fails=(404,))
    def delete(self, request: Request, id: UUID) -> WorkspaceDeletionReceipt:
        """Delete the workspace with all that is in it, as an owner; nobody sees it from now on.

        Until `restorable_until` its owners can restore it. Then, or at once if that is null, it is erased.
        """
        return WorkspaceDeletionReceipt.of(delete_workspace(principal_of(request), id))


class RestoreView(APIView):
    """Undoing a deletion."""

    @operation("workspaces_restore", tag="Workspaces", answers={200: WorkspaceShape}, fails=(404,))
    def post(self, request: Request, id: UUID) -> WorkspaceShape:
        """Restore a deleted workspace, as an owner."""
        principal = principal_of(request)
        return WorkspaceShape.of(principal, restore_workspace(principal, id), Role.OWNER)


class TransferView(APIView):
    """Handing a workspace over."""

    @operation(
        "workspaces_transfer", tag="Workspaces", body=NewOwner, answers={200: WorkspaceShape}, fails=(404,)
    )
    def post(self, request: Request, id: UUID, read_body: ReadBody[NewOwner]) -> WorkspaceShape:
        """Make another member the owner; the caller, an owner until now, becomes an admin."""
        principal = principal_of(request)
        principal.require_workspace(id, Role.OWNER)
        transfer_workspace(principal, id, read_body().user_id)
        return WorkspaceShape.of(principal, Workspace.objects.get(pk=id), Role.ADMIN)


class MembersView(APIView):
    """The members of a workspace."""

    @operation("members_list", tag="Workspaces", query=ListQuery, answers={200: MemberList}, fails=(404,))
    def get(self, request: Request, id: UUID, query: ListQuery) -> MemberList:
        """List the members with their roles; every member may."""
        rows = members_of(principal_of(request), id)
        return page_of(MemberList, rows, MemberShape.of, request, query, OLDEST_FIRST)

    @operation("members_add", tag="Workspaces", body=NewMember, answers={201: MemberShape}, fails=(404,))
    def post(self, request: Request, id: UUID, read_body: ReadBody[NewMember]) -> Response:
        """Add a person with whom the caller shares a workspace; others get an invitation."""
        principal = principal_of(request)
        principal.require_workspace(id, Role.ADMIN)
        body = read_body()
        member = add_member(principal, id, body.email, body.role)
        location = request.build_absolute_uri(f"/api/v1/workspaces/{id}/members/{member.user_id}")
        return respond(MemberShape.of(member), 201, {"Location": location})


class MemberView(APIView):
    """One member of a workspace."""

    @operation("members_change", tag="Workspaces", body=MemberPatch, answers={200: MemberShape}, fails=(404,))
    def patch(
        self, request: Request, id: UUID, user_id: int, read_body: ReadBody[MemberPatch]
    ) -> MemberShape:
        """Change the member's role, as an admin; only owners change who is an owner."""
        principal = principal_of(request)
        principal.require_workspace(id, Role.ADMIN)
        return MemberShape.of(change_role(principal, id, user_id, read_body().role))

    @operation("members_remove", tag="Workspaces", answers={204: None}, fails=(404,))
    def delete(self, request: Request, id: UUID, user_id: int) -> Response:
        """Remove the member, as an admin; anybody may remove themselves."""
        remove_member(principal_of(request), id, user_id)
        return Response(status=204)


class InvitationsView(APIView):
    """The invitations of a workspace."""

    @operation(
        "invitations_list", tag="Workspaces", query=ListQuery, answers={200: InvitationList}, fails=(404,)
    )
    def get(self, request: Request, id: UUID, query: ListQuery) -> InvitationList:
        """List the invitations, as an admin; their secrets can't be had again."""
        rows = invitations_of(principal_of(request), id)
        return page_of(InvitationList, rows, InvitationShape.of, request, query)

    @operation(
        "invitations_create",
        tag="Workspaces",
        body=NewInvitation,
        answers={201: CreatedInvitation},
        fails=(404,),
    )
    def post(self, request: Request, id: UUID, read_body: ReadBody[NewInvitation]) -> Response:
        """Invite one e-mail address, or whoever has the link, and return the secret, shown this once.

        An e-mail is sent if the address is given and the server has a mail server.
        """
        principal = principal_of(request)
        principal.require_workspace(id, Role.ADMIN)
        body = read_body()
        invitation, secret = invite(
            principal,
            id,
            body.role,
            email=body.email or "",
            max_uses=body.max_uses,
            days=body.expires_in_days,
        )
        created = CreatedInvitation.of(
            invitation,
            secret=secret,
            link=invitation_link(request, secret),
            mailed=mail_invitation(request, invitation, secret),
        )
        location = request.build_absolute_uri(f"/api/v1/invitations/{invitation.pk}")
        return respond(created, 201, {"Location": location})


class InvitationView(APIView):
    """One invitation."""

    @operation("invitations_revoke", tag="Workspaces", answers={204: None}, fails=(404,))
    def delete(self, request: Request, id: UUID) -> Response:
        """Withdraw the invitation, as an admin of its workspace."""
        revoke_invitation(principal_of(request), id)
        return Response(status=204)


class AcceptView(APIView):
    """Joining a workspace."""

    @operation(
        "invitations_accept",
        tag="Workspaces",
        body=AcceptedInvitation,
        answers={200: WorkspaceShape},
        fails=(404,),
    )
    def post(self, request: Request, read_body: ReadBody[AcceptedInvitation]) -> WorkspaceShape:
        """Become a member of the workspace that an invitation is for."""
        principal = principal_of(request)
        secret = read_body().secret
        with unknown_secrets_counted(request._request):
            member = accept_invitation(principal, secret)
        return WorkspaceShape.of(principal, member.workspace, Role(member.role))
