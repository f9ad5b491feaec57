"""`/api/v1/documents`: the list, and adding to it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from pydantic import JsonValue
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from accounts.idempotency import IDEMPOTENCY_KEY, idempotency_key, once
from accounts.principal import Principal
from core.api.operations import ApiView, operation
from core.api.rest import StrictJSONParser
from kb.api import schemas
from kb.api.filtering import DOCUMENT_FILTERS, DocumentLists, filtered_documents
from kb.api.limits import refuse_beyond_quota
from kb.api.uploads import UPLOAD_SCHEMA, read_upload
from kb.documents import add_document, add_url
from kb.models import Document
from kb.representations import document_json


class DocumentsView(ApiView):
    """List and upload."""

    parser_classes = [MultiPartParser, FormParser, StrictJSONParser]

    @operation(
        "documents_list",
        tag="Documents",
        query=DOCUMENT_FILTERS,
        answers={200: schemas.DocumentList},
        fails=(404,),
    )
    def get(self, request: Request) -> Response:
        """List the documents the caller may see."""
        documents = filtered_documents(principal_of(request), request.query_params)
        pages = DocumentLists()
        rows: list[Document] | None = pages.paginate_queryset(documents, request, self)
        return pages.get_paginated_response([document_json(document) for document in rows or []])

    @operation(
        "documents_create",
        tag="Documents",
        headers=[IDEMPOTENCY_KEY],
        request={"multipart/form-data": UPLOAD_SCHEMA, "application/json": schemas.NewText},
        answers={200: schemas.Added, 202: schemas.Added},
        fails=(404, 409),
    )
    def post(self, request: Request) -> Response:
        """Add files and web pages, in this order; 202 if any is new, 200 if all were there already.

        As JSON, add a text or a JSON value that is no file yet.
        """
        upload = read_upload(request)
        key = idempotency_key(request, upload.principal, upload.fingerprint)

        def add() -> list[JsonValue]:
            refuse_beyond_quota(upload.details.workspace_id, len(upload.files) + len(upload.urls))
            added = [add_document(upload.principal, file, upload.details) for file in upload.files]
            added += [add_url(upload.principal, url, upload.details) for url in upload.urls]
            return [[str(document.pk), duplicate] for document, duplicate in added]

        return _reply(request, upload.principal, once(key, add)[0] if key else add())


def _reply(request: Request, principal: Principal, added: Any) -> Response:
    documents = Document.objects.addressable_by(principal).in_bulk([id for id, _ in added])
    body = [
        document_json(documents[UUID(id)]) | {"duplicate": duplicate}
        for id, duplicate in added
        if UUID(id) in documents
    ]
    is_new = not all(duplicate for _, duplicate in added)
    headers = {"Location": _location(request, principal, [id for id, _ in added])} if is_new else {}
    return Response({"documents": body}, status=202 if is_new else 200, headers=headers)


def _location(request: Request, principal: Principal, ids: list[str]) -> str:
    """Return the address of the one document, or of the list of all that were added."""
    if len(ids) == 1:
        return request.build_absolute_uri(f"/api/v1/documents/{ids[0]}")
    session = [("session_id", str(principal.session_id))] if principal.session_id else []
    query = urlencode([*(("id", id) for id in dict.fromkeys(ids)), *session])
    return request.build_absolute_uri(f"/api/v1/documents?{query}")
