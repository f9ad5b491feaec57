"""`rag_search`: a question over documents becomes a streamed, cited answer.

    prepare ─ retrieve ─ keep the best as contexts ─ answer, marker by marker ─ resolve the citations

One async generator of typed events; every transport is a frame around it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from pydantic import Field, JsonValue

from accounts.ledger.base import Payer
from accounts.ledger.paying import LedgerPayment
from accounts.ledger.spending import cost_of_execution
from accounts.principal import Principal
from core.threads import in_database
from runs.context import Run
from runs.events import DocumentsRead, ToolEnd, ToolUpdate, Trace, Yielded
from search.answering import CitedAnswer, answer_from
from search.citations.resolve import Resolved
from search.contexts import ChunkContext, Context, Sentence, context_of_chunk
from search.continuations import with_continuations
from search.document_openings import with_openings
from search.events import (
    AnswerOutcome,
    BoxData,
    ContextData,
    Contexts,
    FilePlace,
    Phase,
    RagResult,
)
from search.finding import find
from search.inputs import QuestionInput
from search.misspelt import respelt
from search.preferences import RagSettings, rag_settings
from search.questions import DEFAULT, Question
from search.quoted_sentences import quoted_sentence
from search.rerank.registry import reranker
from search.retrieval import RankedChunk, Ranking
from search.table_introductions import with_introductions
from search.timing import StageTimer
from search.unseen_names import unseen_names

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


@dataclass(frozen=True, slots=True)
class RetrievedContexts:
    """What retrieval has found for an answer: the last item of `retrieve_contexts`."""

    ranking: Ranking
    contexts: list[ChunkContext]
    is_certain: bool = False
    """Whether they are worth reading in any case: of the one document that the asker has open, as all
    there is of several, or because something was found by its name."""
    unseen_names: tuple[str, ...] = ()
    """Names in the question that no document searched has."""
    spelling: Mapping[str, str] = field(default_factory=dict)
    """The misspelt words of the question, each with what is meant."""

    @property
    def worth_reading(self) -> list[ChunkContext]:
        """The contexts, or none where nothing found is about the question: from that nothing is written.

        Who opens a document and asks about it means what it says, in whatever words it does.
        """
        return self.contexts if self.is_certain or is_relevant(self.ranking.results) else []


async def rag_search(principal: Principal, inputs: RagInput, run: Run) -> AsyncIterator[Yielded]:
    """Yield the events of one search: its phases, contexts and text, how it came about, its result."""
    clock = StageTimer()
    wanted = await in_database(
        rag_settings, principal, run.workspace_id, contexts=inputs.limit, reflection=inputs.reflection
    )
    async with aclosing(retrieve_contexts(principal, inputs.question(), run, wanted, clock)) as steps:
        async for step in steps:
            if isinstance(step, RetrievedContexts):
                found = step
            else:
                yield step
    yield _phase("COMPILING_RESULTS", "started")
    async with aclosing(
        answer_from(
            found.worth_reading,
            respelt(inputs.query, found.spelling),
            principal=principal,
            run=run,
            wanted=wanted,
            clock=clock,
            unseen_names=found.unseen_names,
        )
    ) as parts:
        async for part in parts:
            if isinstance(part, CitedAnswer):
                answer = part
            else:
                yield part
    cost = await cost_of_answer(run, wanted, answer)
    yield _trace(found, answer, cost, clock.timings)
    yield ToolEnd(data=_result(run.execution_id, answer, found, clock.timings))


async def retrieve_contexts(
    principal: Principal, question: Question, run: Run, wanted: RagSettings, clock: StageTimer
) -> AsyncGenerator[ToolUpdate | DocumentsRead | RetrievedContexts, None]:
    """Yield the events of retrieval up to its contexts, and last the `RetrievedContexts`."""
    yield _phase("SEARCH_PREPARATION", "started", execution_id=run.execution_id)
    found = await _retrieve(principal, question, run, wanted)
    ranking, contexts = found.ranking, found.contexts
    clock.mark("retrieval")
    yield _phase("RETRIEVAL", "completed", retrieved_count=ranking.total_candidates)
    yield _phase(
        "RERANKING",
        "completed",
        initial_count=ranking.total_candidates,
        reranked_count=ranking.reranked_count,
        kept_count=len(contexts),
    )
    yield _documents_read(contexts)
    yield ToolUpdate(data=Contexts(contexts=[context_data(context) for context in contexts]))
    yield found


def _retrieved(principal: Principal, question: Question, run: Run, wanted: RagSettings) -> RetrievedContexts:
    steps = replace(FOR_ANSWERS, reranker=wanted.reranker)
    payment = LedgerPayment(lambda: Payer.of(run.workspace_id, run.execution_id, principal.usage_owner))
    found = find(principal, question, limit=wanted.contexts, settings=steps, payment=payment)
    whole = with_continuations(principal, found.ranking.results, wanted.contexts)
    contexts = [_context(rank, each) for rank, each in enumerate(whole, start=1)]
    asked = respelt(question.text, found.spelling)
    contexts = with_introductions(principal, with_openings(principal, asked, contexts))
    open_documents = question.document_ids
    is_all = open_documents is not None and found.ranking.total_candidates <= len(contexts)
    # An assistant may have thousands, and only chance makes one of them answer.
    is_open = open_documents is not None and len(open_documents) == 1
    unseen = unseen_names(asked, found.ranking.words, found.ranking.results)
    # Who opens a receipt may call its shop by a name that is only in its picture.
    return RetrievedContexts(
        found.ranking,
        contexts,
        is_open or is_all or found.is_certain,
        () if is_all else unseen,
        found.spelling,
    )


_retrieve = database_sync_to_async(_retrieved, thread_sensitive=False)


def is_relevant(found: Sequence[RankedChunk]) -> bool:
    """Tell whether anything found is about the question at all."""
    return any(each.relevance >= settings.RELEVANCE_FLOOR for each in found)


async def cost_of_answer(run: Run, wanted: RagSettings, answer: CitedAnswer) -> float | None:
    """Return the US dollars spent, None if unknown; the ledger is asked only where a reranker is paid."""
    chosen = await asyncio.to_thread(reranker, wanted.reranker)
    if answer.cost is None or chosen is None or not chosen.is_paid:
        return answer.cost
    return float(await in_database(cost_of_execution, run.execution_id))


def _documents_read(contexts: Sequence[ChunkContext]) -> DocumentsRead:
    chunks: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for context in contexts:
        assert context.workspace_id is not None
        chunks[context.workspace_id].append(context.chunk_id)
    documents = dict.fromkeys(context.document_id for context in contexts)
    return DocumentsRead(documents=list(documents), chunks=chunks)


def _phase(name: str, status: str, *, execution_id: str | None = None, **counts: int) -> ToolUpdate:
    phase = {"phase": name, "status": status, "data": counts or None, "execution_id": execution_id}
    return ToolUpdate(data=Phase.model_validate(phase))


def _context(rank: int, found: RankedChunk) -> ChunkContext:
    return context_of_chunk(
        rank,
        found.chunk,
        found.chunk.document.name,
        found.score,
        found.scores.rerank,
        answers=found.answers,
        is_decisive=found.is_decisive,
    )


def context_data(context: ChunkContext, answer: CitedAnswer | None = None) -> ContextData:
    """Return a context as events show it, and, once the answer is checked, what is quoted of it."""
    quotes = answer.resolved.quotes.get(context.rank, []) if answer else []
    closest = answer.closest.get(context.rank) if answer else None
    picture = context.picture
    return ContextData(
        rank=context.rank,
        chunk_id=str(context.chunk_id),
        document_id=str(context.document_id),
        document_name=context.document_name,
        text_preview=_preview(context, closest),
        page_number=context.page_number,
        bbox=[BoxData.of(box) for box in context.boxes] or None,
        start_time=context.start_time,
        end_time=context.end_time,
        score=round(context.score, 4),
        rerank_score=context.rerank_score,
        used_in_response=bool(quotes),
        quotes=quotes,
        quote=quotes[0].text if quotes else None,
        closest=quoted_sentence(context, closest) if closest else None,
        picture=BoxData.of(picture.area) if picture and picture.area else None,
        machine_made=picture.machine_made(len(context.text)) if picture else [],
        place=FilePlace.of(context.located.files()),
    )


def _preview(context: Context, closest: Sentence | None) -> str:
    """Return the beginning of a passage, or what stands around the sentence that comes nearest."""
    start = 0
    if closest is not None and closest.end > PREVIEW_CHARS and context.picture is None:
        before = [each.start for each in context.sentences if each.end <= closest.start][-1:]
        fits = before and closest.end - before[0] <= PREVIEW_CHARS
        start = before[0] if fits else closest.start
    return context.text[start : start + PREVIEW_CHARS]


def outcome_of(resolved: Resolved, worth_reading: Sequence[Context]) -> AnswerOutcome:
    """Return whether the answer cites anything, and if not, whether its contexts were about the question."""
    return "answered" if resolved.quotes else "closest" if worth_reading else "nothing"


def _result(
    execution_id: str, answer: CitedAnswer, found: RetrievedContexts, timings: dict[str, float]
) -> RagResult:
    resolved = answer.resolved
    return RagResult(
        response=resolved.response,
        contexts=[context_data(context, answer) for context in found.contexts],
        sources_used=resolved.sources_used,
        model=answer.model,
        execution_id=execution_id,
        answered=bool(resolved.quotes),
        outcome=outcome_of(resolved, found.worth_reading),
        citations_removed=resolved.removed,
        usage=answer.usage,
        timings=timings,
    )


def _trace(
    found: RetrievedContexts, answer: CitedAnswer, cost: float | None, timings: dict[str, float]
) -> Trace:
    return Trace(
        usage=answer.usage,
        cost=cost,
        timings=timings | retrieval_timings(found.ranking),
        steps=retrieval_steps(found) | answer_steps(answer),
    )


def retrieval_timings(ranking: Ranking) -> dict[str, float]:
    """Return the seconds of each stage of retrieval, as a trace names them."""
    return {f"retrieval.{stage}": secs for stage, secs in ranking.timings.items()}


def retrieval_steps(found: RetrievedContexts) -> dict[str, JsonValue]:
    """Return a trace's description of retrieval."""
    return {
        "retrieved": found.ranking.total_candidates,
        "reranked": found.ranking.reranked_count,
        # No ids: contexts name them, blanked for documents that a reader no longer sees.
        "kept": [{"rank": each.rank, "score": each.score} for each in found.contexts],
    }


def answer_steps(answer: CitedAnswer) -> dict[str, JsonValue]:
    """Return a trace's description of an answer: what the model saw, which models failed before it, and its
    checked citations."""
    return {
        "seen": list[JsonValue](sorted(answer.seen)),
        "failed_models": [asdict(failed) for failed in answer.failed_models],
        "citations": [asdict(verdict) for verdict in answer.resolved.verdicts],
    }
