"""`/api/v1/documents`: the list, and adding to it."""

from __future__ import annotations

from dataclasses import replace
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
from accounts.quotas.request_rates import count_password
from core.api.lists import page_of
from core.api.operations import ReadBody, operation, respond
from core.api.rest import StrictJSONParser
from kb import representations
from kb.api.filtering import DocumentQuery, SummaryQuery
from kb.api.limits import refuse_beyond_quota
from kb.api.uploads import (
    MAX_TAGS,
    NewFiles,
    NewText,
    NoUploadParser,
    UploadParser,
    checked_tags,
    fingerprint,
)
from kb.documents import Details, add_document, add_url
from kb.models import Document
from kb.representations import AddedDocument, AddedDocuments, DocumentList, DocumentSummary
from kb.summary import summary_of
from kb.unlocking import unlocked_upload
from kb.unpacking import ArchivedFile, archived_files, is_archive, unpack


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
        return page_of(DocumentList, documents, representations.Document.of, request, query, query.columns)

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
            packed = {file for file in body.files if body.unpack and is_archive(file)}
            if body.password is not None:
                count_password(principal)
            unlock = partial(unlocked_upload, principal=principal, password=body.password)
            inside = sum(len(archived_files(file, body.password)) for file in packed)
            more = len(body.files) - len(packed) + inside + len(body.urls)
            refuse_beyond_quota(principal, details.workspace_id, more)
            added = []
            for file in body.files:
                if file in packed:
                    added += [_add_archived(principal, one, details) for one in unpack(file, body.password)]
                else:
                    added.append(add_document(principal, file, details, unlock))
            added += [add_url(principal, url, details) for url in body.urls]
            return [[str(document.pk), duplicate] for document, duplicate in added]

        return _reply(request, principal, run_once(key, add)[0] if key else add())


class DocumentSummaryView(APIView):
    """What a list holds, counted."""

    @operation(
        "documents_summary",
        tag="Documents",
        query=SummaryQuery,
        answers={200: DocumentSummary},
        fails=(404,),
    )
    def get(self, request: Request, query: SummaryQuery) -> DocumentSummary:
        """Count the documents of a list and their bytes; by status, type, language and tag."""
        return DocumentSummary.model_validate(summary_of(query.documents(principal_of(request))))


def _add_archived(principal: Principal, file: ArchivedFile, details: Details) -> tuple[Document, bool]:
    """Add a file of an archive, tagged with the folder in which it was there."""
    tags = checked_tags([*details.tags, file.folder][-MAX_TAGS:])
    return add_document(principal, file.content, replace(details, tags=tags))


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
