"""Who may connect a model: administrators of the deployment."""

from __future__ import annotations

from accounts.models import User
from accounts.principal import Principal
from accounts.roles import KeyScope
from core.errors import Forbidden

PERMISSION = "search.change_modelconnection"
REFUSAL = "Only administrators of this deployment can connect a model."


def may_connect(user: User) -> bool:
    """Tell whether the user may: staff with the permission."""
    return user.is_active and user.is_staff and user.has_perm(PERMISSION)


def require_administrator(principal: Principal) -> User:
    """Return the administrator behind a login, or behind a key that reaches all that its user does; raise
    `Forbidden`."""
    principal.refuse_external_user("can't connect a model")
    principal.refuse_token("can't connect a model")
    principal.require_scope(KeyScope.ADMIN)
    user = User.objects.get(pk=principal.user_id)
    if principal.narrowed or not may_connect(user):
        raise Forbidden(REFUSAL)
    return user
