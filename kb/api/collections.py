"""`/api/v1/collections`: named groups of documents."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.access.identity import AskerFields
from accounts.principal import Principal
from core.api.lists import ListPage, ListQuery, page_of
from core.api.operations import ReadBody, operation, respond
from core.api.validation import ApiModel
from core.errors import NotFound
from core.text.visible_text import one_line
from kb import models
from kb.access import require_changeable
from kb.collections import (
    add_collection,
    delete_collection,
    document_counts,
    rename_collection,
)

MAX_NAME = 100
BY_NAME = ("name", "id")


def _visible(value: str) -> str:
    if not one_line(value):
        raise ValueError("must have a visible character")
    return one_line(value)


CollectionName = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=MAX_NAME), AfterValidator(_visible)
]


class CollectionsQuery(ListQuery):
    """Which collections are listed."""

    workspace_id: UUID | None = None


class NewCollection(AskerFields):
    """A collection to be made."""

    name: CollectionName
    workspace_id: UUID | None = Field(None, description="By default as for new documents.")


class CollectionPatch(ApiModel):
    """What may be changed of a collection."""

    name: CollectionName


class CollectionDetails(ApiModel):
    """A named group of documents of one workspace."""

    id: UUID
    name: str
    workspace_id: UUID
    external_user_id: str | None
    documents: int = Field(description="How many documents of it you may list.")
    created_at: datetime

    @classmethod
    def of(cls, row: models.DocumentCollection, documents: int) -> Self:
        """Return what may be shown of a row."""
        return cls(
            id=row.pk,
            name=row.name,
            workspace_id=row.workspace_id,
            external_user_id=row.external_user_id,
            documents=documents,
            created_at=row.created_at,
        )


class CollectionList(ListPage[CollectionDetails]):
    """A page of collections."""


class CollectionsView(APIView):
    """List and make."""

    @operation(
        "collections_list",
        tag="Documents",
        query=CollectionsQuery,
        answers={200: CollectionList},
        fails=(404,),
    )
    def get(self, request: Request, query: CollectionsQuery) -> CollectionList:
        """List the collections the caller may see, by name."""
        principal = principal_of(request)
        rows = models.DocumentCollection.objects.restricted_to(principal)
        if query.workspace_id is not None:
            if query.workspace_id not in principal.roles:
                raise NotFound(
                    f"There is no workspace {query.workspace_id} that you can see.", param="workspace_id"
                )
            rows = rows.filter(workspace_id=query.workspace_id)
        page = page_of(
            CollectionList, rows, lambda row: CollectionDetails.of(row, 0), request, query, BY_NAME
        )
        counts = document_counts(principal, [one.id for one in page.results])
        for one in page.results:
            one.documents = counts.get(one.id, 0)
        return page

    @operation(
        "collections_create",
        tag="Documents",
        body=NewCollection,
        answers={201: CollectionDetails},
        fails=(404,),
    )
    def post(self, request: Request, read_body: ReadBody[NewCollection]) -> Response:
        """Make an empty collection. Its name is new in its workspace."""
        body = read_body()
        principal = body.asker(principal_of(request))
        made = add_collection(principal, body.workspace_id or principal.default_workspace_id(), body.name)
        location = request.build_absolute_uri(f"/api/v1/collections/{made.pk}")
        return respond(CollectionDetails.of(made, 0), 201, {"Location": location})


class CollectionView(APIView):
    """One collection."""

    @operation("collections_read", tag="Documents", answers={200: CollectionDetails}, fails=(404,))
    def get(self, request: Request, id: UUID) -> CollectionDetails:
        """Return the collection."""
        return _shown(principal_of(request), _visible_collection(principal_of(request), id))

    @operation(
        "collections_change",
        tag="Documents",
        body=CollectionPatch,
        answers={200: CollectionDetails},
        fails=(404,),
    )
    def patch(self, request: Request, id: UUID, read_body: ReadBody[CollectionPatch]) -> CollectionDetails:
        """Rename the collection."""
        principal = principal_of(request)
        collection = _changeable_collection(principal, id)
        rename_collection(collection, read_body().name)
        return _shown(principal, collection)

    @operation("collections_delete", tag="Documents", answers={204: None}, fails=(404,))
    def delete(self, request: Request, id: UUID) -> Response:
        """Delete the collection; its documents stay where they are."""
        principal = principal_of(request)
        delete_collection(principal, _changeable_collection(principal, id))
        return Response(status=204)


def _visible_collection(principal: Principal, id: UUID) -> models.DocumentCollection:
    found = models.DocumentCollection.objects.addressable_by(principal).filter(pk=id).first()
    if found is None:
        raise NotFound
    return found


def _changeable_collection(principal: Principal, id: UUID) -> models.DocumentCollection:
    collection = _visible_collection(principal, id)
    require_changeable(principal, collection)
    return collection


def _shown(principal: Principal, collection: models.DocumentCollection) -> CollectionDetails:
    return CollectionDetails.of(collection, document_counts(principal, [collection.pk]).get(collection.pk, 0))
