"""From a user, a key or a session's id to the principal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

from pydantic import Field

from accounts.models import ApiKey, Membership, Session, User
from accounts.principal import MAX_EXTERNAL_USER_ID, Principal
from accounts.roles import Role
from accounts.scope import continue_as
from core.api.validation import ApiModel
from core.errors import NotFound, ValidationError


def principal_of_user(user: User, external_user_id: str | None = None) -> Principal:
    """Return the principal of a logged-in user; deleted workspaces do not exist for it."""
    memberships = list(
        Membership.objects.filter(user=user, workspace__deleted_at=None).select_related("workspace")
    )
    return Principal(
        user_id=user.pk,
        roles={m.workspace_id: Role(m.role) for m in memberships},
        open_workspace_ids=frozenset(
            m.workspace_id for m in memberships if m.workspace.share_with_external_users
        ),
        personal_workspace_id=next(
            (m.workspace_id for m in memberships if m.workspace.personal_of_id == user.pk), None
        ),
        external_user_id=external_user_id,
    )


def principal_of_key(
    key: ApiKey, external_user_id: str | None = None, secret_number: int | None = None
) -> Principal:
    """Return the principal of an API key: its user's, narrowed to the key's workspaces and scopes.

    `secret_number` names the secret that was used, by default the present one.
    """
    principal = replace(
        principal_of_user(key.user, external_user_id),
        scopes=frozenset(key.scopes),
        key_id=key.pk,
        secret_number=secret_number or key.secret_number,
    )
    if not key.narrowed:
        return principal
    return narrowed(principal, key.workspaces.values_list("id", flat=True))


def narrowed(principal: Principal, workspace_ids: Iterable[UUID]) -> Principal:
    """Return the principal for some of its workspaces; ids of others add nothing."""
    narrowed_to = set(workspace_ids)
    return replace(
        principal,
        roles={id: role for id, role in principal.roles.items() if id in narrowed_to},
        open_workspace_ids=principal.open_workspace_ids & narrowed_to,
        narrowed=True,
    )


def in_session(principal: Principal, session_id: UUID) -> Principal:
    """Return the principal inside a session, or raise `NotFound` if the session isn't its own.

    Raise `ValidationError` if it is inside another one: a token's session can't be changed.
    """
    if principal.session_id not in (None, session_id):
        raise ValidationError("The request names two different sessions.", param="session_id")
    if not Session.objects.restricted_to(principal).filter(id=session_id).exists():
        raise NotFound(param="session_id")
    return replace(principal, session_id=session_id)


class AskerFields(ApiModel):
    """For whom a body speaks, as a header and the query may say as well."""

    external_user_id: str | None = Field(
        None, min_length=1, max_length=MAX_EXTERNAL_USER_ID, description="Speak for this external user."
    )
    session_id: UUID | None = Field(None, description="The documents attached to this session count, too.")

    def asker(self, principal: Principal) -> Principal:
        """Return the principal with the external user and in the session that the body names, or raise."""
        principal = principal.for_external_user(self.external_user_id)
        continue_as(principal)
        return principal if self.session_id is None else in_session(principal, self.session_id)
