"""The store and the file that an address names, if the caller may see or change them; bodies sent there."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from pydantic import BaseModel, ConfigDict

from accounts.principal import Principal
from core.errors import NotFound
from kb.access import require_changeable
from kb.api.finding import visible_document
from kb.models import Document, DocumentCollection
from kb.scheduled_deletion import NOT_MARKED


class AddressedBody(BaseModel):
    """A body for an address that names a store: for whom it speaks is said by header and query alone."""

    model_config = ConfigDict(extra="ignore")

    external_user_id: None = None
    session_id: None = None


def visible_store(principal: Principal, id: str) -> DocumentCollection:
    """Return the collection, or raise `NotFound` if it is unknown, invisible or no id at all."""
    try:
        found = DocumentCollection.objects.addressable_by(principal).filter(pk=UUID(id)).first()
    except ValueError:
        found = None
    if found is None:
        raise NotFound
    return found


def changeable_store(principal: Principal, id: str) -> DocumentCollection:
    """Return the collection if the principal may change it; raise `NotFound` or `Forbidden`."""
    store = visible_store(principal, id)
    require_changeable(principal, store)
    return store


def listed_documents(principal: Principal) -> QuerySet[Document]:
    """Return the documents that lists of files show."""
    return Document.objects.restricted_to(principal).filter(NOT_MARKED)


def files_of_store(principal: Principal, store: DocumentCollection) -> QuerySet[Document]:
    """Return the documents of a collection that the principal may list."""
    return listed_documents(principal).filter(collection_ids__contains=[store.pk])


def file_of_store(principal: Principal, store: DocumentCollection, file_id: str) -> Document:
    """Return a document of a collection; raise `NotFound` if it is not in it, or not visible."""
    document = visible_document(principal, file_id)
    if store.pk not in document.collection_ids:
        raise NotFound
    return document
