"""What is sent to a server, and what is made of its answer."""

from __future__ import annotations

import io
from typing import Any

import pytest

from core.fetch import FetchError, UnreachableUrl, UnsupportedResponse, fetch_blocking
from tests.core.fetch.fetching import LIMITS, exempt, get
from tests.testing.web import Web, reply

# --- Redirects ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_followed(web: Web, status: int) -> None:
    web.redirect("/a/b", "../c?d=e", status)
    web.page("/c?d=e")
    _, fetched = await get(web.url("/a/b"), exempt(web))
    assert fetched.url == web.url("/c?d=e")


async def test_five_redirects_are_enough(web: Web) -> None:
    for number in range(6):
        web.redirect(f"/{number}", f"/{number + 1}")
    web.page("/6")
    assert (await get(web.url("/1"), exempt(web)))[1].url == web.url("/6")
    with pytest.raises(UnreachableUrl, match="redirects too often"):
        await get(web.url("/0"), exempt(web))
    web.redirect("/loop", "/loop")
    with pytest.raises(UnreachableUrl):
        await get(web.url("/loop"), exempt(web))


# --- What is sent ------------------------------------------------------------------------------------------


async def test_nothing_is_sent_that_identifies_anybody(
    web: Web, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    settings.WEB_FETCH_USER_AGENT = "Locus/test (mail@example.org)"
    web.pages["/"] = lambda request: reply(
        request, 302, b"", None, Location="/next", Set_Cookie="a=b; Path=/"
    )
    web.page("/next")
    await get(web.url("/#secret"), exempt(web))
    assert web.paths() == ["/", "/next"]
    for request in web.asked:
        assert request.headers["User-Agent"] == "Locus/test (mail@example.org)"
        assert {"Cookie", "Referer", "Authorization", "Origin"}.isdisjoint(request.headers)
        assert request.client_address[0] == "127.0.0.1"


# --- What comes back ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "mime_type", "charset"),
    [
        ("text/html", "text/html", None),
        ("TEXT/HTML; Charset=UTF-8", "text/html", "utf-8"),
        ('text/html; charset="windows-1252"', "text/html", "windows-1252"),
        ("application/xhtml+xml", "application/xhtml+xml", None),
        ("text/plain", "text/plain", None),
        ("text/markdown", "text/markdown", None),
        ("application/pdf", "application/pdf", None),
    ],
)
async def test_types_that_are_fetched(web: Web, header: str, mime_type: str, charset: str | None) -> None:
    body, fetched = await get(web.page("/", b"x" * 100_000, header), exempt(web))
    assert (fetched.mime_type, fetched.charset, fetched.size) == (mime_type, charset, 100_000)
    assert body == b"x" * 100_000


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "image/png",
        "application/zip",
        "application/json",
        "application/octet-stream",
        "video/mp4",
        "html",
    ],
)
async def test_types_that_are_refused(web: Web, header: str | None) -> None:
    with pytest.raises(UnsupportedResponse):
        await get(web.page("/", b"x", header), exempt(web))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429, 500, 503, 304, 302])
async def test_an_error_of_the_server_is_unreachable(web: Web, status: int) -> None:
    web.pages["/"] = lambda request: reply(request, status, b"")
    with pytest.raises(UnreachableUrl, match=str(status)):
        await get(web.url("/"), exempt(web))


# --- Without an event loop ---------------------------------------------------------------------------------


def test_blocking_callers_get_the_same(web: Web, settings: Any) -> None:
    settings.WEB_FETCH_ALLOW = [web.address]
    into = io.BytesIO()
    assert fetch_blocking(web.page("/"), into).mime_type == "text/html"
    assert into.getvalue() == b"<p>Hello</p>"
    settings.WEB_FETCH_MAX_BYTES = 5
    with pytest.raises(FetchError) as failed:
        fetch_blocking(web.url("/"), into)
    assert failed.value.code == "too_large"


def test_a_checkpoint_can_end_a_fetch(web: Web) -> None:
    class Enough(Exception):
        pass

    def checkpoint() -> None:
        raise Enough

    def never(request: Any) -> None:
        web.over.wait()

    web.pages["/"] = never
    with pytest.raises(Enough):
        fetch_blocking(web.url("/"), io.BytesIO(), limits=LIMITS, network=exempt(web), checkpoint=checkpoint)
