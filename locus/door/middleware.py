"""The ASGI middleware in front of Django and Channels.

Every request gets its id, its client's true address and scheme, and the headers of every reply. A request
refused here gets an error in the API's format and never reaches Django.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack, suppress
from typing import Any

from django.conf import settings

from core.errors import LocusError, RateLimited
from core.http.arrival import begin_arrival
from core.http.client_address import (
    begin_address,
    client_address,
    client_network,
    forwarded_header,
    forwarded_scheme,
    is_trusted_proxy,
)
from core.http.hosts import require_allowed_host
from core.http.per_user import CLOSING
from core.http.request_id import HEADER, begin_request
from core.tracing import span, trace_of_headers
from core.unavailable import as_unavailable
from locus.door import cors
from locus.door.bodies import LimitedBody, Message, Receive, content_length, rule_for
from locus.door.metrics import RequestMetrics

Scope = dict[str, Any]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

logger = logging.getLogger(__name__)
FORWARDED = frozenset({b"x-forwarded-for", b"x-forwarded-proto"})
DRAIN_SECS, DRAIN_BYTES = 2.0, 4 * 2**20
"""For how long, and how much of, a refused body is still read, so that the client can read the error."""


class InternalError(LocusError):
    """An unexpected error."""

    code, status, default_message = (
        "internal",
        500,
        "Something went wrong on this server. The log has the details.",
    )


class Door:
    """Wraps the application of a web server."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._behind_proxies: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] not in ("http", "websocket"):
            await self._application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        request_id = begin_request(headers.get(HEADER.lower().encode(), b"").decode("latin-1"))
        with ExitStack() as closing, RequestMetrics(scope["path"]) as metrics:
            scope = _without_proxies(scope) | {CLOSING: closing}
            begin_address(client_address(scope))
            begin_arrival(scope)
            if scope["type"] == "http":
                reply = _Reply(send, scope, headers, request_id, metrics)
                with span(
                    f"HTTP {scope['method']}", _described(scope), trace_of_headers(headers)
                ) as recorded:
                    await self._http(scope, receive, reply)
                    if recorded:
                        recorded.set_attribute("http.response.status_code", reply.status)
            else:
                await self._websocket(scope, receive, send, request_id, metrics)

    async def _http(self, scope: Scope, receive: Receive, reply: _Reply) -> None:
        headers, closing = dict(scope["headers"]), scope[CLOSING]
        try:
            self._count_address(scope)
            require_allowed_host(scope["headers"])
            if cors.is_preflight(scope, headers):
                await reply.send_whole(204, cors.preflight_headers(headers))
                return
            body = LimitedBody(receive, await rule_for(scope, content_length(headers), closing))
            closing.callback(body.forget)
            await self._application(scope, body.receive, reply.send)
            if body.refusal:
                raise body.refusal
        except LocusError as error:
            await reply.refuse(error, receive)
        except Exception as error:
            # The door itself asks the database who sends an upload.
            refusal = as_unavailable(error)
            if refusal is None:
                logger.exception("%s %s failed", scope["method"], scope["path"])
                refusal = InternalError(details={"request_id": reply.request_id})
            if reply.has_started:
                raise
            await reply.refuse(refusal, receive)

    async def _websocket(
        self, scope: Scope, receive: Receive, send: Send, request_id: str, metrics: RequestMetrics
    ) -> None:
        async def with_id(message: Message) -> None:
            if message["type"] == "websocket.accept":
                id_header = (HEADER.lower().encode(), request_id.encode())
                message = {**message, "headers": [*message.get("headers", []), id_header]}
                metrics.note_stream()
            await send(message)

        try:
            self._count_address(scope)
        except RateLimited:
            await send({"type": "websocket.close"})
            return
        await self._application(scope, receive, with_id)

    def _count_address(self, scope: Scope) -> None:
        """Raise `RateLimited` for too many requests at once from one client of a proxy.

        Direct connections are counted by `locus.door.connections`, before they send anything.
        """
        if not scope["locus.is_forwarded"]:
            return
        network, limit = client_network(scope["client"][0]), settings.MAX_CONNECTIONS_PER_ADDRESS
        if self._behind_proxies[network] >= limit:
            raise RateLimited("Too many requests at once from your address.", limit=limit)
        self._behind_proxies[network] += 1
        scope[CLOSING].callback(self._uncount_address, network)

    def _uncount_address(self, network: str) -> None:
        self._behind_proxies[network] -= 1
        if not self._behind_proxies[network]:
            del self._behind_proxies[network]


def _without_proxies(scope: Mapping[str, Any]) -> Scope:
    """Return the scope as if the client had connected directly."""
    is_forwarded = is_trusted_proxy((scope.get("client") or [None])[0])
    scheme = forwarded_scheme(scope)
    if settings.BEHIND_TLS and not is_forwarded and forwarded_header(scope, b"x-forwarded-proto"):
        logger.warning(
            "%s sends X-Forwarded-Proto and is not in TRUSTED_PROXIES: its headers are ignored",
            client_address(scope),
        )
    if scheme is None:
        scheme = scope.get("scheme", "http" if scope["type"] == "http" else "ws")
    elif scope["type"] == "websocket":
        scheme = scheme.replace("http", "ws")
    return {
        **scope,
        "client": (client_address(scope), (scope.get("client") or [None, 0])[1]),
        "scheme": scheme,
        "headers": [(name, value) for name, value in scope["headers"] if name not in FORWARDED],
        "locus.is_forwarded": is_forwarded,
    }


def _described(scope: Scope) -> dict[str, str | int]:
    """Return what a span says of a request: nothing of its query, which may be a question."""
    return {"http.request.method": scope["method"], "url.path": scope["path"]}


class _Reply:
    """Sends the reply to one request, with the headers of every reply."""

    def __init__(
        self,
        send: Send,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        request_id: str,
        metrics: RequestMetrics,
    ) -> None:
        self._send, self._metrics = send, metrics
        self._common = [(HEADER.encode(), request_id.encode())]
        if cors.is_api(scope):
            self._common += cors.reply_headers(headers)
        self.request_id = request_id
        self.has_started = False
        self.status = 0

    async def send(self, message: Message) -> None:
        """Send an ASGI message of the application."""
        if message["type"] == "http.response.start":
            self.has_started, self.status = True, message["status"]
            headers = list(message.get("headers", []))
            self._metrics.note_head(self.status, headers)
            message = {**message, "headers": headers + self._common + _caching(headers)}
        await self._send(message)

    async def send_whole(self, status: int, headers: Headers) -> None:
        """Send a reply without a body."""
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body"})

    async def refuse(self, error: LocusError, receive: Receive) -> None:
        """Send an error, let the client read it, and close the connection."""
        if self.has_started:
            return
        body = json.dumps(error.as_json()).encode()
        headers = [(name.encode(), value.encode()) for name, value in error.headers.items()]
        headers += [
            (b"Content-Type", b"application/json"),
            (b"Content-Length", str(len(body)).encode()),
            (b"Connection", b"close"),
        ]
        await self.send({"type": "http.response.start", "status": error.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body, "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECS):
                await _drain(receive)
        await self.send({"type": "http.response.body"})


async def _drain(receive: Receive) -> None:
    """Read the rest of a body, within limits.

    Closing a connection while its client sends would reset it, and the reply would be lost.
    """
    read = 0
    while read < DRAIN_BYTES:
        message = await receive()
        read += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False):
            return


def _caching(headers: Headers) -> Headers:
    """Return a `Cache-Control` for a reply without one: never stored, or checked before each use."""
    names = {name.lower() for name, _ in headers}
    if b"cache-control" in names:
        return []
    return [(b"Cache-Control", b"private, no-cache" if b"etag" in names else b"no-store")]
