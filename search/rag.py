"""`rag_search`: a question over documents becomes a streamed, cited answer.

    prepare ─ retrieve ─ keep the best as contexts ─ answer, marker by marker ─ resolve the citations

One async generator of typed events; every transport is a frame around it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from time import perf_counter
from uuid import UUID

from channels.db import database_sync_to_async
from pydantic import BaseModel, ConfigDict, Field, field_validator

from accounts.errors import NotFound
from accounts.principal import Principal
from kb.documents import documents_by_id
from search.answer.base import Context
from search.answer.citations import MarkerSafeSplitter, Resolved, resolve
from search.answer.registry import answerer
from search.events import (
    BoxData,
    ContextData,
    Contexts,
    Event,
    PartialText,
    Phase,
    RagResult,
    ToolEnd,
    ToolPartialUpdate,
    ToolUpdate,
)
from search.retrieval import Found, Question, retrieve

PREVIEW_CHARS = 300


class RagInput(BaseModel):
    """What `rag_search` takes (contract §5)."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=2000, description="The question, as specific as possible.")
    document_ids: list[UUID] | None = Field(
        None, max_length=1000, description="Search only these documents; an empty list searches nothing."
    )
    workspace_ids: list[UUID] | None = Field(
        None, max_length=1000, description="Search only these workspaces; by default all you may read."
    )
    limit: int = Field(5, ge=1, le=20, strict=True, description="How many contexts the answer may use.")

    @field_validator("query")
    @classmethod
    def _not_blank(cls, query: str) -> str:
        if not query.strip():
            raise ValueError("must not be blank")
        return query

    def check_visible(self, principal: Principal) -> None:
        """Raise `NotFound` naming the first document or workspace that the principal can't see."""
        documents_by_id(principal, self.document_ids or [])
        for index, id in enumerate(self.workspace_ids or []):
            if id not in principal.roles:
                raise NotFound(
                    f"There is no workspace {id} that you can see.", param=f"workspace_ids[{index}]"
                )


async def rag_search(principal: Principal, inputs: RagInput, execution_id: str) -> AsyncIterator[Event]:
    """Yield the events of one search: the four phases, the contexts, the text, and the result."""
    clock = Clock()
    yield _phase("SEARCH_PREPARATION", "started", execution_id=execution_id)
    found = await database_sync_to_async(retrieve, thread_sensitive=False)(principal, _question(inputs))
    clock.lap("retrieval")
    yield _phase("RETRIEVAL", "completed", retrieved_count=len(found))

    contexts = _contexts(found[: inputs.limit])
    yield _phase(
        "RERANKING", "completed", initial_count=len(found), reranked_count=0, kept_count=len(contexts)
    )
    yield ToolUpdate(data=Contexts(contexts=[_context_data(context) for context in contexts]))

    yield _phase("COMPILING_RESULTS", "started")
    splitter, raw = MarkerSafeSplitter(), ""
    async for piece in answerer().answer(inputs.query, contexts):
        raw += piece
        for partial in splitter.feed(piece):
            yield ToolPartialUpdate(data=PartialText(content=partial))
    for partial in splitter.finish():
        yield ToolPartialUpdate(data=PartialText(content=partial))
    resolved = resolve(raw.rstrip(), contexts)
    clock.lap("generation")
    yield ToolEnd(data=_result(execution_id, resolved, contexts, clock.laps))


class Clock:
    """Seconds spent in each stage, and in all."""

    def __init__(self) -> None:
        self._start = self._last = perf_counter()
        self.laps: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        """Close a stage."""
        now = perf_counter()
        self.laps |= {stage: round(now - self._last, 4), "total": round(now - self._start, 4)}
        self._last = now


def _question(inputs: RagInput) -> Question:
    return Question(
        inputs.query,
        None if inputs.document_ids is None else tuple(inputs.document_ids),
        None if inputs.workspace_ids is None else tuple(inputs.workspace_ids),
    )


def _phase(name: str, status: str, *, execution_id: str | None = None, **counts: int) -> ToolUpdate:
    phase = {"phase": name, "status": status, "data": counts or None, "execution_id": execution_id}
    return ToolUpdate(data=Phase.model_validate(phase))


def _contexts(found: Sequence[Found]) -> list[Context]:
    return [Context(rank, f.chunk, f.chunk.document.name, f.fused) for rank, f in enumerate(found, start=1)]


def _context_data(context: Context, resolved: Resolved | None = None) -> ContextData:
    chunk = context.chunk
    quotes = resolved.quotes.get(context.rank, []) if resolved else []
    boxes = [BoxData.of(box) for box in context.located.boxes()]
    return ContextData(
        rank=context.rank,
        chunk_id=str(chunk.pk),
        document_id=str(chunk.document_id),
        document_name=context.document_name,
        text_preview=chunk.text[:PREVIEW_CHARS],
        page_number=chunk.page_number,
        bbox=boxes or None,
        start_time=chunk.start_time,
        end_time=chunk.end_time,
        score=round(context.score, 4),
        rerank_score=None,
        used_in_response=bool(quotes),
        quotes=quotes,
        quote=quotes[0].text if quotes else None,
    )


def _result(
    execution_id: str, resolved: Resolved, contexts: Sequence[Context], timings: dict[str, float]
) -> RagResult:
    return RagResult(
        response=resolved.response,
        contexts=[_context_data(context, resolved) for context in contexts],
        sources_used=resolved.sources_used,
        model=answerer().model,
        execution_id=execution_id,
        answered=bool(resolved.quotes),
        citations_removed=resolved.removed,
        usage={"input_tokens": 0, "output_tokens": 0},
        timings=timings,
    )
