"""`/v1/vector_stores`: collections, as OpenAI's clients know vector stores."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID, uuid4

from pydantic import BaseModel, ConfigDict, Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from accounts.principal import Principal
from assistants.gateway.errors import UnsupportedParameter
from assistants.gateway.file_search.finding import AddressedBody, changeable_store, visible_store
from assistants.gateway.file_search.paging import page_of_rows, query_of
from assistants.gateway.file_search.shapes import Json, contents_of, deleted_json, store_json
from assistants.gateway.file_search.store_files_api import put_into, require_automatic
from assistants.gateway.request import GatewayFields
from assistants.gateway.view import ChangingView
from core.api.validation import validated
from core.errors import Conflict
from kb.api.collections import MAX_NAME, CollectionName
from kb.collections import add_collection, delete_collection, rename_collection
from kb.models import DocumentCollection

NAMELESS = "Vector store"
MARK_SIZE = 8


class _StoreFields(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: CollectionName | None = None
    metadata: dict[str, Any] | None = None
    expires_after: Any = None

    def require_supported(self) -> None:
        """Raise for what can't be kept: silence would promise it."""
        for name in ("metadata", "expires_after"):
            if getattr(self, name):
                raise UnsupportedParameter(f"Vector stores have no {name} here.", param=name)


class StoreChange(_StoreFields, AddressedBody):
    """A body of `POST /v1/vector_stores/{id}`."""


class NewStore(_StoreFields, GatewayFields):
    """A body of `POST /v1/vector_stores`."""

    file_ids: Annotated[list[UUID], Field(max_length=100)] = []
    chunking_strategy: Any = None


class StoresView(ChangingView):
    """List and make."""

    def get(self, request: Request) -> Response:
        """List the collections the caller may see."""
        principal = principal_of(request)
        rows = DocumentCollection.objects.restricted_to(principal)
        return Response(page_of_rows(rows, query_of(request), lambda page: _shown(principal, page)))

    def post(self, request: Request) -> Response:
        """Make a collection, with files if some are named."""
        body = validated(NewStore, request.data)
        body.require_supported()
        require_automatic(body.chunking_strategy)
        principal = body.asker(principal_of(request))
        store = _made(principal, body)
        for id in body.file_ids:
            put_into(principal, store, str(id), None)
        return Response(_shown(principal, [store])[0])


class StoreView(ChangingView):
    """One vector store."""

    def get(self, request: Request, id: str) -> Response:
        """Return the store, and how many of its files are ready."""
        principal = principal_of(request)
        return Response(_shown(principal, [visible_store(principal, id)])[0])

    def post(self, request: Request, id: str) -> Response:
        """Rename the store."""
        principal = principal_of(request)
        store, body = changeable_store(principal, id), validated(StoreChange, request.data)
        body.require_supported()
        if body.name is not None:
            rename_collection(store, body.name)
        return Response(_shown(principal, [store])[0])

    def delete(self, request: Request, id: str) -> Response:
        """Delete the store; its files stay."""
        principal = principal_of(request)
        store = changeable_store(principal, id)
        store_id = store.pk
        delete_collection(principal, store)
        return Response(deleted_json(store_id, "vector_store.deleted"))


def _made(principal: Principal, body: NewStore) -> DocumentCollection:
    """Make a collection. Stores may share a name, collections do not: a second one gets a mark at its end."""
    workspace_id = body.workspace_id or principal.default_workspace_id()
    mark = f" {uuid4().hex[:MARK_SIZE]}"
    try:
        return add_collection(principal, workspace_id, body.name or NAMELESS + mark)
    except Conflict as conflict:
        if conflict.param != "name":
            raise
        return add_collection(principal, workspace_id, (body.name or "")[: MAX_NAME - len(mark)] + mark)


def _shown(principal: Principal, stores: Any) -> list[Json]:
    contents = contents_of(principal, [store.pk for store in stores])
    return [store_json(store, contents[store.pk]) for store in stores]
