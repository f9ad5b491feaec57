"""`/mcp`: the protocol over HTTP. Every request is answered by itself: with JSON or, for who wants to hear of
progress, with a stream."""

from __future__ import annotations

import json
from typing import Any

from asgiref.sync import async_to_sync
from django.db import close_old_connections
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from rest_framework.request import Request

from accounts.access.auth import principal_of, raw_headers
from accounts.oauth.authentication import ProgramAuthentication
from accounts.oauth.discovery import challenge_of
from assistants.gateway.mcp.exchange import Exchange
from assistants.gateway.mcp.server import server_for
from assistants.gateway.view import GatewayView, base_url_of
from core.api.sse import count_stream
from core.http.leaving import when_client_leaves

HEADERS = frozenset({b"accept", b"content-type", b"mcp-protocol-version", b"mcp-session-id"})
"""What of a request the protocol reads: not its key. Other headers of its own begin with `mcp-`."""


class McpView(GatewayView):
    """The address that clients are given."""

    authentication_classes = [ProgramAuthentication]
    # The body is the protocol's own.
    parser_classes = ()

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Say in a 401 where a program finds out how to be connected."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if response.status_code == 401:
            is_invalid = "Authorization" in request.headers
            response["WWW-Authenticate"] = challenge_of(request._request, is_invalid=is_invalid)
        return response

    def post(self, request: Request) -> HttpResponseBase:
        """Answer one message. There is no stream to open (GET), and no session to end (DELETE): 405."""
        http, principal = request._request, principal_of(request)
        headers = [
            (name, value) for name, value in raw_headers(http) if name in HEADERS or name.startswith(b"mcp-")
        ]
        is_stream = _wants_progress(http.body)
        if is_stream:
            count_stream(request, principal.user_id)
        exchange = Exchange(
            server_for(principal, base_url_of(request)), headers, http.body, is_stream=is_stream
        )
        # Other requests can use the view's connection while a tool runs.
        close_old_connections()
        response: HttpResponseBase
        if is_stream:
            async_to_sync(exchange.begin)()
            # Who leaves before the first block never begins to read.
            when_client_leaves(exchange.stop)
            response = StreamingHttpResponse(exchange.content(), status=exchange.status)
        else:
            content = async_to_sync(exchange.whole)()
            response = HttpResponse(content, status=exchange.status)
        for name, value in exchange.headers:
            response[name.decode("latin-1")] = value.decode("latin-1")
        return response


def _wants_progress(body: bytes) -> bool:
    """Return whether a message calls a tool and says by which token its progress is to be told."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        # The package says what is wrong with it.
        return False
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and meta.get("progressToken") is not None
