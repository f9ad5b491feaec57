"""Calls of tools, one after the other, until the planner has enough or a limit is reached.

A call that fails gives the planner `{"error": "…"}`, and the run goes on.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from assistants.agent import documents, web
from assistants.agent.foreign import add_said
from assistants.agent.guard import OutboundGuard
from assistants.agent.outcome import AgentTool, CallOutcome, CallSteps, Gathering
from assistants.agent.planners import ModelPlanner, Planner, RulePlanner, planning_models
from assistants.agent.request import AgentCall, AgentRequest
from assistants.agent.sources import SourceBook
from assistants.events import CALLED, CallCompleted, CallFailed, CallStarted, ToolCallOfChat
from core.api.rest import refuse_unclean
from core.errors import BudgetExceeded, LocusError, Overloaded, ProviderError, Timeout, ValidationError
from core.text.storable import is_storable
from core.threads import in_database
from runs.events import DocumentsRead, ToolUpdate
from search.generation.base import FailedModel
from search.timing import StageTimer

if TYPE_CHECKING:
    from core.llm.gateway import ChatModel

TOOLS: Mapping[str, AgentTool] = {tool.function.name: tool for tool in (*documents.TOOLS, *web.TOOLS)}
NO_CALL = "The chat model has not asked for the function that must be called."
FAILED = "Something went wrong on this server. The log has the details."
LONGEST_SUBJECT = 500
"""Characters of what a call asks for that its event shows."""

StoppedBy = Literal["done", "steps", "time", "cost", "functions"]
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Gathered:
    """What the calls of a run have come to: the last item of `gather`."""

    book: SourceBook
    calls: list[ToolCallOfChat] = field(default_factory=list)
    failures: list[LocusError] = field(default_factory=list)
    stopped_by: StoppedBy = "done"
    wanted_functions: list[AgentCall] = field(default_factory=list)
    """The calls of functions that the caller is asked for: there is no answer before they are made."""
    planner: str = ""
    """The name of the chat model that plans."""
    planned_by: Literal["model", "rules"] = "rules"
    failed_planners: list[FailedModel] = field(default_factory=list)
    """The models that failed while they decided what to call."""
    guard: OutboundGuard | None = None
    """What the run has learned of what may leave for the web."""


Step = ToolUpdate | DocumentsRead


async def gather(
    asked: AgentRequest, clock: StageTimer, earlier: Gathered | None = None
) -> AsyncGenerator[Step | Gathered, None]:
    """Call tools until there is enough; yield their events, and last what was gathered.

    `earlier` is what was gathered for other parts of the same question: its lists and its book grow.

    Raise the last error if every call has failed.
    """
    run = _GatheringRun(asked, clock, earlier)
    async with aclosing(run.steps()) as steps:
        async for step in steps:
            yield step
    gathered = run.gathered
    is_about_functions = gathered.wanted_functions or asked.caller.results
    if run.failures and len(run.failures) == run.made and not is_about_functions:
        raise run.failures[-1]
    yield gathered


class _GatheringRun:
    def __init__(self, asked: AgentRequest, clock: StageTimer, earlier: Gathered | None) -> None:
        self._asked = asked
        guard = (earlier and earlier.guard) or OutboundGuard(asked.typed)
        book = earlier.book if earlier else SourceBook()
        self._gathering = Gathering(asked, book, guard, clock)
        self._until = time.monotonic() + asked.limits.max_seconds
        self._asked_for: set[str] = set()
        self._chats: list[ChatModel] = []
        self._left = asked.limits.max_steps
        own = {name: TOOLS[name] for name in asked.tools}
        self._tools = own | {tool.function.name: tool for tool in asked.foreign_tools}
        self.made = 0
        """Calls of this run alone."""
        self.failures: list[LocusError] = []
        """Of this run alone."""
        self.gathered = Gathered(book, guard=guard)
        if earlier:
            known = (earlier.calls, earlier.failures, earlier.failed_planners)
            self.gathered.calls, self.gathered.failures, self.gathered.failed_planners = known

    async def steps(self) -> AsyncGenerator[Step, None]:
        """Yield the events of all calls."""
        await self._learn_results()
        planner = await self._planner()
        if self._asked.caller.must_call:
            self.gathered.wanted_functions = await self._demanded_calls(planner)
            self.gathered.stopped_by = "functions"
            return
        outcomes: list[tuple[AgentCall, JsonValue]] = []
        while self._left:
            if time.monotonic() >= self._until:
                self.gathered.stopped_by = "time"
                return
            planner, calls = await self._next(planner, outcomes)
            if not calls:
                return
            wanted = [call for call in calls if call.tool in self._asked.caller.names]
            if wanted:
                self.gathered.wanted_functions, self.gathered.stopped_by = wanted, "functions"
                return
            outcomes = []
            for call in calls[: self._left]:
                # One of no tool counts as well: a model that makes no other has to come to an end.
                self._left -= 1
                async with aclosing(self._call(call)) as events:
                    async for event in events:
                        if isinstance(event, CallOutcome):
                            outcomes.append((call, event.content))
                        else:
                            yield event
        self.gathered.stopped_by = "steps"

    async def _learn_results(self) -> None:
        """Number what functions of the caller gave among the sources."""
        for result in self._asked.caller.results:
            url = f"locus://functions/{result.name}"
            await add_said(self._gathering, url, result.name, result.output)
            # It is the caller's, and no word for the web.
            self._gathering.guard.learn_documents([result.output])

    # --- Planning ------------------------------------------------------------------------------------------

    async def _planner(self) -> Planner:
        self._chats = await in_database(planning_models, self._asked.wanted)
        return self._next_planner()

    def _next_planner(self) -> Planner:
        """Return a planner by the next model that was not asked yet; by rule where there is none."""
        if not self._chats:
            self.gathered.planned_by = "rules"
            return RulePlanner(self._asked)
        chat = self._chats.pop(0)
        self.gathered.planned_by, self.gathered.planner = "model", chat.name
        return ModelPlanner(self._asked, [*self._tools.values()], chat, self._asked.payment)

    async def _next(
        self, planner: Planner, outcomes: Sequence[tuple[AgentCall, JsonValue]]
    ) -> tuple[Planner, Sequence[AgentCall]]:
        """Return the next calls. Where a model fails before any call, the next one decides; where none is
        left, or one begins with no call at all, the rules do."""
        try:
            async with asyncio.timeout(max(0.0, self._until - time.monotonic())):
                calls = await planner.next_calls(outcomes)
        except BudgetExceeded:
            self.gathered.stopped_by, calls = "cost", []
        except TimeoutError:
            self.gathered.stopped_by, calls = "time", []
        except (ProviderError, Timeout, Overloaded) as error:
            self._note_failure(planner, error)
            if not (self.made or self._asked.caller.results):
                return await self._next(self._next_planner(), outcomes)
            calls = []
        is_under_way = self.made or self._asked.caller.results
        if calls or is_under_way or isinstance(planner, RulePlanner):
            return planner, calls
        self._chats = []
        rules = self._next_planner()
        return rules, await rules.next_calls(())

    async def _demanded_calls(self, planner: Planner) -> list[AgentCall]:
        """Return calls of functions that the caller demands; raise the last error if no model asks for one.

        There is no answer instead: who demands a call reads nothing else.
        """
        failure: LocusError = ProviderError(NO_CALL)
        while isinstance(planner, ModelPlanner):
            try:
                async with asyncio.timeout(max(0.0, self._until - time.monotonic())):
                    calls = await planner.next_calls(())
            except TimeoutError:
                raise Timeout from None
            except (ProviderError, Timeout, Overloaded) as error:
                failure = error
            else:
                if demanded := [call for call in calls if call.tool in self._asked.caller.must_call]:
                    return demanded
                failure = ProviderError(NO_CALL)
            self._note_failure(planner, failure)
            planner = self._next_planner()
        raise failure

    def _note_failure(self, planner: Planner, error: LocusError) -> None:
        logger.warning("The planner of %s failed: %s", self._asked.run.execution_id, error.code)
        if isinstance(planner, ModelPlanner):
            self.gathered.failed_planners.append(FailedModel(planner.model, error.code))

    # --- One call ------------------------------------------------------------------------------------------

    async def _call(self, call: AgentCall) -> AsyncGenerator[Step | CallOutcome, None]:
        """Yield the events of one call and its outcome, also where it fails."""
        tool = self._tools.get(call.tool)
        if tool is None:
            names = ", ".join(self._tools)
            yield CallOutcome({"error": f"There is no tool of this name here: {names} are."}, 0)
            return
        shown = self._begin(call)
        yield ToolUpdate(data=CallStarted(**shown.model_dump(), query=_subject(tool, call.arguments)))
        try:
            async with aclosing(_in_time(self._run(tool, call), self._until)) as steps:
                async for step in steps:
                    if isinstance(step, CallOutcome):
                        yield ToolUpdate(data=CallCompleted(**shown.model_dump(), found=step.found))
                    yield _of_call(step, shown)
        except LocusError as error:
            self.failures.append(error)
            self.gathered.failures.append(error)
            yield ToolUpdate(data=CallFailed(**shown.model_dump(), code=error.code, message=error.message))
            yield CallOutcome({"error": error.message}, 0)

    def _begin(self, call: AgentCall) -> ToolCallOfChat:
        self.made += 1
        number = len(self.gathered.calls) + 1
        id = f"{self._asked.run.execution_id}.{number}"
        shown = ToolCallOfChat.model_validate({"tool": call.tool, "call_id": id})
        self.gathered.calls.append(shown)
        return shown

    async def _run(self, tool: AgentTool, call: AgentCall) -> CallSteps:
        """Yield a call's steps; raise nothing but `LocusError`."""
        made = json.dumps([call.tool, call.arguments], sort_keys=True, default=str)
        if made in self._asked_for:
            raise ValidationError("You have made this call already.")
        self._asked_for.add(made)
        if not isinstance(call.arguments, dict):
            raise ValidationError("The arguments must be a JSON object.")
        refuse_unclean(call.arguments)
        try:
            async with aclosing(tool.call(self._gathering, call.arguments)) as steps:
                async for step in steps:
                    yield step
        except LocusError:
            raise
        except TimeoutError:
            raise Timeout("There was no time left for this call.") from None
        except Exception as error:
            # Tools are many, and some are other people's: whatever one raises, the run goes on without it.
            logger.exception("%s failed in execution %s", call.tool, self._asked.run.execution_id)
            raise ToolFailed(FAILED) from error


class ToolFailed(LocusError):
    """A tool has failed in a way that nobody foresaw."""

    code, status, default_message = "internal", 500, FAILED


async def _in_time(steps: CallSteps, until: float) -> CallSteps:
    """Yield the steps; raise `Timeout` if the next takes longer than `until`, of `time.monotonic()`."""
    async with aclosing(steps):
        while True:
            try:
                async with asyncio.timeout(max(0.0, until - time.monotonic())):
                    step = await anext(steps)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise Timeout("There was no time left for this call.") from None
            yield step


def _subject(tool: AgentTool, arguments: object) -> str:
    """Return what a call asks for, in one line for people."""
    value = arguments.get(tool.subject) if isinstance(arguments, dict) else None
    if not isinstance(value, str) or not is_storable(value):
        return ""
    return " ".join(value.split())[:LONGEST_SUBJECT]


def _of_call(step: Step | CallOutcome, call: ToolCallOfChat) -> Step | CallOutcome:
    """Return a tool's event with the call that it belongs to."""
    if not isinstance(step, ToolUpdate):
        return step
    data = {name: getattr(step.data, name) for name in type(step.data).model_fields}
    return ToolUpdate(data=CALLED[type(step.data)].model_validate(data | call.model_dump()))
