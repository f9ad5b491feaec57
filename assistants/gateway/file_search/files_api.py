"""`/v1/files`: documents, as OpenAI's clients know files."""

from __future__ import annotations

from typing import Any, cast

from django.db import transaction
from django.http import HttpResponseBase, QueryDict
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from assistants.gateway.errors import UnsupportedParameter
from assistants.gateway.file_search.finding import listed_documents
from assistants.gateway.file_search.paging import FilesQuery, page_of_rows, query_of
from assistants.gateway.file_search.shapes import deleted_json, file_json
from assistants.gateway.request import GatewayFields
from assistants.gateway.view import ChangingView, GatewayView
from core.api.validation import validated
from kb.api.finding import changeable_document, visible_document
from kb.api.limits import refuse_beyond_quota
from kb.api.uploads import SentFile, UploadParser
from kb.deletion import delete_document, record_deletion
from kb.documents import Details, add_document, original_file
from kb.files import serve_file

TO_BE_SEARCHED = ("assistants", "user_data", "vision")
"""The purposes that a file can have here; each says that it is read."""


class NewFile(GatewayFields):
    """A form of `POST /v1/files`."""

    file: SentFile
    purpose: str = Field(max_length=50)

    def require_supported(self) -> None:
        """Raise for a purpose that no file has here."""
        if self.purpose not in TO_BE_SEARCHED:
            raise UnsupportedParameter(
                f"Files are there to be searched here: {', '.join(TO_BE_SEARCHED)}.", param="purpose"
            )


class FilesView(ChangingView):
    """List and upload."""

    parser_classes = [UploadParser]

    def get(self, request: Request) -> Response:
        """List the documents that the caller may list."""
        query = query_of(request, FilesQuery)
        rows = listed_documents(principal_of(request))
        if query.purpose is not None and query.purpose not in TO_BE_SEARCHED:
            rows = rows.none()
        return Response(page_of_rows(rows, query, lambda page: list(map(file_json, page))))

    def post(self, request: Request) -> Response:
        """Add a document; the same content at the same place is the same file."""
        form: dict[str, Any] = cast(QueryDict, request.data).dict()
        for name in form:
            if name.startswith("expires_after"):
                raise UnsupportedParameter("Files do not expire here.", param="expires_after")
        body = validated(NewFile, form)
        body.require_supported()
        principal = body.asker(principal_of(request))
        details = Details(body.workspace_id or principal.default_workspace_id())
        refuse_beyond_quota(principal, details.workspace_id, 1)
        return Response(file_json(add_document(principal, body.file, details)[0]))


class FileView(ChangingView):
    """One file."""

    def get(self, request: Request, id: str) -> Response:
        """Return the file with its status, which follows its ingestion."""
        return Response(file_json(visible_document(principal_of(request), id)))

    def delete(self, request: Request, id: str) -> Response:
        """Delete the document with all that was made from it, in every store."""
        principal = principal_of(request)
        document = changeable_document(principal, id)
        with transaction.atomic():
            record_deletion(principal, document, delete_document(document))
        return Response(deleted_json(document.pk, "file"))


class FileContentView(GatewayView):
    """The bytes of a file."""

    def get(self, request: Request, id: str) -> HttpResponseBase:
        """Return the original file, or the part of it that a `Range` header asks for."""
        document = visible_document(principal_of(request), id)
        part = request.headers.get("Range")
        return serve_file(original_file(document), document.name, document.mime_type, part)
