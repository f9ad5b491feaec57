"""What every reply carries, and what is decided before Django hears of a request."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from pytest_django import Settings

from core.errors import RateLimited
from core.http.per_user import CLOSING, OpenLimit
from core.http.request_id import RequestIdFilter
from locus.door.log_flood import LINES, FloodFilter
from locus.door.middleware import Door
from tests.conftest import Cast

ORIGIN = "https://app.example.org"
Reply = tuple[int, list[tuple[bytes, bytes]]]


class Recorder:
    """An application that notes what it was asked, and answers as told."""

    def __init__(self, status: int = 200, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
        self.scopes: list[dict[str, Any]] = []
        self._status, self._headers = status, list(headers)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        if scope["path"] == "/fails":
            raise RuntimeError("nobody foresaw this")
        logging.getLogger("kb.test").warning("heard")
        await send({"type": "http.response.start", "status": self._status, "headers": self._headers})
        await send({"type": "http.response.body", "body": b""})


async def ask(
    method: str, path: str, application: Any = None, peer: str = "198.51.100.1", **headers: str
) -> httpx.Response:
    transport = httpx.ASGITransport(Door(application or Recorder()), client=(peer, 4711))
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.request(method, path, headers=named)


# --- Request ids -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["abc-1.2_3", "x" * 128])
async def test_a_client_may_name_its_request(given: str) -> None:
    assert (await ask("GET", "/", X_Request_Id=given)).headers["X-Request-Id"] == given


@pytest.mark.parametrize("given", ["", "x" * 129, "a b", "a\tb", "<script>"])
async def test_an_id_that_is_unusable_is_replaced(given: str) -> None:
    made = (await ask("GET", "/", X_Request_Id=given)).headers["X-Request-Id"]
    assert made != given
    assert len(made) == 24


async def test_log_lines_and_errors_name_the_request(caplog: pytest.LogCaptureFixture) -> None:
    """Neither replies nor log lines had an id by which to find one from the other."""
    caplog.handler.addFilter(RequestIdFilter())
    await asyncio.gather(ask("GET", "/", X_Request_Id="one"), ask("GET", "/", X_Request_Id="two"))
    heard = {getattr(record, "request", "") for record in caplog.records if record.name == "kb.test"}
    assert heard == {" [one]", " [two]"}
    reply = await ask("GET", "/fails", X_Request_Id="three")
    assert reply.status_code == 500
    assert reply.json()["error"]["details"] == {"request_id": "three"}
    assert reply.headers["X-Request-Id"] == "three"


# --- Proxies ---------------------------------------------------------------------------------------------


async def test_nobody_but_a_trusted_proxy_speaks_for_others(settings: Settings) -> None:
    """A local peer wrote `X-Forwarded-For` itself and so had any address it liked."""
    settings.TRUSTED_PROXIES = ["10.0.0.1"]
    for peer, address, scheme in [
        ("127.0.0.1", "127.0.0.1", "http"),
        ("10.0.0.1", "203.0.113.5", "https"),
    ]:
        recorder = Recorder()
        await ask(
            "GET", "/", recorder, peer, X_Forwarded_For="1.1.1.1, 203.0.113.5", X_Forwarded_Proto="https"
        )
        [scope] = recorder.scopes
        assert (scope["client"][0], scope["scheme"]) == (address, scheme)
        assert not [name for name, _ in scope["headers"] if name.startswith(b"x-forwarded")]


async def test_requests_of_one_client_behind_a_proxy_are_counted(settings: Settings) -> None:
    settings.TRUSTED_PROXIES, settings.MAX_CONNECTIONS_PER_ADDRESS = ["10.0.0.1"], 2
    held = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await held.wait()
        await Recorder()(scope, receive, send)

    transport = httpx.ASGITransport(Door(slow), client=("10.0.0.1", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:

        async def of(address: str) -> int:
            return (await client.get("/", headers={"X-Forwarded-For": address})).status_code

        waiting = [asyncio.create_task(of("203.0.113.5")) for _ in range(2)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert await of("203.0.113.5") == 429
        other = asyncio.create_task(of("203.0.113.6"))
        held.set()
        assert await asyncio.gather(other, *waiting) == [200, 200, 200]
        assert await of("203.0.113.5") == 200


# --- Hosts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost:80:90", "", "localhost/..", "127.0.0.1.evil.example"]
)
async def test_a_foreign_host_costs_a_line_of_the_log(host: str, caplog: pytest.LogCaptureFixture) -> None:
    """Each request with a bad Host header wrote a stack trace."""
    recorder = Recorder()
    reply = await ask("GET", "/health", recorder, Host=host)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "Host")
    assert recorder.scopes == []
    [record] = [record for record in caplog.records if record.name == "core.http.hosts"]
    assert record.exc_info is None
    assert "\n" not in record.getMessage()


def test_what_strangers_cause_is_logged_a_few_times_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("locus.door.log_flood.time.monotonic", lambda: now[0])
    filter = FloodFilter()

    def passes(level: int = logging.WARNING) -> str | None:
        record = logging.LogRecord("x", level, "", 0, "no %s", ("host",), None)
        return record.getMessage() if filter.filter(record) else None

    assert [passes() for _ in range(LINES + 7)] == ["no host"] * LINES + [None] * 7
    assert passes(logging.ERROR) == "no host"
    now[0] = 61.0
    assert passes() == "no host (and 7 more lines like this before)"
    assert passes() == "no host"


# --- Foreign origins -------------------------------------------------------------------------------------


async def test_a_listed_origin_may_use_the_api(settings: Settings) -> None:
    """`CORS_ORIGINS` did nothing for the API: a preflight got 401."""
    settings.CORS_ORIGINS = [ORIGIN]
    recorder = Recorder()
    preflight = await ask(
        "OPTIONS",
        "/api/v1/documents",
        recorder,
        Origin=ORIGIN,
        Access_Control_Request_Method="DELETE",
        Access_Control_Request_Headers="x-api-key, x-external-user-id",
    )
    assert recorder.scopes == []
    assert preflight.status_code == 204
    assert preflight.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert "DELETE" in preflight.headers["Access-Control-Allow-Methods"]
    assert preflight.headers["Access-Control-Allow-Headers"] == "x-api-key, x-external-user-id"
    for path, status in [("/api/v1/me", 401), ("/chunks/1", 200), ("/api/v1/tools/rag_search", 200)]:
        reply = await ask("GET", path, Recorder(status), Origin=ORIGIN)
        assert reply.headers["Access-Control-Allow-Origin"] == ORIGIN
        assert "Origin" in reply.headers["Vary"]
        assert {"X-Request-Id", "X-Execution-Id", "ETag", "Location", "Retry-After"} <= set(
            reply.headers["Access-Control-Expose-Headers"].split(", ")
        )
        assert "Access-Control-Allow-Credentials" not in reply.headers


async def test_errors_before_django_can_be_read_by_a_listed_origin(settings: Settings) -> None:
    settings.CORS_ORIGINS = [ORIGIN]
    for path, headers in [
        ("/api/v1/search", {"Content_Length": str(10**9)}),
        ("/api/v1/documents", {"Host": "evil.example"}),
        ("/api/fails", {}),
    ]:
        reply = await ask("POST", path, Recorder(), Origin=ORIGIN, **headers)
        assert reply.headers["Access-Control-Allow-Origin"] == ORIGIN


@pytest.mark.parametrize(
    ("origin", "path"),
    [
        ("https://evil.example", "/api/v1/me"),
        ("http://app.example.org", "/api/v1/me"),
        ("null", "/api/v1/me"),
        (ORIGIN, "/accounts/login/"),
        (ORIGIN, "/documents/"),
    ],
)
async def test_nothing_is_allowed_to_others(settings: Settings, origin: str, path: str) -> None:
    settings.CORS_ORIGINS = [ORIGIN]
    for method in ("GET", "OPTIONS"):
        reply = await ask(method, path, Origin=origin, Access_Control_Request_Method="GET")
        assert not [name for name in reply.headers if name.startswith("access-control-allow")]
        assert ("Origin" in reply.headers.get("Vary", "")) == path.startswith("/api/")


# --- Caching ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([], "no-store"),
        ([(b"ETag", b'"1"')], "private, no-cache"),
        ([(b"Cache-Control", b"max-age=60, public")], "max-age=60, public"),
        ([(b"cache-control", b"no-cache"), (b"ETag", b'"1"')], "no-cache"),
    ],
)
async def test_nobody_keeps_a_reply_unless_it_says_so(
    headers: list[tuple[bytes, bytes]], expected: str
) -> None:
    """Replies and pages could be kept by browsers and proxies."""
    assert (await ask("GET", "/", Recorder(200, headers))).headers.get_list("Cache-Control") == [expected]


# --- What one user has open ------------------------------------------------------------------------------


def test_what_a_user_has_open_is_counted_until_it_ends(settings: Settings) -> None:
    from contextlib import ExitStack

    settings.MAX_STREAMS_PER_USER = 2
    limit = OpenLimit("MAX_STREAMS_PER_USER", "event streams")
    with ExitStack() as closing:
        limit.count(1, {CLOSING: closing})
        limit.count(1, {CLOSING: closing})
        with pytest.raises(RateLimited) as refused:
            limit.count(1, {CLOSING: closing})
        assert refused.value.headers["RateLimit-Limit"] == "2"
        limit.count(2, {CLOSING: closing})
    limit.take(1)


# --- Room for uploads ------------------------------------------------------------------------------------


async def test_an_upload_that_would_fill_the_disk_is_refused(
    cast: Cast, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing looked at the free space before or while a body was stored."""

    async def alice(function: object, scope: object) -> int:
        return cast.alice.pk

    monkeypatch.setattr("locus.door.bodies.in_database", alice)
    settings.MIN_FREE_DISK_BYTES = 2**20
    # Twice its bytes must fit.
    for free, status in [(2**20 + 2000, 200), (2**20 + 1999, 503)]:
        disk = SimpleNamespace(free=free)
        monkeypatch.setattr(shutil, "disk_usage", lambda path, disk=disk: disk)
        reply = await ask("POST", "/api/v1/documents", Reader(), Content_Length="1000")
        assert reply.status_code == status
    assert reply.json()["error"]["code"] == "overloaded"
    assert int(reply.headers["Retry-After"]) > 0


class Reader(Recorder):
    """An application that reads the body before it answers."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await super().__call__(scope, receive, send)
