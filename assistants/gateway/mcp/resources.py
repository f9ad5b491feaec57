"""Documents and their passages as resources: `locus://documents/{id}`, `locus://chunks/{id}`."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import UUID

import mcp_types as types
from mcp.shared.exceptions import MCPError

from accounts.principal import Principal
from assistants.gateway.cited import address_of
from assistants.gateway.mcp.tools import fetched_document
from core.errors import NotFound
from kb.api.finding import visible_chunk, visible_document
from kb.models import Document
from kb.representations import Chunk
from kb.scheduled_deletion import NOT_MARKED

PAGE = 100
DOCUMENT, CHUNK = "locus://documents/{id}", "locus://chunks/{id}"
_ADDRESS = re.compile(r"locus://(?P<kind>documents|chunks)/(?P<id>[0-9a-fA-F-]{36})")
TEMPLATES = [
    types.ResourceTemplate(
        name="document",
        title="Document",
        uri_template=DOCUMENT,
        description="The text of a document.",
        mime_type="text/plain",
    ),
    types.ResourceTemplate(
        name="chunk",
        title="Passage",
        uri_template=CHUNK,
        description="A passage, as text and as JSON with its place: page and boxes, or times. The ids of "
        "search results are such ids.",
    ),
]


def listed_resources(principal: Principal, cursor: str | None) -> types.ListResourcesResult:
    """Return a page of the documents that the principal may list, the newest first.

    `cursor` is the id of the last document of the page before; an unknown one raises `MCPError`.
    """
    rows = Document.objects.restricted_to(principal).filter(NOT_MARKED).order_by("-created_at", "-pk")
    if cursor is not None:
        id = _cursor_id(cursor)
        last = rows.filter(pk=id).first() if id else None
        if last is None:
            raise MCPError(types.INVALID_PARAMS, "This cursor is not valid.")
        older = rows.filter(created_at__lt=last.created_at)
        rows = older | rows.filter(created_at=last.created_at, pk__lt=last.pk)
    found = list(rows[: PAGE + 1])
    page = found[:PAGE]
    return types.ListResourcesResult(
        resources=[_listed(document) for document in page],
        next_cursor=str(page[-1].pk) if len(found) > PAGE else None,
    )


def read_resource(principal: Principal, uri: str, base_url: str) -> types.ReadResourceResult:
    """Return the contents of a resource; raise `MCPError` if there is none that the principal sees."""
    found = _ADDRESS.fullmatch(uri)
    try:
        if found is None:
            raise NotFound
        if found["kind"] == "chunks":
            return _chunk(principal, uri, found["id"], base_url)
        document = fetched_document(principal, visible_document(principal, found["id"]), base_url)
    except NotFound:
        raise MCPError(
            types.INVALID_PARAMS, "There is no such resource that you can see.", {"uri": uri}
        ) from None
    return types.ReadResourceResult(contents=[_text(uri, "text/plain", document["text"])])


def _chunk(principal: Principal, uri: str, id: str, base_url: str) -> types.ReadResourceResult:
    row = visible_chunk(principal, id)
    shown: dict[str, Any] = Chunk.of(row, row.document.name).model_dump(mode="json")
    shown["url"] = address_of({"chunk_id": row.pk, "document_id": row.document_id}, base_url)
    place = json.dumps(shown, ensure_ascii=False)
    contents = [_text(uri, "text/plain", row.text), _text(uri, "application/json", place)]
    return types.ReadResourceResult(contents=[*contents])


def _listed(document: Document) -> types.Resource:
    return types.Resource(
        name=document.name,
        uri=DOCUMENT.replace("{id}", str(document.pk)),
        mime_type="text/plain",
    )


def _text(uri: str, mime_type: str, text: str) -> types.TextResourceContents:
    return types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)


def _cursor_id(cursor: str) -> UUID | None:
    try:
        return UUID(cursor)
    except ValueError:
        return None
