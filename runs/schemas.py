"""What the API's schema says of tools: requests, results, events, executions and errors.

What belongs to one tool is read from the registry: a new tool is in the schema by being registered.
"""

from __future__ import annotations

from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any, Literal, Self
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone
from pydantic import BaseModel, Field, JsonValue, RootModel, create_model

from accounts.access.identity import AskerFields
from accounts.principal import Principal
from core.api.lists import ListPage
from core.api.validation import ApiModel
from runs import events
from runs.events import PartialText, Usage
from runs.models import ExecutionStatus
from runs.registry import TOOLS, Tool
from runs.request import CallFields

if not TOOLS:
    raise ImproperlyConfigured("The API describes the tools: register them before it is imported.")


def _one_of(*types: Any) -> Any:
    """Return the union of types, each once."""
    return reduce(or_, dict.fromkeys(types))


def _of_all_tools(field: str) -> list[Any]:
    return [shape for tool in TOOLS.values() for shape in getattr(tool, field)]


RESULTS = [*_of_all_tools("results"), *_of_all_tools("withheld_results")]
UPDATES = [*_of_all_tools("updates"), *_of_all_tools("withheld_updates")]
TEXTS = [PartialText, *_of_all_tools("withheld_texts")]
DETAILS = [*_of_all_tools("failure_details"), dict[str, JsonValue]]


# --- Requests --------------------------------------------------------------------------------------------


def _call(tool: Tool) -> type[BaseModel]:
    name = "".join(map(str.title, tool.name.split("_")))
    return create_model(f"{name}Call", __base__=(tool.input_model, CallFields), __doc__=f"Run `{tool.name}`.")


class ToolCall(RootModel[_one_of(*map(_call, TOOLS.values()))]):  # type: ignore[misc]
    """The inputs of the tool that the address names."""


class _Execute(AskerFields):
    workspace_id: UUID | None = None


Execute = create_model(
    "Execute",
    __base__=_Execute,
    __doc__="Run a tool without waiting: its inputs apart from what every tool accepts.",
    inputs=(_one_of(*(tool.input_model for tool in TOOLS.values())), ...),
)


# --- Results and events ----------------------------------------------------------------------------------

Failure = create_model(
    "Failure",
    __base__=events.Failure,
    __doc__=events.Failure.__doc__,
    details=(_one_of(*DETAILS, None), None),
)


def _event(envelope: type[BaseModel], *data: Any) -> type[BaseModel]:
    """Return the shape of an event with what may be in it."""
    return create_model(
        envelope.__name__, __base__=envelope, __doc__=envelope.__doc__, data=(_one_of(*data), ...)
    )


class ToolResult(RootModel[_one_of(*RESULTS)]):  # type: ignore[misc]
    """What a tool has found."""


class ToolEvent(
    RootModel[  # type: ignore[misc]
        _one_of(
            _event(events.ToolUpdate, *UPDATES),
            _event(events.ToolPartialUpdate, *TEXTS),
            _event(events.ToolEnd, *RESULTS),
            _event(events.ToolError, Failure),
        )
    ]
):
    """The `data:` of a Server-Sent Event. Larger ones come in slices, `_delta_sse`."""


# --- Executions and tools --------------------------------------------------------------------------------


class Accepted(ApiModel):
    """Where to follow an execution."""

    execution_id: str
    status: Literal[ExecutionStatus.QUEUED]
    details_url: str
    stream_url: str


class ExecutionSummary(ApiModel):
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


class ExecutionList(ListPage[ExecutionSummary]):
    """Executions, newest first."""


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


FeedbackReason = Literal[
    "incorrect", "incomplete", "irrelevant", "wrong_sources", "outdated", "hard_to_read", "too_slow", "other"
]


class Feedback(ApiModel):
    """A rating of an answer by the person who asked."""

    rating: Literal["up", "down"]
    reasons: list[FeedbackReason] = Field(default=[], max_length=8)
    comment: str = Field("", max_length=2000)

    def as_column(self) -> dict[str, Any]:
        """Return what is stored."""
        at = timezone.now().isoformat().replace("+00:00", "Z")
        return {
            "rating": self.rating,
            "reasons": list(dict.fromkeys(self.reasons)),
            "comment": self.comment.strip(),
            "at": at,
        }


class FeedbackDetails(ApiModel):
    """A rating as it is kept."""

    rating: Literal["up", "down"]
    reasons: list[FeedbackReason]
    comment: str
    at: datetime


class _Details(ExecutionSummary):
    usage: Usage | None
    cost: float | None = Field(
        description="US dollars; null where a price is unknown. Of a run that ended early: so far."
    )
    trace: ExecutionTrace | None
    feedback: FeedbackDetails | None = Field(description="Only to the person who asked.")


ExecutionDetails = create_model(
    "ExecutionDetails",
    __base__=_Details,
    __doc__="One run of a tool, with all that is known of it.",
    result=(_one_of(PartialResult, *RESULTS, None), ...),
    error=(_one_of(Failure, None), ...),
)


class DeletedRows(ApiModel):
    """How many of what is gone."""

    executions: int
    events: int


class DeletedExecution(ApiModel):
    """The receipt of a deletion."""

    deleted: DeletedRows


class ToolDescription(ApiModel):
    """A tool, for people, programs and models."""

    name: str
    description: str
    input_schema: dict[str, Any]
    limits: dict[str, int] = Field(description="How much of what a call may give.")
    cost: dict[str, float] | None = Field(description="US dollars for a call, by search engine.")
    enabled: bool = Field(description="Whether the workspace has it switched on.")

    @classmethod
    def of(cls, tool: Tool, principal: Principal, workspace_id: UUID) -> Self:
        """Return the tool as it is for a workspace; raise `NotFound` if the principal does not see that."""
        principal.require_workspace(workspace_id)
        return cls(
            name=tool.name,
            description=tool.description,
            input_schema=tool.input_model.model_json_schema(),
            limits=dict(tool.limits),
            cost=tool.cost(),
            enabled=tool.enabled(principal, workspace_id),
        )


class ToolList(ListPage[ToolDescription]):
    """The tools of this deployment."""


RUN_ERRORS = (402, 404, 409, 500, 502, 504)
"""What a run may meet besides what any request may."""
