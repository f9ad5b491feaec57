"""`/api/v1/documents`: the list, and adding to it."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from pydantic import JsonValue
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.idempotency import IDEMPOTENCY_KEY, idempotency_key, run_once
from accounts.principal import Principal
from core.api.lists import page_of
from core.api.operations import ReadBody, operation, respond
from core.api.rest import StrictJSONParser
from kb import representations
from kb.api.filtering import DocumentQuery
from kb.api.limits import refuse_beyond_quota
from kb.api.uploads import NewFiles, NewText, NoUploadParser, UploadParser, fingerprint
from kb.documents import add_document, add_url
from kb.models import Document
from kb.representations import AddedDocument, AddedDocuments, DocumentList


class DocumentsView(APIView):
    """List and upload."""

    parser_classes = [UploadParser, StrictJSONParser, NoUploadParser]

    @operation(
        "documents_list",
        tag="Documents",
        query=DocumentQuery,
        answers={200: DocumentList},
        fails=(404,),
    )
    def get(self, request: Request, query: DocumentQuery) -> DocumentList:
        """List the documents the caller may see."""
        documents = query.documents(principal_of(request))
        return page_of(
            DocumentList, documents, representations.Document.of, request, query, (query.ordering, "id")
        )

    @operation(
        "documents_create",
        tag="Documents",
        headers=[IDEMPOTENCY_KEY],
        body={"multipart/form-data": NewFiles, "application/json": NewText},
        answers={200: AddedDocuments, 202: AddedDocuments},
        fails=(404, 409),
    )
    def post(self, request: Request, read_body: ReadBody[NewFiles | NewText]) -> Response:
        """Add files and web pages, in this order; 202 if any is new, 200 if all were there already.

        As JSON, add a text or a JSON value that is no file yet.
        """
        body = read_body()
        principal = body.asker(principal_of(request))
        details = body.details(principal)
        key = idempotency_key(request, principal, partial(fingerprint, body))

        def add() -> list[JsonValue]:
            refuse_beyond_quota(details.workspace_id, len(body.files) + len(body.urls))
            added = [add_document(principal, file, details) for file in body.files]
            added += [add_url(principal, url, details) for url in body.urls]
            return [[str(document.pk), duplicate] for document, duplicate in added]

        return _reply(request, principal, run_once(key, add)[0] if key else add())


def _reply(request: Request, principal: Principal, added: Any) -> Response:
    rows = Document.objects.addressable_by(principal).in_bulk([id for id, _ in added])
    documents = [
        AddedDocument.of(rows[UUID(id)], duplicate=duplicate) for id, duplicate in added if UUID(id) in rows
    ]
    is_new = not all(duplicate for _, duplicate in added)
    headers = {"Location": _location(request, principal, [id for id, _ in added])} if is_new else {}
    return respond(AddedDocuments(documents=documents), 202 if is_new else 200, headers)


def _location(request: Request, principal: Principal, ids: list[str]) -> str:
    """Return the address of the one document, or of the list of all that were added."""
    if len(ids) == 1:
        return request.build_absolute_uri(f"/api/v1/documents/{ids[0]}")
    session = [("session_id", str(principal.session_id))] if principal.session_id else []
    query = urlencode([*(("id", id) for id in dict.fromkeys(ids)), *session])
    return request.build_absolute_uri(f"/api/v1/documents?{query}")
