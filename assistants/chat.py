"""`chat`: a message of a conversation becomes one answer from documents, the web, or both.

    earlier turns ─▶ self-contained question ─┬─▶ contexts of `rag_search` ─┐
                                              └─▶ sources of `web_search` ──┴─▶ one numbering ─▶ one answer

One async generator of typed events; the pipelines of the two tools are used up to their contexts.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import partial

from pydantic import JsonValue

from accounts.ledger.base import Payer
from accounts.ledger.paying import LedgerPayment
from accounts.principal import Principal
from assistants.called_tools import AskedTurn, FoundPages, FoundSources, find_sources
from assistants.events import AskedQuestion, ChatPhase, ChatResult, SearchedWeb
from assistants.followups import Rewriter, self_contained
from assistants.followups.rewriting import model_rewriter
from assistants.inputs import ChatInput
from assistants.messages import ChatTurn, load_turn
from core.threads import in_database
from runs.context import Run
from runs.events import DocumentsRead, ToolEnd, ToolUpdate, Trace, Yielded
from search.answering import CitedAnswer, answer_from
from search.events import AnswerOutcome
from search.preferences import RagSettings, rag_settings
from search.rag import answer_steps, context_data, cost_of_answer, retrieval_steps, retrieval_timings
from search.timing import StageTimer
from search.web.events import RankedSource
from search.web.pipeline import cost_of_run
from search.web.presentation import ranked_sources, steps_of


async def chat(principal: Principal, inputs: ChatInput, run: Run) -> AsyncIterator[Yielded]:
    """Yield the events of one turn: the question as it is asked, the tools' events, the text, the result."""
    clock = StageTimer()
    turn = await in_database(load_turn, principal, run.execution_id)
    yield _phase("PREPARATION", run, turn)
    asked = await _ask(principal, inputs, run, turn)
    clock.mark("follow_up")
    if asked.carried_from:
        yield DocumentsRead(documents=asked.carried_from)
    question = asked.question
    yield ToolUpdate(data=AskedQuestion(asked=question.question, carried=question.carried, calls=asked.calls))

    async with aclosing(find_sources(asked, clock)) as steps:
        async for step in steps:
            if isinstance(step, FoundSources):
                found = step
            else:
                yield step

    yield _phase("COMPILING_RESULTS", run)
    writing = answer_from(
        found.worth_reading,
        question.question,
        principal=principal,
        run=run,
        wanted=asked.wanted,
        clock=clock,
        corpus=asked.corpus,
    )
    async with aclosing(writing) as parts:
        async for part in parts:
            if isinstance(part, CitedAnswer):
                answer = part
            else:
                yield part

    cost = await _cost(asked, found, answer)
    yield _trace(asked, found, answer, cost, clock.timings)
    yield ToolEnd(data=_result(asked, found, answer, clock.timings))


async def _ask(principal: Principal, inputs: ChatInput, run: Run, turn: ChatTurn) -> AskedTurn:
    """Make the question self-contained; which model may help is in the database."""
    wanted = await in_database(rag_settings, principal, run.workspace_id)
    rewriter = await in_database(_rewriter, principal, run, wanted)
    question = await self_contained(turn.message.content, turn.history, rewriter=rewriter)
    return AskedTurn(principal, inputs, run, turn, question, wanted)


def _rewriter(principal: Principal, run: Run, wanted: RagSettings) -> Rewriter | None:
    payer = partial(Payer.of, run.workspace_id, run.execution_id, principal.usage_owner)
    return model_rewriter(LedgerPayment(payer), wanted.generation_model)


def _phase(name: str, run: Run, turn: ChatTurn | None = None) -> ToolUpdate:
    """Return the event of a phase of the turn itself; that of the first one says what it answers."""
    ids = (
        {"execution_id": run.execution_id, "session_id": turn.session.pk, "message_id": turn.message.pk}
        if turn
        else {}
    )
    return ToolUpdate(data=ChatPhase.model_validate({"phase": name, "status": "started", **ids}))


async def _cost(asked: AskedTurn, found: FoundSources, answer: CitedAnswer) -> float | None:
    """Return the US dollars spent, None if unknown; the ledger has what else but the answer costs."""
    is_answer_all = found.pages is None and asked.question.by != "model"
    if answer.cost is None or is_answer_all:
        return await cost_of_answer(asked.run, asked.wanted, answer)
    return await cost_of_run(asked.run)


def _trace(
    asked: AskedTurn,
    found: FoundSources,
    answer: CitedAnswer,
    cost: float | None,
    timings: dict[str, float],
) -> Trace:
    steps: dict[str, JsonValue] = {"carried_by": asked.question.by}
    if found.documents:
        timings = timings | retrieval_timings(found.documents.ranking)
        steps |= retrieval_steps(found.documents)
    if found.pages:
        steps |= {"web": steps_of(found.pages.hits.searched)}
    return Trace(usage=answer.usage, cost=cost, timings=timings, steps=steps | answer_steps(answer))


def _result(
    asked: AskedTurn, found: FoundSources, answer: CitedAnswer, timings: dict[str, float]
) -> ChatResult:
    resolved = answer.resolved
    return ChatResult(
        message_id=asked.turn.message.pk,
        session_id=asked.turn.session.pk,
        asked=asked.question.question,
        response=resolved.response,
        contexts=[context_data(context, resolved) for context in found.contexts],
        sources=_sources(found, answer),
        sources_used=resolved.sources_used,
        web=_searched_web(found.pages) if found.pages else None,
        model=answer.model,
        execution_id=asked.run.execution_id,
        answered=bool(resolved.quotes),
        outcome=_outcome(found, answer),
        citations_removed=resolved.removed,
        calls=asked.calls,
        usage=answer.usage,
        timings=timings,
    )


def _sources(found: FoundSources, answer: CitedAnswer) -> list[RankedSource]:
    if found.pages is None:
        return []
    return ranked_sources(found.pages.kept.sources, answer.resolved, first_rank=found.first_page_rank)


def _searched_web(pages: FoundPages) -> SearchedWeb:
    searched = pages.hits.searched
    return SearchedWeb(
        provider=searched.provider,
        providers=dict(searched.outcomes),
        from_cache=searched.from_cache,
        ignored_filters=pages.inputs.given_names(searched.found.ignored_filters),
    )


def _outcome(found: FoundSources, answer: CitedAnswer) -> AnswerOutcome:
    if answer.resolved.quotes:
        return "answered"
    return "closest" if found.worth_reading else "nothing"
