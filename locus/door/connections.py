"""uvicorn's HTTP protocol with limits on what happens before a request is complete.

uvicorn itself waits for ever for the head of a connection's first request, accepts heads of any size, and any
number of connections. `uvicorn --http=locus.door.connections:HttpProtocol` uses this class.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from core.errors import LocusError, RateLimited, RequestTimeout, ValidationError
from core.http.client_address import client_network, is_trusted_proxy
from core.http.request_id import HEADER, new_request_id

MAX_HEAD_BYTES = 32 * 2**10
"""For address and headers together; a proxy that authenticates users sends a few thousand bytes."""

_connections: Counter[str] = Counter()
"""The number of open connections by client address."""


class HeadTooLarge(ValidationError):
    """Address and headers are too long."""

    status, default_message = 431, f"Address and headers must not exceed {MAX_HEAD_BYTES} bytes."


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if self.ws_protocol_class is not None:
            self.ws_protocol_class = WebSocketProtocol
        self._head_timer: asyncio.TimerHandle | None = None
        self._head_bytes = self._raw_bytes = 0
        self._is_in_message = self._is_websocket = False
        self._messages = 0
        self._refusal: LocusError = ValidationError("This is not a valid HTTP request.")
        self._uncount: Callable[[], None] | None = None

    # --- The connection ------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and start waiting for a request."""
        super().connection_made(transport)
        try:
            self._uncount = count_connection(self.client[0] if self.client else None)
        except RateLimited as error:
            self._refuse(error)
        else:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Uncount the connection."""
        self._stop_awaiting_head()
        if self._uncount is not None:
            self._uncount()
            self._uncount = None
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """Switch to the websocket's protocol, which counts the connection from now on."""
        super().handle_websocket_upgrade()
        self._stop_awaiting_head()
        self._is_websocket = True
        protocol = self.transport.get_protocol()
        assert isinstance(protocol, WebSocketProtocol)
        protocol.uncount, self._uncount = self._uncount, None

    # --- The head of a request -----------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Parse the data; refuse a head that is too long even if it has no complete line."""
        received, was_in_message = self._messages, self._is_in_message
        super().data_received(data)
        if self._is_websocket or self._is_in_message or self.transport.is_closing():
            return
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if self._head_timer is None and not is_answering:
            # Only empty lines: they stop uvicorn's own timer but are no request.
            self._await_head()
        if not was_in_message and self._messages == received:
            # All of it belongs to an unfinished head.
            self._raw_bytes += len(data)
        if self._raw_bytes > MAX_HEAD_BYTES:
            self._refuse(HeadTooLarge())

    def on_message_begin(self) -> None:
        """Start waiting for the rest of the head."""
        super().on_message_begin()
        self._await_head()

    def on_url(self, url: bytes) -> None:
        """Count the address as part of the head."""
        self._count_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header, also those at the end of a chunked body."""
        self._count_head(len(name) + len(value) + len(b": \r\n"))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Stop waiting."""
        self._stop_awaiting_head()
        self._is_in_message = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Prepare for the next head."""
        self._is_in_message = False
        self._messages += 1
        self._head_bytes = self._raw_bytes = 0
        super().on_message_complete()

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > MAX_HEAD_BYTES:
            self._refusal = HeadTooLarge()
            # The parser turns it into its own error, for which uvicorn calls `send_400_response`.
            raise self._refusal

    def _await_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(settings.HEADER_TIMEOUT_SECS, self._head_timed_out)

    def _stop_awaiting_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_timed_out(self) -> None:
        self._head_timer = None
        if self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            # The previous request is still being answered.
            self._await_head()
        elif self._raw_bytes:
            self._refuse(RequestTimeout())
        else:
            self.transport.close()

    # --- Refusing ------------------------------------------------------------------------------------------

    def send_400_response(self, msg: str) -> None:
        """Answer invalid HTTP, or a request that was refused while it was read."""
        self._refuse(self._refusal)

    def _refuse(self, error: LocusError) -> None:
        body = json.dumps(error.as_json()).encode()
        headers = {
            **error.headers,
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "Connection": "close",
            HEADER: new_request_id(),
        }
        lines = [f"{name}: {value}\r\n".encode() for name, value in headers.items()]
        self.transport.write(b"".join([STATUS_LINE[error.status], *lines, b"\r\n", body]))
        self.transport.close()


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """A websocket that counts as a connection of its client's address."""

    uncount: Callable[[], None] | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Uncount the connection."""
        if self.uncount is not None:
            self.uncount()
            self.uncount = None
        super().connection_lost(exc)


def count_connection(peer: str | None) -> Callable[[], None] | None:
    """Count a connection until the returned function is called; raise `RateLimited` for too many.

    Returns None for a trusted proxy and for Unix sockets: the middleware counts the requests of their
    clients.
    """
    if peer is None or is_trusted_proxy(peer):
        return None
    network, limit = client_network(peer), settings.MAX_CONNECTIONS_PER_ADDRESS
    if _connections[network] >= limit:
        raise RateLimited("Too many connections from your address.", limit=limit)
    _connections[network] += 1

    def uncount() -> None:
        _connections[network] -= 1
        if not _connections[network]:
            del _connections[network]

    return uncount
