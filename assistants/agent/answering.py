"""From a request to its answer: tools are called, and one answer is written from all that they found."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import JsonValue

from assistants.agent.functions import arguments_json
from assistants.agent.loop import Gathered, gather
from assistants.agent.request import AgentRequest
from assistants.events import AskedQuestion, ChatPhase, WantedFunctionCall
from runs.events import DocumentsRead, ToolPartialUpdate, ToolUpdate, Trace, Usage
from search.answering import CitedAnswer, answer_from
from search.citations.resolve import Resolved
from search.generation.base import FailedModel
from search.rag import answer_steps, outcome_of
from search.timing import StageTimer
from search.web.pipeline import cost_of_run


@dataclass(frozen=True, slots=True)
class AgentAnswered:
    """An answered request: the last item of `answer_with_tools`."""

    asked: AgentRequest
    gathered: Gathered
    answer: CitedAnswer
    cost: float | None
    """US dollars; None if unknown."""
    timings: dict[str, float]
    parts: Sequence[JsonValue] = ()
    """Of a deep question: what became of each part, as the trace has it."""

    def trace(self) -> Trace:
        """Return how the answer came about."""
        book = self.gathered.book
        calls: list[JsonValue] = [call.model_dump() for call in self.gathered.calls]
        steps: dict[str, JsonValue] = {
            "carried_by": self.asked.question.by,
            "planned_by": self.gathered.planned_by,
            "stopped_by": self.gathered.stopped_by,
            "calls": calls,
            "failed": [error.code for error in self.gathered.failures],
            "failed_planners": [asdict(failed) for failed in self.gathered.failed_planners],
            # No ids: contexts name them, blanked for documents that a reader no longer sees.
            "kept": [{"rank": each.rank, "score": each.score} for each in book.contexts],
        }
        steps |= answer_steps(self.answer)
        if self.parts:
            steps["parts"] = list(self.parts)
        missing = [FailedModel(name, "not_offered") for name in self.asked.missing_models]
        steps["failed_models"] = [asdict(failed) for failed in (*missing, *self.answer.failed_models)]
        return Trace(usage=self.answer.usage, cost=self.cost, timings=self.timings, steps=steps)

    def fields(self) -> dict[str, Any]:
        """Return the fields of `AnswerResult`."""
        book, resolved = self.gathered.book, self.answer.resolved
        return {
            "asked": self.asked.question.question,
            "response": resolved.response,
            "contexts": book.contexts_shown(self.answer),
            "sources": book.pages_shown(resolved),
            "sources_used": resolved.sources_used,
            "model": self.answer.model,
            "execution_id": self.asked.run.execution_id,
            "answered": bool(resolved.quotes),
            "outcome": outcome_of(resolved, book.ever_worth_reading),
            "citations_removed": resolved.removed,
            "calls": self.gathered.calls,
            "usage": self.answer.usage,
            "timings": self.timings,
            "stopped_by": self.gathered.stopped_by,
            "function_calls": self._function_calls(),
        }

    def _function_calls(self) -> list[WantedFunctionCall] | None:
        """Return the calls that the caller is asked for; None where there are none."""
        number = self.asked.run.execution_id.rpartition("_")[2]
        wanted = [
            WantedFunctionCall(
                call_id=f"call_{number}_{index}", name=call.tool, arguments=arguments_json(call.arguments)
            )
            for index, call in enumerate(self.gathered.wanted_functions, start=1)
        ]
        return wanted or None


async def answer_with_tools(
    asked: AgentRequest, clock: StageTimer
) -> AsyncGenerator[ToolUpdate | DocumentsRead | ToolPartialUpdate | AgentAnswered, None]:
    """Yield the question as it is asked, the calls' events and the text, and last the `AgentAnswered`."""
    # Each of these events replaces the one before.
    read = dict.fromkeys(asked.carried_from)
    if read:
        yield DocumentsRead(documents=list(read))
    question = asked.question
    yield ToolUpdate(data=AskedQuestion(asked=question.question, carried=question.carried, calls=[]))
    async with aclosing(gather(asked, clock)) as steps:
        async for step in steps:
            if isinstance(step, Gathered):
                gathered = step
            elif isinstance(step, DocumentsRead):
                read |= dict.fromkeys(step.documents)
                yield DocumentsRead(documents=list(read), chunks=step.chunks)
            else:
                yield step
    clock.mark("gathering")
    if gathered.wanted_functions:
        # The caller goes on, and there is nothing to answer before that.
        nothing = CitedAnswer(Resolved("", {}, []), gathered.planner, Usage(), None, frozenset())
        yield AgentAnswered(asked, gathered, nothing, await cost_of_run(asked.run), clock.timings)
        return

    yield ToolUpdate(data=ChatPhase(phase="COMPILING_RESULTS", status="started"))
    writing = answer_from(
        gathered.book.worth_reading,
        question.question,
        principal=asked.principal,
        run=asked.run,
        wanted=asked.wanted,
        clock=clock,
        corpus=asked.corpus,
        payment=asked.payment.for_the_answer(),
        unseen_names=gathered.book.unseen_names(question.question),
    )
    async with aclosing(writing) as parts:
        async for part in parts:
            if isinstance(part, CitedAnswer):
                answer = part
            else:
                yield part
    # The ledger knows what the calls have cost, but not what a model without a price has.
    cost = None if answer.cost is None else await cost_of_run(asked.run)
    yield AgentAnswered(asked, gathered, answer, cost, clock.timings)
