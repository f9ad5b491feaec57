"""Tools over websockets: `/ws/tools/{name}` (contract §7)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings

from accounts.errors import InvalidJson, LocusError, NotFound, ValidationError
from accounts.rest import refuse_unclean
from kb.websocket import OBJECT, PrincipalConsumer, Refused
from search.executions import StoredEvent, begin, cancel, follow, launch, visible_execution
from search.tools import Tool, ToolInput, tool_named


class BusyError(LocusError):
    """One run at a time on a socket."""

    code, status, default_message = "busy", 409, "A run is in progress on this connection. Cancel it or wait."


class ToolConsumer(PrincipalConsumer):
    """Runs one tool, again and again, one run at a time."""

    tool: Tool
    _sending: asyncio.Task[None] | None = None
    _execution_id: str | None = None

    async def open(self) -> None:
        """Find the tool that the address names."""
        try:
            self.tool = tool_named(self.scope["url_route"]["kwargs"]["name"])
        except NotFound:
            raise Refused(OBJECT) from None

    async def disconnect(self, code: int) -> None:
        """Stop sending; the execution itself goes on."""
        if self._sending is not None:
            self._sending.cancel()

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any
    ) -> None:
        """Handle one message; a bad one gets an `error` event and the socket stays open."""
        try:
            # A membership or key may have been taken away since the last message.
            self.principal = await self._identify()
            await self._handle(_parsed(text_data))
        except Refused as refused:
            await self.close(refused.code)
        except LocusError as error:
            await self.send_json({"event": "error", "data": {"code": error.code, "message": error.message}})

    async def _handle(self, message: dict[str, Any]) -> None:
        match message.get("type", "run"):
            case "run":
                # An object without `type` is itself the inputs.
                await self._start(message["inputs"] if "type" in message and "inputs" in message else message)
            case "cancel":
                await self._cancel(message.get("execution_id") or self._execution_id)
            case "resume":
                await self._resume(message.get("execution_id"), message.get("after", 0))
            case other:
                raise ValidationError(f"There is no message type “{other}”.", param="type")

    async def _start(self, inputs: Any) -> None:
        self._refuse_if_busy()
        inputs = {k: v for k, v in inputs.items() if k != "type"} if isinstance(inputs, dict) else inputs
        execution_id = await self._launch(inputs)
        self._send_from(execution_id, 0)

    async def _launch(self, inputs: Any) -> str:
        def prepare() -> tuple[ToolInput, Any]:
            parsed = self.tool.parse(self.principal, inputs)
            return parsed, begin(self.principal, self.tool, parsed, None)

        parsed, execution = await database_sync_to_async(prepare)()
        await launch(self.principal, self.tool, parsed, execution)
        return str(execution.pk)

    async def _cancel(self, execution_id: Any) -> None:
        if not isinstance(execution_id, str):
            raise ValidationError("There is nothing to cancel.", param="execution_id")
        await database_sync_to_async(lambda: cancel(visible_execution(self.principal, execution_id)))()

    async def _resume(self, execution_id: Any, after: Any) -> None:
        if not isinstance(execution_id, str) or not isinstance(after, int) or after < 0:
            raise ValidationError("resume needs execution_id and after.", param="execution_id")
        self._refuse_if_busy()
        await database_sync_to_async(visible_execution)(self.principal, execution_id)
        self._send_from(execution_id, after)

    def _refuse_if_busy(self) -> None:
        if self._sending is not None and not self._sending.done():
            raise BusyError

    def _send_from(self, execution_id: str, after: int) -> None:
        self._execution_id = execution_id
        self._sending = asyncio.create_task(self._send_events(execution_id, after))

    async def _send_events(self, execution_id: str, after: int) -> None:
        async for event in follow(self.principal, execution_id, after, settings.SSE_PING_SECS):
            if event is not None:
                await self.send_json(frame(event))


def frame(event: StoredEvent) -> dict[str, Any]:
    """Return an event as a websocket message."""
    return {"event": event.event, "data": event.data, "execution_id": event.execution_id, "seq": event.seq}


def _parsed(text: str | None) -> dict[str, Any]:
    try:
        message = json.loads(text or "")
    except (ValueError, RecursionError):
        raise InvalidJson("A message must be a JSON object.") from None
    if not isinstance(message, dict):
        raise ValidationError("A message must be a JSON object.")
    refuse_unclean(message)
    return message
