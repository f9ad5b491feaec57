"""`/api/v1/documents` and `/api/v1/chunks`."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import django_filters
from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.auth import parsed_session_id, principal_of
from accounts.errors import NotFound, TooLarge, UnknownField, ValidationError
from accounts.identity import in_session
from accounts.principal import Principal
from accounts.rest import (
    CursorLists,
    StrictJSONParser,
    json_param,
    refuse_unclean,
    refuse_unknown_query,
    uuid_param,
)
from accounts.roles import Role
from kb.documents import (
    Details,
    add_document,
    add_url,
    delete_document,
    original_file,
    page_cache,
    reprocess,
)
from kb.fetch import InvalidUrl, web_url
from kb.files import serve_file
from kb.models import Chunk, Document
from kb.rendering import page_png
from kb.representations import chunk_json, document_json

MAX_IMAGE_WIDTH = 4000
DEFAULT_IMAGE_WIDTH = 1200
UPLOAD_FIELDS = frozenset(
    {
        "files",
        "files[]",
        "urls",
        "urls[]",
        "workspace_id",
        "session_id",
        "external_user_id",
        "metadata",
        "tags",
        "language",
    }
)


# --- Finding one ---------------------------------------------------------------------------------------


def visible_document(principal: Principal, id: str) -> Document:
    """Return the document, or raise `NotFound` if it is unknown, invisible or no id at all."""
    document = Document.objects.addressable_by(principal).filter(pk=_path_id(id)).first()
    if document is None:
        raise NotFound
    return document


def changeable_document(principal: Principal, id: str) -> Document:
    """Return the document if the principal may change it; raise `NotFound` or `Forbidden`."""
    document = visible_document(principal, id)
    principal.require_workspace(document.workspace_id, Role.EDITOR)
    return document


def visible_chunk(principal: Principal, id: str) -> Chunk:
    """Return the chunk, live or replaced, or raise `NotFound`."""
    chunk = Chunk.objects.addressable_by(principal).select_related("document").filter(pk=_path_id(id)).first()
    if chunk is None:
        raise NotFound
    return chunk


def _path_id(id: str) -> UUID:
    try:
        return UUID(id)
    except ValueError:
        raise NotFound from None


# --- Documents -----------------------------------------------------------------------------------------


class DocumentFilter(django_filters.FilterSet):
    """The filters of the documents list."""

    workspace = django_filters.UUIDFilter("workspace_id")
    status = django_filters.CharFilter("status")
    type = django_filters.CharFilter("file_type")
    tag = django_filters.CharFilter("tags", lookup_expr="contains", method="by_tag")
    search = django_filters.CharFilter("name", lookup_expr="icontains")

    def by_tag(self, documents: QuerySet[Document], name: str, value: str) -> QuerySet[Document]:
        """Return the documents that carry the tag."""
        return documents.filter(tags__contains=[value])

    ORDERINGS = frozenset({"created_at", "name", "size", "updated_at"})
    KNOWN = frozenset({"workspace", "status", "type", "tag", "search", "ordering"})


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

    @extend_schema(operation_id="documents_list", responses=OpenApiTypes.OBJECT)
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
        operation_id="documents_create", request=OpenApiTypes.BINARY, responses=OpenApiTypes.OBJECT
    )
    def post(self, request: Request) -> Response:
        """Add files and web pages, in this order; 202 if any is new, 200 if all were there already."""
        if request.content_type and not request.content_type.startswith("multipart/form-data"):
            raise ValidationError("Send the files as multipart/form-data.", param="files")
        form: Any = request.data
        for name in form:
            if name not in UPLOAD_FIELDS:
                raise UnknownField(f"Unknown field “{name}”.", param=name)
            if name not in ("files", "files[]", "urls", "urls[]"):
                refuse_unclean(form[name], name)
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
        added = [add_document(principal, upload, details) for upload in uploads]
        added += [add_url(principal, url, details) for url in urls]
        body = [document_json(document) | {"duplicate": duplicate} for document, duplicate in added]
        return Response({"documents": body}, status=200 if all(d for _, d in added) else 202)


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
        tags=[tag for value in form.getlist("tags") for tag in _tags(value)],
        metadata=metadata,
        language=_language(form.get("language")),
    )


def _tags(value: str) -> list[str]:
    tags = [tag.strip() for tag in value.split(",") if tag.strip()]
    if any(len(tag) > 100 for tag in tags):
        raise ValidationError("A tag has at most 100 characters.", param="tags")
    return tags


def _language(value: str | None) -> str | None:
    if value and (len(value) != 2 or not value.isascii() or not value.isalpha()):
        raise ValidationError("language must be a two-letter ISO 639-1 code.", param="language")
    return value.lower() if value else None


class DocumentView(APIView):
    """One document."""

    @extend_schema(operation_id="documents_read", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, id: str) -> Response:
        """Return the document with its status and progress."""
        return Response(document_json(visible_document(principal_of(request), id)))

    @extend_schema(operation_id="documents_delete", responses=OpenApiTypes.OBJECT)
    def delete(self, request: Request, id: str) -> Response:
        """Delete the document, its chunks, vectors, file and page images; return a receipt."""
        return Response(delete_document(changeable_document(principal_of(request), id)).as_json())


class ReprocessView(APIView):
    """Ingest a document once more."""

    @extend_schema(operation_id="documents_reprocess", request=None, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, id: str) -> Response:
        """Queue the document again; its chunks serve on until new ones replace them."""
        document = changeable_document(principal_of(request), id)
        reprocess(document)
        return Response(document_json(document), status=202)


class DocumentFileView(APIView):
    """The original file."""

    @extend_schema(operation_id="documents_file", responses={(200, "application/octet-stream"): bytes})
    def get(self, request: Request, id: str) -> HttpResponseBase:
        """Return the file, or the part of it that a `Range` header asks for."""
        document = visible_document(principal_of(request), id)
        return serve_file(
            original_file(document), document.name, document.mime_type, request.headers.get("Range")
        )


class DocumentPageView(APIView):
    """A page as an image."""

    @extend_schema(
        operation_id="documents_page",
        parameters=[
            OpenApiParameter("width", int, description="Exact width of the image in pixels, 1..4000")
        ],
        responses={(200, "image/png"): bytes},
    )
    def get(self, request: Request, id: str, number: str) -> HttpResponseBase:
        """Return page `number` as PNG; scale = width / layout_width."""
        document = visible_document(principal_of(request), id)
        if not number.isdecimal() or not document.page_count or not 1 <= int(number) <= document.page_count:
            raise NotFound("The document has no such page.")
        width = _image_width(request.query_params.get("width"))
        image = page_png(Path(document.file.path), page_cache(document), int(number), width)
        response = HttpResponse(image.read_bytes(), content_type="image/png")
        response["Cache-Control"] = "private, max-age=86400"
        return response


def _image_width(given: str | None) -> int:
    if given is None:
        return DEFAULT_IMAGE_WIDTH
    if not given.isdecimal() or not 1 <= int(given) <= MAX_IMAGE_WIDTH:
        raise ValidationError(f"width must be 1 to {MAX_IMAGE_WIDTH}.", param="width")
    return int(given)


# --- Chunks --------------------------------------------------------------------------------------------


class ReadingOrder(CursorLists):
    """Chunks in reading order."""

    ordering = ("ordinal", "id")


class DocumentChunksView(APIView):
    """A document's chunks."""

    @extend_schema(operation_id="documents_chunks", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, id: str) -> Response:
        """List the document's live chunks, whole, in reading order."""
        refuse_unknown_query(request, frozenset())
        principal = principal_of(request)
        document = visible_document(principal, id)
        chunks = Chunk.objects.addressable_by(principal).filter(document=document, replaced_by=None)
        pages = ReadingOrder()
        rows = pages.paginate_queryset(chunks, request, self)
        return pages.get_paginated_response([chunk_json(chunk, document.name) for chunk in rows or []])


class ChunkView(APIView):
    """One chunk with its exact location; also served at `/chunks/{id}`."""

    @extend_schema(
        operation_id="chunks_read",
        parameters=[OpenApiParameter("neighbors", bool, description="Add the ids before and after")],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, id: str) -> Response:
        """Return text, page, boxes and times; a replaced chunk says by which."""
        principal = principal_of(request)
        chunk = visible_chunk(principal, id)
        body = chunk_json(chunk, chunk.document.name)
        if request.query_params.get("neighbors") == "1":
            body["neighbors"] = _neighbors(principal, chunk)
        return Response(body)


def _neighbors(principal: Principal, chunk: Chunk) -> dict[str, str | None]:
    live = Chunk.objects.addressable_by(principal).filter(document_id=chunk.document_id, replaced_by=None)
    before = live.filter(ordinal__lt=chunk.ordinal).order_by("-ordinal").values_list("pk", flat=True).first()
    after = live.filter(ordinal__gt=chunk.ordinal).order_by("ordinal").values_list("pk", flat=True).first()
    return {"before": str(before) if before else None, "after": str(after) if after else None}
