"""Fetches a URL: follows redirects itself, limits everything, sends nothing that identifies anybody.

It uses `httpcore2` without a client above it: no cookies, no proxies and no `.netrc` from the environment.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import wait
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import Message
from functools import cache, partial
from typing import Protocol, TypeAlias

import httpcore2
import httpx2
from anyio.from_thread import start_blocking_portal
from django.conf import settings

from core.fetch.errors import BlockedUrl, FetchError, ResponseTooLarge, UnreachableUrl, UnsupportedResponse
from core.fetch.guard import CONNECT_SECS, GuardedNetwork
from core.fetch.urls import address_of, web_url

REDIRECTS = frozenset({301, 302, 303, 307, 308})
MAX_REDIRECTS = 5
ENCODINGS = ("gzip", "deflate", "br", "zstd")
TYPES = frozenset({"application/pdf", "application/xhtml+xml"})
ACCEPT = "text/html, application/xhtml+xml, application/pdf, text/*;q=0.8"
SILENCE_SECS = 15.0
CHECKED_EVERY_SECS = 0.5

Admit: TypeAlias = Callable[[httpx2.URL], Awaitable[None]]
"""Called before each request, redirects included; an exception from it ends the fetch."""


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of a fetch: bytes as sent and again as decompressed, seconds from start to end."""

    max_bytes: int
    timeout_secs: float
    max_redirects: int = MAX_REDIRECTS


@dataclass(frozen=True, slots=True)
class Fetched:
    """The response: final URL, declared type (without parameters) and charset, number of bytes."""

    url: str
    mime_type: str
    charset: str | None
    size: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The response's headers; names are case-insensitive."""


class Writable(Protocol):
    """The target of the bytes."""

    def write(self, data: bytes, /) -> object:
        """Write some bytes."""


def default_limits() -> FetchLimits:
    """Return the operator's limits."""
    return FetchLimits(settings.WEB_FETCH_MAX_BYTES, settings.WEB_FETCH_TIMEOUT_SECS)


async def _allow_all(url: httpx2.URL) -> None:
    pass


async def fetch(
    url: str,
    into: Writable,
    *,
    limits: FetchLimits | None = None,
    network: GuardedNetwork | None = None,
    admit: Admit = _allow_all,
) -> Fetched:
    """Write the response of `url` into a file and return its description.

    Raises `BlockedUrl` (`InvalidUrl` if it is not a URL at all), `UnreachableUrl`, `ResponseTooLarge`,
    `UnsupportedResponse` or what `admit` raises. Part of the file may be written by then.
    """
    limits, network = limits or default_limits(), network or GuardedNetwork()
    try:
        async with asyncio.timeout(limits.timeout_secs):
            return await _follow(web_url(url, network.allowed), into, limits, network, admit)
    except TimeoutError:
        raise UnreachableUrl("The address did not answer in time. Try again later.") from None


async def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    timeout_secs: float,
    network: GuardedNetwork | None = None,
) -> int:
    """Send a body to `url` and return the status of the response, of which nothing more is read.

    Redirects are not followed. Raises `BlockedUrl` or `UnreachableUrl`.
    """
    network = network or GuardedNetwork()
    try:
        async with asyncio.timeout(timeout_secs):
            target = web_url(url, network.allowed)
            sent = [(name.encode(), value.encode()) for name, value in headers.items()]
            own = [each for each in _headers(target) if each[0] not in (b"Accept", b"Accept-Encoding")]
            async with (
                httpcore2.AsyncConnectionPool(ssl_context=_tls(), network_backend=network) as pool,
                _reply(pool, target, "POST", [*own, *sent], body) as reply,
            ):
                return reply.status
    except TimeoutError:
        raise UnreachableUrl("The address did not answer in time.") from None


def fetch_blocking(
    url: str,
    into: Writable,
    *,
    limits: FetchLimits | None = None,
    network: GuardedNetwork | None = None,
    checkpoint: Callable[[], None] = lambda: None,
) -> Fetched:
    """Fetch for callers without an event loop.

    `checkpoint` is called twice a second in the caller's thread; an exception from it ends the fetch.
    """
    with start_blocking_portal() as portal:
        future = portal.start_task_soon(partial(fetch, url, into, limits=limits, network=network))
        try:
            while not wait([future], timeout=CHECKED_EVERY_SECS).done:
                checkpoint()
            return future.result()
        except BaseException:
            future.cancel()
            raise


# --- One URL after the other -------------------------------------------------------------------------------


async def _follow(
    url: httpx2.URL, into: Writable, limits: FetchLimits, network: GuardedNetwork, admit: Admit
) -> Fetched:
    async with httpcore2.AsyncConnectionPool(ssl_context=_tls(), network_backend=network) as pool:
        for _ in range(limits.max_redirects + 1):
            await admit(url)
            async with _reply(pool, url) as reply:
                headers = httpx2.Headers(reply.headers)
                if reply.status not in REDIRECTS or "location" not in headers:
                    return await _save(url, reply, headers, into, limits)
            url = _redirect_target(url, headers["location"], network)
    raise UnreachableUrl("The address redirects too often. Give the address of the page itself.")


@asynccontextmanager
async def _reply(
    pool: httpcore2.AsyncConnectionPool,
    url: httpx2.URL,
    method: str = "GET",
    headers: list[tuple[bytes, bytes]] | None = None,
    body: bytes | None = None,
) -> AsyncGenerator[httpcore2.Response]:
    """Send the request; turn failures until the end of the block into `UnreachableUrl`."""
    host, port = address_of(url)
    target = httpcore2.URL(scheme=url.raw_scheme, host=host.encode(), port=port, target=url.raw_path)
    timeouts = {"connect": CONNECT_SECS, "read": SILENCE_SECS, "write": SILENCE_SECS, "pool": SILENCE_SECS}
    try:
        async with pool.stream(
            method,
            target,
            headers=headers or _headers(url),
            content=body,
            extensions={"timeout": timeouts},
        ) as reply:
            yield reply
    except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in _causes(error)):
            raise UnreachableUrl("The certificate of this server is not valid.") from None
        raise UnreachableUrl from None
    except httpx2.DecodingError:
        raise UnreachableUrl("The server sent a damaged answer. Try again later.") from None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _headers(url: httpx2.URL) -> list[tuple[bytes, bytes]]:
    return [
        (b"Host", url.netloc),
        (b"User-Agent", settings.WEB_FETCH_USER_AGENT.encode()),
        (b"Accept", ACCEPT.encode()),
        (b"Accept-Encoding", ", ".join(ENCODINGS).encode()),
        (b"Connection", b"close"),
    ]


def _redirect_target(url: httpx2.URL, location: str, network: GuardedNetwork) -> httpx2.URL:
    try:
        return web_url(str(url.join(location)), network.allowed)
    except (FetchError, httpx2.InvalidURL, ValueError):
        raise BlockedUrl from None


@cache
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


# --- The answer --------------------------------------------------------------------------------------------


async def _save(
    url: httpx2.URL, reply: httpcore2.Response, headers: httpx2.Headers, into: Writable, limits: FetchLimits
) -> Fetched:
    if not 200 <= reply.status < 300:
        message = f"The server answered {reply.status}. Check the address in a browser."
        raise UnreachableUrl(message, status=reply.status, headers=headers)
    mime_type, charset = _type(headers)
    if _declared_length(headers) > limits.max_bytes:
        raise ResponseTooLarge
    size = 0
    async for block in _decoded_blocks(reply, headers, limits):
        size += len(block)
        if size > limits.max_bytes:
            raise ResponseTooLarge
        into.write(block)
        # Unpacking a bomb never waits for the network, so let the deadline and other tasks run.
        await asyncio.sleep(0)
    return Fetched(str(url), mime_type, charset, size, headers)


def _type(headers: httpx2.Headers) -> tuple[str, str | None]:
    """Return the type without parameters, and the charset if it is named."""
    header = headers.get("content-type", "")
    mime_type = header.partition(";")[0].strip().lower()
    if not (mime_type in TYPES or mime_type.startswith("text/")):
        raise UnsupportedResponse
    message = Message()
    message["Content-Type"] = header
    return mime_type, message.get_content_charset()


def _declared_length(headers: httpx2.Headers) -> int:
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else 0


def _decoded_blocks(
    reply: httpcore2.Response, headers: httpx2.Headers, limits: FetchLimits
) -> AsyncIterator[bytes]:
    """Return the blocks of the body, decompressed in steps of at most 1 MiB."""
    encodings = [name for name in headers.get_list("content-encoding", split_commas=True) if name.strip()]
    # At most one encoding: with nested ones, the outer could be made to work for ever without output.
    if len(encodings) > 1 or not {name.lower() for name in encodings} <= {*ENCODINGS, "identity"}:
        raise UnsupportedResponse("The server sent the page in an encoding that is not read here.")
    body = _Body(reply, limits.max_bytes)
    encoding = {"content-encoding": encodings[0]} if encodings else {}
    return httpx2.Response(200, headers=encoding, stream=body).aiter_bytes()


class _Body(httpx2.AsyncByteStream):
    """The body as sent, up to a number of bytes."""

    def __init__(self, reply: httpcore2.Response, max_bytes: int) -> None:
        self._reply = reply
        self._left = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for block in self._reply.aiter_stream():
            self._left -= len(block)
            if self._left < 0:
                raise ResponseTooLarge
            yield block
