"""Who is asking: the one value that every visibility decision takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from accounts.roles import KeyScope, Role
from core.errors import Forbidden, NotFound, ValidationError
from core.text.storable import is_storable

ALL_SCOPES = frozenset(KeyScope.values)
MAX_EXTERNAL_USER_ID = 255


@dataclass(frozen=True, slots=True)
class Principal:
    """A user, or a key of that user, with the workspaces, external user and session it speaks for.

    `roles` maps the id of each workspace the principal may read to the user's role there; a key that is
    narrowed to some workspaces carries only those. `open_workspace_ids` are those of them that show
    documents without an external user to external users too.
    """

    user_id: int
    roles: Mapping[UUID, Role]
    open_workspace_ids: frozenset[UUID] = frozenset()
    external_user_id: str | None = None
    session_id: UUID | None = None
    scopes: frozenset[str] = ALL_SCOPES
    key_id: UUID | None = None
    personal_workspace_id: UUID | None = None
    narrowed: bool = False
    """Whether the key reads only some of its user's workspaces."""
    login: str | None = field(default=None, repr=False)
    """The key of the browser's session, where somebody is logged in: a logout ends what is open by it."""

    @property
    def workspace_ids(self) -> frozenset[UUID]:
        """The workspaces this principal may read."""
        return frozenset(self.roles)

    def default_workspace_id(self) -> UUID:
        """Where things go when the request names no workspace: the only one, else the personal one."""
        if len(self.roles) == 1:
            return next(iter(self.roles))
        personal = self.personal_workspace_id
        if personal is not None and personal in self.roles:
            return personal
        raise NotFound("Name a workspace: this key has no personal one.", param="workspace_id")

    def require_workspace(self, workspace_id: UUID, role: Role = Role.VIEWER) -> None:
        """Raise `NotFound` for a workspace that isn't visible, `Forbidden` if the role does not suffice."""
        if workspace_id not in self.roles:
            raise NotFound(param="workspace_id")
        if not self.roles[workspace_id].covers(role):
            raise Forbidden(f"This needs the role {role.value} in the workspace.")

    def require_scope(self, scope: str) -> None:
        """Raise `Forbidden` unless the key carries `scope`; a logged-in user has every scope."""
        if scope not in self.scopes:
            raise Forbidden(f"This API key lacks the scope “{scope}”.")

    def refuse_external_user(self, why: str) -> None:
        """Raise `Forbidden`, saying why, if this principal speaks for an external user."""
        if self.external_user_id is not None:
            raise Forbidden(f"An external user {why}.")

    def for_external_user(self, external_user_id: str | None) -> Principal:
        """Return this principal speaking for an external user; a second, different value is refused."""
        if external_user_id is None or external_user_id == self.external_user_id:
            return self
        if self.external_user_id is not None:
            raise ValidationError("The request names two different external users.", param="external_user_id")
        return replace(self, external_user_id=checked_external_user_id(external_user_id))


def checked_external_user_id(value: str) -> str:
    """Return `value`, or raise `ValidationError` if it is blank, too long or not storable."""
    if not value.strip() or len(value) > MAX_EXTERNAL_USER_ID or not is_storable(value):
        raise ValidationError(
            f"external_user_id must be 1 to {MAX_EXTERNAL_USER_ID} visible characters.",
            param="external_user_id",
        )
    return value
