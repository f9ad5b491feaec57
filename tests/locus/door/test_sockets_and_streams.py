"""Websockets and event streams of the real server: whose page, how many, how large."""

from __future__ import annotations

import json
from contextlib import ExitStack, suppress
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from kb.models import Status
from tests.conftest import Cast
from tests.factories import stored_document
from tests.locus.door import raw
from tests.locus.door.conftest import Limited
from tests.testing.live import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
TOOL = "/ws/tools/rag_search"


def open_socket(server: Limited, path: str, key: str | None = None, **headers: str) -> ClientConnection:
    """Open a websocket without the `Origin` that a browser would send."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if key is not None:
        named["X-API-KEY"] = key
    return connect(f"ws://127.0.0.1:{server.port}{path}", additional_headers=named, max_size=None)


def close_code(socket: ClientConnection) -> int:
    """Read until the server closes, and return its code."""
    try:
        while True:
            socket.recv(timeout=20)
    except ConnectionClosed as closed:
        assert closed.rcvd is not None
        return closed.rcvd.code


def test_a_large_message_is_refused_before_it_is_read(limited: Limited, cast: Cast) -> None:
    """Messages of 16 MiB were read, and then refused."""
    # The server may close while the message is still being sent, or after it.
    with open_socket(limited, TOOL, cast.keys["alice"]) as socket, pytest.raises(ConnectionClosed) as closed:
        socket.send(json.dumps({"query": "x" * (3 * 2**20)}))
        socket.recv(timeout=20)
    # What is still on its way when the server closes resets the connection, and may take the frame with it.
    assert closed.value.rcvd is None or closed.value.rcvd.code == 1009


@pytest.mark.parametrize("depth", [65, 970, 100_000])
def test_deep_messages_get_an_error_and_the_socket_stays_open(
    limited: Limited, cast: Cast, depth: int
) -> None:
    with open_socket(limited, TOOL, cast.keys["alice"]) as socket:
        for _ in range(2):
            socket.send('{"query": "a", "filters": ' + "[" * depth + "]" * depth + "}")
            event = json.loads(socket.recv(timeout=20))
            assert event["event"] == "error"
            assert event["data"]["code"] in ("invalid_json", "validation_error")


def test_a_message_after_a_refused_handshake_is_ignored(limited: Limited, cast: Cast) -> None:
    """It was handed on, and ended in a stack trace."""
    for headers, code in [
        ({}, 4401),
        ({"X_API_KEY": "locus_0123456789_wrong"}, 4401),
        ({"X_API_KEY": cast.keys["alice"], "Origin": "https://evil.example"}, 4403),
    ]:
        for path in (TOOL, "/ws/documents"):
            with open_socket(limited, path, **headers) as socket:
                for message in ({"type": "run", "inputs": {"query": "x"}}, {"type": "cancel"}):
                    try:
                        socket.send(json.dumps(message))
                    except ConnectionClosed:
                        break
                assert close_code(socket) == code
    assert "Traceback" not in limited.log


def test_the_origin_of_a_page_is_its_scheme_too(limited: Limited, cast: Cast) -> None:
    """`https://` and `ftp://` passed for pages of `http://`, and so did a foreign host that Origin named."""
    own = f"127.0.0.1:{limited.port}"
    for origin, host, code in [
        (f"http://{own}", own, None),
        ("https://app.example.org", own, None),
        (f"https://{own}", own, 4403),
        (f"ftp://{own}", own, 4403),
        ("http://app.example.org", own, 4403),
        ("null", own, 4403),
        ("http://evil.example", "evil.example", 4403),
    ]:
        with raw_socket(limited, origin, host, cast.keys["alice"]) as socket:
            if code is None:
                socket.send("no json")
                assert json.loads(socket.recv(timeout=20))["data"]["code"] == "invalid_json", origin
            else:
                assert close_code(socket) == code, origin


def raw_socket(server: Limited, origin: str, host: str, key: str) -> ClientConnection:
    """Open a websocket to the server under a name that need not be its own."""
    return connect(
        f"ws://{host}{TOOL}",
        sock=raw.connect(server.port),
        origin=origin,
        additional_headers={"X-API-KEY": key},
    )


def test_a_handshake_answers_with_its_request_id(limited: Limited, cast: Cast) -> None:
    with open_socket(limited, TOOL, cast.keys["alice"], X_Request_Id="my-socket") as socket:
        assert socket.response is not None
        assert socket.response.headers["X-Request-Id"] == "my-socket"


def test_sockets_of_one_user_are_limited(limited: Limited, cast: Cast) -> None:
    """400 sockets of one viewer were opened; nothing limited them."""
    with ExitStack() as stack:
        mine = [
            stack.enter_context(open_socket(limited, path, cast.keys["bob"]))
            for path in (TOOL, "/ws/documents", TOOL)
        ]
        for socket in mine[::2]:
            # All have been let in, and so counted.
            socket.send("no json")
            socket.recv(timeout=20)
        wait_until(lambda: refused(limited, cast.keys["bob"]), "a fourth socket is refused")
        assert not refused(limited, cast.keys["charlie"])
    wait_until(lambda: not refused(limited, cast.keys["bob"]), "those that are closed count no longer")


def refused(server: Limited, key: str) -> bool:
    """Tell whether one more socket is refused as one too many."""
    with open_socket(server, TOOL, key) as socket:
        # One that is refused may be closed by now; what the server said before can still be read.
        with suppress(ConnectionClosed):
            socket.send("no json")
        event: dict[str, Any] = json.loads(socket.recv(timeout=20))
        if event["data"]["code"] != "rate_limited":
            return False
        assert event["data"]["details"]["retry_after_secs"] > 0
        assert close_code(socket) == 1013
        return True


def test_streams_of_one_user_are_limited(limited: Limited, cast: Cast) -> None:
    """Nothing limited the event streams of one user."""
    document = stored_document(cast.team, "waits.txt", b"words", status=Status.QUEUED)
    url = f"{limited.url}/api/v1/documents/{document.pk}/events"
    key = cast.headers("alice")
    with httpx.Client(timeout=30) as http:
        with ExitStack() as stack:
            for _ in range(2):
                reply = stack.enter_context(http.stream("GET", url, headers=key))
                assert reply.status_code == 200
                assert reply.headers["Cache-Control"] == "no-cache"
            one_more = http.get(url, headers=key)
            assert (one_more.status_code, one_more.json()["error"]["code"]) == (429, "rate_limited")
            assert int(one_more.headers["Retry-After"]) > 0
            assert one_more.headers["RateLimit-Limit"] == "2"
            assert one_more.headers["RateLimit-Remaining"] == "0"
            run = {"query": "anything", "stream": True}
            tool = http.post(f"{limited.url}/api/v1/tools/rag_search", headers=key, json=run)
            assert tool.status_code == 429
            with http.stream("GET", url, headers=cast.headers("bob")) as reply:
                assert reply.status_code == 200

        def is_let_in() -> bool:
            with http.stream("GET", url, headers=key) as reply:
                return reply.status_code == 200

        wait_until(is_let_in, "streams whose client has left count no longer")
