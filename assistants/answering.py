"""A self-contained question becomes one answer from documents, the web, or both.

    question ─┬─▶ contexts of `rag_search` ─┐
              └─▶ sources of `web_search` ──┴─▶ one numbering ─▶ one answer

The pipelines of the two tools are used up to their contexts. `chat` and `answer` differ in what comes before.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import JsonValue

from accounts.ledger.base import Payer
from accounts.ledger.paying import LedgerPayment
from accounts.principal import Principal
from assistants.called_tools import AnswerRequest, FoundPages, FoundSources, find_sources
from assistants.events import AskedQuestion, ChatPhase, SearchedWeb
from assistants.followups import Rewriter
from assistants.followups.rewriting import model_rewriter
from runs.context import Run
from runs.events import DocumentsRead, ToolPartialUpdate, ToolUpdate, Trace
from search.answering import CitedAnswer, answer_from
from search.events import AnswerOutcome
from search.misspelt import respelt
from search.preferences import RagSettings
from search.rag import answer_steps, context_data, cost_of_answer, retrieval_steps, retrieval_timings
from search.timing import StageTimer
from search.web.events import RankedSource
from search.web.pipeline import cost_of_run
from search.web.presentation import ranked_sources, steps_of


@dataclass(frozen=True, slots=True)
class Answered:
    """An answered request: the last item of `answer_request`."""

    asked: AnswerRequest
    found: FoundSources
    answer: CitedAnswer
    cost: float | None
    """US dollars; None if unknown."""
    timings: dict[str, float]

    def trace(self) -> Trace:
        """Return how the answer came about."""
        steps: dict[str, JsonValue] = {"carried_by": self.asked.question.by}
        timings = self.timings
        if self.found.documents:
            timings = timings | retrieval_timings(self.found.documents.ranking)
            steps |= retrieval_steps(self.found.documents)
        if self.found.pages:
            steps |= {"web": steps_of(self.found.pages.hits.searched)}
        usage, steps = self.answer.usage, steps | answer_steps(self.answer)
        return Trace(usage=usage, cost=self.cost, timings=timings, steps=steps)

    def fields(self) -> dict[str, Any]:
        """Return the fields of `AnswerResult`."""
        found, resolved = self.found, self.answer.resolved
        return {
            "asked": self.asked.question.question,
            "response": resolved.response,
            "contexts": [context_data(context, self.answer) for context in found.contexts],
            "sources": _sources(found, self.answer),
            "sources_used": resolved.sources_used,
            "web": _searched_web(found.pages) if found.pages else None,
            "model": self.answer.model,
            "execution_id": self.asked.run.execution_id,
            "answered": bool(resolved.quotes),
            "outcome": _outcome(found, self.answer),
            "citations_removed": resolved.removed,
            "calls": self.asked.calls,
            "usage": self.answer.usage,
            "timings": self.timings,
        }


async def answer_request(
    asked: AnswerRequest, clock: StageTimer
) -> AsyncGenerator[ToolUpdate | DocumentsRead | ToolPartialUpdate | Answered, None]:
    """Yield the question as it is asked, the tools' events and the text, and last the `Answered`."""
    if asked.carried_from:
        yield DocumentsRead(documents=list(asked.carried_from))
    question = asked.question
    yield ToolUpdate(data=AskedQuestion(asked=question.question, carried=question.carried, calls=asked.calls))
    async with aclosing(find_sources(asked, clock)) as steps:
        async for step in steps:
            if isinstance(step, FoundSources):
                found = step
            else:
                yield step

    yield ToolUpdate(data=ChatPhase(phase="COMPILING_RESULTS", status="started"))
    writing = answer_from(
        found.worth_reading,
        respelt(question.question, found.spelling),
        principal=asked.principal,
        run=asked.run,
        wanted=asked.wanted,
        clock=clock,
        corpus=asked.corpus,
        unseen_names=found.unseen_names,
    )
    async with aclosing(writing) as parts:
        async for part in parts:
            if isinstance(part, CitedAnswer):
                answer = part
            else:
                yield part
    yield Answered(asked, found, answer, await _cost(asked, found, answer), clock.timings)


def rewriter_for(principal: Principal, run: Run, wanted: RagSettings) -> Rewriter | None:
    """Return what makes follow-ups self-contained by a model that the run's workspace pays; it asks the
    database which one may."""
    payer = partial(Payer.of, run.workspace_id, run.execution_id, principal.usage_owner)
    return model_rewriter(LedgerPayment(payer), wanted.generation_model)


async def _cost(asked: AnswerRequest, found: FoundSources, answer: CitedAnswer) -> float | None:
    """Return the US dollars spent, None if unknown; the ledger has what else but the answer costs."""
    is_answer_all = found.pages is None and asked.question.by != "model"
    if answer.cost is None or is_answer_all:
        return await cost_of_answer(asked.run, asked.wanted, answer)
    return await cost_of_run(asked.run)


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
