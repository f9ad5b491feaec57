"""A request to run a tool, the same in every transport: the tool's inputs and the fields of every tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import Field

from accounts.access.identity import AskerFields
from accounts.idempotency import Key, run_once
from accounts.principal import Principal
from core.api.validation import validated
from core.errors import ValidationError
from runs.context import PLAIN_STYLE, WritingStyle
from runs.lifecycle import begin, visible_execution
from runs.models import Execution
from runs.registry import Tool, ToolInput
from runs.running import launch


class CallFields(AskerFields):
    """The fields that every tool accepts besides its own inputs."""

    stream: bool = Field(False, strict=True, description="Server-Sent Events instead of the result.")
    workspace_id: UUID | None = Field(None, description="Its settings count, and it pays.")


@dataclass(frozen=True)
class Call:
    """A validated request to run a tool."""

    principal: Principal
    tool: Tool
    inputs: ToolInput
    workspace_id: UUID | None
    stream: bool
    holds_statements: bool = False
    """As in `Run`, as `style`."""
    style: WritingStyle = PLAIN_STYLE

    @classmethod
    def parse(cls, principal: Principal, tool: Tool, body: Any) -> Call:
        """Split a JSON body into a tool's inputs and the fields of every tool.

        Everything is checked before anything starts. Raises `ValidationError` for wrong values, `NotFound`
        for invisible ones.
        """
        if not isinstance(body, Mapping):
            raise ValidationError("The body must be a JSON object.")
        given = {name: value for name, value in body.items() if name in CallFields.model_fields}
        inputs = {name: value for name, value in body.items() if name not in given}
        call = validated(CallFields, given)
        principal = call.asker(principal)
        return cls(principal, tool, tool.parse(principal, inputs), call.workspace_id, call.stream)

    def begin(self, key: Key | None = None) -> tuple[Execution, bool]:
        """Create the execution, and return whether it is new: the same key and request return one."""
        if key is None:
            return self._begin(), True
        id, is_new = run_once(key, lambda: self._begin().pk)
        return visible_execution(self.principal, str(id)), is_new

    async def launch(self, execution: Execution) -> None:
        """Start running the execution."""
        await launch(
            self.principal,
            self.tool,
            self.inputs,
            execution,
            holds_statements=self.holds_statements,
            style=self.style,
        )

    def _begin(self) -> Execution:
        return begin(self.principal, self.tool, self.inputs, self.workspace_id)
