"""`rag_search`: a question over documents becomes a streamed, cited answer.

    prepare ─ retrieve ─ keep the best as contexts ─ answer, marker by marker ─ resolve the citations

One async generator of typed events; every transport is a frame around it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from functools import partial
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from pydantic import Field

from accounts.ledger.base import Payer
from accounts.ledger.spending import cost_of_execution
from accounts.principal import Principal
from core.threads import in_database
from kb.models import Document
from runs.context import Run
from runs.events import DocumentsRead, ToolEnd, ToolUpdate, Trace, Yielded
from search.answering import AnswerStream, TextStream, embed, paid_answer
from search.citations.resolve import Resolved
from search.citations.verifying import verified
from search.continuations import with_continuations
from search.crops import crops_of
from search.events import BoxData, ContextData, Contexts, FilePlace, Phase, RagResult
from search.generation.base import Context, GenerationRequest, GenerationUsage
from search.generation.extractive import nothing_found
from search.generation.registry import generator
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
    wanted, ranking, found = await _searched(principal, inputs, run)
    clock.mark("retrieval")
    yield _phase("RETRIEVAL", "completed", retrieved_count=ranking.total_candidates)

    contexts = _contexts(found)
    yield _phase(
        "RERANKING",
        "completed",
        initial_count=ranking.total_candidates,
        reranked_count=ranking.reranked_count,
        kept_count=len(contexts),
    )
    yield DocumentsRead(documents=list(dict.fromkeys(context.chunk.document_id for context in contexts)))
    yield ToolUpdate(data=Contexts(contexts=[_context_data(context) for context in contexts]))

    yield _phase("COMPILING_RESULTS", "started")
    written = AnswerStream()
    asked = GenerationRequest(inputs.query, contexts, wanted.reflection)
    async with aclosing(written.partials(_answer(principal, run, asked, wanted, ranking))) as partials:
        async for partial in partials:
            yield partial
    clock.mark("generation")
    shown = [each for each in contexts if written.was_shown(each.rank)]
    resolved = await asyncio.to_thread(verified, written.raw, shown, inputs.query, embed)
    clock.mark("verification")
    cost = await _cost(run, wanted, written)
    yield _trace(ranking, contexts, resolved, written, cost, clock.timings)
    yield ToolEnd(data=_result(run.execution_id, resolved, contexts, written, clock.timings))


def _retrieved(
    principal: Principal, inputs: RagInput, run: Run
) -> tuple[RagSettings, Ranking, list[RankedChunk]]:
    wanted = rag_settings(principal, run.workspace_id, contexts=inputs.limit, reflection=inputs.reflection)
    steps = replace(FOR_ANSWERS, reranker=wanted.reranker)
    payer = partial(Payer.of, run.workspace_id, run.execution_id)
    ranking = rank(principal, inputs.question(), limit=wanted.contexts, settings=steps, payer=payer)
    return wanted, ranking, with_continuations(principal, ranking.results, wanted.contexts)


_searched = database_sync_to_async(_retrieved, thread_sensitive=False)


def is_relevant(found: Sequence[RankedChunk]) -> bool:
    """Tell whether anything found is about the question at all."""
    return any(each.relevance >= settings.RELEVANCE_FLOOR for each in found)


async def _answer(
    principal: Principal, run: Run, asked: GenerationRequest, wanted: RagSettings, ranking: Ranking
) -> TextStream:
    """Ask the generator, unless there is nothing it could answer from."""
    chosen = generator(wanted.generation_model)
    if not is_relevant(ranking.results):
        yield nothing_found(asked)
        yield GenerationUsage(chosen.name)
        return
    if wanted.multimodal and chosen.can_see:
        asked = replace(asked, crops=await crops_of(asked.contexts))
    async with aclosing(paid_answer(run, chosen, asked)) as pieces:
        async for piece in pieces:
            yield piece


async def _cost(run: Run, wanted: RagSettings, written: AnswerStream) -> float | None:
    """Return the US dollars spent, None if unknown; the ledger is asked only where a reranker is paid."""
    chosen = await asyncio.to_thread(reranker, wanted.reranker)
    if written.cost is None or chosen is None or not chosen.is_paid:
        return written.cost
    return float(await in_database(cost_of_execution, run.execution_id))


def _phase(name: str, status: str, *, execution_id: str | None = None, **counts: int) -> ToolUpdate:
    phase = {"phase": name, "status": status, "data": counts or None, "execution_id": execution_id}
    return ToolUpdate(data=Phase.model_validate(phase))


def _contexts(found: Sequence[RankedChunk]) -> list[Context]:
    return [
        Context(rank, each.chunk, each.chunk.document.name, each.score, each.scores.rerank)
        for rank, each in enumerate(found, start=1)
    ]


def _context_data(context: Context, resolved: Resolved | None = None) -> ContextData:
    chunk = context.chunk
    quotes = resolved.quotes.get(context.rank, []) if resolved else []
    boxes = [BoxData.of(box) for box in chunk.boxes(context.located)]
    picture = chunk.shown
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
        rerank_score=context.rerank_score,
        used_in_response=bool(quotes),
        quotes=quotes,
        quote=quotes[0].text if quotes else None,
        picture=BoxData.of(picture.area) if picture and picture.area else None,
        machine_made=picture.machine_made(len(chunk.text)) if picture else [],
        place=FilePlace.of(context.located.files()),
    )


def _result(
    execution_id: str,
    resolved: Resolved,
    contexts: Sequence[Context],
    written: AnswerStream,
    timings: dict[str, float],
) -> RagResult:
    return RagResult(
        response=resolved.response,
        contexts=[_context_data(context, resolved) for context in contexts],
        sources_used=resolved.sources_used,
        model=written.spent.model,
        execution_id=execution_id,
        answered=bool(resolved.quotes),
        citations_removed=resolved.removed,
        usage=written.usage,
        timings=timings,
    )


def _trace(
    ranking: Ranking,
    contexts: Sequence[Context],
    resolved: Resolved,
    written: AnswerStream,
    cost: float | None,
    timings: dict[str, float],
) -> Trace:
    return Trace(
        usage=written.usage,
        cost=cost,
        timings=timings | {f"retrieval.{stage}": secs for stage, secs in ranking.timings.items()},
        steps={
            "retrieved": ranking.total_candidates,
            "reranked": ranking.reranked_count,
            # No ids: contexts name them, blanked for documents that a reader no longer sees.
            "kept": [{"rank": each.rank, "score": each.score} for each in contexts],
            "seen": sorted(written.spent.seen),
            "citations": [asdict(verdict) for verdict in resolved.verdicts],
        },
    )
