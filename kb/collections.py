"""Collections: named groups of documents in a workspace (ADR 49)."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Count, F, Func, Value

from accounts.principal import Principal
from accounts.roles import Role
from core.errors import Conflict, NotFound
from kb.access import require_changeable
from kb.models import Document, DocumentCollection
from kb.scheduled_deletion import NOT_MARKED

MOST_COLLECTIONS = 1000
"""At one place: of a workspace, and of an external user there."""
MOST_OF_DOCUMENT = 100


def add_collection(principal: Principal, workspace_id: UUID, name: str) -> DocumentCollection:
    """Make a collection; raise `Conflict` if there are too many, or one has the name."""
    principal.require_workspace(workspace_id, Role.EDITOR)
    collection = DocumentCollection(
        workspace_id=workspace_id, external_user_id=principal.external_user_id, name=name
    )
    here = DocumentCollection.objects.restricted_to(principal).filter(
        workspace_id=workspace_id, external_user_id=principal.external_user_id
    )
    if here.count() >= MOST_COLLECTIONS:
        raise Conflict(f"There can be {MOST_COLLECTIONS} collections here. Delete one first.")
    _save(collection)
    return collection


def rename_collection(collection: DocumentCollection, name: str) -> None:
    """Give a collection another name; raise `Conflict` if another one has it."""
    collection.name = name
    _save(collection)


def delete_collection(principal: Principal, collection: DocumentCollection) -> None:
    """Delete a collection; its documents stay."""
    with transaction.atomic():
        inside = Document.objects.addressable_by(principal).filter(collection_ids__contains=[collection.pk])
        inside.update(collection_ids=Func(F("collection_ids"), Value(collection.pk), function="array_remove"))
        collection.delete()


def document_counts(principal: Principal, ids: Sequence[UUID]) -> dict[UUID, int]:
    """Return how many documents of each collection the principal may list."""
    rows = Document.objects.restricted_to(principal).filter(NOT_MARKED, collection_ids__overlap=ids)
    counted = (
        rows.order_by()
        .annotate(within=Func(F("collection_ids"), function="unnest"))
        .values_list("within")
        .annotate(count=Count("pk"))
    )
    return {id: count for id, count in counted if id in ids}


def collections_by_id(
    principal: Principal, ids: Sequence[UUID], param: str = "collection_ids"
) -> dict[UUID, DocumentCollection]:
    """Return the named collections, or raise `NotFound` naming the first that isn't visible."""
    found = {one.pk: one for one in DocumentCollection.objects.addressable_by(principal).filter(pk__in=ids)}
    for index, id in enumerate(ids):
        if id not in found:
            raise NotFound(f"There is no collection {id} that you can see.", param=f"{param}[{index}]")
    return found


def collection_to_fill(principal: Principal, id: UUID, param: str = "collection_id") -> DocumentCollection:
    """Return the collection if the principal may put documents into it; raise `NotFound` or `Forbidden`."""
    found = DocumentCollection.objects.addressable_by(principal).filter(pk=id).first()
    if found is None:
        raise NotFound(f"There is no collection {id} that you can see.", param=param)
    require_changeable(principal, found)
    return found


def with_collection(document: Document, collection: DocumentCollection) -> list[UUID]:
    """Return a document's collections with one more; raise `Conflict` if it is of another place."""
    here, there = ((one.workspace_id, one.external_user_id, one.session_id) for one in (collection, document))
    if here != there:
        raise Conflict(f"“{document.name}” is not at the place of the collection: the same workspace.")
    ids = list(dict.fromkeys([*document.collection_ids, collection.pk]))
    if len(ids) > MOST_OF_DOCUMENT:
        raise Conflict(f"“{document.name}” is in {MOST_OF_DOCUMENT} collections already.")
    return ids


def without_collection(document: Document, id: UUID) -> list[UUID]:
    """Return a document's collections but one."""
    return [each for each in document.collection_ids if each != id]


def _save(collection: DocumentCollection) -> None:
    try:
        with transaction.atomic():
            collection.save()
    except IntegrityError:
        raise Conflict(f"There is a collection “{collection.name}” already.", param="name") from None
