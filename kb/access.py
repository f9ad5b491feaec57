"""What a principal sees of a document, and whether it may change it."""

from __future__ import annotations

from django.db.models import QuerySet

from accounts.principal import Principal
from accounts.roles import Role
from core.errors import Forbidden
from kb.models import Chunk, Document, DocumentCollection


def live_chunks(principal: Principal, document: Document) -> QuerySet[Chunk]:
    """Return the chunks that a document has now, as far as the principal sees them, in reading order."""
    return Chunk.objects.addressable_by(principal).filter(document=document, replaced_by=None)


def require_changeable(principal: Principal, document: Document | DocumentCollection) -> None:
    """Raise `Forbidden` unless the principal may change what it sees.

    An external user changes what is its own, and nothing that is merely shared with it.
    """
    if document.external_user_id != principal.external_user_id:
        raise Forbidden("This is shared with you. Only whoever it belongs to may change it.")
    principal.require_workspace(document.workspace_id, Role.EDITOR)
