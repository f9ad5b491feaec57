"""What a call of a tool gives, and what tools share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from assistants.agent.guard import OutboundGuard
from assistants.agent.request import AgentRequest
from assistants.agent.sources import SourceBook
from core.llm.base import ChatFunction
from runs.events import DocumentsRead, ToolUpdate
from search.contexts import Context
from search.timing import StageTimer

SHOWN_CHARS = 1200
"""Of a source a planner reads so much: enough to tell what it is about."""


@dataclass(frozen=True, slots=True)
class Gathering:
    """One run while it gathers: its request, its sources, and what may go out."""

    asked: AgentRequest
    book: SourceBook
    guard: OutboundGuard
    clock: StageTimer


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What a call has given: the last item that a tool yields."""

    content: JsonValue
    """What the planner reads: data of strangers."""
    found: int
    """How many sources or documents."""


CallStep = ToolUpdate | DocumentsRead | CallOutcome
CallSteps = AsyncGenerator[CallStep, None]


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool that the agent may call."""

    function: ChatFunction
    call: Callable[[Gathering, object], CallSteps]
    """Yields the call's events and last its outcome; raises `LocusError`, also for wrong arguments."""
    subject: str
    """The argument that says what is asked for; blank where none does."""
    is_foreign: bool = False
    """Whether others have written its description."""


def rendered(contexts: Sequence[Context]) -> list[JsonValue]:
    """Return sources as a planner reads them."""
    return [
        {
            "source": context.rank,
            "from": context.document_name,
            "page": context.page_number,
            "text": context.text[:SHOWN_CHARS],
        }
        for context in contexts
    ]
