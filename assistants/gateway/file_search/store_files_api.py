"""`/v1/vector_stores/{id}/files` and `…/file_batches`: which documents are in a collection."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from accounts.principal import Principal
from assistants.gateway.errors import UnsupportedParameter
from assistants.gateway.file_search.batches import MOST_FILES, FileBatch
from assistants.gateway.file_search.finding import (
    AddressedBody,
    changeable_store,
    file_of_store,
    files_of_store,
    visible_store,
)
from assistants.gateway.file_search.paging import StoreContentQuery, StoreFilesQuery, page_of_rows, query_of
from assistants.gateway.file_search.shapes import (
    IN_STORE,
    MOST_ATTRIBUTES,
    WAITS,
    Json,
    deleted_json,
    file_of_store_json,
)
from assistants.gateway.view import ChangingView, GatewayView
from core.api.validation import validated
from core.errors import ValidationError
from kb.access import live_chunks, require_changeable
from kb.api.finding import changeable_document
from kb.changes import Changes, change
from kb.collections import with_collection, without_collection
from kb.metadata import checked_metadata
from kb.models import Document, DocumentCollection

CONTENT_PAGE = 1000
"""Passages of a file's content in one reply."""
Attributes = Annotated[
    dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=512)] | int | float | bool],
    Field(max_length=MOST_ATTRIBUTES),
]


class FileInStore(AddressedBody):
    """A body of `POST /v1/vector_stores/{id}/files`."""

    file_id: UUID
    attributes: Attributes | None = None
    chunking_strategy: Any = None


class FileChange(AddressedBody):
    """A body of `POST /v1/vector_stores/{id}/files/{file_id}`."""

    attributes: Attributes


class NewBatch(AddressedBody):
    """A body of `POST /v1/vector_stores/{id}/file_batches`."""

    file_ids: Annotated[list[UUID], Field(min_length=1, max_length=MOST_FILES)] | None = None
    files: Annotated[list[FileInStore], Field(min_length=1, max_length=MOST_FILES)] | None = None
    attributes: Attributes | None = None
    chunking_strategy: Any = None

    def members(self) -> list[FileInStore]:
        """Return the files, each once; raise `ValidationError` unless they are given in one way."""
        if (self.files is None) == (self.file_ids is None):
            raise ValidationError("Send file_ids or files, one of them.", param="file_ids")
        shared = {"attributes": self.attributes, "chunking_strategy": self.chunking_strategy}
        given = self.files or [FileInStore(file_id=id, **shared) for id in self.file_ids or ()]
        return list({each.file_id: each for each in given}.values())


class StoreFilesView(ChangingView):
    """List and attach."""

    def get(self, request: Request, id: str) -> Response:
        """List the files of a store, or those with one status."""
        principal = principal_of(request)
        store, query = visible_store(principal, id), query_of(request, StoreFilesQuery)
        return Response(_page(principal, store, query, None))

    def post(self, request: Request, id: str) -> Response:
        """Put a file into a store."""
        principal = principal_of(request)
        store, body = changeable_store(principal, id), validated(FileInStore, request.data)
        return Response(file_of_store_json(_put(principal, store, body), store.pk))


class StoreFileView(ChangingView):
    """One file of a store."""

    def get(self, request: Request, id: str, file_id: str) -> Response:
        """Return the file; its status follows its ingestion."""
        principal = principal_of(request)
        store = visible_store(principal, id)
        return Response(file_of_store_json(file_of_store(principal, store, file_id), store.pk))

    def post(self, request: Request, id: str, file_id: str) -> Response:
        """Set attributes of the file: values of its document's metadata."""
        principal = principal_of(request)
        store = visible_store(principal, id)
        document = file_of_store(principal, store, file_id)
        require_changeable(principal, document)
        body = validated(FileChange, request.data)
        changed = change(principal, document, lambda row: Changes(metadata=_metadata(row, body.attributes)))
        return Response(file_of_store_json(changed, store.pk))

    def delete(self, request: Request, id: str, file_id: str) -> Response:
        """Take a file out of a store; the file itself stays."""
        principal = principal_of(request)
        store = changeable_store(principal, id)
        document = file_of_store(principal, store, file_id)
        require_changeable(principal, document)
        change(principal, document, lambda row: Changes(collection_ids=without_collection(row, store.pk)))
        return Response(deleted_json(document.pk, "vector_store.file.deleted"))


class StoreFileContentView(GatewayView):
    """The words of one file of a store."""

    def get(self, request: Request, id: str, file_id: str) -> Response:
        """Return the text that was read of the file: its passages in order, as many as a page holds.

        `after` is the `next_page` of the page before.
        """
        principal = principal_of(request)
        document = file_of_store(principal, visible_store(principal, id), file_id)
        after = query_of(request, StoreContentQuery).after
        chunks = live_chunks(principal, document).order_by("ordinal")
        rows = list(chunks.values_list("text", flat=True)[after : after + CONTENT_PAGE + 1])
        has_more = len(rows) > CONTENT_PAGE
        return Response(
            {
                "object": "vector_store.file_content.page",
                "data": [{"type": "text", "text": text} for text in rows[:CONTENT_PAGE]],
                "has_more": has_more,
                "next_page": str(after + CONTENT_PAGE) if has_more else None,
            }
        )


class BatchesView(ChangingView):
    """Attach several files."""

    def post(self, request: Request, id: str) -> Response:
        """Put files into a store. The first that can't be put there ends it, and those before it stay."""
        principal = principal_of(request)
        store = changeable_store(principal, id)
        members = validated(NewBatch, request.data).members()
        documents = [_put(principal, store, each) for each in members]
        return Response(FileBatch.new([each.file_id for each in members]).as_json(store, documents))


class BatchView(GatewayView):
    """Files that came together."""

    def get(self, request: Request, id: str, batch_id: str) -> Response:
        """Return how many of them are ready."""
        principal = principal_of(request)
        store, batch = visible_store(principal, id), FileBatch.parse(batch_id)
        return Response(batch.as_json(store, batch.documents(principal, store)))


class BatchFilesView(GatewayView):
    """The files of a batch."""

    def get(self, request: Request, id: str, batch_id: str) -> Response:
        """List them."""
        principal = principal_of(request)
        store, batch = visible_store(principal, id), FileBatch.parse(batch_id)
        batch.documents(principal, store)
        return Response(_page(principal, store, query_of(request, StoreFilesQuery), batch))


def require_automatic(strategy: Any) -> None:
    """Raise `UnsupportedParameter` for chunks of another size than ours."""
    if isinstance(strategy, dict) and strategy.get("type", "auto") != "auto":
        raise UnsupportedParameter(
            "Chunks follow the structure of documents: chunking_strategy is auto.", param="chunking_strategy"
        )


def put_into(
    principal: Principal, store: DocumentCollection, file_id: str, attributes: Attributes | None
) -> Document:
    """Put a document into a collection; raise `NotFound`, `Forbidden`, or `Conflict` at another place."""
    document = changeable_document(principal, file_id)

    def changes(row: Document) -> Changes:
        return Changes(
            collection_ids=with_collection(row, store),
            metadata=None if attributes is None else _metadata(row, attributes),
        )

    return change(principal, document, changes)


def _put(principal: Principal, store: DocumentCollection, body: FileInStore) -> Document:
    require_automatic(body.chunking_strategy)
    return put_into(principal, store, str(body.file_id), body.attributes)


def _metadata(document: Document, attributes: Attributes) -> dict[str, Any]:
    """Return the metadata of a document with some values set; the others stay."""
    return checked_metadata(document.metadata | attributes)


def _page(
    principal: Principal, store: DocumentCollection, query: StoreFilesQuery, batch: FileBatch | None
) -> Json:
    rows = files_of_store(principal, store)
    if batch is not None:
        rows = rows.filter(pk__in=batch.file_ids)
    if query.filter == WAITS:
        rows = rows.exclude(status__in=list(IN_STORE))
    elif query.filter is not None:
        rows = rows.filter(status__in=[ours for ours, theirs in IN_STORE.items() if theirs == query.filter])
    return page_of_rows(rows, query, lambda page: [file_of_store_json(each, store.pk) for each in page])
