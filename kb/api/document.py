"""`/api/v1/documents/{id}`: reading, changing, processing and following one document."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.http import HttpResponseBase
from pydantic import AfterValidator, Field, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from core.api.conditional import etag_of, json_response, require_unchanged
from core.api.operations import IF_MATCH, IF_NONE_MATCH, ReadBody, operation, respond
from core.api.sse import AnyAccept, StreamQuery, count_stream, sse_response
from core.api.validation import ABSENT, ApiModel
from core.errors import Conflict
from core.text.visible_text import one_line
from kb import models
from kb.api.finding import changeable_document, visible_document
from kb.api.uploads import MAX_TAG, MAX_TAGS, ExternalId, Metadata, Password, checked_tags
from kb.changes import Changes, cancel, change
from kb.deletion import delete_document, record_deletion
from kb.document_events import follow_document
from kb.documents import MAX_NAME, record_change, reprocess
from kb.representations import DeletionReceipt, Document, DocumentUpdate, QualityReport
from kb.unlocking import unlock_document


def _title(value: str) -> str:
    if not one_line(value):
        raise ValueError("must have a visible character")
    return one_line(value)


Title = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_NAME), AfterValidator(_title)]
Tag = Annotated[str, Field(max_length=MAX_TAG)]


class DocumentPatch(ApiModel):
    """What may be changed; `name` is another word for `title`, `workspace` for `workspace_id`."""

    title: Title = ABSENT
    name: Title = ABSENT
    tags: Annotated[list[Tag], Field(max_length=MAX_TAGS), AfterValidator(checked_tags)] = ABSENT
    metadata: Metadata = ABSENT
    external_id: ExternalId = ABSENT
    workspace_id: UUID = ABSENT
    workspace: UUID = ABSENT

    def changes(self) -> Changes:
        """Return the new values, or raise `Conflict`."""
        return Changes(
            name=self._one_of("title", "name"),
            tags=self.tags,
            metadata=self.metadata,
            external_id=self.external_id,
            workspace_id=self._one_of("workspace_id", "workspace"),
        )

    def _one_of(self, name: str, alias: str) -> Any:
        """Return the value of a field with two names; raise `Conflict` if they disagree."""
        value, other = getattr(self, name), getattr(self, alias)
        if {name, alias} <= self.model_fields_set and value != other:
            raise Conflict(f"{name} and {alias} are the same; give one of them.", param=alias)
        return other if value is None else value


class DocumentView(APIView):
    """One document."""

    @operation(
        "documents_read",
        tag="Documents",
        headers=[IF_NONE_MATCH],
        answers={200: Document, 304: None},
        fails=(404,),
    )
    def get(self, request: Request, id: str) -> HttpResponseBase:
        """Return the document with its status and progress."""
        return json_response(request, Document.of(visible_document(principal_of(request), id)))

    @operation(
        "documents_change",
        tag="Documents",
        headers=[IF_MATCH],
        body=DocumentPatch,
        answers={200: Document},
        fails=(404, 412),
    )
    def patch(self, request: Request, id: str, read_body: ReadBody[DocumentPatch]) -> Document:
        """Change title, tags, metadata or external id as a whole, or move it to another workspace."""
        principal = principal_of(request)
        document = changeable_document(principal, id)
        changes = read_body().changes()
        return Document.of(change(principal, document, changes, partial(check_match, request)))

    @operation(
        "documents_delete",
        tag="Documents",
        headers=[IF_MATCH],
        answers={200: DeletionReceipt},
        fails=(404, 412),
    )
    def delete(self, request: Request, id: str) -> DeletionReceipt:
        """Delete the document with all that was made from it; return a receipt."""
        principal = principal_of(request)
        document = changeable_document(principal, id)
        check_match(request, document)
        with transaction.atomic():
            receipt = delete_document(document)
            record_deletion(principal, document, receipt)
        return DeletionReceipt(**receipt.as_json())


def check_match(request: Request, document: models.Document) -> None:
    """Raise `PreconditionFailed` if the request's `If-Match` names another state of the document."""
    if (if_match := request.headers.get("If-Match")) is not None:
        require_unchanged(if_match, etag_of(Document.of(document).as_json()))


class ReprocessView(APIView):
    """Ingest a document once more."""

    @operation("documents_reprocess", tag="Documents", answers={202: Document}, fails=(404,))
    def post(self, request: Request, id: str) -> Response:
        """Queue the document again; its chunks serve on until new ones replace them."""
        principal = principal_of(request)
        document = changeable_document(principal, id)
        with transaction.atomic():
            reprocess(document)
            record_change(principal, document, "processing")
        return accepted(request, document)


def accepted(request: Request, document: models.Document) -> Response:
    """Return 202 with a document that is to be processed, and where to look after it."""
    location = request.build_absolute_uri(f"/api/v1/documents/{document.pk}")
    return respond(Document.of(document), 202, {"Location": location})


class Unlocking(ApiModel):
    """The password of a protected file."""

    password: Password


class UnlockView(APIView):
    """Open a file that is protected by a password."""

    @operation("documents_unlock", tag="Documents", body=Unlocking, answers={202: Document}, fails=(404,))
    def post(self, request: Request, id: str, read_body: ReadBody[Unlocking]) -> Response:
        """Open the file of a document that failed with `encrypted`, and process it.

        The file is kept without its password, which is stored nowhere. A password that does not fit is 400
        `wrong_password`; you can try 20 a minute.
        """
        principal = principal_of(request)
        document = changeable_document(principal, id)
        unlock_document(principal, document, read_body().password)
        document.refresh_from_db()
        return accepted(request, document)


class DocumentCancelView(APIView):
    """Stop a document's ingestion."""

    @operation("documents_cancel", tag="Documents", answers={200: Document}, fails=(404,))
    def post(self, request: Request, id: str) -> Document:
        """Cancel the ingestion; a document that is finished stays as it is."""
        principal = principal_of(request)
        with transaction.atomic():
            document = cancel(changeable_document(principal, id))
            record_change(principal, document, "processing")
        return Document.of(document)


class QualityView(APIView):
    """How well a document could be read."""

    @operation("documents_quality", tag="Documents", answers={200: QualityReport}, fails=(404,))
    def get(self, request: Request, id: str) -> QualityReport:
        """Return the quality report; `unit` and `units` are null until there is one."""
        return QualityReport.of(visible_document(principal_of(request), id))


class DocumentEventsView(APIView):
    """The life of a document as it happens."""

    content_negotiation_class = AnyAccept

    @operation(
        "documents_events",
        address_token=True,
        tag="Documents",
        query=StreamQuery,
        answers={(200, "text/event-stream"): DocumentUpdate},
        fails=(404,),
    )
    def get(self, request: Request, id: str, query: StreamQuery) -> HttpResponseBase:
        """Send `document_update` now and at every change, and `document_end` when nothing more will come."""
        principal = principal_of(request)
        document = visible_document(principal, id)
        count_stream(request, principal.user_id)
        return sse_response(follow_document(principal, document, settings.SSE_PING_SECS), query.sse_max_bytes)
