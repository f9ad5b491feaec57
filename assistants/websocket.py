"""Conversations over websockets: `/ws/sessions/{id}` (contract §7)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict

from accounts.access.sockets import OBJECT, Refused
from assistants.inputs import ChatInput
from core.api.validation import validated
from core.errors import NotFound
from runs.models import CHAT
from runs.registry import tool_named
from runs.transports.websocket import ToolConsumer


class MessageToSession(ChatInput):
    """A question to the conversation of the socket."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["message"]


class SessionConsumer(ToolConsumer):
    """Answers the messages of one conversation, one at a time; for its own user alone."""

    async def open(self) -> None:
        """Check the address; the caller was identified within the session that it names."""
        try:
            self.tool = tool_named(CHAT)
        except NotFound:
            raise Refused(OBJECT) from None

    def named_session(self) -> str | None:
        """Return the session of the socket's address."""
        return str(self.scope["url_route"]["kwargs"]["id"])

    async def handle(self, message: dict[str, Any]) -> None:
        """Take a question; leave the rest to the consumer of any tool."""
        if message.get("type") != "message":
            await super().handle(message)
            return
        validated(MessageToSession, message)
        await self.run({name: value for name, value in message.items() if name != "type"})
