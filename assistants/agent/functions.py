"""Functions of the caller: the agent asks for a call, and the next request brings what it gave.

Nothing is kept in between: the next request has the question, the calls and their outputs, as OpenAI's
clients send them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from core.errors import ValidationError
from core.llm.base import ChatFunction, FunctionCall

MOST_FUNCTIONS, MOST_RESULTS = 64, 64
MAX_OUTPUT = 100_000
"""Characters of what a function gave; a planner is shown the beginning."""
MAX_SCHEMA = 20_000
FunctionName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
CallId = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class CallerFunction(BaseModel):
    """A function that the caller has."""

    model_config = ConfigDict(extra="forbid")

    name: FunctionName
    description: str = Field("", max_length=4096)
    parameters: dict[str, Any] = Field(default_factory=dict, description="JSON schema of its arguments.")

    def as_function(self) -> ChatFunction:
        """Return it as models are told of it."""
        return ChatFunction(self.name, self.description, {"type": "object", **self.parameters})


class FunctionResult(BaseModel):
    """What a function of the caller gave for this question."""

    model_config = ConfigDict(extra="forbid")

    call_id: CallId
    name: FunctionName
    arguments: str = Field("{}", max_length=20_000, description="As the call had them.")
    output: str = Field(max_length=MAX_OUTPUT)

    def as_call(self) -> FunctionCall:
        """Return the call that it answers."""
        try:
            arguments = json.loads(self.arguments)
        except (ValueError, RecursionError):
            arguments = {}
        return FunctionCall(self.call_id, self.name, arguments if isinstance(arguments, dict) else {})


@dataclass(frozen=True, slots=True)
class CallerSide:
    """What the caller offers, and what it has given so far."""

    functions: Sequence[CallerFunction] = ()
    results: Sequence[FunctionResult] = ()
    must_call: Sequence[str] = ()
    """The functions of which one has to be called next."""

    @property
    def names(self) -> frozenset[str]:
        """The names of its functions."""
        return frozenset(function.name for function in self.functions)

    def require_distinct(self, own: Sequence[str]) -> None:
        """Raise `ValidationError` for a name that is there twice, or is one of our own tools."""
        names = [function.name for function in self.functions]
        for index, name in enumerate(names):
            if name in names[:index] or name in own:
                raise ValidationError(f"There is a tool “{name}” already.", param=f"functions[{index}].name")
            if len(json.dumps(self.functions[index].parameters)) > MAX_SCHEMA:
                raise ValidationError("This schema is too long.", param=f"functions[{index}].parameters")
        for index, name in enumerate(self.must_call):
            if name not in names:
                raise ValidationError(f"There is no function “{name}” to call.", param=f"must_call[{index}]")


NO_CALLER = CallerSide()


def arguments_json(arguments: object) -> str:
    """Return the arguments of a call as the text that clients read."""
    value: JsonValue = arguments if isinstance(arguments, dict) else {}
    return json.dumps(value, ensure_ascii=False)
