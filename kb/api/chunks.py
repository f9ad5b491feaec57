"""`/api/v1/documents/{id}/chunks` and `/api/v1/chunks/{id}`."""

from __future__ import annotations

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from accounts.principal import Principal
from core.api.conditional import json_response
from core.api.operations import IF_NONE_MATCH, LIST_PARAMETERS, ApiView, operation
from core.api.rest import CursorLists
from core.errors import ValidationError
from kb.api import schemas
from kb.api.finding import visible_chunk, visible_document
from kb.models import Chunk
from kb.representations import chunk_json


class ReadingOrder(CursorLists):
    """Chunks in reading order."""

    ordering = ("ordinal", "id")


class DocumentChunksView(ApiView):
    """A document's chunks."""

    @operation(
        "documents_chunks",
        tag="Documents",
        query=LIST_PARAMETERS,
        answers={200: schemas.ChunkList},
        fails=(404,),
    )
    def get(self, request: Request, id: str) -> Response:
        """List the document's live chunks, whole, in reading order."""
        principal = principal_of(request)
        document = visible_document(principal, id)
        chunks = Chunk.objects.addressable_by(principal).filter(document=document, replaced_by=None)
        pages = ReadingOrder()
        rows = pages.paginate_queryset(chunks, request, self)
        return pages.get_paginated_response([chunk_json(chunk, document.name) for chunk in rows or []])


class ChunkView(ApiView):
    """One chunk with its exact location; also served at `/chunks/{id}`."""

    @operation(
        "chunks_read",
        tag="Chunks",
        query=[
            OpenApiParameter(
                "neighbors",
                {"type": "string", "enum": ["0", "1"], "default": "0"},
                description="1 adds the ids before and after.",
            )
        ],
        headers=[IF_NONE_MATCH],
        answers={200: schemas.Chunk, 304: None},
        fails=(404,),
    )
    def get(self, request: Request, id: str) -> HttpResponseBase:
        """Return text, page, boxes and times; a replaced chunk says by which."""
        principal = principal_of(request)
        chunk = visible_chunk(principal, id)
        body = chunk_json(chunk, chunk.document.name)
        neighbors = request.query_params.get("neighbors", "0")
        if neighbors not in ("0", "1"):
            raise ValidationError("neighbors must be 0 or 1.", param="neighbors")
        if neighbors == "1":
            body["neighbors"] = _neighbors(principal, chunk)
        return json_response(request, body)


def _neighbors(principal: Principal, chunk: Chunk) -> dict[str, str | None]:
    live = Chunk.objects.addressable_by(principal).filter(document_id=chunk.document_id, replaced_by=None)
    before = live.filter(ordinal__lt=chunk.ordinal).order_by("-ordinal").values_list("pk", flat=True).first()
    after = live.filter(ordinal__gt=chunk.ordinal).order_by("ordinal").values_list("pk", flat=True).first()
    return {"before": str(before) if before else None, "after": str(after) if after else None}
