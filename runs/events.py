"""The envelope of the events that a run of any tool streams (contract §7); each tool declares the contents.

A pipeline yields these. Journal and transports handle them without knowing the tool.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SerializeAsAny


class EventData(BaseModel):
    """The data of an event; unknown fields are refused, so its shape is its documentation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    leaves_nulls_out: ClassVar[bool] = False
    """Whether fields without a value are left out of the JSON."""


MAX_PARTIAL_BYTES = 256
"""The maximal size of the JSON-escaped content of a partial."""


def escaped_bytes(text: str) -> int:
    """Return how long a text is in JSON, without its quotation marks."""
    return len(json.dumps(text)) - 2


class PartialText(EventData):
    """A piece of the response, with raw `<source_N>` markers that are never cut."""

    content: str
    output_key: Literal["response"] = "response"


class Usage(EventData):
    """Tokens that models have read and written, by their own tokenizers."""

    input_tokens: int = 0
    output_tokens: int = 0


class Failure(EventData):
    """Why there is no result; `param` and `details` are given only where they add something (contract §3)."""

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
    """The successful end of a stream, with the whole result."""

    event: Literal["tool_end"] = "tool_end"
    data: SerializeAsAny[EventData]


class ToolError(_Envelope):
    """The failed end of a stream."""

    event: Literal["error"] = "error"
    data: Failure


class Trace(EventData):
    """Diagnostics of a result. Stored with the execution, not streamed."""

    usage: Usage
    cost: float | None = Field(description="US dollars; null where a price is unknown")
    timings: dict[str, float] = Field(description="seconds by stage")
    steps: dict[str, JsonValue] = Field(description="what each step of the pipeline got and left")


class DocumentsRead(EventData):
    """The documents whose text a run has used: those of its contexts. Stored with the execution, not
    streamed.

    It comes before the first event that holds any of their words. Candidates that only the reranker read are
    not included, because nothing that is stored comes from their text.
    """

    documents: list[UUID]
    chunks: dict[UUID, list[UUID]] = Field(
        default_factory=dict, description="by workspace, the chunks; for the audit log"
    )


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
