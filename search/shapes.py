"""What the API's schema says of tools: requests, results, events, executions and errors."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, RootModel

from search.events import ContextData, Event, Failure, RagResult, Usage, WebAnswer, WebPage, WebResults
from search.models import ExecutionStatus
from search.rag import RagInput
from search.web.inputs import WebSearchInput
from search.web.web_fetch import WebFetchInput


class CallFields(BaseModel):
    """What every tool accepts beside its own inputs."""

    stream: bool = Field(False, description="Server-Sent Events instead of the result.")
    workspace_id: UUID | None = Field(None, description="Its settings count, and it pays.")
    external_user_id: str | None = Field(None, min_length=1, max_length=255)
    session_id: UUID | None = None


class RagSearchCall(RagInput, CallFields):
    """Run `rag_search`."""


class WebSearchCall(WebSearchInput, CallFields):
    """Run `web_search`."""


class WebFetchCall(WebFetchInput, CallFields):
    """Run `web_fetch`."""


class ToolCall(RootModel[RagSearchCall | WebSearchCall | WebFetchCall]):
    """The inputs of the tool that the address names."""


class Execute(BaseModel):
    """Run a tool without waiting: its inputs apart from what every tool accepts."""

    inputs: RagInput | WebSearchInput | WebFetchInput
    workspace_id: UUID | None = None
    external_user_id: str | None = None
    session_id: UUID | None = None


class WithheldContext(BaseModel):
    """A context of a document that the reader no longer sees."""

    model_config = ConfigDict(extra="forbid")

    rank: int
    document_id: str
    text_preview: None
    quote: None
    quotes: None
    bbox: None
    unavailable: Literal[True]


class WithheldResult(BaseModel):
    """A result of `rag_search` of which the reader no longer sees every document that was read for it."""

    model_config = ConfigDict(extra="forbid")

    response: None
    contexts: list[ContextData | WithheldContext]
    sources_used: list[int]
    model: str
    execution_id: str
    answered: bool
    citations_removed: int
    usage: Usage
    timings: dict[str, float]
    unavailable: Literal[True]


class WithheldText(BaseModel):
    """A piece of such a response."""

    model_config = ConfigDict(extra="forbid")

    content: None
    output_key: Literal["response"]
    unavailable: Literal[True]


class WithheldContexts(BaseModel):
    """Contexts, of which the reader no longer sees some."""

    model_config = ConfigDict(extra="forbid")

    contexts: list[ContextData | WithheldContext]
    output_key: Literal["contexts"]


class WithheldEvent(BaseModel):
    """An event of which the reader no longer sees all."""

    model_config = ConfigDict(extra="forbid")

    event: Literal["tool_update", "tool_partial_update", "tool_end"]
    data: WithheldContexts | WithheldText | WithheldResult


class ToolResult(RootModel[RagResult | WithheldResult | WebAnswer | WebResults | WebPage]):
    """What a tool has found."""


class ToolEvent(RootModel[Event | WithheldEvent]):
    """The `data:` of a Server-Sent Event. Larger ones come in slices, `_delta_sse`."""


class Accepted(BaseModel):
    """Where to follow an execution."""

    execution_id: str
    status: Literal[ExecutionStatus.QUEUED]
    details_url: str
    stream_url: str


class ExecutionSummary(BaseModel):
    """One run of a tool."""

    id: str
    execution_id: str
    tool: str
    status: ExecutionStatus
    inputs: dict[str, Any]
    workspace_id: UUID
    external_user_id: str | None
    session_id: UUID | None
    created_at: datetime
    finished_at: datetime | None


class ExecutionList(BaseModel):
    """Executions, newest first."""

    results: list[ExecutionSummary]
    next: str | None
    previous: str | None


class PartialResult(BaseModel):
    """What an execution had said when it was ended."""

    response: str | None = Field(description="null with `unavailable`: made of documents no longer seen")
    partial: Literal[True]
    unavailable: Literal[True] | None = None


class ExecutionTrace(BaseModel):
    """How a result came about."""

    timings: dict[str, float] = Field(description="Seconds by stage.")
    steps: dict[str, Any] = Field(description="What each step got and left.")
    unavailable: Literal[True] | None = Field(None, description="The answer's statements are withheld.")


class ExecutionDetails(ExecutionSummary):
    """One run of a tool, with all that is known of it."""

    result: RagResult | WithheldResult | WebAnswer | WebResults | WebPage | PartialResult | None
    usage: Usage | None
    cost: float | None = Field(
        description="US dollars; null where a price is unknown. Of a run that ended early: so far."
    )
    error: Failure | None
    trace: ExecutionTrace | None


class DeletedRows(BaseModel):
    """How many of what is gone."""

    executions: int
    events: int


class DeletedExecution(BaseModel):
    """The receipt of a deletion."""

    deleted: DeletedRows


class ToolDescription(BaseModel):
    """A tool, for people, programs and models."""

    name: str
    description: str
    input_schema: dict[str, Any]
    limits: dict[str, int] = Field(description="How much of what a call may give.")
    cost: dict[str, float] | None = Field(description="US dollars for a call, by search engine.")
    enabled: bool = Field(description="Whether the workspace has it switched on.")


class ToolList(BaseModel):
    """The tools of this deployment."""

    results: list[ToolDescription]
    next: str | None
    previous: str | None


RUN_ERRORS = (402, 404, 409, 500, 502, 504)
"""What a run may meet besides what any request may."""
