"""`rag_search`: a question over documents becomes a streamed, cited answer.

    prepare ─ retrieve ─ keep the best as contexts ─ answer, marker by marker ─ resolve the citations

One async generator of typed events; every transport is a frame around it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from pydantic import Field

from accounts.ledger.base import Payer
from accounts.ledger.paying import LedgerPayment
from accounts.ledger.spending import cost_of_execution
from accounts.principal import Principal
from core.threads import in_database
from kb.models import Document
from runs.context import Run
from runs.events import DocumentsRead, ToolEnd, ToolUpdate, Trace, Yielded
from search.answering import CitedAnswer, answer_from
from search.citations.resolve import Resolved
from search.contexts import ChunkContext, Context, context_of_chunk
from search.continuations import with_continuations
from search.events import BoxData, ContextData, Contexts, FilePlace, Phase, RagResult
from search.inputs import QuestionInput
from search.preferences import RagSettings, rag_settings
from search.rerank.registry import reranker
from search.retrieval import DEFAULT, RankedChunk, Ranking, rank
from search.timing import StageTimer

PREVIEW_CHARS = 300
# What one context says, another need not say again.
FOR_ANSWERS = replace(DEFAULT, near_duplicates=False)


class RagInput(QuestionInput):
    """What `rag_search` takes (contract §5)."""

    limit: int | None = Field(
        None, ge=1, le=20, strict=True, description="How many contexts the answer may use; else as preferred."
    )
    reflection: bool | None = Field(
        None, strict=True, description="Whether the answer begins with what is made of the question."
    )


def searched_workspaces(principal: Principal, inputs: RagInput) -> set[UUID]:
    """Return the workspaces whose documents a search looks through."""
    if inputs.document_ids is not None:
        named = Document.objects.addressable_by(principal).filter(pk__in=inputs.document_ids)
        return set(named.values_list("workspace_id", flat=True))
    return set(principal.workspace_ids if inputs.workspace_ids is None else inputs.workspace_ids)


async def rag_search(principal: Principal, inputs: RagInput, run: Run) -> AsyncIterator[Yielded]:
    """Yield the events of one search: its phases, contexts and text, how it came about, its result."""
    clock = StageTimer()
    yield _phase("SEARCH_PREPARATION", "started", execution_id=run.execution_id)
    wanted, ranking, contexts = await _searched(principal, inputs, run)
    clock.mark("retrieval")
    yield _phase("RETRIEVAL", "completed", retrieved_count=ranking.total_candidates)

    yield _phase(
        "RERANKING",
        "completed",
        initial_count=ranking.total_candidates,
        reranked_count=ranking.reranked_count,
        kept_count=len(contexts),
    )
    yield DocumentsRead(documents=list(dict.fromkeys(context.document_id for context in contexts)))
    yield ToolUpdate(data=Contexts(contexts=[_context_data(context) for context in contexts]))

    yield _phase("COMPILING_RESULTS", "started")
    # From what is not about the question nothing is written.
    worth = contexts if is_relevant(ranking.results) else []
    async with aclosing(
        answer_from(worth, inputs.query, principal=principal, run=run, wanted=wanted, clock=clock)
    ) as parts:
        async for part in parts:
            if isinstance(part, CitedAnswer):
                answer = part
            else:
                yield part
    cost = await _cost(run, wanted, answer)
    yield _trace(ranking, contexts, answer, cost, clock.timings)
    yield ToolEnd(data=_result(run.execution_id, answer, contexts, clock.timings))


def _retrieved(
    principal: Principal, inputs: RagInput, run: Run
) -> tuple[RagSettings, Ranking, list[ChunkContext]]:
    wanted = rag_settings(principal, run.workspace_id, contexts=inputs.limit, reflection=inputs.reflection)
    steps = replace(FOR_ANSWERS, reranker=wanted.reranker)
    payment = LedgerPayment(lambda: Payer.of(run.workspace_id, run.execution_id))
    ranking = rank(principal, inputs.question(), limit=wanted.contexts, settings=steps, payment=payment)
    found = with_continuations(principal, ranking.results, wanted.contexts)
    return wanted, ranking, [_context(rank, each) for rank, each in enumerate(found, start=1)]


_searched = database_sync_to_async(_retrieved, thread_sensitive=False)


def is_relevant(found: Sequence[RankedChunk]) -> bool:
    """Tell whether anything found is about the question at all."""
    return any(each.relevance >= settings.RELEVANCE_FLOOR for each in found)


async def _cost(run: Run, wanted: RagSettings, answer: CitedAnswer) -> float | None:
    """Return the US dollars spent, None if unknown; the ledger is asked only where a reranker is paid."""
    chosen = await asyncio.to_thread(reranker, wanted.reranker)
    if answer.cost is None or chosen is None or not chosen.is_paid:
        return answer.cost
    return float(await in_database(cost_of_execution, run.execution_id))


def _phase(name: str, status: str, *, execution_id: str | None = None, **counts: int) -> ToolUpdate:
    phase = {"phase": name, "status": status, "data": counts or None, "execution_id": execution_id}
    return ToolUpdate(data=Phase.model_validate(phase))


def _context(rank: int, found: RankedChunk) -> ChunkContext:
    return context_of_chunk(rank, found.chunk, found.chunk.document.name, found.score, found.scores.rerank)


def _context_data(context: ChunkContext, resolved: Resolved | None = None) -> ContextData:
    quotes = resolved.quotes.get(context.rank, []) if resolved else []
    picture = context.picture
    return ContextData(
        rank=context.rank,
        chunk_id=str(context.chunk_id),
        document_id=str(context.document_id),
        document_name=context.document_name,
        text_preview=context.text[:PREVIEW_CHARS],
        page_number=context.page_number,
        bbox=[BoxData.of(box) for box in context.boxes] or None,
        start_time=context.start_time,
        end_time=context.end_time,
        score=round(context.score, 4),
        rerank_score=context.rerank_score,
        used_in_response=bool(quotes),
        quotes=quotes,
        quote=quotes[0].text if quotes else None,
        picture=BoxData.of(picture.area) if picture and picture.area else None,
        machine_made=picture.machine_made(len(context.text)) if picture else [],
        place=FilePlace.of(context.located.files()),
    )


def _result(
    execution_id: str, answer: CitedAnswer, contexts: Sequence[ChunkContext], timings: dict[str, float]
) -> RagResult:
    resolved = answer.resolved
    return RagResult(
        response=resolved.response,
        contexts=[_context_data(context, resolved) for context in contexts],
        sources_used=resolved.sources_used,
        model=answer.model,
        execution_id=execution_id,
        answered=bool(resolved.quotes),
        citations_removed=resolved.removed,
        usage=answer.usage,
        timings=timings,
    )


def _trace(
    ranking: Ranking,
    contexts: Sequence[Context],
    answer: CitedAnswer,
    cost: float | None,
    timings: dict[str, float],
) -> Trace:
    return Trace(
        usage=answer.usage,
        cost=cost,
        timings=timings | {f"retrieval.{stage}": secs for stage, secs in ranking.timings.items()},
        steps={
            "retrieved": ranking.total_candidates,
            "reranked": ranking.reranked_count,
            # No ids: contexts name them, blanked for documents that a reader no longer sees.
            "kept": [{"rank": each.rank, "score": each.score} for each in contexts],
            "seen": sorted(answer.seen),
            "citations": [asdict(verdict) for verdict in answer.resolved.verdicts],
        },
    )
