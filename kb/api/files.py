"""`/api/v1/documents/{id}/file` and `/pages/{n}`: a document's bytes, and pictures of its pages."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.utils import OpenApiParameter
from pydantic import Field
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from core.api.conditional import is_unchanged, not_modified, revalidated
from core.api.operations import IF_MATCH, IF_NONE_MATCH, ApiQuery, ReadBody, operation, respond
from core.api.validation import DIGITS, decimal_number
from core.errors import NotFound
from core.threads import give_connection_back
from kb.api.document import accepted, check_match
from kb.api.finding import changeable_document, visible_document
from kb.api.uploads import NAMELESS, RawFileParser, Replacement
from kb.documents import original_file, page_cache, replace_content
from kb.files import serve_file
from kb.page_images.rendering import page_png
from kb.representations import Document

MAX_IMAGE_WIDTH = 4000
DEFAULT_IMAGE_WIDTH = 1200
# Changes with how pages are drawn: what clients keep is drawn anew then.
DRAWING = "1"
RANGE_HEADERS = [
    OpenApiParameter("Range", str, OpenApiParameter.HEADER, description="One part: `bytes=0-999`."),
    OpenApiParameter(
        "If-Range", str, OpenApiParameter.HEADER, description="An `ETag`: the whole file if it has changed."
    ),
]


class DocumentFileView(APIView):
    """The original file."""

    parser_classes = [MultiPartParser, RawFileParser]

    @operation(
        "documents_file",
        tag="Documents",
        headers=[*RANGE_HEADERS, IF_NONE_MATCH],
        answers={
            (200, "*/*"): bytes,
            (206, "*/*"): bytes,
            304: None,
        },
        fails=(404, 416),
    )
    def get(self, request: Request, id: str) -> HttpResponseBase:
        """Return the file, or the part of it that a `Range` header asks for."""
        document = visible_document(principal_of(request), id)
        file, etag = original_file(document), f'"{document.sha256}"'
        if is_unchanged(request, etag):
            return not_modified(etag)
        if_range = request.headers.get("If-Range")
        part = request.headers.get("Range") if if_range in (None, etag) else None
        return revalidated(serve_file(file, document.name, document.mime_type, part), etag)

    @operation(
        "documents_replace_file",
        tag="Documents",
        headers=[IF_MATCH],
        body={
            "multipart/form-data": Replacement,
            "application/octet-stream": {"type": "string", "contentMediaType": "application/octet-stream"},
        },
        answers={200: Document, 202: Document},
        fails=(404, 412),
    )
    def put(self, request: Request, id: str, read_body: ReadBody[Replacement]) -> HttpResponseBase:
        """Replace the document's content, and process it again; 200 if it has that content already.

        Send the file as the field `file` of a form, or the bytes alone as any other type. The id stays. The
        old chunks are found until the new ones replace them, and stay readable by their ids.
        """
        document = changeable_document(principal_of(request), id)
        file = read_body().file
        is_form = (request.content_type or "").startswith("multipart/form-data")
        name = None if file.name == NAMELESS and not is_form else file.name
        if not replace_content(document, file, name, partial(check_match, request)):
            return respond(Document.of(document))
        document.refresh_from_db()
        return accepted(request, document)


class PageQuery(ApiQuery):
    """How a page is drawn."""

    width: Annotated[int, Field(ge=1, le=MAX_IMAGE_WIDTH), DIGITS] = Field(
        DEFAULT_IMAGE_WIDTH, description="Exact width of the image in pixels."
    )


class DocumentPageView(APIView):
    """A page as an image."""

    @operation(
        "documents_page",
        tag="Documents",
        query=PageQuery,
        headers=[IF_NONE_MATCH],
        answers={(200, "image/png"): bytes, 304: None},
        fails=(404, 504),
    )
    def get(self, request: Request, id: str, number: str, query: PageQuery) -> HttpResponseBase:
        """Return page `number` as PNG; scale = width / layout_width."""
        principal = principal_of(request)
        document = visible_document(principal, id)
        page = decimal_number(number)
        if page is None or not 1 <= page <= (document.page_count or 0):
            raise NotFound("The document has no such page.")
        file, cache = original_file(document), page_cache(document)
        etag = f'"{document.sha256}-{page}-{query.width}-{DRAWING}"'
        if is_unchanged(request, etag):
            return not_modified(etag)
        # To draw may take seconds, and to wait for it too: others need the connection.
        give_connection_back()
        image = page_png(file, cache, page, query.width, asker=principal.user_id)
        return revalidated(HttpResponse(image, content_type="image/png"), etag)
