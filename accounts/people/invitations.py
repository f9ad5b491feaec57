"""Invitations to workspaces: made by admins, for an e-mail address or for whoever has the link.

The secret is shown once and stored as a keyed hash. An invitation ends with the rights of its maker: once
they are no admin, it is as unknown as a wrong secret. A refusal does not tell why: wrong, expired, used and
withdrawn are one error.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

from allauth.account.models import EmailAddress
from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac
from pydantic import JsonValue

from accounts.access.throttling import INVITATION_MAILS, UNKNOWN_INVITATIONS, Bucket, network_of, take
from accounts.audit.recording import record
from accounts.models import AuditAction, Invitation, Membership, User, Workspace
from accounts.people.members import join
from accounts.people.workspaces import (
    LockedWorkspace,
    locked_workspace,
    refuse_narrowed,
    refuse_unless_admin_key,
)
from accounts.principal import Principal
from accounts.roles import Role
from core.errors import Conflict, Forbidden, NotFound

SESSION_NAME = "invitation"
"""Under this name a browser's session keeps the secret of the invitation that it has opened."""
MAX_OPEN = 200
"""Open invitations of one workspace."""


class InvalidInvitation(NotFound):
    """The secret is wrong, or the invitation has expired, was used up or was withdrawn."""

    default_message = (
        "This invitation is not valid. It may have expired, been used, or been withdrawn: ask for a new one."
    )


def invitations_of(principal: Principal, workspace_id: UUID) -> QuerySet[Invitation]:
    """Return the invitations of a workspace, for its admins."""
    principal.require_workspace(workspace_id, Role.ADMIN)
    refuse_unless_admin_key(principal)
    return (
        Invitation.objects.restricted_to(principal).filter(workspace=workspace_id).select_related("made_by")
    )


def invite(
    principal: Principal, workspace_id: UUID, role: Role, *, email: str = "", max_uses: int = 1, days: int = 7
) -> tuple[Invitation, str]:
    """Create an invitation and return it with its secret, which is not stored.

    Raises `RateLimited` if the user has invited many addresses lately, since each gets an e-mail.
    """
    with locked_workspace(principal, workspace_id, Role.ADMIN) as locked:
        locked.refuse_personal("shared")
        if role == Role.OWNER:
            raise Conflict("Nobody is invited as owner. Hand the workspace over instead.", param="role")
        if Invitation.open().filter(workspace=workspace_id).count() >= MAX_OPEN:
            raise Conflict(f"A workspace has at most {MAX_OPEN} open invitations. Withdraw some first.")
        if email:
            take(Bucket.of(INVITATION_MAILS, str(principal.user_id)))
        secret = secrets.token_urlsafe(32)
        invitation = Invitation.unscoped.create(
            workspace=locked.workspace,
            role=role,
            email=email.strip().lower(),
            digest=_digest(secret),
            made_by_id=principal.user_id,
            max_uses=1 if email else max_uses,
            expires_at=timezone.now() + timedelta(days=days),
        )
        _record(
            AuditAction.INVITATION_CREATED,
            principal,
            invitation,
            role=role.value,
            for_address=bool(email),
            max_uses=invitation.max_uses,
        )
    return invitation, secret


def revoke_invitation(principal: Principal, id: UUID) -> None:
    """Withdraw an invitation, as an admin of its workspace."""
    # For others it does not exist, whatever their role in the workspace.
    invitation = Invitation.objects.restricted_to(principal).filter(pk=id).first()
    if invitation is None:
        raise NotFound
    with locked_workspace(principal, invitation.workspace_id, Role.ADMIN):
        if not Invitation.objects.restricted_to(principal).filter(pk=id).delete()[0]:
            raise NotFound
        _record(AuditAction.INVITATION_REVOKED, principal, invitation)


def open_invitation(secret: str) -> Invitation:
    """Return the invitation with this secret, its workspace and its maker, or raise `InvalidInvitation`."""
    rows = Invitation.open().select_related("workspace", "made_by")
    invitation = rows.filter(digest=_digest(secret)).first()
    if invitation is None or not _is_backed(invitation):
        raise InvalidInvitation
    return invitation


def accept_invitation(principal: Principal, secret: str) -> Membership:
    """Make the principal's user a member, and count the use; a member stays what they are, uncounted.

    Raises `InvalidInvitation`, and `Forbidden` if it is for another address than the user's verified one.
    """
    refuse_unless_admin_key(principal)
    refuse_narrowed(principal)
    found = open_invitation(secret)
    user = User.objects.get(pk=principal.user_id)
    _require_address(user, found)
    with _locked_by_invitation(found) as locked:
        present = Membership.objects.filter(workspace=locked.id, user=user).first()
        if present is not None:
            return present
        # In the statement itself: of two people with one link only one may have its last use.
        if not Invitation.open().filter(pk=found.pk).update(uses=F("uses") + 1) or not _is_backed(found):
            raise InvalidInvitation
        member = join(principal, locked, user, Role(found.role))
        _record(AuditAction.INVITATION_ACCEPTED, principal, found)
    return member


@contextmanager
def unknown_secrets_counted(request: HttpRequest) -> Iterator[None]:
    """Raise `RateLimited` instead of `InvalidInvitation` for an address that has sent many wrong secrets."""
    try:
        yield
    except InvalidInvitation:
        take(Bucket.of(UNKNOWN_INVITATIONS, network_of(request)))
        raise


def invited_address(request: HttpRequest) -> str | None:
    """Return the address for which this browser has opened an invitation: it may sign up with that one."""
    try:
        return open_invitation(str(request.session.get(SESSION_NAME, ""))).email or None
    except InvalidInvitation:
        return None


@contextmanager
def _locked_by_invitation(invitation: Invitation) -> Iterator[LockedWorkspace]:
    """Lock the workspace for somebody who is not a member yet."""
    with transaction.atomic():
        rows = Workspace.objects.select_for_update(no_key=True).filter(deleted_at=None)
        workspace = rows.filter(pk=invitation.workspace_id).first()
        if workspace is None:
            raise InvalidInvitation
        yield LockedWorkspace(workspace, Role(invitation.role))


def _is_backed(invitation: Invitation) -> bool:
    """Whether the maker may still invite with this role."""
    maker = Membership.objects.filter(
        workspace=invitation.workspace_id, user=invitation.made_by_id, user__is_active=True
    ).first()
    return maker is not None and Role(maker.role).covers(Role.ADMIN)


def _require_address(user: User, invitation: Invitation) -> None:
    """Raise `Forbidden` unless the invitation is for everybody, or for the user's verified address.

    Where no mail goes out no address can be verified, and the secret came by hand: there the same address
    suffices.
    """
    if not invitation.email:
        return
    if user.email != invitation.email:
        raise Forbidden("This invitation is for another address. Log in with the account of that address.")
    is_verified = EmailAddress.objects.filter(user=user, email=user.email, verified=True).exists()
    if settings.EMAIL_HOST and not is_verified:
        raise Forbidden("Confirm your e-mail address first, then open the invitation again.")


def _digest(secret: str) -> str:
    return salted_hmac("accounts.invitations", secret, algorithm="sha256").hexdigest()


def _record(action: AuditAction, principal: Principal, invitation: Invitation, **details: JsonValue) -> None:
    target = ("invitation", invitation.pk)
    record(action, principal, workspace_id=invitation.workspace_id, target=target, **details)
