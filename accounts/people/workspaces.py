"""What people do with workspaces: create, change, hand over, delete, restore.

For the API, the pages and the admin panel alike: each function takes the principal, checks its right, and
writes the audit log. Members are in `members.py`, invitations in `invitations.py`.

Each change locks the workspace's row first, and then reads the caller's role again: two changes of members at
the same moment take turns, so a workspace never loses its last owner.

  delete ─ deleted_at is set: nobody sees it, its streams and jobs end
     ├── restore, by an owner, within WORKSPACE_GRACE_DAYS
     └── erased by the worker after that (deletion_jobs.py)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from pydantic import JsonValue

from accounts.audit.recording import record
from accounts.models import AuditAction, AuditEntry, Membership, User, Workspace
from accounts.people.deletion import count_of
from accounts.people.deletion_jobs import erase_later, resume_work_later, stop_work_later
from accounts.principal import Principal
from accounts.roles import KeyScope, Role
from core.errors import Conflict, Forbidden, NotFound

RECEIPT_AGE, MAX_RECEIPTS = timedelta(days=90), 10
"""Which receipts of erased workspaces are shown to who deleted them."""


@dataclass(frozen=True, slots=True)
class LockedWorkspace:
    """A workspace whose row is locked, and the caller's present role in it."""

    workspace: Workspace
    role: Role

    @property
    def id(self) -> UUID:
        """The workspace's id."""
        return self.workspace.pk

    def refuse_personal(self, what: str) -> None:
        """Raise `Conflict` if this is somebody's personal workspace."""
        if self.workspace.personal_of_id is not None:
            raise Conflict(f"A personal workspace can’t be {what}. Create a workspace of its own for that.")


@dataclass(frozen=True, slots=True)
class WorkspaceDeletion:
    """What was hidden by a deletion, by kind, and until when it can be restored; None if it can't."""

    workspace_id: UUID
    counts: Mapping[str, int]
    restorable_until: datetime | None


def refuse_unless_admin_key(principal: Principal) -> None:
    """Raise `Forbidden` for external users, and for keys without the scope `admin`."""
    principal.refuse_external_user("can’t manage workspaces")
    principal.require_scope(KeyScope.ADMIN)


@contextmanager
def locked_workspace(principal: Principal, id: UUID, role: Role) -> Iterator[LockedWorkspace]:
    """Lock a workspace in a transaction, for a caller whose role suffices now.

    Raises `NotFound` for an invisible workspace, `Forbidden` for a role or key that does not suffice.
    """
    principal.require_workspace(id, role)
    refuse_unless_admin_key(principal)
    with transaction.atomic():
        # Not the key itself: adding documents to the workspace must not wait.
        rows = Workspace.objects.select_for_update(no_key=True).filter(pk=id, deleted_at=None)
        workspace = rows.first()
        mine = Membership.objects.filter(workspace=id, user=principal.user_id).first()
        if workspace is None or mine is None:
            raise NotFound(param="workspace_id")
        if not Role(mine.role).covers(role):
            raise Forbidden(f"This needs the role {role.value} in the workspace.")
        yield LockedWorkspace(workspace, Role(mine.role))


def readable_workspaces(principal: Principal) -> QuerySet[Workspace]:
    """Return the workspaces that a principal may read."""
    return Workspace.objects.filter(pk__in=principal.workspace_ids)


def create_workspace(principal: Principal, name: str) -> Workspace:
    """Create a workspace that the principal's user owns."""
    refuse_unless_admin_key(principal)
    refuse_narrowed(principal)
    with transaction.atomic():
        workspace = Workspace.create_for(User.objects.get(pk=principal.user_id), name=name)
        _record(AuditAction.WORKSPACE_CREATED, principal, workspace.pk, name=name)
    return workspace


def refuse_narrowed(principal: Principal) -> None:
    """Raise `Forbidden` for a key that would get a workspace outside those it is narrowed to."""
    if principal.narrowed:
        raise Forbidden("This API key is narrowed to some workspaces, so it gets no further ones.")


def change_workspace(
    principal: Principal, id: UUID, *, name: str | None = None, share_with_external_users: bool | None = None
) -> Workspace:
    """Change a workspace's name, and whether external users see its shared documents; None keeps."""
    given = {"name": name, "share_with_external_users": share_with_external_users}
    with locked_workspace(principal, id, Role.ADMIN) as locked:
        workspace = locked.workspace
        changes = {
            field: value
            for field, value in given.items()
            if value is not None and value != getattr(workspace, field)
        }
        for field, value in changes.items():
            setattr(workspace, field, value)
        if changes:
            workspace.save(update_fields=list(changes))
            _record(AuditAction.WORKSPACE_CHANGED, principal, id, **changes)
    return workspace


def transfer_workspace(principal: Principal, id: UUID, user_id: int) -> None:
    """Make another member the owner, and the caller, an owner until now, an admin."""
    with locked_workspace(principal, id, Role.OWNER) as locked:
        locked.refuse_personal("handed over")
        if user_id == principal.user_id:
            raise Conflict("You own this workspace already. Name another member.", param="user_id")
        members = Membership.objects.select_related("user").filter(workspace=id)
        heir, mine = members.filter(user=user_id).first(), members.get(user=principal.user_id)
        if heir is None:
            raise NotFound("This user is no member of the workspace.", param="user_id")
        if not heir.user.is_active:
            raise Conflict("This member’s account is not active.", param="user_id")
        heir.role, mine.role = Role.OWNER, Role.ADMIN
        heir.save(update_fields=["role"])
        mine.save(update_fields=["role"])
        _record(AuditAction.WORKSPACE_TRANSFERRED, principal, id, user_id=user_id)


def delete_workspace(principal: Principal, id: UUID) -> WorkspaceDeletion:
    """Hide a workspace from everybody, end what runs in it, and let the worker erase it after the grace.

    Its owners can restore it until then. Returns counts of `documents`, `chunks` and `bytes`.
    """
    with locked_workspace(principal, id, Role.OWNER) as locked:
        locked.refuse_personal("deleted")
        workspace, counts = locked.workspace, count_of([id], [])
        workspace.deleted_at, workspace.deleted_by_id = timezone.now(), principal.user_id
        workspace.save(update_fields=["deleted_at", "deleted_by"])
        _record(AuditAction.WORKSPACE_DELETED, principal, id, name=workspace.name, **counts)
        stop_work_later([id])
        until = restorable_until(workspace)
        if until is None:
            erase_later([id])
    return WorkspaceDeletion(id, counts, until)


def restorable_until(workspace: Workspace) -> datetime | None:
    """Return until when a deleted workspace can be restored; None without a grace period."""
    if workspace.deleted_at is None or not settings.WORKSPACE_GRACE_DAYS:
        return None
    return workspace.deleted_at + timedelta(days=settings.WORKSPACE_GRACE_DAYS)


def restore_workspace(principal: Principal, id: UUID) -> Workspace:
    """Undo a deletion, as an owner, before the grace period is over; else `NotFound`."""
    if not deleted_workspaces(principal).filter(pk=id).exists():
        # One that is not deleted, or that the caller does not own, is as unknown as any other.
        raise NotFound
    refuse_unless_admin_key(principal)
    with transaction.atomic():
        workspace = Workspace.objects.select_for_update(no_key=True).filter(pk=id).first()
        # The owners' memberships end when the worker begins to erase: then there is nothing to restore.
        if workspace is None or not deleted_workspaces(principal).filter(pk=id).exists():
            raise NotFound
        _undo_deletion(workspace, principal)
    return workspace


def restore_as_staff(staff: User, id: UUID) -> Workspace:
    """Undo a deletion for the owners, before the grace period is over; else `NotFound`."""
    since = timezone.now() - timedelta(days=settings.WORKSPACE_GRACE_DAYS)
    with transaction.atomic():
        hidden = Workspace.objects.select_for_update(no_key=True).filter(pk=id, deleted_at__gt=since)
        workspace = hidden.first()
        # As above: without owners it is being erased.
        if workspace is None or not workspace.memberships.filter(role=Role.OWNER).exists():
            raise NotFound
        _undo_deletion(workspace, staff)
    return workspace


def _undo_deletion(workspace: Workspace, actor: Principal | User) -> None:
    assert workspace.deleted_at is not None
    since, workspace.deleted_at, workspace.deleted_by = workspace.deleted_at, None, None
    workspace.save(update_fields=["deleted_at", "deleted_by"])
    _record(AuditAction.WORKSPACE_RESTORED, actor, workspace.pk)
    resume_work_later([workspace.pk], since)


def deleted_workspaces(principal: Principal) -> QuerySet[Workspace]:
    """Return the deleted workspaces that the principal's user owns and can still restore.

    A narrowed key and an external user have none.
    """
    if principal.narrowed or principal.external_user_id is not None:
        return Workspace.objects.none()
    since = timezone.now() - timedelta(days=settings.WORKSPACE_GRACE_DAYS)
    return Workspace.objects.filter(
        deleted_at__gt=since, memberships__user=principal.user_id, memberships__role=Role.OWNER
    )


def erased_workspaces(principal: Principal) -> list[dict[str, Any]]:
    """Return the receipts of the latest workspaces that the user has deleted and that are gone for good.

    Each has the `name`, the moment `at`, and counts of `documents`, `chunks` and `bytes`.
    """
    # Own deeds: of a workspace that is gone nobody is an admin.
    entries = AuditEntry.unscoped.filter(
        action=AuditAction.WORKSPACE_ERASED, user=principal.user_id, at__gt=timezone.now() - RECEIPT_AGE
    )
    return [{**entry.details, "at": entry.at} for entry in entries[:MAX_RECEIPTS]]


def _record(action: AuditAction, actor: Principal | User, id: UUID, **details: JsonValue) -> None:
    record(action, actor, workspace_id=id, target=("workspace", id), **details)
