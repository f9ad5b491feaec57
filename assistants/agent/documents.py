"""The agent's tools for documents: they search, list and read within the scope of the request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import aclosing
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from assistants.agent.outcome import AgentTool, CallOutcome, CallSteps, Gathering, rendered
from assistants.scope import documents_within
from core.api.validation import validated
from core.errors import NotFound, ValidationError
from core.llm.base import ChatFunction
from core.threads import in_database
from kb.access import live_chunks
from kb.models import Document, Searchable
from kb.scheduled_deletion import NOT_MARKED
from runs.events import DocumentsRead, ToolUpdate
from search.contexts import ChunkContext, context_of_chunk
from search.events import Contexts
from search.inputs import QueryText
from search.rag import RetrievedContexts, context_data, retrieve_contexts

MOST_LISTED = 20
CHUNKS_A_PART = 10
"""So many passages of a document are read with one call."""
Name = Annotated[str, Field(max_length=200)]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Search(_Arguments):
    query: QueryText


class _Listing(_Arguments):
    name: Name | None = None


class _Reading(_Arguments):
    document_id: UUID
    first_page: int | None = Field(None, ge=1, le=2**31 - 1)
    last_page: int | None = Field(None, ge=1, le=2**31 - 1)
    section: Name | None = None
    part: int = Field(1, ge=1, le=10_000)


# --- rag_search ------------------------------------------------------------------------------------------


async def _search(gathering: Gathering, arguments: object) -> CallSteps:
    asked = gathering.asked
    query = validated(_Search, arguments).query
    retrieval = retrieve_contexts(
        asked.principal, asked.about(query), asked.run, asked.wanted, gathering.clock
    )
    async with aclosing(retrieval) as steps:
        async for step in steps:
            # The contexts get the numbers of this run first.
            if isinstance(step, ToolUpdate) and isinstance(step.data, Contexts):
                continue
            if isinstance(step, RetrievedContexts):
                found = step
            else:
                yield step
    gathering.book.note_unseen(found.unseen_names)
    contexts = gathering.book.add_chunks(found.contexts, are_relevant=bool(found.worth_reading))
    gathering.guard.learn_documents(_texts(contexts))
    yield ToolUpdate(data=Contexts(contexts=[context_data(each) for each in contexts]))
    shown = rendered(contexts) if found.worth_reading else []
    said: dict[str, JsonValue] = {"sources": _with_documents(shown, contexts)}
    if found.unseen_names:
        said["names_in_no_document"] = list(found.unseen_names)
    yield CallOutcome(said, len(shown))


def _with_documents(shown: list[JsonValue], contexts: Sequence[ChunkContext]) -> list[JsonValue]:
    """Return sources with the ids by which `read_document` takes their documents."""
    ids = {each.rank: str(each.document_id) for each in contexts}
    return [
        {**source, "document_id": ids[int(str(source["source"]))]}
        for source in shown
        if isinstance(source, dict)
    ]


def _texts(contexts: Sequence[ChunkContext]) -> list[str]:
    """Return what a planner learns of passages, ids included: none of it is for the web."""
    return [
        " ".join((each.text, each.document_name, *each.headings, str(each.document_id))) for each in contexts
    ]


# --- list_documents --------------------------------------------------------------------------------------


async def _list(gathering: Gathering, arguments: object) -> CallSteps:
    name = validated(_Listing, arguments).name
    documents, total = await in_database(_listed, gathering, name)
    # The planner may ask with the names: what it asks for is theirs, too.
    yield DocumentsRead(documents=[document.pk for document in documents])
    gathering.guard.learn_documents(f"{document.name} {document.pk}" for document in documents)
    shown: list[JsonValue] = [
        {
            "document_id": str(document.pk),
            "name": document.name,
            "type": document.file_type,
            "pages": document.page_count,
            "language": document.language,
        }
        for document in documents
    ]
    yield CallOutcome({"documents": shown, "total": total}, len(shown))


def _listed(gathering: Gathering, name: str | None) -> tuple[list[Document], int]:
    asked = gathering.asked
    rows = (
        documents_within(asked.principal, asked.scope).filter(NOT_MARKED).exclude(searchable=Searchable.NONE)
    )
    if name:
        rows = rows.filter(name__icontains=name)
    return list(rows.order_by("name", "pk")[:MOST_LISTED]), rows.count()


# --- read_document ---------------------------------------------------------------------------------------


async def _read(gathering: Gathering, arguments: object) -> CallSteps:
    wanted = validated(_Reading, arguments)
    found, total = await in_database(_passages, gathering, wanted)
    chunks: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for each in found:
        assert each.workspace_id is not None
        chunks[each.workspace_id].append(each.chunk_id)
    yield DocumentsRead(documents=[wanted.document_id], chunks=chunks)
    contexts = gathering.book.add_chunks(found, are_relevant=True)
    gathering.guard.learn_documents(_texts(contexts))
    yield ToolUpdate(data=Contexts(contexts=[context_data(each) for each in contexts]))
    parts = -(-total // CHUNKS_A_PART)
    yield CallOutcome({"part": wanted.part, "parts": parts, "sources": rendered(contexts)}, len(contexts))


def _passages(gathering: Gathering, wanted: _Reading) -> tuple[list[ChunkContext], int]:
    """Return one part of what is to be read, and how many passages there are; raise `NotFound`."""
    asked = gathering.asked
    rows = documents_within(asked.principal, asked.scope).filter(NOT_MARKED, pk=wanted.document_id)
    document = rows.first()
    if document is None:
        raise NotFound("There is no such document here. list_documents names them.", param="document_id")
    chunks = live_chunks(asked.principal, document).order_by("ordinal")
    if wanted.first_page is not None or wanted.last_page is not None:
        first = wanted.first_page or wanted.last_page or 1
        chunks = chunks.filter(page_number__range=(first, max(first, wanted.last_page or first)))
    if wanted.section:
        section = wanted.section.casefold()
        inside = [pk for pk, path in chunks.values_list("pk", "headings") if section in _folded(path)]
        chunks = chunks.filter(pk__in=inside)
    start = (wanted.part - 1) * CHUNKS_A_PART
    total = chunks.count()
    if not total:
        raise ValidationError("The document has no text there. Ask for other pages or another section.")
    part = chunks[start : start + CHUNKS_A_PART]
    return [context_of_chunk(0, chunk, document.name, 1.0) for chunk in part], total


def _folded(headings: Sequence[str]) -> str:
    return "\n".join(headings).casefold()


def _schema(properties: dict[str, Any], *required: str) -> dict[str, JsonValue]:
    return {"type": "object", "properties": properties, "required": list(required)}


_TEXT = {"type": "string"}
_NUMBER = {"type": "integer", "minimum": 1}
TOOLS = [
    AgentTool(
        ChatFunction(
            "rag_search",
            "Searches the documents by words and by meaning, and returns the best passages as sources.",
            _schema({"query": _TEXT | {"description": "A question, as specific as possible."}}, "query"),
        ),
        _search,
        "query",
    ),
    AgentTool(
        ChatFunction(
            "list_documents",
            f"Lists the documents by name, {MOST_LISTED} at most.",
            _schema({"name": _TEXT | {"description": "Only those with this text in their name."}}),
        ),
        _list,
        "name",
    ),
    AgentTool(
        ChatFunction(
            "read_document",
            "Reads a document in order, or some of its pages or one section, and returns its passages as "
            f"sources, {CHUNKS_A_PART} for each part.",
            _schema(
                {
                    "document_id": _TEXT | {"description": "As rag_search and list_documents give it."},
                    "first_page": _NUMBER,
                    "last_page": _NUMBER,
                    "section": _TEXT | {"description": "Words of a heading."},
                    "part": _NUMBER | {"description": "1 is the beginning."},
                },
                "document_id",
            ),
        ),
        _read,
        "document_id",
    ),
]
