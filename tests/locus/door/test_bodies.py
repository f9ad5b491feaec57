"""Bodies that are too large, too slow, or of nobody are refused by the real server before they are stored."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.conf import settings

from accounts.access.keys import create_key
from accounts.access.throttling import UNKNOWN_KEYS
from accounts.roles import KeyScope
from tests.conftest import Cast
from tests.locus.door import raw
from tests.locus.door.conftest import Limited
from tests.testing.live import answers, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
MIB = 2**20
UPLOAD = "/api/v1/documents"


def multipart(size: int) -> tuple[str, bytes, bytes]:
    """Return the content type, what precedes the file's bytes, and what follows them."""
    before = b'--line\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
    return "multipart/form-data; boundary=line", before, b"\r\n--line--\r\n"


@pytest.mark.parametrize("path", ["/health", "/nope", "/accounts/login/", "/api/v1/search", "/admin/login/"])
def test_a_stranger_can_not_fill_the_disk_with_chunks(limited: Limited, path: str) -> None:
    """Bodies of any size were stored for anybody, before address and key were looked at."""
    with raw.connect(limited.port) as connection:
        connection.sendall(raw.head("POST", path, Transfer_Encoding="chunked"))
        sent = raw.pour(connection, 300 * MIB)
        reply = raw.answer(connection)
    assert sent < 100 * MIB
    assert reply is not None
    assert (reply.status, reply.error()["code"]) == (413, "too_large")
    assert reply.headers["connection"] == "close"
    assert reply.headers["x-request-id"]


@pytest.mark.parametrize("length", [3 * MIB, 10**15])
def test_a_length_that_is_too_large_is_refused_before_the_body(limited: Limited, length: int) -> None:
    """`Content-Length: 10^15` was taken."""
    reply = raw.ask(limited.port, raw.head("POST", "/accounts/login/", Content_Length=str(length)))
    assert reply is not None
    assert reply.status == 413


def test_nobody_uploads_without_a_key_that_may(limited: Limited, cast: Cast) -> None:
    """The sender of an upload is identified before its body is read."""
    _, read_only = create_key(cast.alice, "reader", scopes=[KeyScope.READ])
    for headers, status, code in [
        ({}, 401, "unauthenticated"),
        ({"X_API_KEY": "locus_0123456789_wrong"}, 401, "unauthenticated"),
        ({"Cookie": "sessionid=wrong"}, 401, "unauthenticated"),
        ({"X_API_KEY": read_only}, 403, "forbidden"),
        ({"X_API_KEY": cast.keys["alice"], "External_User_Id": "e1"}, 400, "validation_error"),
    ]:
        for method, path in [("POST", UPLOAD), ("PUT", f"{UPLOAD}/some/file")]:
            # Nothing of the body is sent: the reply comes all the same.
            reply = raw.ask(limited.port, raw.head(method, path, Content_Length=str(50 * MIB), **headers))
            assert reply is not None
            assert (reply.status, reply.error()["code"]) == (status, code), headers


def test_uploads_are_no_way_to_guess_keys(limited: Limited, cast: Cast) -> None:
    """An address that sends many unknown keys is refused here as anywhere else; a known key is not."""

    def status(key: str) -> int:
        with raw.connect(limited.port, "127.0.0.11") as connection:
            connection.sendall(raw.head("POST", UPLOAD, Content_Length="0", X_API_KEY=key))
            reply = raw.answer(connection)
        assert reply is not None
        return reply.status

    seen = [status(f"locus_{number:010}_wrong") for number in range(2 * UNKNOWN_KEYS.burst)]
    assert (seen[0], seen[-1]) == (401, 429)
    assert status(cast.keys["alice"]) == 400


def test_an_upload_above_the_limit_is_refused_though_its_sender_is_known(
    limited: Limited, cast: Cast
) -> None:
    most = 64 * MIB * settings.DATA_UPLOAD_MAX_NUMBER_FILES + 2 * MIB
    request = raw.head("POST", UPLOAD, Content_Length=str(most), X_API_KEY=cast.keys["alice"])
    reply = raw.ask(limited.port, request)
    assert reply is not None
    assert reply.status == 413


def test_a_session_cookie_uploads(limited: Limited, cast: Cast) -> None:
    """The early check of the sender knows logged-in people; what follows is their CSRF token."""
    from django.test import Client

    client = Client()
    client.force_login(cast.alice)
    cookie = f"sessionid={client.cookies['sessionid'].value}"
    reply = raw.ask(limited.port, raw.head("POST", UPLOAD, Content_Length="0", Cookie=cookie))
    assert reply is not None
    assert (reply.status, reply.error()["code"]) == (403, "forbidden")


def test_bodies_lie_below_data_dir_and_uploads_of_one_user_take_turns(limited: Limited, cast: Cast) -> None:
    """Django kept bodies in the system's temporary folder, and one user could send any number at once."""
    kind, before, after = multipart(0)
    piece = b"words " * (MIB // 6)
    length = len(before) + 2 * len(piece) + len(after)
    request = raw.head(
        "POST", UPLOAD, Content_Length=str(length), Content_Type=kind, X_API_KEY=cast.keys["alice"]
    )
    with ExitStack() as stack:
        first, second, third = (stack.enter_context(raw.connect(limited.port)) for _ in range(3))
        for connection in (first, second):
            connection.sendall(request + before + piece)
        wait_until(lambda: len(open_bodies(limited)) == 2, "two bodies are being stored")
        assert all(body.startswith(str(settings.FILE_UPLOAD_TEMP_DIR)) for body in open_bodies(limited))
        third.sendall(request + before + piece)
        # Others are not kept waiting by it.
        assert answers(f"{limited.url}/health")
        assert len(open_bodies(limited)) == 2
        for connection in (first, second):
            connection.sendall(piece + after)
            reply = raw.answer(connection)
            assert reply is not None
            assert reply.status in (200, 202)
        third.sendall(piece + after)
        reply = raw.answer(third)
        assert reply is not None
        assert reply.status == 200


def open_bodies(server: Limited) -> list[str]:
    """Return the nameless files that the server has open."""
    folder = Path(f"/proc/{server.process.pid}/fd")
    targets = []
    for descriptor in folder.iterdir():
        try:
            targets.append(str(descriptor.readlink()))
        except OSError:
            continue
    return [target for target in targets if target.endswith(" (deleted)") and "/dev/shm" not in target]


def test_slow_bodies_end_and_keep_nobody_waiting(limited: Limited) -> None:
    """300 bodies of a byte now and then stayed open for ever."""
    with ExitStack() as stack:
        request = raw.head("POST", "/accounts/login/", Content_Length="100000")
        slow = [stack.enter_context(raw.connect(limited.port)) for _ in range(300)]
        for connection in slow:
            connection.sendall(request + b"x")
        waits = []
        for _ in range(10):
            begun = time.monotonic()
            assert answers(f"{limited.url}/health")
            waits.append(time.monotonic() - begun)
            for connection in slow[:100]:
                # These never pause for long: they are too slow all the same.
                try:
                    connection.sendall(b"x")
                except ConnectionError:
                    continue
            time.sleep(0.2)
        assert max(waits) < 5
        reply = raw.answer(slow[-1])
        assert reply is not None
        assert (reply.status, reply.error()["code"]) == (408, "timeout")
        assert all(raw.closes_within(connection, 20) for connection in slow)
