"""Tools over websockets: `/ws/tools/{name}` (contract §7)."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any, Literal

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field

from accounts.access.sockets import OBJECT, PrincipalConsumer, Refused
from accounts.roles import KeyScope
from core.api.rest import refuse_unclean
from core.api.validation import validated
from core.errors import InvalidJson, LocusError, NotFound, Unauthenticated, ValidationError
from core.threads import in_database
from core.unavailable import PASSING, refusal_for
from runs.following import follow
from runs.journal import StoredEvent
from runs.lifecycle import cancel, own_execution, require_events, visible_execution
from runs.models import Execution
from runs.registry import Tool, tool_named
from runs.request import Call

logger = logging.getLogger(__name__)
FAILED = 1011


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RunMessage(_Message):
    """Run the tool."""

    type: Literal["run"] = "run"
    inputs: Any


class CancelMessage(_Message):
    """Cancel an execution, by default the last one of this socket."""

    type: Literal["cancel"]
    execution_id: str | None = None


class ResumeMessage(_Message):
    """Send the events of an execution above `after`, and what comes."""

    type: Literal["resume"]
    execution_id: str
    after: int = Field(0, ge=0, lt=2**31, strict=True)


class BusyError(LocusError):
    """One run at a time on a socket."""

    code, status, default_message = "busy", 409, "A run is in progress on this connection. Cancel it or wait."


class ToolConsumer(PrincipalConsumer):
    """Runs one tool, any number of times, one run at a time."""

    tool: Tool
    _sending: asyncio.Task[None] | None = None
    _execution_id: str | None = None
    _is_busy = False

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
            # A membership or key may have ended since the last message.
            await self.identify_again()
            self.principal.require_scope(KeyScope.READ)
            await self.handle(_parse_message(text_data))
        except Refused as refused:
            await self.end(refused.code)
        except LocusError as error:
            await self._refuse(error)
        except PASSING as error:
            await self._refuse(refusal_for(error))

    async def _refuse(self, error: LocusError) -> None:
        await self.send_json({"event": "error", "data": error.as_json()["error"]})

    async def handle(self, message: dict[str, Any]) -> None:
        """Do what a message asks for."""
        match message.get("type"):
            case None:
                await self.run(message)
            case "run":
                await self.run(validated(RunMessage, message).inputs)
            case "cancel":
                await self._cancel(validated(CancelMessage, message).execution_id or self._execution_id)
            case "resume":
                await self._resume(validated(ResumeMessage, message))
            case other:
                raise ValidationError(f"There is no message type “{other}”.", param="type")

    async def run(self, inputs: Any) -> None:
        """Start the tool and send its events; raise `BusyError` during another run."""
        self._refuse_if_busy()
        call, execution = await in_database(self._begin, inputs)
        await call.launch(execution)
        self._send_from(execution.pk, 0)

    def _begin(self, inputs: Any) -> tuple[Call, Execution]:
        call = Call.parse(self.principal, self.tool, inputs)
        return call, call.begin()[0]

    async def _cancel(self, execution_id: str | None) -> None:
        if execution_id is None:
            raise ValidationError("There is nothing to cancel.", param="execution_id")
        await in_database(lambda: cancel(own_execution(self.principal, execution_id)))

    async def _resume(self, resume: ResumeMessage) -> None:
        self._refuse_if_busy()
        await in_database(self._require_events, resume)
        self._send_from(resume.execution_id, resume.after)

    def _require_events(self, resume: ResumeMessage) -> None:
        require_events(visible_execution(self.principal, resume.execution_id), resume.after)

    def _refuse_if_busy(self) -> None:
        if self._is_busy:
            raise BusyError

    def _send_from(self, execution_id: str, after: int) -> None:
        self._execution_id, self._is_busy = execution_id, True
        self._sending = asyncio.create_task(self._send_events(execution_id, after))

    async def _send_events(self, execution_id: str, after: int) -> None:
        try:
            async for event in follow(self.principal, execution_id, after, settings.SSE_PING_SECS):
                if event is not None:
                    # Set before sending, because the next message may come at once.
                    self._is_busy = not event.is_terminal
                    await self.send_json(frame(event))
        except OSError:
            # The client has left.
            return
        except Unauthenticated:
            self.end_soon()
        except LocusError as error:
            ending = {"event": "error", "data": error.as_json()["error"], "execution_id": execution_id}
            await self.send_json(ending)
        except Exception:
            # Nobody awaits this task. A client whose socket closes connects again and resumes.
            logger.exception("Execution %s could not be followed", execution_id)
            await self.close(FAILED)
        finally:
            self._is_busy = False


def frame(event: StoredEvent) -> dict[str, Any]:
    """Return an event as a websocket message."""
    return {"event": event.event, "data": event.data, "execution_id": event.execution_id, "seq": event.seq}


def _parse_message(text: str | None) -> dict[str, Any]:
    try:
        message = json.loads(text or "")
    except (ValueError, RecursionError):
        raise InvalidJson("A message must be a JSON object.") from None
    if not isinstance(message, dict):
        raise ValidationError("A message must be a JSON object.")
    refuse_unclean(message)
    return message
