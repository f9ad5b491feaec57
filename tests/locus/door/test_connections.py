"""Connections that never become a request end; those of one address are counted."""

from __future__ import annotations

import time
from contextlib import ExitStack

import pytest

from tests.locus.door import raw
from tests.locus.door.conftest import Limited
from tests.testing.live import answers

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("begin", "more"),
    [
        (b"", b""),
        (b"GET /health HTTP/1.1\r\n", b"X-A: b\r\n"),
        (b"", b"\r\n"),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ", b"y"),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\r\n"),
    ],
    ids=["silence", "headers", "empty lines", "one endless line", "empty lines after a request"],
)
def test_a_head_that_comes_slowly_ends_the_connection(limited: Limited, begin: bytes, more: bytes) -> None:
    """Many connections that send a header now and then were never closed."""
    with raw.connect(limited.port) as connection:
        connection.sendall(begin)
        deadline = time.monotonic() + 20
        while not raw.closes_within(connection, 0.3):
            assert time.monotonic() < deadline
            try:
                connection.sendall(more)
            except ConnectionError:
                break


def test_a_head_has_a_size(limited: Limited) -> None:
    """A header line without end grew in memory without end."""
    for request in (
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 200_000,
        b"GET /" + b"y" * 200_000,
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
    ):
        reply = raw.ask(limited.port, request)
        assert reply is not None
        assert (reply.status, reply.error()["code"]) == (431, "validation_error")
        assert reply.headers["x-request-id"]


def test_trailers_of_a_chunked_body_have_a_size(limited: Limited) -> None:
    request = raw.head("POST", "/health", Transfer_Encoding="chunked") + b"0\r\n" + b"X: y\r\n" * 20_000
    reply = raw.ask(limited.port, request + b"\r\n")
    assert reply is None or reply.status == 431


def test_what_is_no_http_gets_an_error_of_the_api(limited: Limited) -> None:
    reply = raw.ask(limited.port, b"\x16\x03\x01 no http\r\n\r\n")
    assert reply is not None
    assert (reply.status, reply.error()["code"]) == (400, "validation_error")
    assert reply.headers["x-request-id"]


def test_connections_of_one_address_are_counted_and_given_back(limited: Limited) -> None:
    """Nothing limited the connections of one address."""
    with ExitStack() as stack:
        for _ in range(400):
            stack.enter_context(raw.connect(limited.port, "127.0.0.9"))
        one_more = stack.enter_context(raw.connect(limited.port, "127.0.0.9"))
        reply = raw.answer(one_more)
        assert reply is not None
        assert (reply.status, reply.error()["code"]) == (429, "rate_limited")
        assert int(reply.headers["retry-after"]) > 0
        assert reply.headers["ratelimit-limit"] == "400"
        assert answers(f"{limited.url}/health")
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with raw.connect(limited.port, "127.0.0.9") as connection:
            connection.sendall(raw.head("GET", "/health"))
            reply = raw.answer(connection)
            if reply is not None and reply.status == 200:
                return
        time.sleep(0.1)
    pytest.fail("the address is still refused after its connections have been closed")
