"""`chat`, `answer` and `agent` as tools."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from accounts.principal import Principal
from assistants.agent.inputs import AgentInput
from assistants.agent.preparing import Narrowing, require_tools, searched_workspaces
from assistants.agent.tool import admit_agent, agent, begin_agent, searched_by_agent
from assistants.answer import MOST_TURNS, AnswerInput, admit_answer, answer, searched_for_answer
from assistants.chat import chat
from assistants.configuration.recorded import chosen
from assistants.configuration.settings import MOST_STEPS
from assistants.conversations import assistant_of, session_of
from assistants.events import (
    AnswerResult,
    AskedQuestion,
    CallCompleted,
    CalledContexts,
    CalledPhase,
    CalledRerankedResults,
    CalledSources,
    CalledWebPhase,
    CallFailed,
    CallStarted,
    ChatPhase,
    ChatResult,
    WithheldAnswerResult,
    WithheldAskedQuestion,
    WithheldCalledContexts,
    WithheldCalledWebPhase,
    WithheldCallStarted,
    WithheldChatResult,
)
from assistants.inputs import ChatInput
from assistants.messages import begin_answer
from assistants.scope import scope_of, searched_workspaces_of
from core.errors import ValidationError
from runs.models import CHAT as NAME
from runs.registry import Tool
from search.events import WithheldText
from search.inputs import MOST_QUERY_CHARS
from search.web.searching import admit as admit_web_search


def _searched_workspaces(principal: Principal, inputs: ChatInput) -> Collection[UUID]:
    session = session_of(principal)
    assistant = chosen(principal, assistant_of(principal, session))
    if assistant is None:
        return searched_workspaces_of(principal, session)
    searched = searched_workspaces(principal, assistant.settings, Narrowing(documents=scope_of(session)))
    return {session.workspace_id, *searched}


def _admit(principal: Principal, inputs: ChatInput, workspace_id: UUID) -> None:
    """Refuse another workspace than the conversation's, and the web where that is switched off."""
    session = session_of(principal)
    if workspace_id != session.workspace_id:
        raise ValidationError("A conversation has a workspace of its own.", param="workspace_id")
    assistant = chosen(principal, assistant_of(principal, session))
    if assistant is not None:
        require_tools(principal, assistant.settings, Narrowing(), workspace_id)
    elif session.searches_web:
        # The words of the question do not matter here.
        admit_web_search(principal, inputs.web_search(inputs.content or "?"), workspace_id)


UPDATES = (
    ChatPhase,
    AskedQuestion,
    CalledPhase,
    CalledContexts,
    CalledWebPhase,
    CalledRerankedResults,
    CalledSources,
    CallFailed,
    CallStarted,
    CallCompleted,
)
WITHHELD_UPDATES = (
    WithheldAskedQuestion,
    WithheldCalledContexts,
    WithheldCalledWebPhase,
    WithheldCallStarted,
)
CHAT = Tool(
    NAME,
    "Answers a message of a conversation from documents, the web, or both; it knows what was said before.",
    ChatInput,
    chat,
    {"content_chars": MOST_QUERY_CHARS},
    results=(ChatResult,),
    updates=UPDATES,
    withheld_results=(WithheldChatResult,),
    withheld_updates=WITHHELD_UPDATES,
    withheld_texts=(WithheldText,),
    searched_workspaces=_searched_workspaces,
    admit=_admit,
    begin=begin_answer,
)
ANSWER = Tool(
    "answer",
    "Answers a question from documents, the web, or both, with one numbering of all sources.",
    AnswerInput,
    answer,
    {"query_chars": MOST_QUERY_CHARS, "history_turns": MOST_TURNS},
    results=(AnswerResult,),
    updates=UPDATES,
    withheld_results=(WithheldAnswerResult,),
    withheld_updates=WITHHELD_UPDATES,
    withheld_texts=(WithheldText,),
    searched_workspaces=searched_for_answer,
    admit=admit_answer,
)
AGENT = Tool(
    "agent",
    "Answers a question as an assistant is set up, with as many searches as it takes.",
    AgentInput,
    agent,
    {"query_chars": MOST_QUERY_CHARS, "history_turns": MOST_TURNS, "steps": MOST_STEPS},
    results=(AnswerResult,),
    updates=UPDATES,
    withheld_results=(WithheldAnswerResult,),
    withheld_updates=WITHHELD_UPDATES,
    withheld_texts=(WithheldText,),
    searched_workspaces=searched_by_agent,
    admit=admit_agent,
    begin=begin_agent,
)
