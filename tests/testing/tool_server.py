"""A server of the Model Context Protocol with tools that a test gives it, by the official package."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import mcp_types as types
import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

Result = str | types.CallToolResult
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@dataclass
class ToolServerDouble:
    """Remembers who called what; `tools` are offered, `results` are given."""

    tools: list[types.Tool] = field(default_factory=list)
    results: dict[str, Result | Callable[[dict[str, Any]], Result]] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    credentials: set[str] = field(default_factory=set)
    redirects_to: str = ""
    """Where every request is sent instead."""
    hangs: bool = False

    def offer(self, name: str, description: str = "", result: Any = "", schema: Any = None) -> None:
        """Offer a tool."""
        shape = schema or TEXT
        self.tools.append(types.Tool(name=name, description=description, input_schema=shape))
        self.results[name] = result

    def __enter__(self) -> Self:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        # Who calls before the server has begun waits, and is not refused.
        self._socket.listen()
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.url = f"http://{self.address}/mcp"
        self._server = uvicorn.Server(
            uvicorn.Config(self._application, interface="asgi3", lifespan="off", log_level="error")
        )
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(20)
        self._socket.close()

    def _serve(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))

    async def _application(self, scope: Any, receive: Any, send: Any) -> None:
        self.credentials.add(dict(scope["headers"]).get(b"authorization", b"").decode())
        if self.hangs:
            await asyncio.Event().wait()
        if self.redirects_to:
            headers = [(b"location", self.redirects_to.encode())]
            await send({"type": "http.response.start", "status": 307, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        manager = StreamableHTTPSessionManager(app=self._mcp(), stateless=True, json_response=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    def _mcp(self) -> Server[Any]:
        async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
            return types.ListToolsResult(tools=self.tools)

        async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
            arguments = params.arguments or {}
            self.calls.append((params.name, arguments))
            given = self.results[params.name]
            result = given(arguments) if callable(given) else given
            if isinstance(result, str):
                result = types.CallToolResult(content=[types.TextContent(type="text", text=result)])
            return result

        return Server("double", on_list_tools=list_tools, on_call_tool=call_tool)


def failure(text: str) -> types.CallToolResult:
    """Return the result of a tool that has failed."""
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)
