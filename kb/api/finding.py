"""The document or chunk that an address names, if the caller may see or change it."""

from __future__ import annotations

from uuid import UUID

from accounts.principal import Principal
from core.errors import NotFound
from kb.access import require_changeable
from kb.models import Chunk, Document


def visible_document(principal: Principal, id: str) -> Document:
    """Return the document, or raise `NotFound` if it is unknown, invisible or no id at all."""
    document = Document.objects.addressable_by(principal).filter(pk=_path_id(id)).first()
    if document is None:
        raise NotFound
    return document


def changeable_document(principal: Principal, id: str) -> Document:
    """Return the document if the principal may change it; raise `NotFound` or `Forbidden`."""
    document = visible_document(principal, id)
    require_changeable(principal, document)
    return document


def visible_chunk(principal: Principal, id: str) -> Chunk:
    """Return the chunk, live or replaced, or raise `NotFound`."""
    chunk = Chunk.objects.addressable_by(principal).select_related("document").filter(pk=_path_id(id)).first()
    if chunk is None:
        raise NotFound
    return chunk


def _path_id(id: str) -> UUID:
    try:
        return UUID(id)
    except ValueError:
        raise NotFound from None
