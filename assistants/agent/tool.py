"""`agent`: a question to an assistant, without a stored conversation, over every transport of a tool."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import aclosing
from dataclasses import replace
from typing import Any
from uuid import UUID

from accounts.principal import Principal
from assistants.agent.answering import AgentAnswered, answer_with_tools
from assistants.agent.deep.answering import answer_deeply
from assistants.agent.inputs import AgentInput
from assistants.agent.planners import planning_model
from assistants.agent.preparing import (
    AgentSetup,
    Narrowing,
    default_settings,
    require_tools,
    searched_workspaces,
    set_up,
)
from assistants.agent.request import AgentRequest
from assistants.answer import DocumentOptions
from assistants.configuration.recorded import chosen, configured_for, stored
from assistants.configuration.settings import AssistantSettings
from assistants.events import AnswerResult, ChatPhase
from assistants.followups import self_contained
from core.errors import ValidationError
from core.threads import in_database
from runs.context import Run
from runs.events import ToolEnd, ToolUpdate, Yielded
from runs.models import Execution
from search.questions import Question
from search.timing import StageTimer
from search.web.inputs import WebOptions
from search.web.searching import admit as admit_web_search


async def agent(principal: Principal, inputs: AgentInput, run: Run) -> AsyncIterator[Yielded]:
    """Yield the events of one question: as it is asked, the calls, the text, the result."""
    clock = StageTimer()
    yield ToolUpdate(data=ChatPhase(execution_id=run.execution_id, phase="PREPARATION", status="started"))
    setup = await in_database(_set_up, principal, inputs, run)
    asked = await _ask(setup, inputs)
    clock.mark("follow_up")
    answering = answer_deeply(asked, clock) if inputs.deep else answer_with_tools(asked, clock)
    async with aclosing(answering) as steps:
        async for step in steps:
            if isinstance(step, AgentAnswered):
                answered = step
            else:
                yield step
    yield answered.trace()
    yield ToolEnd(data=AnswerResult(**answered.fields(), assistant=asked.assistant))


def _set_up(principal: Principal, inputs: AgentInput, run: Run) -> AgentSetup:
    return set_up(principal, run, configured_for(principal, run.execution_id), narrowing_of(inputs))


async def _ask(setup: AgentSetup, inputs: AgentInput) -> AgentRequest:
    rewriter = await in_database(setup.rewriter) if inputs.history else None
    question = await self_contained(inputs.query, inputs.turns(), rewriter=rewriter)
    typed = "\n".join([*(turn.question for turn in inputs.history), inputs.query, question.question])
    caller = inputs.caller()
    caller.require_distinct([tool.function.name for tool in setup.foreign_tools])
    return replace(setup.request(question, typed), caller=caller)


def narrowing_of(inputs: AgentInput) -> Narrowing:
    """Return what a request allows: everything, or only what it names."""
    if inputs.documents is None and inputs.web is None:
        return Narrowing()
    options = inputs.documents or DocumentOptions()
    documents: Question | None = options.question_about("") if inputs.documents is not None else None
    return Narrowing(documents, inputs.web, options.limit, options.reflection)


def _settings(principal: Principal, inputs: AgentInput) -> AssistantSettings:
    found = chosen(principal, inputs.assistant_id)
    return found.settings if found else default_settings()


def searched_by_agent(principal: Principal, inputs: AgentInput) -> Collection[UUID]:
    """Return the workspaces whose documents a call may search."""
    return searched_workspaces(principal, _settings(principal, inputs), narrowing_of(inputs))


def admit_agent(principal: Principal, inputs: AgentInput, workspace_id: UUID) -> None:
    """Refuse a run that may call nothing; and a web that is asked for by name where it is switched off."""
    if inputs.web is not None:
        options: WebOptions = inputs.web
        admit_web_search(principal, options.search(inputs.query), workspace_id)
    require_tools(principal, _settings(principal, inputs), narrowing_of(inputs), workspace_id)
    if inputs.functions and planning_model(_settings(principal, inputs).model or "") is None:
        raise ValidationError(
            "Only a chat model asks for calls of functions, and none is connected here.", param="functions"
        )


def begin_agent(principal: Principal, inputs: AgentInput, execution: Execution) -> dict[str, Any]:
    """Return the inputs with the version and the binding that count for this request."""
    return inputs.model_dump(mode="json") | stored(chosen(principal, inputs.assistant_id))
