"""`/api/v1/documents/{id}`: reading, changing, processing and following one document."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.auth import Caller, principal_of
from accounts.errors import Conflict
from accounts.rest import StrictSerializer, parsed
from kb.api.finding import changeable_document, visible_document
from kb.changes import Changes, cancel, change
from kb.deletion import delete_document
from kb.documents import MAX_NAME, reprocess
from kb.following import follow_document
from kb.representations import document_json, quality_json
from kb.sse import AnyAccept, sse_max_bytes, sse_response

MAX_TAG, MAX_TAGS = 100, 100


class Text(serializers.CharField):
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

    title = Text(max_length=MAX_NAME, required=False)
    name = Text(max_length=MAX_NAME, required=False)
    tags = serializers.ListField(child=Text(max_length=MAX_TAG), max_length=MAX_TAGS, required=False)
    metadata = serializers.DictField(required=False)
    workspace_id = Id(required=False)
    workspace = Id(required=False)


class DocumentView(APIView):
    """One document."""

    @extend_schema(operation_id="documents_read", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, id: str) -> Response:
        """Return the document with its status and progress."""
        return Response(document_json(visible_document(principal_of(request), id)))

    @extend_schema(operation_id="documents_change", request=DocumentPatch, responses=OpenApiTypes.OBJECT)
    def patch(self, request: Request, id: str) -> Response:
        """Change title, tags or metadata as a whole, or move the document to another workspace."""
        principal = principal_of(request)
        document = changeable_document(principal, id)
        return Response(document_json(change(principal, document, _changes(request.data))))

    @extend_schema(operation_id="documents_delete", responses={200: OpenApiTypes.OBJECT})
    def delete(self, request: Request, id: str) -> Response:
        """Delete the document with all that was made from it; return a receipt."""
        return Response(delete_document(changeable_document(principal_of(request), id)).as_json())


def _changes(body: Any) -> Changes:
    given = parsed(DocumentPatch, body)
    tags = given.get("tags")
    return Changes(
        name=_one_of(given, "title", "name"),
        tags=None if tags is None else list(dict.fromkeys(tags)),
        metadata=given.get("metadata"),
        workspace_id=_one_of(given, "workspace_id", "workspace"),
    )


def _one_of(given: dict[str, Any], name: str, alias: str) -> Any:
    """Return the value of a field with two names; raise `Conflict` if they disagree."""
    if name in given and alias in given and given[name] != given[alias]:
        raise Conflict(f"{name} and {alias} are the same; give one of them.", param=alias)
    return given.get(name, given.get(alias))


class ReprocessView(APIView):
    """Ingest a document once more."""

    @extend_schema(operation_id="documents_reprocess", request=None, responses={202: OpenApiTypes.OBJECT})
    def post(self, request: Request, id: str) -> Response:
        """Queue the document again; its chunks serve on until new ones replace them."""
        document = changeable_document(principal_of(request), id)
        reprocess(document)
        return Response(document_json(document), status=202)


class CancelView(APIView):
    """Stop a document's ingestion."""

    @extend_schema(operation_id="documents_cancel", request=None, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, id: str) -> Response:
        """Cancel the ingestion; a document that is finished stays as it is."""
        return Response(document_json(cancel(changeable_document(principal_of(request), id))))


class QualityView(APIView):
    """How well a document could be read."""

    @extend_schema(operation_id="documents_quality", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, id: str) -> Response:
        """Return the quality report; `unit` and `units` are null until there is one."""
        return Response(quality_json(visible_document(principal_of(request), id)))


class DocumentEventsView(APIView):
    """The life of a document as it happens."""

    content_negotiation_class = AnyAccept

    @extend_schema(
        operation_id="documents_events",
        parameters=[OpenApiParameter("sse_max_bytes", int)],
        responses={(200, "text/event-stream"): str},
    )
    def get(self, request: Request, id: str) -> HttpResponseBase:
        """Send `document_update` now and at every change, and `document_end` when nothing more will come."""
        document = visible_document(principal_of(request), id)
        max_bytes = sse_max_bytes(request)
        return sse_response(follow_document(Caller.of(request), document, settings.SSE_PING_SECS), max_bytes)
