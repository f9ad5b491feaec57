"""Members of workspaces: who they are, their roles, how they join, leave and are removed.

An admin manages members, but only an owner changes who is an owner. The workspace always has one: see
`Membership` and `workspaces.locked_workspace`.
"""

from __future__ import annotations

from uuid import UUID

from allauth.account.models import EmailAddress
from django.db.models import QuerySet
from pydantic import JsonValue

from accounts.audit.recording import record
from accounts.models import AuditAction, Membership, User
from accounts.people.workspaces import LockedWorkspace, locked_workspace
from accounts.principal import Principal
from accounts.roles import Role
from core.errors import Conflict, Forbidden, NotFound

UNKNOWN_PERSON = "Nobody with whom you share a workspace has this address. Send them an invitation."


def members_of(principal: Principal, workspace_id: UUID) -> QuerySet[Membership]:
    """Return the memberships of a workspace that the principal sees, each with its user."""
    principal.require_workspace(workspace_id)
    principal.refuse_external_user("does not see who the members are")
    return Membership.objects.filter(workspace=workspace_id).select_related("user")


def add_member(principal: Principal, workspace_id: UUID, email: str, role: Role) -> Membership:
    """Make a person a member at once; raise `NotFound` unless both are members of some workspace.

    Others must accept an invitation: nobody learns here which addresses have an account.
    """
    with locked_workspace(principal, workspace_id, Role.ADMIN) as locked:
        locked.refuse_personal("shared")
        _refuse_owner(role)
        shared = Membership.objects.filter(workspace__in=principal.workspace_ids).values("user")
        user = User.objects.filter(email=email.strip().lower(), pk__in=shared, is_active=True).first()
        if user is None or not EmailAddress.objects.filter(user=user, email=user.email, verified=True):
            raise NotFound(UNKNOWN_PERSON, param="email")
        if Membership.objects.filter(workspace=workspace_id, user=user).exists():
            raise Conflict("This person is a member already.", param="email")
        return join(principal, locked, user, role)


def join(principal: Principal, locked: LockedWorkspace, user: User, role: Role) -> Membership:
    """Make a user a member of a locked workspace. The caller checks the right to do so."""
    member = Membership.objects.create(workspace=locked.workspace, user=user, role=role)
    _record(AuditAction.MEMBER_ADDED, principal, locked.id, user.pk, role=role.value)
    return member


def change_role(principal: Principal, workspace_id: UUID, user_id: int, role: Role) -> Membership:
    """Give a member another role. Raises `Conflict` if the workspace would lose its last owner."""
    with locked_workspace(principal, workspace_id, Role.ADMIN) as locked:
        locked.refuse_personal("shared")
        member = _member(workspace_id, user_id)
        _require_owner(locked, Role(member.role), role)
        before, member.role = Role(member.role), role
        if before != role:
            member.save(update_fields=["role"])
            changed = {"role": role.value, "before": before.value}
            _record(AuditAction.MEMBER_CHANGED, principal, workspace_id, user_id, **changed)
    return member


def remove_member(principal: Principal, workspace_id: UUID, user_id: int) -> None:
    """End a membership: an admin removes others, and everybody may leave.

    What the member had open in the workspace ends within seconds. Raises `Conflict` for the last owner.
    """
    leaves = user_id == principal.user_id
    with locked_workspace(principal, workspace_id, Role.VIEWER if leaves else Role.ADMIN) as locked:
        locked.refuse_personal("left")
        member = _member(workspace_id, user_id)
        if not leaves:
            _require_owner(locked, Role(member.role))
        member.delete()
        _record(AuditAction.MEMBER_REMOVED, principal, workspace_id, user_id, role=member.role, left=leaves)


def _member(workspace_id: UUID, user_id: int) -> Membership:
    member = Membership.objects.select_related("user").filter(workspace=workspace_id, user=user_id).first()
    if member is None:
        raise NotFound("This user is no member of the workspace.", param="user_id")
    return member


def _require_owner(locked: LockedWorkspace, *roles: Role) -> None:
    """Raise `Forbidden` if somebody who is no owner changes who is one."""
    if Role.OWNER in roles and locked.role != Role.OWNER:
        raise Forbidden("Only an owner changes who owns the workspace.")


def _refuse_owner(role: Role) -> None:
    if role == Role.OWNER:
        raise Conflict("Add the person with another role first, then make them an owner.", param="role")


def _record(
    action: AuditAction, principal: Principal, workspace_id: UUID, user_id: int, **details: JsonValue
) -> None:
    record(action, principal, workspace_id=workspace_id, target=("user", user_id), **details)
