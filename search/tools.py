"""The tools programs and models can run; a new one is a new entry in `TOOLS`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel

from accounts.errors import NotFound, ValidationError
from accounts.principal import Principal
from accounts.validation import validated
from search.events import Yielded
from search.rag import RagInput, rag_search
from search.run import Run


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

    def describe(self) -> dict[str, Any]:
        """Return what `GET tools/{name}` answers."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_model.model_json_schema(),
            "limits": {"query_chars": 2000},
            "cost": None,
            "enabled": True,
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
        )
    ]
}


def tool_named(name: str) -> Tool:
    """Return the tool, or raise `NotFound`."""
    if name not in TOOLS:
        raise NotFound(f"There is no tool “{name}”.")
    return TOOLS[name]
