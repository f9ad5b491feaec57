"""From a deep question to its report: each part is looked up and answered, within the limits of the whole."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from uuid import UUID

from assistants.agent.answering import AgentAnswered
from assistants.agent.deep.report import DeepReport, QuestionPart
from assistants.agent.deep.splitting import split
from assistants.agent.guard import OutboundGuard
from assistants.agent.loop import Gathered, gather
from assistants.agent.planners import planning_models
from assistants.agent.request import AgentRequest
from assistants.agent.sources import SourceBook
from assistants.events import AskedQuestion, ChatPhase
from assistants.followups import SelfContained
from core.errors import BudgetExceeded, LocusError
from core.threads import in_database
from runs.events import DocumentsRead, ToolPartialUpdate, ToolUpdate
from search.answering import CitedAnswer, answer_from
from search.contexts import Context
from search.timing import StageTimer
from search.web.pipeline import cost_of_run

Step = ToolUpdate | DocumentsRead | ToolPartialUpdate | AgentAnswered


async def answer_deeply(asked: AgentRequest, clock: StageTimer) -> AsyncGenerator[Step, None]:
    """Yield the calls' events and the text of each part, and last the `AgentAnswered`.

    Steps, seconds and costs are those of the whole question. A part that they leave no room for is among what
    was not answered. Raise the last error if the calls of every part have failed.
    """
    run = _DeepRun(asked, clock)
    async with aclosing(run.steps()) as steps:
        async for step in steps:
            yield step


class _DeepRun:
    def __init__(self, asked: AgentRequest, clock: StageTimer) -> None:
        self._asked, self._clock = asked, clock
        self._seconds = float(asked.limits.max_seconds)
        """What is left for calls: what is written between them does not count."""
        self._read: dict[UUID, None] = dict.fromkeys(asked.carried_from)
        self._gathered = Gathered(SourceBook(), guard=OutboundGuard(asked.typed))
        self._errors: list[LocusError] = []

    async def steps(self) -> AsyncGenerator[Step, None]:
        """Yield the whole run."""
        asked, question = self._asked, self._asked.question
        if self._read:
            yield DocumentsRead(documents=list(self._read))
        yield ToolUpdate(data=AskedQuestion(asked=question.question, carried=question.carried, calls=[]))
        chats = await in_database(planning_models, asked.wanted)
        parts = await split(asked, chats)
        self._clock.mark("splitting")
        report = DeepReport(question.question, parts.parts, self._gathered.book)
        yield ToolUpdate(data=ChatPhase(phase="COMPILING_RESULTS", status="started"))
        for number, part in enumerate(report.parts):
            async with aclosing(self._part(report, part, len(report.parts) - number)) as steps:
                async for step in steps:
                    yield step
            if self._gathered.stopped_by != "done":
                break
        if len(self._errors) == len(report.parts):
            raise self._errors[-1]
        if chats and len(report.answered_parts) > 1 and self._gathered.stopped_by != "cost":
            async with aclosing(self._together(report)) as steps:
                async for step in steps:
                    yield step
        for partial in report.ending():
            yield partial
        answer = report.as_answer(asked.wanted.generation_model)
        cost = None if answer.cost is None else await cost_of_run(asked.run)
        yield AgentAnswered(asked, self._gathered, answer, cost, self._clock.timings, report.trace())

    # --- One part ------------------------------------------------------------------------------------------

    async def _part(
        self, report: DeepReport, part: QuestionPart, parts_left: int
    ) -> AsyncGenerator[Step, None]:
        """Look a part up and write its section; what becomes of it is kept in it."""
        asked = self._within_limits(part, parts_left)
        if asked is None:
            return
        try:
            async with aclosing(self._gather(asked)) as steps:
                async for step in steps:
                    yield step
        except LocusError as error:
            part.outcome = "failed"
            self._errors.append(error)
            return
        contexts, heading = self._gathered.book.worth_reading, report.heading(part.question)
        async with aclosing(self._write(report, heading, part.question, contexts, part)) as steps:
            async for step in steps:
                yield step

    def _within_limits(self, part: QuestionPart, parts_left: int) -> AgentRequest | None:
        """Return the request for a part: its share of the steps, and the seconds left; None without them."""
        limits = self._asked.limits
        steps = (limits.max_steps - len(self._gathered.calls)) // parts_left
        steps = max(steps, min(1, limits.max_steps - len(self._gathered.calls)))
        if steps < 1 or self._seconds <= 0:
            self._gathered.stopped_by = "steps" if steps < 1 else "time"
            return None
        self._gathered.book.begin_part()
        alone = SelfContained(part.question, None, carried=self._asked.question.carried, by="rules")
        seconds = max(1, int(self._seconds))
        within = limits.model_copy(update={"max_steps": steps, "max_seconds": seconds})
        return replace(self._asked, question=alone, limits=within)

    async def _gather(self, asked: AgentRequest) -> AsyncGenerator[Step, None]:
        began = time.monotonic()
        try:
            async with aclosing(gather(asked, self._clock, self._gathered)) as steps:
                async for step in steps:
                    if isinstance(step, Gathered):
                        self._gathered.planned_by = step.planned_by
                        # Its share of the steps is no limit of the whole.
                        if step.stopped_by in ("cost", "time"):
                            self._gathered.stopped_by = step.stopped_by
                    elif isinstance(step, DocumentsRead):
                        self._read |= dict.fromkeys(step.documents)
                        yield DocumentsRead(documents=list(self._read), chunks=step.chunks)
                    else:
                        yield step
        finally:
            self._seconds -= time.monotonic() - began
        self._clock.mark("gathering")

    # --- Writing -------------------------------------------------------------------------------------------

    async def _together(self, report: DeepReport) -> AsyncGenerator[Step, None]:
        """Write about the question as a whole, from all that was found."""
        contexts, question = self._gathered.book.ever_worth_reading, self._asked.question.question
        async with aclosing(self._write(report, report.heading_together(), question, contexts)) as steps:
            async for step in steps:
                yield step

    async def _write(
        self,
        report: DeepReport,
        heading: Iterator[ToolPartialUpdate],
        question: str,
        contexts: Sequence[Context],
        part: QuestionPart | None = None,
    ) -> AsyncGenerator[Step, None]:
        """Write a section. Its heading comes with its first word: where there is no money, there is none."""
        asked = self._asked
        writing = answer_from(
            contexts,
            question,
            principal=asked.principal,
            run=asked.run,
            # A report says by its headings what is made of the question.
            wanted=replace(asked.wanted, reflection=False),
            clock=self._clock,
            corpus=asked.corpus,
            payment=asked.payment.for_the_answer(),
            unseen_names=self._gathered.book.unseen_names(question),
        )
        try:
            async with aclosing(writing) as steps:
                async for step in steps:
                    for partial in heading:
                        yield partial
                    if not isinstance(step, CitedAnswer):
                        yield step
                        continue
                    quotes = step.resolved.quotes
                    if part is not None:
                        part.outcome = "answered" if quotes else "nothing"
                        part.quotes = [(rank, quotes[rank][0]) for rank in sorted(quotes)]
                    for partial in report.close_section(step):
                        yield partial
        except BudgetExceeded:
            # Nothing was sent of it: money is reserved before the first word.
            self._gathered.stopped_by = "cost"
