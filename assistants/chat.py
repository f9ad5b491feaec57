"""`chat`: a message of a conversation becomes one answer from documents, the web, or both.

    earlier turns ─▶ self-contained question ─┬─▶ `assistants.answering`
                                              └─▶ `assistants.agent`, where an assistant answers

One async generator of typed events.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace

from accounts.principal import Principal
from assistants.agent.answering import AgentAnswered, answer_with_tools
from assistants.agent.deep.answering import answer_deeply
from assistants.agent.preparing import Narrowing, set_up
from assistants.answering import Answered, answer_request, rewriter_for
from assistants.called_tools import AnswerRequest
from assistants.configuration.recorded import configured_for
from assistants.configuration.resolving import ConfiguredAssistant
from assistants.events import ChatPhase, ChatResult
from assistants.followups import self_contained
from assistants.inputs import ChatInput
from assistants.messages import ChatTurn, load_turn
from assistants.scope import question_of, with_attached
from core.threads import in_database
from runs.context import Run
from runs.events import DocumentsRead, ToolEnd, ToolPartialUpdate, ToolUpdate, Yielded
from search.preferences import rag_settings
from search.timing import StageTimer
from search.web.inputs import WebOptions


async def chat(principal: Principal, inputs: ChatInput, run: Run) -> AsyncIterator[Yielded]:
    """Yield the events of one turn: the question as it is asked, the tools' events, the text, the result."""
    clock = StageTimer()
    turn = await in_database(load_turn, principal, run.execution_id)
    session, message = turn.session, turn.message
    yield ToolUpdate(
        data=ChatPhase(
            execution_id=run.execution_id,
            session_id=session.pk,
            message_id=message.pk,
            phase="PREPARATION",
            status="started",
        )
    )
    assistant = await in_database(configured_for, principal, run.execution_id)
    answering = (
        _by_agent(principal, inputs, run, turn, assistant, clock)
        if assistant or inputs.deep
        else _by_pipeline(principal, inputs, run, turn, clock)
    )
    async with aclosing(answering) as steps:
        async for step in steps:
            if isinstance(step, Answered | AgentAnswered):
                answered = step
            else:
                yield step
    yield answered.trace()
    named = answered.asked.assistant if isinstance(answered, AgentAnswered) else None
    fields = answered.fields()
    yield ToolEnd(data=ChatResult(message_id=message.pk, session_id=session.pk, **fields, assistant=named))


Answering = AsyncGenerator[ToolUpdate | DocumentsRead | ToolPartialUpdate | Answered | AgentAnswered, None]


async def _by_pipeline(
    principal: Principal, inputs: ChatInput, run: Run, turn: ChatTurn, clock: StageTimer
) -> Answering:
    """Answer with one search of documents, of the web, or of both."""
    asked = await _ask(principal, inputs, run, turn)
    clock.mark("follow_up")
    async with aclosing(answer_request(asked, clock)) as steps:
        async for step in steps:
            yield step


async def _by_agent(
    principal: Principal,
    inputs: ChatInput,
    run: Run,
    turn: ChatTurn,
    assistant: ConfiguredAssistant | None,
    clock: StageTimer,
) -> Answering:
    """Answer as the conversation's assistant is set up; its tools count instead of the conversation's.

    Without an assistant the agent searches what the conversation has switched on.
    """
    session = turn.session
    options = WebOptions(filters=inputs.web) if assistant or session.searches_web else None
    setup = await in_database(set_up, principal, run, assistant, Narrowing(web=options))
    rewriter = await in_database(setup.rewriter)
    question = await self_contained(turn.message.content, turn.history, rewriter=rewriter)
    reads_documents = assistant is not None or session.searches_documents
    asked_here = await in_database(question_of, principal, turn, question) if reads_documents else None
    setup = await in_database(set_up, principal, run, assistant, Narrowing(documents=asked_here, web=options))
    if turn.message.document_ids is None and reads_documents:
        scope = await in_database(with_attached, principal, setup.scope, turn.session)
        setup = replace(setup, scope=scope)
    clock.mark("follow_up")
    typed = [*(each.question for each in turn.history), turn.message.content, question.question]
    carried_from = sorted(turn.read_before) if question.carried else []
    asked = setup.request(question, "\n".join(typed), carried_from)
    answering = answer_deeply(asked, clock) if inputs.deep else answer_with_tools(asked, clock)
    async with aclosing(answering) as steps:
        async for step in steps:
            yield step


async def _ask(principal: Principal, inputs: ChatInput, run: Run, turn: ChatTurn) -> AnswerRequest:
    """Make the question self-contained; which model may help, and what is in scope, is in the database."""
    wanted = await in_database(rag_settings, principal, run.workspace_id)
    rewriter = await in_database(rewriter_for, principal, run, wanted)
    question = await self_contained(turn.message.content, turn.history, rewriter=rewriter)
    session = turn.session
    documents = (
        await in_database(question_of, principal, turn, question) if session.searches_documents else None
    )
    web = inputs.web_search(question.question) if session.searches_web else None
    carried_from = sorted(turn.read_before) if question.carried else []
    return AnswerRequest(principal, run, question, wanted, documents, web, carried_from)
