"""`/api/v1/documents/{id}/file`, `/pages/{n}` and `/waveform`: its bytes, and pictures of pages and sound."""

from __future__ import annotations

from functools import partial
from typing import Annotated
from uuid import UUID

import orjson
from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.utils import OpenApiParameter
from pydantic import Field
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.principal import Principal
from accounts.quotas.request_rates import count_page_image
from core.api.conditional import is_unchanged, not_modified, revalidated
from core.api.operations import IF_MATCH, IF_NONE_MATCH, ApiQuery, ReadBody, operation, respond
from core.api.validation import DIGITS, ApiModel, decimal_number
from core.errors import NotFound
from core.threads import give_connection_back
from kb.api.document import accepted, check_match
from kb.api.finding import changeable_document, visible_document
from kb.api.uploads import NAMELESS, RawFileParser, Replacement
from kb.documents import original_file, page_cache
from kb.files import follows_redirects, serve_file
from kb.models import Document as StoredDocument
from kb.page_images.rendering import page_png, waveform_json
from kb.replacing import replace_content
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
        address_token=True,
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
        may_redirect = follows_redirects(request)
        reply = serve_file(file, document.name, document.mime_type, part, may_redirect=may_redirect)
        return reply if reply.status_code == 302 else revalidated(reply, etag)

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
        check = partial(check_match, request)
        if not replace_content(document, file, name, check, principal=principal_of(request)):
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
        address_token=True,
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
        return page_image(request, principal, document, decimal_number(number), query.width)


def page_image(
    request: Request, principal: Principal, document: StoredDocument, page: int | None, width: int
) -> HttpResponseBase:
    """Return a page of a document that the principal may see as PNG, `width` pixels wide."""
    if page is None or not 1 <= page <= (document.page_count or 0):
        raise NotFound("The document has no such page.")
    file, cache = original_file(document), page_cache(document)
    etag = f'"{document.sha256}-{page}-{width}-{DRAWING}"'
    if is_unchanged(request, etag):
        return not_modified(etag)
    # To draw may take seconds, and to wait for it too: others need the connection.
    give_connection_back()
    image = page_png(
        file, cache, page, width, asker=principal.user_id, admit=partial(_admit_drawing, principal)
    )
    return revalidated(HttpResponse(image, content_type="image/png"), etag)


class Waveform(ApiModel):
    """How loud a recording is, from its start to its end."""

    document_id: UUID
    duration: float = Field(description="Seconds.")
    peaks: list[int] = Field(
        description="The loudest moment of each of 1,000 equal parts, 100 being the loudest of all; empty "
        "without sound."
    )


class DocumentWaveformView(APIView):
    """How loud a recording is."""

    @operation(
        "documents_waveform",
        tag="Documents",
        headers=[IF_NONE_MATCH],
        answers={200: Waveform, 304: None},
        fails=(404, 504),
    )
    def get(self, request: Request, id: str) -> HttpResponseBase:
        """Return the waveform of a recording; it is measured once and kept."""
        principal = principal_of(request)
        document = visible_document(principal, id)
        if document.duration is None:
            raise NotFound("The document is no recording.")
        file, cache = original_file(document), page_cache(document)
        etag = f'"{document.sha256}-sound-{DRAWING}"'
        if is_unchanged(request, etag):
            return not_modified(etag)
        give_connection_back()
        peaks = waveform_json(file, cache, asker=principal.user_id, admit=partial(_admit_drawing, principal))
        body = Waveform(document_id=document.pk, duration=document.duration, peaks=orjson.loads(peaks))
        return revalidated(respond(body), etag)


def _admit_drawing(principal: Principal) -> None:
    """Raise `RateLimited` if the user has had too many pages drawn lately."""
    count_page_image(principal)
    give_connection_back()
