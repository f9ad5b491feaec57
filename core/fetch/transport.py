"""The guard of `fetch` as a transport of httpx2, for libraries that speak a protocol of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self, cast

import httpcore2
import httpx2

from core.fetch.client import _tls
from core.fetch.errors import ResponseTooLarge, UnreachableUrl, UnsupportedResponse
from core.fetch.guard import GuardedNetwork
from core.fetch.urls import address_of, web_url


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Connects to public addresses only, and reads so many bytes of all replies together.

    Raises the errors of `fetch`, also for each redirect that a client follows. Compressed replies are
    refused: send `Accept-Encoding: identity`.
    """

    def __init__(self, max_bytes: int, network: GuardedNetwork | None = None) -> None:
        self._left = max_bytes
        self._network = network or GuardedNetwork()
        self._pool = httpcore2.AsyncConnectionPool(ssl_context=_tls(), network_backend=self._network)

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        await self._pool.__aexit__(kind, error, trace)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; raise `BlockedUrl`, `UnreachableUrl` or `UnsupportedResponse`."""
        url = web_url(str(request.url), self._network.allowed)
        host, port = address_of(url)
        try:
            reply = await self._pool.handle_async_request(
                httpcore2.Request(
                    request.method,
                    httpcore2.URL(scheme=url.raw_scheme, host=host.encode(), port=port, target=url.raw_path),
                    headers=request.headers.raw,
                    content=cast(httpx2.AsyncByteStream, request.stream),
                    extensions=request.extensions,
                )
            )
        except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError):
            raise UnreachableUrl from None
        headers = httpx2.Headers(reply.headers)
        if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            await reply.aclose()
            raise UnsupportedResponse("The server sent the page in an encoding that is not read here.")
        return httpx2.Response(reply.status, headers=reply.headers, stream=_Bounded(self, reply))

    def count(self, size: int) -> None:
        """Count bytes that were read; raise `ResponseTooLarge`."""
        self._left -= size
        if self._left < 0:
            raise ResponseTooLarge


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, transport: GuardedTransport, reply: httpcore2.Response) -> None:
        self._transport, self._reply = transport, reply

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for block in self._reply.aiter_stream():
                self._transport.count(len(block))
                yield block
        except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError):
            raise UnreachableUrl from None

    async def aclose(self) -> None:
        await self._reply.aclose()
