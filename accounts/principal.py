"""The principal: the one value that every visibility decision takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from accounts.roles import KeyScope, Role
from core.errors import Forbidden, NotFound, ValidationError
from core.text.storable import is_storable

ALL_SCOPES = frozenset(KeyScope.values)
MAX_EXTERNAL_USER_ID = 255


@dataclass(frozen=True, slots=True)
class UsageOwner:
    """Who uses and spends, as ids that outlive whom they name."""

    user_id: int | None = None
    key_id: UUID | None = None
    external_user_id: str | None = None


NOBODY = UsageOwner()
"""The owner of what nobody in particular has caused."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A user, or a key of that user, with its workspaces, external user and session.

    `roles` maps the id of each workspace that the principal may read to the user's role there; a narrowed key
    carries only some of them. `open_workspace_ids` are those that also show documents without an external
    user to external users.
    """

    user_id: int
    roles: Mapping[UUID, Role]
    open_workspace_ids: frozenset[UUID] = frozenset()
    external_user_id: str | None = None
    session_id: UUID | None = None
    scopes: frozenset[str] = ALL_SCOPES
    key_id: UUID | None = None
    secret_number: int | None = None
    """Which secret of the key was used: an old one works until its overlap ends."""
    token_expires_at: datetime | None = None
    """When the token ends that the key was turned into; None for the key itself and for logins."""
    personal_workspace_id: UUID | None = None
    narrowed: bool = False
    """Whether the key reads only some of its user's workspaces."""
    binding_id: UUID | None = None
    """The widget whose token this is: good for that widget's addresses, and nothing else."""
    login: str | None = field(default=None, repr=False)
    """The session key of the browser of a logged-in user: a logout ends the streams it opened."""

    @property
    def workspace_ids(self) -> frozenset[UUID]:
        """The workspaces this principal may read."""
        return frozenset(self.roles)

    @property
    def usage_owner(self) -> UsageOwner:
        """To whom usage and charges belong."""
        return UsageOwner(self.user_id, self.key_id, self.external_user_id)

    def default_workspace_id(self) -> UUID:
        """The workspace to use if the request names none: the only one, else the personal one; raise
        `ValidationError`."""
        if len(self.roles) == 1:
            return next(iter(self.roles))
        personal = self.personal_workspace_id
        if personal is not None and personal in self.roles:
            return personal
        raise NotFound("Name a workspace: this key has no personal one.", param="workspace_id")

    def require_workspace(self, workspace_id: UUID, role: Role = Role.VIEWER) -> None:
        """Raise `NotFound` for an invisible workspace, `Forbidden` if the role does not suffice."""
        if workspace_id not in self.roles:
            raise NotFound(param="workspace_id")
        if not self.roles[workspace_id].covers(role):
            raise Forbidden(f"This needs the role {role.value} in the workspace.")

    def require_scope(self, scope: str) -> None:
        """Raise `Forbidden` unless the key carries `scope`; a logged-in user has every scope."""
        if scope not in self.scopes:
            raise Forbidden(f"This API key or token lacks the scope “{scope}”.")

    def refuse_external_user(self, why: str) -> None:
        """Raise `Forbidden` with the reason if this principal acts for an external user."""
        if self.external_user_id is not None:
            raise Forbidden(f"An external user {why}.")

    def refuse_token(self, why: str) -> None:
        """Raise `Forbidden` with the reason if this principal came with a token."""
        if self.token_expires_at is not None:
            raise Forbidden(f"A token {why}.")

    def for_external_user(self, external_user_id: str | None) -> Principal:
        """Return this principal for an external user; raise `ValidationError` if it has another one.

        The external user of a token is pinned, also if there is none.
        """
        if external_user_id is None or external_user_id == self.external_user_id:
            return self
        if self.token_expires_at is not None:
            raise ValidationError("The token speaks for another external user.", param="external_user_id")
        if self.external_user_id is not None:
            raise ValidationError("The request names two different external users.", param="external_user_id")
        return replace(self, external_user_id=checked_external_user_id(external_user_id))


def checked_external_user_id(value: str) -> str:
    """Return `value`; raise `ValidationError` if it is blank, too long or not storable."""
    if not value.strip() or len(value) > MAX_EXTERNAL_USER_ID or not is_storable(value):
        raise ValidationError(
            f"external_user_id must be 1 to {MAX_EXTERNAL_USER_ID} visible characters.",
            param="external_user_id",
        )
    return value
