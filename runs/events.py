"""The envelope of what a run of any tool streams (contract §7). What is in it, each tool declares itself.

A pipeline yields these; journal and transports handle them without knowing the tool.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SerializeAsAny


class EventData(BaseModel):
    """What an event says; unknown fields are refused, so its shape is its documentation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    leaves_nulls_out: ClassVar[bool] = False
    """Whether fields without a value are left out of what is sent."""


MAX_PARTIAL_BYTES = 256
"""So large may the JSON-escaped content of a partial be."""


def escaped_bytes(text: str) -> int:
    """Return how long a text is in JSON, without its quotation marks."""
    return len(json.dumps(text)) - 2


class PartialText(EventData):
    """A piece of the response, with raw `<source_N>` markers that are never cut."""

    content: str
    output_key: Literal["response"] = "response"


class Usage(EventData):
    """What models have read and written, in their own tokens."""

    input_tokens: int = 0
    output_tokens: int = 0


class Failure(EventData):
    """Why there is no result; `param` and `details` only where there is more to say (contract §3)."""

    leaves_nulls_out = True

    code: str
    message: str
    param: str | None = None
    details: dict[str, JsonValue] | None = None


class _Envelope(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ToolUpdate(_Envelope):
    """Progress, or intermediate data."""

    event: Literal["tool_update"] = "tool_update"
    data: SerializeAsAny[EventData]


class ToolPartialUpdate(_Envelope):
    """The response as it grows."""

    event: Literal["tool_partial_update"] = "tool_partial_update"
    data: PartialText


class ToolEnd(_Envelope):
    """The one good end of a stream: the whole result."""

    event: Literal["tool_end"] = "tool_end"
    data: SerializeAsAny[EventData]


class ToolError(_Envelope):
    """The one bad end of a stream."""

    event: Literal["error"] = "error"
    data: Failure


class Trace(EventData):
    """How a result came about. Kept with the execution, not streamed."""

    usage: Usage
    cost: float | None = Field(description="US dollars; null where a price is unknown")
    timings: dict[str, float] = Field(description="seconds by stage")
    steps: dict[str, JsonValue] = Field(description="what each step of the pipeline got and left")


class DocumentsRead(EventData):
    """The documents whose text a run has read: those of its contexts. Kept with the execution, not streamed.

    It comes before the first event that holds any of their words. Candidates that only the reranker saw are
    not among them: nothing that is stored comes from their text.
    """

    documents: list[UUID]


Event = ToolUpdate | ToolPartialUpdate | ToolEnd | ToolError
TERMINAL = frozenset({"tool_end", "error"})

Yielded = Event | DocumentsRead | Trace
"""What a pipeline yields: its stream's events, what it has read, and before the end how that came about."""


def event_data(event: Event) -> dict[str, Any]:
    """Return the `data` of an event as JSON."""
    data = event.data.model_dump(mode="json")
    if event.data.leaves_nulls_out:
        return {key: value for key, value in data.items() if value is not None}
    return data
