"""`/api/v1/documents/{id}`: reading, changing, processing and following one document."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpResponseBase
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from core.api.conditional import etag_of, json_response, require_unchanged
from core.api.operations import IF_MATCH, IF_NONE_MATCH, ApiView, operation
from core.api.rest import StrictSerializer, parsed
from core.api.sse import SSE_MAX_BYTES, AnyAccept, count_stream, sse_max_bytes, sse_response
from core.errors import Conflict, ValidationError
from core.text.visible_text import one_line
from kb.api import schemas
from kb.api.finding import changeable_document, visible_document
from kb.api.uploads import MAX_TAG, MAX_TAGS, checked_external_id, checked_tags
from kb.changes import Changes, cancel, change
from kb.deletion import delete_document
from kb.document_events import follow_document
from kb.documents import MAX_EXTERNAL_ID, MAX_NAME, reprocess
from kb.metadata import checked_metadata
from kb.models import Document
from kb.representations import document_json, quality_json


class StrictText(serializers.CharField):
    """A string and nothing that merely looks like one."""

    def to_internal_value(self, data: Any) -> str:
        """Return the trimmed string."""
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


class Id(serializers.UUIDField):
    """A UUID written as a string."""

    def to_internal_value(self, data: Any) -> UUID:
        """Return the UUID; a number is none."""
        if not isinstance(data, str):
            self.fail("invalid", value=data)
        return UUID(str(super().to_internal_value(data)))


class DocumentPatch(StrictSerializer):
    """What may be changed; `name` is another word for `title`, `workspace` for `workspace_id`."""

    title = StrictText(max_length=MAX_NAME, required=False)
    name = StrictText(max_length=MAX_NAME, required=False)
    tags = serializers.ListField(child=StrictText(max_length=MAX_TAG), max_length=MAX_TAGS, required=False)
    metadata = serializers.DictField(required=False)
    external_id = StrictText(max_length=MAX_EXTERNAL_ID, required=False)
    workspace_id = Id(required=False)
    workspace = Id(required=False)


class DocumentView(ApiView):
    """One document."""

    @operation(
        "documents_read",
        tag="Documents",
        headers=[IF_NONE_MATCH],
        answers={200: schemas.Document, 304: None},
        fails=(404,),
    )
    def get(self, request: Request, id: str) -> HttpResponseBase:
        """Return the document with its status and progress."""
        return json_response(request, document_json(visible_document(principal_of(request), id)))

    @operation(
        "documents_change",
        tag="Documents",
        headers=[IF_MATCH],
        request=DocumentPatch,
        answers={200: schemas.Document},
        fails=(404, 412),
    )
    def patch(self, request: Request, id: str) -> Response:
        """Change title, tags, metadata or external id as a whole, or move it to another workspace."""
        principal = principal_of(request)
        document = changeable_document(principal, id)
        changed = change(principal, document, _changes(request.data), partial(check_match, request))
        return Response(document_json(changed))

    @operation(
        "documents_delete",
        tag="Documents",
        headers=[IF_MATCH],
        answers={200: schemas.DeletionReceipt},
        fails=(404, 412),
    )
    def delete(self, request: Request, id: str) -> Response:
        """Delete the document with all that was made from it; return a receipt."""
        document = changeable_document(principal_of(request), id)
        check_match(request, document)
        return Response(delete_document(document).as_json())


def check_match(request: Request, document: Document) -> None:
    """Raise `PreconditionFailed` if the request's `If-Match` names another state of the document."""
    if (if_match := request.headers.get("If-Match")) is not None:
        require_unchanged(if_match, etag_of(document_json(document)))


def _changes(body: Any) -> Changes:
    given = parsed(DocumentPatch, body)
    tags, metadata, name = given.get("tags"), given.get("metadata"), _one_of(given, "title", "name")
    if name is not None and not one_line(name):
        raise ValidationError("A title needs a visible character.", param="title")
    return Changes(
        name=None if name is None else one_line(name),
        tags=None if tags is None else checked_tags(tags),
        metadata=None if metadata is None else checked_metadata(metadata),
        external_id=checked_external_id(given.get("external_id")),
        workspace_id=_one_of(given, "workspace_id", "workspace"),
    )


def _one_of(given: dict[str, Any], name: str, alias: str) -> Any:
    """Return the value of a field with two names; raise `Conflict` if they disagree."""
    if name in given and alias in given and given[name] != given[alias]:
        raise Conflict(f"{name} and {alias} are the same; give one of them.", param=alias)
    return given.get(name, given.get(alias))


class ReprocessView(ApiView):
    """Ingest a document once more."""

    @operation(
        "documents_reprocess", tag="Documents", request=None, answers={202: schemas.Document}, fails=(404,)
    )
    def post(self, request: Request, id: str) -> Response:
        """Queue the document again; its chunks serve on until new ones replace them."""
        document = changeable_document(principal_of(request), id)
        reprocess(document)
        return accepted(request, document)


def accepted(request: Request, document: Document) -> Response:
    """Return 202 with a document that is to be processed, and where to look after it."""
    location = request.build_absolute_uri(f"/api/v1/documents/{document.pk}")
    return Response(document_json(document), status=202, headers={"Location": location})


class DocumentCancelView(ApiView):
    """Stop a document's ingestion."""

    @operation(
        "documents_cancel", tag="Documents", request=None, answers={200: schemas.Document}, fails=(404,)
    )
    def post(self, request: Request, id: str) -> Response:
        """Cancel the ingestion; a document that is finished stays as it is."""
        return Response(document_json(cancel(changeable_document(principal_of(request), id))))


class QualityView(ApiView):
    """How well a document could be read."""

    @operation("documents_quality", tag="Documents", answers={200: schemas.QualityReport}, fails=(404,))
    def get(self, request: Request, id: str) -> Response:
        """Return the quality report; `unit` and `units` are null until there is one."""
        return Response(quality_json(visible_document(principal_of(request), id)))


class DocumentEventsView(ApiView):
    """The life of a document as it happens."""

    content_negotiation_class = AnyAccept

    @operation(
        "documents_events",
        tag="Documents",
        query=[SSE_MAX_BYTES],
        answers={(200, "text/event-stream"): schemas.DocumentUpdate},
        fails=(404,),
    )
    def get(self, request: Request, id: str) -> HttpResponseBase:
        """Send `document_update` now and at every change, and `document_end` when nothing more will come."""
        principal = principal_of(request)
        document = visible_document(principal, id)
        max_bytes = sse_max_bytes(request)
        count_stream(request, principal.user_id)
        return sse_response(follow_document(principal, document, settings.SSE_PING_SECS), max_bytes)
