"""The tools programs and models can run; a new one is a new entry in `TOOLS`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel
from pydantic import ValidationError as PydanticError

from accounts.errors import NotFound, UnknownField, ValidationError
from accounts.principal import Principal
from search.events import Event
from search.rag import RagInput, rag_search


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
    run: Callable[[Principal, Any, str], AsyncIterator[Event]]

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
        try:
            parsed: Any = self.input_model.model_validate(inputs)
        except PydanticError as error:
            raise _as_locus_error(error) from None
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


def _as_locus_error(error: PydanticError) -> ValidationError:
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    # A misspelt field explains a missing one.
    first = min(problems, key=lambda problem: problem["type"] != "extra_forbidden")
    param = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    if first["type"] == "extra_forbidden":
        return UnknownField(f"Unknown field “{param}”.", param=param)
    return ValidationError(f"{param}: {first['msg'].removeprefix('Value error, ')}.", param=param)
