"""What `chat` and `answer` stream: their phases, the events of the tools they call, and the result."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from runs.events import EventData, Usage
from search.events import AnswerOutcome, ContextData, Contexts, Phase, WithheldContext
from search.web.base import Outcome
from search.web.events import RankedSource, RerankedResults, Sources, WebPhase


def _is_none(value: object) -> bool:
    return value is None


ForeignTool = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]{0,19}__[A-Za-z0-9_-]{1,40}$")]
"""A tool of another server: its server's name, and its own."""
CalledTool = Literal["rag_search", "web_search", "web_fetch", "list_documents", "read_document"] | ForeignTool


class ChatPhase(EventData):
    """A step of the conversation's turn; the first event names execution, session and message."""

    leaves_nulls_out = True

    execution_id: str | None = None
    session_id: UUID | None = None
    message_id: UUID | None = None
    phase: Literal["PREPARATION", "COMPILING_RESULTS"]
    status: Literal["started", "completed"]


class ToolCallOfChat(EventData):
    """A tool that is called for an answer; its events carry the same `call_id`."""

    tool: CalledTool
    call_id: str


class AskedQuestion(EventData):
    """The question as the tools are asked it: self-contained, so that it needs no earlier turn."""

    asked: str
    carried: bool = Field(description="whether it holds more than what was typed")
    calls: list[ToolCallOfChat]
    output_key: Literal["asked"] = "asked"


class _OfCall(EventData):
    tool: CalledTool
    call_id: str


class CallStarted(_OfCall):
    """The agent calls a tool."""

    query: str = Field(description="what it asks for: a question, a name, an id, an address")
    output_key: Literal["call"] = "call"


class CallCompleted(_OfCall):
    """A call of the agent has come to its end."""

    found: int = Field(description="how many sources or documents")
    output_key: Literal["found"] = "found"


class CallFailed(_OfCall):
    """A tool has failed while another one may still answer."""

    code: str
    message: str
    output_key: Literal["failure"] = "failure"


class CalledPhase(Phase, _OfCall):
    """A step of `rag_search`."""


class CalledContexts(Contexts, _OfCall):
    """The contexts of documents."""


class CalledWebPhase(WebPhase, _OfCall):
    """A step of `web_search`."""


class CalledRerankedResults(RerankedResults, _OfCall):
    """How many pages are left after reranking."""


class CalledSources(Sources, _OfCall):
    """The pages that are left; their ranks go on after those of the contexts."""


CALLED: dict[type[EventData], type[EventData]] = {
    Phase: CalledPhase,
    Contexts: CalledContexts,
    WebPhase: CalledWebPhase,
    RerankedResults: CalledRerankedResults,
    Sources: CalledSources,
}
"""By the shape of a tool's event: the same with the call."""


class AnsweringAssistant(EventData):
    """The assistant that has answered, as it was then."""

    id: UUID
    name: str
    version: int
    binding_id: UUID | None = None


class SearchedWeb(EventData):
    """How the web was searched for an answer."""

    provider: str
    providers: dict[str, Outcome] = Field(description="how each search engine did that was asked")
    from_cache: bool
    ignored_filters: list[str] = Field(description="filters that no page could be checked against")


class WantedFunctionCall(EventData):
    """A call of a function that the caller has; its output comes with the caller's next request."""

    call_id: str
    name: str
    arguments: str = Field(description="JSON")


class AnswerResult(EventData):
    """The whole result of `answer`: one answer with one numbering over documents and web pages."""

    asked: str = Field(description="the question as it was searched: self-contained")
    response: str
    contexts: list[ContextData] = Field(description="of documents: ranks 1..n")
    sources: list[RankedSource] = Field(description="of the web: their ranks go on after the contexts'")
    sources_used: list[int]
    web: SearchedWeb | None = None
    model: str
    execution_id: str
    answered: bool
    outcome: AnswerOutcome
    citations_removed: int
    calls: list[ToolCallOfChat]
    usage: Usage
    timings: dict[str, float] = Field(description="seconds by stage")
    assistant: AnsweringAssistant | None = Field(None, exclude_if=_is_none)
    stopped_by: Literal["done", "steps", "time", "cost", "functions"] | None = Field(
        None, exclude_if=_is_none, description="of the agent: why it has called no more tools"
    )
    function_calls: list[WantedFunctionCall] | None = Field(
        None, exclude_if=_is_none, description="of the agent: what the caller is asked for before an answer"
    )


class ChatResult(AnswerResult):
    """The same of a message in a conversation: the result of `chat`."""

    message_id: UUID
    session_id: UUID


# --- What a reader is shown who no longer sees a document that the run has read (runs/withholding.py) ----


class WithheldAnswerResult(EventData):
    """A result of which the reader does not see every document that was read for it."""

    asked: None
    response: None
    contexts: list[ContextData | WithheldContext]
    sources: list[RankedSource]
    sources_used: list[int]
    web: SearchedWeb | None = None
    model: str
    execution_id: str
    answered: bool
    outcome: AnswerOutcome
    citations_removed: int
    calls: list[ToolCallOfChat]
    usage: Usage
    timings: dict[str, float]
    unavailable: Literal[True]
    assistant: AnsweringAssistant | None = Field(None, exclude_if=_is_none)
    stopped_by: Literal["done", "steps", "time", "cost", "functions"] | None = Field(
        None, exclude_if=_is_none, description="of the agent: why it has called no more tools"
    )
    function_calls: None = Field(
        None, exclude_if=_is_none, description="of the agent: what the caller is asked for before an answer"
    )


class WithheldChatResult(WithheldAnswerResult):
    """The same of a message in a conversation."""

    message_id: UUID
    session_id: UUID


class WithheldAskedQuestion(EventData):
    """A self-contained question that may repeat words of such documents."""

    asked: None
    carried: bool
    calls: list[ToolCallOfChat]
    output_key: Literal["asked"]
    unavailable: Literal[True]


class WithheldCallStarted(_OfCall):
    """A call of the agent, which may ask with words of such documents."""

    query: None
    output_key: Literal["call"]
    unavailable: Literal[True]


class WithheldCalledContexts(_OfCall):
    """Contexts of which the reader no longer sees some."""

    contexts: list[ContextData | WithheldContext]
    output_key: Literal["contexts"]


class WithheldCalledWebPhase(_OfCall):
    """The beginning of a web search for such a question."""

    leaves_nulls_out = True

    execution_id: str
    phase: Literal["WEB_SEARCH"]
    status: Literal["started"]
    query: None
    unavailable: Literal[True]
