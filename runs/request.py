"""A request to run a tool, the same from every transport: the tool's inputs among what every tool accepts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from accounts.access.auth import parsed_session_id
from accounts.access.identity import in_session
from accounts.idempotency import Key, once
from accounts.principal import Principal
from core.api.rest import uuid_param
from core.errors import ValidationError
from runs.lifecycle import begin, visible_execution
from runs.models import Execution
from runs.registry import Tool, ToolInput
from runs.running import launch


@dataclass(frozen=True)
class Call:
    """A validated request to run a tool."""

    principal: Principal
    tool: Tool
    inputs: ToolInput
    workspace_id: UUID | None
    stream: bool

    @classmethod
    def read(cls, principal: Principal, tool: Tool, body: Any) -> Call:
        """Take apart a JSON body that mixes a tool's inputs with the fields every tool accepts.

        All is decided here, before anything starts: raise the error that says what is wrong or invisible.
        """
        if not isinstance(body, Mapping):
            raise ValidationError("The body must be a JSON object.")
        inputs = dict(body)
        stream = inputs.pop("stream", False)
        if not isinstance(stream, bool):
            raise ValidationError("stream must be true or false.", param="stream")
        principal = _speaking_for(principal, inputs)
        workspace = inputs.pop("workspace_id", None)
        workspace_id = uuid_param("workspace_id", str(workspace)) if workspace is not None else None
        return cls(principal, tool, tool.parse(principal, inputs), workspace_id, stream)

    def begin(self, key: Key | None = None) -> tuple[Execution, bool]:
        """Create the execution, and tell whether it is new: the same key and request get the same one."""
        if key is None:
            return self._begin(), True
        id, is_new = once(key, lambda: self._begin().pk)
        return visible_execution(self.principal, str(id)), is_new

    async def launch(self, execution: Execution) -> None:
        """Start running the execution."""
        await launch(self.principal, self.tool, self.inputs, execution)

    def _begin(self) -> Execution:
        return begin(self.principal, self.tool, self.inputs, self.workspace_id)


def _speaking_for(principal: Principal, inputs: dict[str, Any]) -> Principal:
    external_user_id, session_id = inputs.pop("external_user_id", None), inputs.pop("session_id", None)
    if external_user_id is not None and not isinstance(external_user_id, str):
        raise ValidationError("external_user_id must be a string.", param="external_user_id")
    principal = principal.for_external_user(external_user_id)
    return principal if session_id is None else in_session(principal, parsed_session_id(str(session_id)))
