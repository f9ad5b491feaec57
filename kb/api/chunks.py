"""`/api/v1/documents/{id}/chunks` and `/api/v1/chunks/{id}`."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.auth import principal_of
from accounts.principal import Principal
from accounts.rest import LIST_PARAMETERS, CursorLists, refuse_unknown_query
from kb.api.finding import visible_chunk, visible_document
from kb.models import Chunk
from kb.representations import chunk_json


class ReadingOrder(CursorLists):
    """Chunks in reading order."""

    ordering = ("ordinal", "id")


class DocumentChunksView(APIView):
    """A document's chunks."""

    @extend_schema(operation_id="documents_chunks", parameters=LIST_PARAMETERS, responses=OpenApiTypes.OBJECT)
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
