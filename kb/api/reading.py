"""`/api/v1/documents/{id}/outline` and `/reading`: a document as one text, for reading from top to bottom."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from django.http import HttpResponseBase
from pydantic import Field
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.principal import Principal
from core.api.conditional import json_response
from core.api.operations import IF_NONE_MATCH, ApiQuery, operation
from core.api.validation import DIGITS, ApiModel
from core.errors import NotFound
from kb.access import live_chunks
from kb.api.finding import visible_chunk, visible_document
from kb.chunk_size import shorten
from kb.models import Chunk, Document
from kb.reading.blocks import ReadingBlock, blocks_of
from kb.reading.outline import ReadingOutline, outline_of

MOST_POSITION = 10**9 - 1


class OutlineQuery(ApiQuery):
    """Where a reader wants to begin."""

    chunk_id: UUID | None = Field(None, description="A chunk of the document, live or replaced.")


class DocumentOutlineView(APIView):
    """A document's headings, and how to load its text."""

    @operation(
        "documents_outline",
        tag="Documents",
        query=OutlineQuery,
        headers=[IF_NONE_MATCH],
        answers={200: ReadingOutline, 304: None},
        fails=(404,),
    )
    def get(self, request: Request, id: str, query: OutlineQuery) -> HttpResponseBase:
        """Return headings, windows for `reading`, and the position of a chunk."""
        principal = principal_of(request)
        document = visible_document(principal, id)
        cited = _chunk_in(principal, document, query.chunk_id)
        live = live_chunks(principal, document)
        return json_response(request, outline_of(document.pk, document.file_type, live, cited))


class ReadingQuery(ApiQuery):
    """Which part of the text."""

    start: Annotated[int, Field(ge=0, le=MOST_POSITION), DIGITS] = Field(
        0, description="Position of the first chunk."
    )
    limit: Annotated[int, Field(ge=1, le=200), DIGITS] = Field(50, description="How many chunks.")


class ReadingPart(ApiModel):
    """The blocks of consecutive chunks, with the addresses of those before and after."""

    document_id: UUID
    blocks: list[ReadingBlock]
    next: str | None
    previous: str | None


class DocumentReadingView(APIView):
    """A document's text in blocks."""

    @operation(
        "documents_reading",
        tag="Documents",
        query=ReadingQuery,
        headers=[IF_NONE_MATCH],
        answers={200: ReadingPart, 304: None},
        fails=(404,),
    )
    def get(self, request: Request, id: str, query: ReadingQuery) -> HttpResponseBase:
        """Return headings, paragraphs, lists, code and tables in reading order.

        Each says which stretch of which chunk it is, so that a citation can be marked exactly. Tables that
        are longer than a chunk repeat their header only in `continued` parts.
        """
        principal = principal_of(request)
        document = visible_document(principal, id)
        first, past = query.start, query.start + query.limit
        # One more on either side: a table may go on, and there may be a next part.
        chunks = {
            chunk.ordinal: shorten(chunk)
            for chunk in live_chunks(principal, document).filter(ordinal__gte=first - 1, ordinal__lte=past)
        }
        blocks = [
            block
            for position in range(first, past)
            if position in chunks
            for block in blocks_of(chunks[position], chunks.get(position - 1), document.file_type)
        ]
        part = ReadingPart(
            document_id=document.pk,
            blocks=blocks,
            next=_address(request, past) if past in chunks else None,
            previous=_address(request, max(0, first - query.limit)) if first - 1 in chunks else None,
        )
        return json_response(request, part)


def _chunk_in(principal: Principal, document: Document, id: UUID | None) -> Chunk | None:
    """Return the chunk, or raise `NotFound` if it is none of the document's."""
    if id is None:
        return None
    chunk = visible_chunk(principal, str(id))
    if chunk.document_id != document.pk:
        raise NotFound
    return chunk


def _address(request: Request, start: int) -> str:
    return str(replace_query_param(request.build_absolute_uri(), "start", start))
