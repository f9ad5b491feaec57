"""From a user, a key or a session's id to the principal."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from pydantic import Field

from accounts.models import ApiKey, Membership, Session, User
from accounts.principal import MAX_EXTERNAL_USER_ID, Principal
from accounts.roles import Role
from core.api.validation import ApiModel
from core.errors import NotFound


def principal_of_user(user: User, external_user_id: str | None = None) -> Principal:
    """Return the principal of a logged-in user."""
    memberships = list(Membership.objects.filter(user=user).select_related("workspace"))
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


def principal_of_key(key: ApiKey, external_user_id: str | None = None) -> Principal:
    """Return the principal of an API key: its user's, narrowed to the key's workspaces and scopes."""
    principal = replace(
        principal_of_user(key.user, external_user_id), scopes=frozenset(key.scopes), key_id=key.pk
    )
    if not key.narrowed:
        return principal
    narrowed_to = set(key.workspaces.values_list("id", flat=True))
    return replace(
        principal,
        roles={id: role for id, role in principal.roles.items() if id in narrowed_to},
        open_workspace_ids=principal.open_workspace_ids & narrowed_to,
        narrowed=True,
    )


def in_session(principal: Principal, session_id: UUID) -> Principal:
    """Return the principal inside a session, or raise `NotFound` if the session isn't its own."""
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
        return principal if self.session_id is None else in_session(principal, self.session_id)
