"""What the agent is asked, and what it may use for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

from accounts.principal import Principal
from assistants.agent.functions import NO_CALLER, CallerSide
from assistants.agent.limits import CappedPayment
from assistants.configuration.settings import AgentLimits, AgentToolName
from assistants.events import AnsweringAssistant
from assistants.followups import SelfContained
from runs.context import Run
from search.generation.base import Corpus
from search.preferences import RagSettings
from search.questions import Question
from search.web.inputs import WebOptions

if TYPE_CHECKING:
    from assistants.agent.outcome import AgentTool


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """A self-contained question, and all that it may be answered with."""

    principal: Principal
    run: Run
    question: SelfContained
    typed: str
    """What the person has written, now and before: its words and addresses may go to the web."""
    instructions: str
    """Of the assistant and of the request."""
    wanted: RagSettings
    tools: Sequence[AgentToolName]
    scope: Question
    """The documents that may be read, as the restrictions of a question without words."""
    web: WebOptions
    limits: AgentLimits
    payment: CappedPayment
    assistant: AnsweringAssistant | None = None
    """Who answers, as the result says it."""
    carried_from: Sequence[UUID] = ()
    """The documents whose words the question may repeat."""
    foreign_tools: Sequence[AgentTool] = ()
    """Of other people's servers."""
    caller: CallerSide = NO_CALLER
    """The functions of the caller, and what they gave."""
    missing_models: Sequence[str] = ()
    """Models of the assistant that the deployment no longer offers."""

    def about(self, query: str) -> Question:
        """Return a question within the scope."""
        return replace(self.scope, text=query)

    @property
    def corpus(self) -> Corpus:
        """What the answer may be written from."""
        # What a foreign tool or a function says is cited like a page.
        has_foreign = bool(self.foreign_tools or self.caller.results)
        has_web = has_foreign or any(tool.startswith("web_") for tool in self.tools)
        if not has_web:
            return Corpus.DOCUMENTS
        has_documents = any(not tool.startswith("web_") for tool in self.tools)
        return Corpus.DOCUMENTS_AND_WEB if has_documents else Corpus.WEB


@dataclass(frozen=True, slots=True)
class AgentCall:
    """A call of a tool for the answer."""

    tool: str
    arguments: object
    """As the planner gives them, and not checked yet."""
    call_id: str = ""
