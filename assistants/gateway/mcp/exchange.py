"""One message, answered by the package's own ASGI application within a request of Django's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from core.http.leaving import stop_if_client_left

SCOPE = {
    "type": "http",
    "asgi": {"version": "3.0"},
    "http_version": "1.1",
    "method": "POST",
    "scheme": "http",
    "path": "/mcp",
    "raw_path": b"/mcp",
    "root_path": "",
    "query_string": b"",
}
Headers = list[tuple[bytes, bytes]]
_running: set[asyncio.Task[None]] = set()
# The loop keeps only weak references to tasks.


class Exchange:
    """A message and its reply, whose status and headers are known once it has begun."""

    status: int
    headers: Headers

    def __init__(self, server: Server[Any], headers: Headers, body: bytes, *, is_stream: bool) -> None:
        self._server, self._is_stream = server, is_stream
        self._scope = SCOPE | {"headers": headers}
        self._requests = [{"type": "http.request", "body": body, "more_body": False}]

    async def begin(self) -> None:
        """Hand the message over, and wait for the beginning of the reply."""
        stop_if_client_left()
        self._sent: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._serve())
        _running.add(self._task)
        self._task.add_done_callback(_running.discard)
        begun = await self._sent.get()
        if begun is None:
            await self._task
            raise ConnectionError("The protocol gave no reply.")
        self.status, self.headers = begun["status"], list(begun["headers"])

    async def content(self) -> AsyncIterator[bytes]:
        """Yield the reply as it comes; who stops reading stops the tool."""
        try:
            while (message := await self._sent.get()) is not None:
                if block := message.get("body", b""):
                    yield block
        finally:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def stop(self) -> None:
        """Stop the tool, of which nobody will read more; to be called in the event loop."""
        self._task.cancel()

    async def whole(self) -> bytes:
        """Hand the message over, and return the whole reply."""
        await self.begin()
        return b"".join([block async for block in self.content()])

    async def _serve(self) -> None:
        manager = StreamableHTTPSessionManager(
            app=self._server, stateless=True, json_response=not self._is_stream
        )
        try:
            async with manager.run():
                await manager.handle_request(self._scope, self._receive, self._sent.put)  # type: ignore[arg-type]
        finally:
            self._sent.put_nowait(None)

    async def _receive(self) -> dict[str, Any]:
        if self._requests:
            return self._requests.pop()
        if self._is_stream:
            # Whoever leaves is noticed by Django, which then stops reading.
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}
