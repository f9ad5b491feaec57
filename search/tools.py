"""The tools programs and models can run; a new one is a new entry in `TOOLS`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from pydantic import BaseModel

from accounts.errors import NotFound, ValidationError
from accounts.principal import Principal
from accounts.validation import validated
from kb.fetch import MAX_URL
from search.events import Yielded
from search.inputs import MOST_QUERY_CHARS
from search.preferences import MAX_CONTEXTS
from search.rag import RagInput, rag_search, searched_workspaces
from search.run import Run
from search.web import web_fetch
from search.web.inputs import MOST_DOMAINS, WebSearchInput
from search.web.pipeline import web_search
from search.web.preferences import MOST_HITS, are_web_tools_offered, is_enabled
from search.web.prices import prices
from search.web.searching import admit


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

    def describe(self, principal: Principal, workspace_id: UUID) -> dict[str, Any]:
        """Return what `GET tools/{name}` answers, for a workspace that the principal sees."""
        principal.require_workspace(workspace_id)
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_model.model_json_schema(),
            "limits": dict(self.limits),
            "cost": self.cost(),
            "enabled": self.enabled(principal, workspace_id),
        }

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


TOOLS = {
    tool.name: tool
    for tool in [
        Tool(
            "rag_search",
            "Answers a question from the documents you may read; each sentence names the place it came from.",
            RagInput,
            rag_search,
            {"query_chars": MOST_QUERY_CHARS, "limit": MAX_CONTEXTS},
            searched_workspaces,
        ),
        Tool(
            "web_search",
            "Searches the web for current information, and answers from the pages found, or lists them.",
            WebSearchInput,
            web_search,
            {"query_chars": MOST_QUERY_CHARS, "count": MOST_HITS, "domains": MOST_DOMAINS},
            admit=admit,
            enabled=is_enabled,
            offered=are_web_tools_offered,
            cost=prices,
        ),
        Tool(
            "web_fetch",
            web_fetch.DESCRIPTION,
            web_fetch.WebFetchInput,
            web_fetch.run,
            {"url_chars": MAX_URL, "max_tokens": web_fetch.MOST_TOKENS},
            admit=web_fetch.admit,
            enabled=is_enabled,
            offered=are_web_tools_offered,
        ),
    ]
}


def offered_tools() -> list[Tool]:
    """Return the tools that this deployment has."""
    return [tool for tool in TOOLS.values() if tool.offered()]


def tool_named(name: str) -> Tool:
    """Return the tool, or raise `NotFound`."""
    if name not in TOOLS or not TOOLS[name].offered():
        raise NotFound(f"There is no tool “{name}”.")
    return TOOLS[name]
