"""`/mcp`: the protocol over HTTP. Every request is answered by itself, with JSON."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from django.db import close_old_connections
from django.http import HttpResponse
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from rest_framework.request import Request

from accounts.access.auth import principal_of, raw_headers
from assistants.gateway.mcp.server import server_for
from assistants.gateway.view import GatewayView, base_url_of

HEADERS = frozenset({b"accept", b"content-type", b"mcp-protocol-version", b"mcp-session-id"})
"""What of a request the protocol reads: not its key. Other headers of its own begin with `mcp-`."""


class McpView(GatewayView):
    """The address that clients are given."""

    # The body is the protocol's own.
    parser_classes = ()

    def post(self, request: Request) -> HttpResponse:
        """Answer one message. There is no stream to open (GET), and no session to end (DELETE): 405."""
        http = request._request
        server = server_for(principal_of(request), base_url_of(request))
        headers = [
            (name, value) for name, value in raw_headers(http) if name in HEADERS or name.startswith(b"mcp-")
        ]
        body = http.body
        # Other requests can use the view's connection while a tool runs.
        close_old_connections()
        status, reply_headers, content = async_to_sync(_answered)(server, headers, body)
        response = HttpResponse(content, status=status)
        for name, value in reply_headers:
            response[name.decode("latin-1")] = value.decode("latin-1")
        return response


async def _answered(
    server: Server[Any], headers: list[tuple[bytes, bytes]], body: bytes
) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Let the package's own ASGI application answer; return status, headers and body."""
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "root_path": "",
        "query_string": b"",
        "headers": headers,
    }
    requests = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return requests.pop() if requests else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    manager = StreamableHTTPSessionManager(app=server, stateless=True, json_response=True)
    async with manager.run():
        await manager.handle_request(scope, receive, send)  # type: ignore[arg-type]
    begun = next(message for message in sent if message["type"] == "http.response.start")
    content = b"".join(message.get("body", b"") for message in sent)
    return begun["status"], list(begun["headers"]), content
