"""`/api/v1/documents/{id}/chunks` and `/api/v1/chunks/{id}`."""

from __future__ import annotations

from functools import partial
from typing import Literal

from django.http import HttpResponseBase
from pydantic import Field
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.principal import Principal
from core.api.conditional import json_response
from core.api.lists import ListQuery, page_of
from core.api.operations import IF_NONE_MATCH, ApiQuery, operation
from kb import representations
from kb.access import live_chunks
from kb.api.finding import visible_chunk, visible_document
from kb.models import Chunk
from kb.representations import ChunkList, Neighbors


class DocumentChunksView(APIView):
    """A document's chunks."""

    @operation(
        "documents_chunks",
        tag="Documents",
        query=ListQuery,
        answers={200: ChunkList},
        fails=(404,),
    )
    def get(self, request: Request, id: str, query: ListQuery) -> ChunkList:
        """List the document's live chunks, whole, in reading order."""
        principal = principal_of(request)
        document = visible_document(principal, id)
        shown = partial(representations.Chunk.of, filename=document.name)
        return page_of(ChunkList, live_chunks(principal, document), shown, request, query, ("ordinal", "id"))


class ChunkQuery(ApiQuery):
    """What is said of a chunk besides itself."""

    neighbors: Literal["0", "1"] = Field("0", description="1 adds the ids before and after.")


class ChunkView(APIView):
    """One chunk with its exact location; also served at `/chunks/{id}`."""

    @operation(
        "chunks_read",
        tag="Chunks",
        query=ChunkQuery,
        headers=[IF_NONE_MATCH],
        answers={200: representations.Chunk, 304: None},
        fails=(404,),
    )
    def get(self, request: Request, id: str, query: ChunkQuery) -> HttpResponseBase:
        """Return text, page, boxes and times; a replaced chunk says by which."""
        principal = principal_of(request)
        chunk = visible_chunk(principal, id)
        body = representations.Chunk.of(chunk, chunk.document.name)
        if query.neighbors == "1":
            body.neighbors = _neighbors(principal, chunk)
        return json_response(request, body)


def _neighbors(principal: Principal, chunk: Chunk) -> Neighbors:
    live = live_chunks(principal, chunk.document)
    before = live.filter(ordinal__lt=chunk.ordinal).order_by("-ordinal").values_list("pk", flat=True).first()
    after = live.filter(ordinal__gt=chunk.ordinal).order_by("ordinal").values_list("pk", flat=True).first()
    return Neighbors(before=before, after=after)
