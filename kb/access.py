"""Who may change a document or collection that it sees."""

from __future__ import annotations

from accounts.principal import Principal
from accounts.roles import Role
from core.errors import Forbidden
from kb.models import Document, DocumentCollection


def require_changeable(principal: Principal, document: Document | DocumentCollection) -> None:
    """Raise `Forbidden` unless the principal may change what it sees.

    An external user changes what is its own, and nothing that is merely shared with it.
    """
    if document.external_user_id != principal.external_user_id:
        raise Forbidden("This is shared with you. Only whoever it belongs to may change it.")
    principal.require_workspace(document.workspace_id, Role.EDITOR)
