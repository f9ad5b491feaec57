"""The tools that programs and models can run; `locus.tools` registers them at the start."""

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
from runs.models import Execution


def _admit(principal: Principal, inputs: Any, workspace_id: UUID) -> None:
    """Accept all inputs."""


class ToolInput(Protocol):
    """A pydantic model that also checks which ids in it the caller can see."""

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
    """The limits of a call's inputs."""
    results: tuple[type[EventData], ...]
    """The shapes that `tool_end` may hold."""
    updates: tuple[type[EventData], ...]
    """The shapes that `tool_update` may hold."""
    withheld_results: tuple[type[EventData], ...] = ()
    """The shapes for readers who no longer see all documents that a run has read (`runs.withholding`)."""
    withheld_updates: tuple[type[EventData], ...] = ()
    withheld_texts: tuple[type[EventData], ...] = ()
    failure_details: tuple[type[EventData], ...] = ()
    """The shapes of its failures' `details`, where they are known."""
    searched_workspaces: Callable[[Principal, Any], Collection[UUID]] = lambda principal, inputs: ()
    """The workspaces whose documents a call searches."""
    admit: Callable[[Principal, Any, UUID], None] = _admit
    """Raises the reason why inputs can't be run for a workspace, before a stream starts."""
    begin: Callable[[Principal, Any, Execution], dict[str, Any]] | None = None
    """Stores what belongs to a new execution besides its row, in the same transaction; returns its inputs as
    they are to be stored."""
    enabled: Callable[[Principal, UUID], bool] = lambda principal, workspace_id: True
    """Whether a workspace has switched the tool on."""
    offered: Callable[[], bool] = lambda: True
    """Whether the deployment has the tool at all."""
    cost: Callable[[], Any] = lambda: None
    """The cost of a call in US dollars, by provider; None if it is free."""

    def parse(self, principal: Principal, inputs: Any) -> ToolInput:
        """Return validated inputs, or raise `ValidationError` or `NotFound`.

        Everything is checked before a stream starts: first the shape, then visibility.
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
