"""Bodies: too large, too slow, compressed to explode, broken."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import brotli
import pytest
from backports import zstd

from core.fetch import (
    FetchLimits,
    GuardedNetwork,
    ResponseTooLarge,
    UnreachableUrl,
    UnsupportedResponse,
    fetch,
)
from tests.core.fetch.fetching import MIB, exempt, get
from tests.testing.web import PUBLIC, Page, Web, reply


def deflated(data: bytes, wbits: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    return packer.compress(data) + packer.flush()


PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "deflate": ("deflate", lambda data: deflated(data, 15)),
    "raw deflate": ("deflate", lambda data: deflated(data, -15)),
    "br": ("br", lambda data: brotli.compress(data, quality=5)),
    "zstd": ("ZSTD", zstd.compress),
}


@pytest.mark.parametrize("name", PACKED)
async def test_compressed_pages_are_unpacked(web: Web, name: str) -> None:
    encoding, merge = PACKED[name]
    url = web.page("/", merge(b"Hello " * 50_000), Content_Encoding=encoding)
    body, fetched = await get(url, exempt(web))
    assert body == b"Hello " * 50_000
    assert fetched.size == len(body)


@pytest.mark.parametrize("name", PACKED)
async def test_a_bomb_is_too_large_and_is_never_whole_in_memory(web: Web, name: str) -> None:
    encoding, merge = PACKED[name]
    url = web.page("/", merge(b"\0" * 64 * MIB), Content_Encoding=encoding)

    class Counting:
        largest = total = 0

        def write(self, data: bytes) -> None:
            self.largest, self.total = max(self.largest, len(data)), self.total + len(data)

    into = Counting()
    with pytest.raises(ResponseTooLarge):
        await fetch(url, into, limits=FetchLimits(4 * MIB, 20), network=exempt(web))
    assert into.total <= 4 * MIB
    assert into.largest <= MIB


@pytest.mark.parametrize("encoding", ["gzip, gzip", "gzip, br", "compress", "x"])
async def test_nested_and_unknown_encodings_are_refused(web: Web, encoding: str) -> None:
    url = web.page("/", gzip.compress(gzip.compress(b"x")), Content_Encoding=encoding)
    with pytest.raises(UnsupportedResponse):
        await get(url, exempt(web))


@pytest.mark.parametrize("name", PACKED)
async def test_damaged_compression_is_unreachable(web: Web, name: str) -> None:
    encoding, _ = PACKED[name]
    with pytest.raises(UnreachableUrl):
        await get(web.page("/", b"\xff" * 1000, Content_Encoding=encoding), exempt(web))


async def test_too_large_by_its_own_account_is_not_even_begun(web: Web) -> None:
    def page(request: BaseHTTPRequestHandler) -> None:
        reply(request, 200, b"", Content_Length=str(MIB + 1))
        web.over.wait()

    web.pages["/"] = page
    with pytest.raises(ResponseTooLarge):
        await get(web.url("/"), exempt(web))


async def test_exactly_the_limit_is_fetched(web: Web) -> None:
    body, _ = await get(web.page("/", b"x" * MIB), exempt(web))
    assert len(body) == MIB


def endless(web: Web, **headers: str) -> Page:
    """A page that goes on until its reader leaves."""

    def page(request: BaseHTTPRequestHandler) -> None:
        reply(request, 200, b"", **headers)
        while not web.over.is_set():
            request.wfile.write(b"x" * 65536)

    return page


async def test_too_large_without_a_length(web: Web) -> None:
    web.pages["/"] = endless(web, Content_Length="")
    with pytest.raises(ResponseTooLarge):
        await get(web.url("/"), exempt(web))


async def test_a_length_that_says_too_little_ends_the_page_there(web: Web) -> None:
    web.pages["/"] = endless(web, Content_Length="1000")
    body, _ = await get(web.url("/"), exempt(web))
    assert body == b"x" * 1000


async def test_a_length_that_says_too_much_is_a_broken_answer(web: Web) -> None:
    with pytest.raises(UnreachableUrl):
        await get(web.page("/", b"x", Content_Length="1000"), exempt(web))


async def test_a_length_that_is_no_number_is_a_broken_answer(web: Web) -> None:
    with pytest.raises(UnreachableUrl):
        await get(web.page("/", b"x", Content_Length="many"), exempt(web))


def raw(answer: bytes) -> Page:
    def page(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(answer)

    return page


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + b"X: y\r\n" * 50_000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    ],
    ids=["nothing", "not HTTP", "endless headers", "bad chunk", "cut chunk"],
)
async def test_broken_answers_are_unreachable(web: Web, answer: bytes) -> None:
    web.pages["/"] = raw(answer)
    with pytest.raises(UnreachableUrl):
        await get(web.url("/"), exempt(web))


def slow_headers(request: BaseHTTPRequestHandler, web: Web) -> None:
    request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Slow: ")
    trickle(request, web)


def slow_body(request: BaseHTTPRequestHandler, web: Web) -> None:
    reply(request, 200, b"", Content_Length="100000")
    trickle(request, web)


def slow_redirects(request: BaseHTTPRequestHandler, web: Web) -> None:
    web.over.wait(0.2)
    reply(request, 302, b"", None, Location="/")


def trickle(request: BaseHTTPRequestHandler, web: Web) -> None:
    while not web.over.wait(0.02):
        request.wfile.write(b"x")


@pytest.mark.parametrize("page", [slow_headers, slow_body, slow_redirects])
async def test_the_deadline_counts_for_the_whole_fetch(web: Web, page: Callable[..., None]) -> None:
    """Each byte comes in time, the page never would."""
    web.pages["/"] = lambda request: page(request, web)
    with pytest.raises(UnreachableUrl, match="in time"):
        await get(web.url("/"), exempt(web), FetchLimits(MIB, timeout_secs=0.5, max_redirects=1000))


async def test_a_name_server_that_never_answers_is_not_waited_for(web: Web) -> None:
    def resolver(host: str, port: int) -> list[str]:
        web.over.wait()
        return [PUBLIC]

    with pytest.raises(UnreachableUrl, match="in time"):
        await get("http://site.example/", GuardedNetwork(resolver=resolver), FetchLimits(MIB, 0.1))
    web.over.set()
