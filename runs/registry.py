"""The tools that programs and models can run. The roof registers them at the start (`locus.tools`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from pydantic import BaseModel

from accounts.principal import Principal
from core.api.validation import validated
from core.errors import NotFound, ValidationError
from runs.context import Run
from runs.events import EventData, Yielded


def _admit(principal: Principal, inputs: Any, workspace_id: UUID) -> None:
    """Let everybody in."""


class ToolInput(Protocol):
    """A pydantic model that can also say what of it the caller must not name."""

    def check_visible(self, principal: Principal) -> None:
        """Raise `NotFound` for a document or workspace the principal can't see."""

    def model_dump(self, *, mode: str) -> dict[str, Any]:
        """Return the inputs as JSON."""


@dataclass(frozen=True)
class Tool:
    """A pipeline with its name, its description for people and models, and the shape of its input."""

    name: str
    description: str
    input_model: type[BaseModel]
    run: Callable[[Principal, Any, Run], AsyncIterator[Yielded]]
    limits: Mapping[str, int]
    """How much of what a call may give."""
    results: tuple[type[EventData], ...]
    """What `tool_end` may hold: one of these."""
    updates: tuple[type[EventData], ...]
    """What `tool_update` may hold."""
    withheld_results: tuple[type[EventData], ...] = ()
    """The same for readers who no longer see all that a run has read (`runs.withholding`)."""
    withheld_updates: tuple[type[EventData], ...] = ()
    withheld_texts: tuple[type[EventData], ...] = ()
    failure_details: tuple[type[EventData], ...] = ()
    """What the `details` of its failures may be, where they are of a known shape."""
    searched_workspaces: Callable[[Principal, Any], Collection[UUID]] = lambda principal, inputs: ()
    """The workspaces whose documents a call looks through."""
    admit: Callable[[Principal, Any, UUID], None] = _admit
    """Raises what keeps inputs from being run for a workspace, before a stream starts."""
    enabled: Callable[[Principal, UUID], bool] = lambda principal, workspace_id: True
    """Whether a workspace has it switched on."""
    offered: Callable[[], bool] = lambda: True
    """Whether the deployment has it at all."""
    cost: Callable[[], Any] = lambda: None
    """What a call costs in US dollars, by provider; None where it costs nothing."""

    def parse(self, principal: Principal, inputs: Any) -> ToolInput:
        """Return validated inputs, or raise the error that says what is wrong with them.

        All is decided here, before a stream starts: shape first, then visibility.
        """
        if not isinstance(inputs, dict):
            raise ValidationError("The inputs must be a JSON object.", param="inputs")
        parsed: Any = validated(self.input_model, inputs)
        parsed.check_visible(principal)
        tool_input: ToolInput = parsed
        return tool_input


TOOLS: dict[str, Tool] = {}
"""By name, in the order in which they are listed."""


def register(tools: Iterable[Tool]) -> None:
    """Make tools known."""
    TOOLS.update((tool.name, tool) for tool in tools)


def offered_tools() -> list[Tool]:
    """Return the tools that this deployment has."""
    return [tool for tool in TOOLS.values() if tool.offered()]


def tool_named(name: str) -> Tool:
    """Return the tool, or raise `NotFound`."""
    if name not in TOOLS or not TOOLS[name].offered():
        raise NotFound(f"There is no tool “{name}”.")
    return TOOLS[name]
