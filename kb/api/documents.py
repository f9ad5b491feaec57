"""`/api/v1/documents`: the list, and adding to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import django_filters
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import JsonValue
from rest_framework import serializers
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.auth import parsed_session_id, principal_of
from accounts.errors import TooLarge, UnknownField, ValidationError
from accounts.identity import in_session
from accounts.principal import Principal
from accounts.rest import (
    LIST_PARAMETERS,
    CursorLists,
    StrictJSONParser,
    json_param,
    refuse_unclean,
    refuse_unknown_query,
    uuid_param,
)
from kb.api.document import MAX_TAG, MAX_TAGS
from kb.documents import Details, add_document, add_url, sha256_of
from kb.fetch import InvalidUrl, web_url
from kb.idempotency import IDEMPOTENCY_KEY, idempotency_key, once
from kb.models import Document, Status
from kb.representations import document_json

FILE_FIELDS, URL_FIELDS = frozenset({"files", "files[]"}), frozenset({"urls", "urls[]"})
UPLOAD_FIELDS = (
    FILE_FIELDS
    | URL_FIELDS
    | {"workspace_id", "session_id", "external_user_id", "metadata", "tags", "language"}
)

UPLOAD_SCHEMA = {
    "type": "object",
    "description": "At least one file or URL.",
    "properties": {
        "files": {
            "type": "array",
            "items": {"type": "string", "contentMediaType": "application/octet-stream"},
        },
        "urls": {"type": "array", "items": {"type": "string", "format": "uri"}},
        "workspace_id": {"type": "string", "format": "uuid"},
        "session_id": {"type": "string", "format": "uuid"},
        "external_user_id": {"type": "string"},
        "metadata": {"type": "string", "contentMediaType": "application/json"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "language": {"type": "string", "description": "ISO 639-1"},
    },
}


class DocumentFilter(django_filters.FilterSet):
    """The filters of the documents list."""

    workspace = django_filters.UUIDFilter("workspace_id")
    status = django_filters.CharFilter("status")
    type = django_filters.CharFilter("file_type")
    tag = django_filters.CharFilter(method="by_tag")
    search = django_filters.CharFilter("name", lookup_expr="icontains")
    attached_to = django_filters.UUIDFilter("attached_to_id")

    def by_tag(self, documents: QuerySet[Document], name: str, value: str) -> QuerySet[Document]:
        """Return the documents that carry the tag."""
        return documents.filter(tags__contains=[value])

    ORDERINGS = frozenset({"created_at", "name", "size", "updated_at"})
    ALL_ORDERINGS = sorted(ORDERINGS) + sorted(f"-{name}" for name in ORDERINGS)
    KNOWN = frozenset({"workspace", "status", "type", "tag", "search", "attached_to", "ordering"})


class DocumentLists(CursorLists):
    """Documents, newest first unless `?ordering=` says otherwise."""

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        """Return the ordering the request names, made total by the id."""
        wanted = request.query_params.get("ordering", "-created_at")
        if wanted.removeprefix("-") not in DocumentFilter.ORDERINGS:
            raise ValidationError(
                f"ordering must be one of {', '.join(sorted(DocumentFilter.ORDERINGS))}.", param="ordering"
            )
        return (wanted, "id")


class DocumentsView(APIView):
    """List and upload."""

    parser_classes = [MultiPartParser, FormParser, StrictJSONParser]

    @extend_schema(
        operation_id="documents_list",
        parameters=[
            OpenApiParameter("workspace", OpenApiTypes.UUID),
            OpenApiParameter("status", str, enum=Status.values),
            OpenApiParameter("type", str, description="The `file_type`"),
            OpenApiParameter("tag", str),
            OpenApiParameter("search", str, description="Text in the name"),
            OpenApiParameter("attached_to", OpenApiTypes.UUID, description="What is attached to a document"),
            OpenApiParameter("ordering", str, enum=DocumentFilter.ALL_ORDERINGS),
            *LIST_PARAMETERS,
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request) -> Response:
        """List the documents the caller may see."""
        refuse_unknown_query(request, DocumentFilter.KNOWN)
        for name, value in request.query_params.items():
            refuse_unclean(value, name)
        filtered = DocumentFilter(request.query_params, Document.objects.restricted_to(principal_of(request)))
        if not filtered.is_valid():
            raise serializers.ValidationError(filtered.errors)
        pages = DocumentLists()
        rows: list[Document] | None = pages.paginate_queryset(filtered.qs, request, self)
        return pages.get_paginated_response([document_json(document) for document in rows or []])

    @extend_schema(
        operation_id="documents_create",
        parameters=[IDEMPOTENCY_KEY],
        request={"multipart/form-data": UPLOAD_SCHEMA},
        responses={200: OpenApiTypes.OBJECT, 202: OpenApiTypes.OBJECT},
    )
    def post(self, request: Request) -> Response:
        """Add files and web pages, in this order; 202 if any is new, 200 if all were there already."""
        if request.content_type and not request.content_type.startswith("multipart/form-data"):
            raise ValidationError("Send the files as multipart/form-data.", param="files")
        form: Any = request.data
        for name in form:
            if name not in UPLOAD_FIELDS:
                raise UnknownField(f"Unknown field “{name}”.", param=name)
            if name not in FILE_FIELDS | URL_FIELDS:
                for value in form.getlist(name):
                    refuse_unclean(value, name)
        principal = _speaking_for(principal_of(request), form)
        uploads = request.FILES.getlist("files") + request.FILES.getlist("files[]")
        urls = _urls(form.getlist("urls") + form.getlist("urls[]"))
        if not uploads and not urls:
            raise ValidationError("Send at least one file or URL.", param="files")
        for upload in uploads:
            if (upload.size or 0) > settings.MAX_UPLOAD_BYTES:
                raise TooLarge(f"“{upload.name}” is larger than {settings.MAX_UPLOAD_BYTES // 2**20} MiB.")
            refuse_unclean(upload.name, "files")
        details = _details(principal, form)
        key = idempotency_key(request, principal, lambda: _asked(form, uploads))

        def add() -> list[JsonValue]:
            added = [add_document(principal, upload, details) for upload in uploads]
            added += [add_url(principal, url, details) for url in urls]
            return [[str(document.pk), duplicate] for document, duplicate in added]

        return _reply(principal, once(key, add)[0] if key else add())


def _asked(form: Any, uploads: Sequence[UploadedFile[bytes]]) -> JsonValue:
    """Return what makes it the same upload: the fields, and the names and digests of the files."""
    fields: JsonValue = {name: form.getlist(name) for name in form if name not in FILE_FIELDS}
    return [fields, [[upload.name, sha256_of(upload)] for upload in uploads]]


def _reply(principal: Principal, added: Any) -> Response:
    documents = Document.objects.addressable_by(principal).in_bulk([id for id, _ in added])
    body = [
        document_json(documents[UUID(id)]) | {"duplicate": duplicate}
        for id, duplicate in added
        if UUID(id) in documents
    ]
    return Response({"documents": body}, status=200 if all(duplicate for _, duplicate in added) else 202)


def _speaking_for(principal: Principal, form: Any) -> Principal:
    principal = principal.for_external_user(form.get("external_user_id"))
    session_id = form.get("session_id")
    return in_session(principal, parsed_session_id(session_id)) if session_id else principal


def _urls(given: list[str]) -> list[str]:
    for index, url in enumerate(given):
        try:
            web_url(url)
        except InvalidUrl as error:
            raise ValidationError(error.message, param=f"urls[{index}]") from None
    return given


def _details(principal: Principal, form: Any) -> Details:
    given = form.get("workspace_id")
    workspace_id = uuid_param("workspace_id", given) if given else principal.default_workspace_id()
    metadata = json_param("metadata", form["metadata"]) if "metadata" in form else {}
    if not isinstance(metadata, dict):
        raise ValidationError("metadata must be a JSON object.", param="metadata")
    return Details(
        workspace_id=workspace_id,
        tags=_tags(form.getlist("tags")),
        metadata=metadata,
        language=_language(form.get("language")),
    )


def _tags(values: list[str]) -> list[str]:
    given = [tag.strip() for value in values for tag in value.split(",")]
    tags = list(dict.fromkeys(filter(None, given)))
    if len(tags) > MAX_TAGS or any(len(tag) > MAX_TAG for tag in tags):
        raise ValidationError(f"At most {MAX_TAGS} tags of at most {MAX_TAG} characters.", param="tags")
    return tags


def _language(value: str | None) -> str | None:
    if value and (len(value) != 2 or not value.isascii() or not value.isalpha()):
        raise ValidationError("language must be a two-letter ISO 639-1 code.", param="language")
    return value.lower() if value else None
