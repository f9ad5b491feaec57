"""`chat`: a message of a conversation becomes one answer from documents, the web, or both.

    earlier turns ─▶ self-contained question ─▶ `assistants.answering`

One async generator of typed events.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

from accounts.principal import Principal
from assistants.answering import Answered, answer_request, rewriter_for
from assistants.called_tools import AnswerRequest
from assistants.events import ChatPhase, ChatResult
from assistants.followups import self_contained
from assistants.inputs import ChatInput
from assistants.messages import ChatTurn, load_turn
from assistants.scope import question_of
from core.threads import in_database
from runs.context import Run
from runs.events import ToolEnd, ToolUpdate, Yielded
from search.preferences import rag_settings
from search.timing import StageTimer


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
    asked = await _ask(principal, inputs, run, turn)
    clock.mark("follow_up")
    async with aclosing(answer_request(asked, clock)) as steps:
        async for step in steps:
            if isinstance(step, Answered):
                answered = step
            else:
                yield step
    yield answered.trace()
    yield ToolEnd(data=ChatResult(message_id=message.pk, session_id=session.pk, **answered.fields()))


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
