"""`/api/v1/documents/{id}/file` and `/pages/{n}`: a document's bytes, and pictures of its pages."""

from __future__ import annotations

from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.auth import principal_of
from accounts.errors import NotFound, ValidationError
from accounts.rest import decimal_number
from kb.api.finding import visible_document
from kb.documents import original_file, page_cache
from kb.files import serve_file
from kb.rendering import page_bytes
from kb.threads import give_connection_back

MAX_IMAGE_WIDTH = 4000
DEFAULT_IMAGE_WIDTH = 1200


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
        principal = principal_of(request)
        document = visible_document(principal, id)
        page = decimal_number(number)
        if page is None or not 1 <= page <= (document.page_count or 0):
            raise NotFound("The document has no such page.")
        width = _image_width(request.query_params.get("width"))
        file, cache = original_file(document), page_cache(document)
        # To draw may take seconds, and to wait for it too: others need the connection.
        give_connection_back()
        image = page_bytes(file, cache, page, width, asker=principal.user_id)
        response = HttpResponse(image, content_type="image/png")
        response["Cache-Control"] = "private, max-age=86400"
        return response


def _image_width(given: str | None) -> int:
    if given is None:
        return DEFAULT_IMAGE_WIDTH
    width = decimal_number(given)
    if width is None or not 1 <= width <= MAX_IMAGE_WIDTH:
        raise ValidationError(f"width must be 1 to {MAX_IMAGE_WIDTH}.", param="width")
    return width
