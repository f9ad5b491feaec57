"""What a model may call over the protocol, and what it gets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from channels.db import database_sync_to_async
from pydantic import BaseModel, ConfigDict, Field

from accounts.principal import Principal
from assistants.configuration.assistants import listed_assistants
from assistants.gateway.cited import address_of
from assistants.gateway.mcp import adding
from assistants.gateway.mcp.running import Json, ModelCall, answer_json, run
from assistants.gateway.plan import assistant_named
from assistants.models import Assistant
from core.api.validation import validated
from core.errors import NotFound
from core.threads import in_database
from kb.access import live_chunks
from kb.api.filtering import DocumentFilter
from kb.api.finding import visible_chunk, visible_document
from kb.models import Document
from runs.registry import tool_named
from search.api import SearchInput, run_search
from search.inputs import QueryText
from search.web.inputs import WebSearchInput
from search.web.preferences import are_web_tools_offered
from search.web.web_fetch import DESCRIPTION, WebFetchInput

ASK_ASSISTANT = "ask_assistant"
MOST_ASSISTANTS = 50
"""So many are named where the tool is listed; others may be asked all the same."""
MOST_TEXT = 100_000
"""Characters of a document that are handed out at once."""


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SearchArguments(_Arguments):
    """What `search` takes."""

    query: QueryText = Field(description="What to search for, as specific as possible.")


class FetchArguments(_Arguments):
    """What `fetch` takes."""

    id: str = Field(max_length=100, description="The id of a search result, or of a document.")


class ListArguments(_Arguments):
    """What `list_documents` takes."""

    search: str | None = Field(None, min_length=1, max_length=200, description="Text in the name.")
    workspace_id: str | None = Field(None, max_length=36)
    tag: str | None = Field(None, min_length=1, max_length=100)
    limit: int = Field(50, ge=1, le=200, strict=True)
    offset: int = Field(0, ge=0, le=1_000_000, strict=True)


class AskArguments(_Arguments):
    """What `ask_assistant` takes."""

    assistant: str = Field(min_length=1, max_length=100, description="Its name or id.")
    query: QueryText = Field(description="The question, as specific as possible.")


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool as the protocol lists it; a call may raise `LocusError`."""

    name: str
    description: str
    input_schema: Json
    call: Callable[[ModelCall], Awaitable[Json]]
    of_the_web: bool = False
    changes: bool = False
    """Whether it changes what the caller has, and therefore needs the right to."""


# --- Documents ---------------------------------------------------------------------------------------------


async def _search(call: ModelCall) -> Json:
    asked = validated(SearchArguments, call.arguments)
    found = await _run_search(call.principal, SearchInput(query=asked.query))
    return {
        "results": [
            {
                "id": str(hit.chunk_id),
                "title": _title(hit.document_name, hit.page_number),
                "url": address_of(hit.model_dump(include={"chunk_id", "document_id"}), call.base_url),
                "text": hit.text,
            }
            for hit in found.results
        ]
    }


# In a thread of its own, as the view's is.
_run_search = database_sync_to_async(run_search, thread_sensitive=False)


def _title(name: str, page_number: int | None) -> str:
    return name if page_number is None else f"{name}, page {page_number}"


async def _fetch(call: ModelCall) -> Json:
    asked = validated(FetchArguments, call.arguments)
    return await in_database(_fetched, call.principal, asked.id, call.base_url)


def _fetched(principal: Principal, id: str, base_url: str) -> Json:
    """Return a passage or a whole document, as the pair `search` and `fetch` is expected to."""
    try:
        chunk = visible_chunk(principal, id)
    except NotFound:
        return fetched_document(principal, visible_document(principal, id), base_url)
    place = {"chunk_id": chunk.pk, "document_id": chunk.document_id}
    return {
        "id": str(chunk.pk),
        "title": _title(chunk.document.name, chunk.page_number),
        "text": chunk.text,
        "url": address_of(place, base_url),
        "metadata": {"document_id": str(chunk.document_id), "page_number": chunk.page_number},
    }


def fetched_document(principal: Principal, document: Document, base_url: str) -> Json:
    """Return the text of a document, or the beginning of a long one, as `fetch` gives it."""
    text, is_whole = "", True
    for part in live_chunks(principal, document).values_list("text", flat=True).iterator(100):
        text += f"{part}\n\n"
        if len(text) > MOST_TEXT:
            text, is_whole = text[:MOST_TEXT], False
            break
    return {
        "id": str(document.pk),
        "title": document.name,
        "text": text.strip(),
        "url": address_of({"document_id": document.pk}, base_url),
        "metadata": {"pages": document.page_count, "is_whole": is_whole},
    }


async def _list_documents(call: ModelCall) -> Json:
    asked = validated(ListArguments, call.arguments)
    return await in_database(_listed, call.principal, asked, call.base_url)


def _listed(principal: Principal, asked: ListArguments, base_url: str) -> Json:
    given = asked.model_dump(include={"search", "workspace_id", "tag"}, exclude_none=True)
    found = validated(DocumentFilter, given).documents(principal).order_by("-created_at", "id")
    page = found[asked.offset : asked.offset + asked.limit + 1]
    return {
        "documents": [_listed_document(each, base_url) for each in page[: asked.limit]],
        "has_more": len(page) > asked.limit,
    }


def _listed_document(document: Document, base_url: str) -> Json:
    return {
        "id": str(document.pk),
        "name": document.name,
        "workspace_id": str(document.workspace_id),
        "status": str(document.status),
        "file_type": document.file_type,
        "page_count": document.page_count,
        "language": document.language,
        "tags": document.tags,
        "created_at": document.created_at.isoformat(),
        "url": address_of({"document_id": document.pk}, base_url),
    }


# --- Assistants --------------------------------------------------------------------------------------------


async def _ask_assistant(call: ModelCall) -> Json:
    asked = validated(AskArguments, call.arguments)
    assistant = await in_database(_assistant, call.principal, asked.assistant)
    inputs: Json = {"query": asked.query, "assistant_id": str(assistant.pk)}
    if call.principal.session_id is None:
        # Its workspace decides what is switched on, and pays, as in the other protocols.
        inputs["workspace_id"] = str(assistant.workspace_id)
    return answer_json(await run(call, "agent", inputs), call.base_url)


def _assistant(principal: Principal, name: str) -> Assistant:
    found = assistant_named(principal, [name])
    if found is None:
        raise NotFound("There is no such assistant that you can ask.", param="assistant")
    return found


def ask_assistant(principal: Principal) -> McpTool | None:
    """Return the tool that asks an assistant, with those that the principal may ask; None without any."""
    rows = listed_assistants(principal).order_by("name", "pk")[:MOST_ASSISTANTS]
    known = [f"{row.name}{f': {row.description}' if row.description else ''}" for row in rows]
    if not known:
        return None
    return McpTool(
        ASK_ASSISTANT,
        "Asks an assistant that people of Locus have set up, and returns its answer with citations. "
        f"These can be asked: {'; '.join(known)}",
        _schema(AskArguments),
        _ask_assistant,
    )


# --- Executions --------------------------------------------------------------------------------------------


async def _rag_search(call: ModelCall) -> Json:
    return answer_json(await run(call, "rag_search", call.arguments), call.base_url)


async def _web_search(call: ModelCall) -> Json:
    """Return what a model gets of a web search (contract §6); an answer where it asks for one."""
    result = await run(call, "web_search", {"mode": "results"} | call.arguments)
    if "response" in result:
        return answer_json(result, call.base_url)
    names = {"title": "title", "url": "url", "snippet": "snippet", "published_date": "published_at"}
    hits = [{name: hit[ours] for name, ours in names.items()} for hit in result["results"]]
    return {"results": hits, "execution_id": result["execution_id"]}


async def _web_fetch(call: ModelCall) -> Json:
    return await run(call, "web_fetch", call.arguments)


def offered_tools(principal: Principal) -> Sequence[McpTool]:
    """Return the tools that this deployment has for a principal; it asks the database."""
    own = [tool for tool in TOOLS.values() if are_web_tools_offered() or not tool.of_the_web]
    assistants = ask_assistant(principal)
    return [*own, assistants] if assistants else own


def _schema(model: type[BaseModel], **changed: Mapping[str, Any]) -> Json:
    schema = model.model_json_schema()
    for name, change in changed.items():
        schema["properties"][name] |= change
    return schema


def _tools() -> list[McpTool]:
    rag = tool_named("rag_search")
    return [
        McpTool(
            "search",
            "Finds passages in the documents that you may read. Read one whole with `fetch`.",
            _schema(SearchArguments),
            _search,
        ),
        McpTool(
            "fetch",
            "Returns the text of a search result by its id, or of a whole document.",
            _schema(FetchArguments),
            _fetch,
        ),
        McpTool(rag.name, rag.description, _schema(rag.input_model), _rag_search),
        McpTool(
            "list_documents",
            "Lists the documents that you may read.",
            _schema(ListArguments),
            _list_documents,
        ),
        McpTool("add_document", adding.DESCRIPTION, _schema(adding.AddArguments), adding.add, changes=True),
        McpTool(
            "web_search",
            "Searches the web: lists pages or, with mode `answer`, answers from them with citations.",
            _schema(WebSearchInput, mode={"default": "results"}),
            _web_search,
            of_the_web=True,
        ),
        McpTool("web_fetch", DESCRIPTION, _schema(WebFetchInput), _web_fetch, of_the_web=True),
    ]


TOOLS: dict[str, McpTool] = {tool.name: tool for tool in _tools()}
