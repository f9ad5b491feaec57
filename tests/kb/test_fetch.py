"""The guarded fetch: what it refuses to connect to, and what it does with what comes back."""

from __future__ import annotations

import gzip
import io
import ssl
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import brotli
import pytest
import trustme
from backports import zstd

from kb.fetch import (
    BlockedUrl,
    FetchError,
    FetchLimits,
    GuardedNetwork,
    InvalidUrl,
    TooLarge,
    UnreachableUrl,
    UnsupportedType,
    client,
    fetch,
    fetch_blocking,
    is_public,
    name_of_url,
    web_url,
)
from tests.kb.web import PUBLIC, Names, Page, Routed, Web, reply, serving

MIB = 2**20
LIMITS = FetchLimits(max_bytes=MIB, timeout_secs=20)


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as web:
        yield web


def exempt(web: Web, **more: Any) -> GuardedNetwork:
    """A network on which the server's own address needs no check."""
    return GuardedNetwork(allowed={("127.0.0.1", web.port)}, **more)


async def get(url: str, network: GuardedNetwork, limits: FetchLimits = LIMITS) -> tuple[bytes, Any]:
    into = io.BytesIO()
    fetched = await fetch(url, into, limits=limits, network=network)
    return into.getvalue(), fetched


# --- URLs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        ("https://Example.ORG", "https://example.org/"),
        (" https://example.org:443/a#part ", "https://example.org/a"),
        ("http://example.org.:80/a/../b c?q=ü", "http://example.org/b%20c?q=%C3%BC"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("http://example.org:443/", "http://example.org:443/"),
        ("HTTPS://[2606:4700::1111]/", "https://[2606:4700::1111]/"),
        ("http://127。0。0。1/", "http://127.0.0.1/"),
    ],
)
def test_a_url_has_one_normal_form(given: str, normal: str) -> None:
    assert str(web_url(given, set())) == normal
    assert str(web_url(normal, set())) == normal


@pytest.mark.parametrize(
    "url",
    [
        *("", "example.org", "//example.org/", "http:", "http:example.org", "http:///x", "https://"),
        *("ftp://example.org/", "file:///etc/passwd", "javascript:alert(1)", "gopher://example.org/"),
        *("http://user@example.org/", "http://user:pw@example.org/", "http://:pw@example.org/"),
        *("http://example.org:22/", "http://example.org:0/", "http://example.org:99999/", "http://a:80:80/"),
        *("http://example.org\\@evil.example/", "http://exa mple.org/", "http://a..b/", "http://.a/"),
        *("http://example.org/\n", "http://example.org/\r\nHost: x", "http://exam\tple.org/", "http://a/\0"),
        *("http://example.org/\x85", "http://example.org/\ud800", "http://[::1", "http://[fe80::1%25eth0]/"),
        *("http://%31%32%37.0.0.1/", "http://127.0.0.1%00.example/", "http://①②⑦.⓪.⓪.①/", "http://１２７.1/"),
        *("http://300.1.1.1/", "http://example.org../", "https://example.org/" + "a" * 2048),
        "https://example.org/" + "ü" * 1000,  # too long once it is encoded
    ],
)
def test_what_is_no_url_of_the_web(url: str) -> None:
    with pytest.raises(InvalidUrl) as refused:
        # Outer white space is forgiven elsewhere, so let a control character stand inside.
        web_url(url + "x" if url.endswith(("\n", "\0", "\x85")) else url, set())
    assert refused.value.code == "blocked_url"


@pytest.mark.parametrize("entry", ["localhost:8080", "LOCALHOST:8080", "[::1]:8080"])
def test_an_exempt_address_may_have_any_port(entry: str, settings: Any) -> None:
    settings.WEB_FETCH_ALLOW = [entry]
    assert web_url(f"http://{entry}/").port == 8080
    for other in ("http://localhost:8081/", "http://localhost.example:8080/"):
        with pytest.raises(InvalidUrl):
            web_url(other)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.org/a/report%20one.pdf?x=/y", "report one.pdf"),
        ("https://example.org/a/", "a"),
        ("https://example.org/", "example.org"),
        ("https://xn--bcher-kva.example/", "bücher.example"),
    ],
)
def test_a_url_names_its_document(url: str, name: str) -> None:
    assert name_of_url(url) == name


# --- Addresses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address", [PUBLIC, "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254"),
        *("169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.0.0.192", "192.0.2.1"),
        *("198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1"),
        *("255.255.255.255", "192.88.99.1", "168.63.129.16"),
        *("::", "::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "100::1"),
        *("::ffff:127.0.0.1", "::ffff:7f00:1", "::127.0.0.1", "::ffff:0:127.0.0.1", "2001:db8::1"),
        *("64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1"),
        *("2001:0:53aa:64c:0:0:80ff:fffe", "2001::1", "3fff::1", "4000::1", "2606:4700::1111%1"),
        *("", "localhost", "127.1", "0x7f.0.0.1"),
    ],
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "host",
    [
        *(
            "127.0.0.1",
            "127.0.0.1.",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "017700000001",
        ),
        *(
            "0",
            "0x",
            "1.2.3.0x4",
            "127。0。0。1",
            "169.254.169.254",
            "[::1]",
            "[::]",
            "[::ffff:169.254.169.254]",
        ),
        *(
            "[::ffff:a9fe:a9fe]",
            "[64:ff9b::a9fe:a9fe]",
            "[2002:a9fe:a9fe::1]",
            "[fd00:ec2::254]",
            "[::7f00:1]",
        ),
        *("localhost", "LOCALHOST", "localhost.", "x.localhost", "printer.local", "metadata.google.internal"),
        *("wiki.corp", "router.lan", "nas.home.arpa", "postgres", "localhost.localdomain"),
    ],
)
async def test_local_hosts_are_refused_before_anybody_is_asked(host: str) -> None:
    names, dialer = Names(), Routed(1)
    with pytest.raises(BlockedUrl):
        await get(f"http://{host}/", GuardedNetwork(allowed=set(), resolver=names, dialer=dialer))
    assert (names.asked, dialer.dialled) == ([], [])


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["10.0.0.1"], ["::1"], ["fe80::1%eth0"], [PUBLIC, "192.168.0.1"], ["::ffff:7f00:1"]],
)
async def test_a_name_with_any_private_address_is_refused(addresses: list[str]) -> None:
    dialer = Routed(1)
    network = GuardedNetwork(allowed=set(), resolver=Names(evil_example=[addresses]), dialer=dialer)
    with pytest.raises(BlockedUrl) as refused:
        await get("http://evil.example/", network)
    assert dialer.dialled == []
    assert not any(address in refused.value.message for address in addresses)


async def test_the_connection_goes_to_the_address_that_was_checked(web: Web) -> None:
    """A name that changes its answer after the check is not asked again."""
    web.page("/")
    names, dialer = Names(site_example=[[PUBLIC], ["127.0.0.1"]]), Routed(web.port)
    body, fetched = await get("http://site.example/", GuardedNetwork(resolver=names, dialer=dialer))
    assert (body, fetched.url) == (b"<p>Hello</p>", "http://site.example/")
    assert (names.asked, dialer.dialled) == (["site.example"], [(PUBLIC, 80)])
    assert web.asked[0].headers["Host"] == "site.example"


async def test_a_redirect_to_the_same_name_is_checked_again(web: Web) -> None:
    web.redirect("/", "http://site.example/admin")
    names, dialer = Names(site_example=[[PUBLIC], ["127.0.0.1"]]), Routed(web.port)
    with pytest.raises(BlockedUrl):
        await get("http://site.example/", GuardedNetwork(resolver=names, dialer=dialer))
    assert dialer.dialled == [(PUBLIC, 80)]


async def test_the_next_address_is_tried_when_one_is_dead(web: Web) -> None:
    web.page("/")
    dialer = Routed(web.port, dead=["2606:4700::1111"])
    names = Names(site_example=[["2606:4700::1111", PUBLIC]])
    await get("http://site.example/", GuardedNetwork(resolver=names, dialer=dialer))
    assert [address for address, _ in dialer.dialled] == ["2606:4700::1111", PUBLIC]


async def test_open_and_closed_internal_ports_answer_the_same(web: Web) -> None:
    """Nothing is connected to, so nothing can be learnt, not even by the clock."""
    web.page("/")
    answers = set()
    for host in ("127.0.0.1", "10.255.255.1"):
        dialer = Routed(web.port, dead=["10.255.255.1"])
        with pytest.raises(BlockedUrl) as refused:
            await get(f"http://{host}/", GuardedNetwork(allowed=set(), dialer=dialer))
        assert dialer.dialled == []
        answers.add((refused.value.code, refused.value.message))
    assert len(answers) == 1


@pytest.mark.parametrize("error", [OSError("no such name"), UnicodeError("label too long")])
async def test_a_name_without_an_address_is_unreachable(error: Exception) -> None:
    def resolver(host: str, port: int) -> list[str]:
        raise error

    with pytest.raises(UnreachableUrl):
        await get("http://site.example/", GuardedNetwork(resolver=resolver))


async def test_a_refused_connection_is_unreachable() -> None:
    network = GuardedNetwork(resolver=Names(site_example=[[PUBLIC]]), dialer=Routed(1, dead=[PUBLIC]))
    with pytest.raises(UnreachableUrl):
        await get("http://site.example/", network)


# --- TLS ---------------------------------------------------------------------------------------------------


@pytest.fixture
def authority(monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    authority = trustme.CA()
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    monkeypatch.setattr(client, "_tls", lambda: trust)
    return authority


async def test_tls_names_and_checks_the_host_not_the_address(authority: trustme.CA) -> None:
    context, asked = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), []
    authority.issue_cert("site.example").configure_cert(context)
    context.sni_callback = lambda socket, name, _: asked.append(name)
    with serving(context) as web:
        web.page("/")
        names = Names(site_example=[[PUBLIC]], other_example=[[PUBLIC]])
        network = GuardedNetwork(resolver=names, dialer=Routed(web.port))
        assert (await get("https://site.example/", network))[1].mime_type == "text/html"
        with pytest.raises(UnreachableUrl, match="certificate"):
            await get("https://other.example/", network)
    assert asked == ["site.example", "other.example"]
    assert [request.headers["Host"] for request in web.asked] == ["site.example"]


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


@pytest.mark.parametrize(
    "target",
    [
        *(
            "http://127.0.0.1/",
            "http://[::1]/",
            "http://2130706433/",
            "http://localhost/",
            "//169.254.169.254/x",
        ),
        *("http://inside.example/", "http://127.0.0.1:1/", "ftp://site.example/", "file:///etc/passwd"),
        *("http://user:pw@site.example/", "http://site.example:22/", "http://[::1", "javascript:alert(1)"),
    ],
)
async def test_no_redirect_leads_inside(web: Web, target: str) -> None:
    web.redirect("/start", "/again")
    web.redirect("/again", target)
    names = Names(site_example=[[PUBLIC]], inside_example=[["10.0.0.1"]])
    dialer = Routed(web.port)
    with pytest.raises(BlockedUrl) as refused:
        await get("http://site.example/start", GuardedNetwork(allowed=set(), resolver=names, dialer=dialer))
    assert dialer.dialled == [(PUBLIC, 80)] * 2
    assert refused.value.message == BlockedUrl.default_message


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
    with pytest.raises(UnsupportedType):
        await get(web.page("/", b"x", header), exempt(web))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429, 500, 503, 304, 302])
async def test_an_error_of_the_server_is_unreachable(web: Web, status: int) -> None:
    web.pages["/"] = lambda request: reply(request, status, b"")
    with pytest.raises(UnreachableUrl, match=str(status)):
        await get(web.url("/"), exempt(web))


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
    encoding, pack = PACKED[name]
    url = web.page("/", pack(b"Hello " * 50_000), Content_Encoding=encoding)
    body, fetched = await get(url, exempt(web))
    assert body == b"Hello " * 50_000
    assert fetched.size == len(body)


@pytest.mark.parametrize("name", PACKED)
async def test_a_bomb_is_too_large_and_is_never_whole_in_memory(web: Web, name: str) -> None:
    encoding, pack = PACKED[name]
    url = web.page("/", pack(b"\0" * 64 * MIB), Content_Encoding=encoding)

    class Counting:
        largest = total = 0

        def write(self, data: bytes) -> None:
            self.largest, self.total = max(self.largest, len(data)), self.total + len(data)

    into = Counting()
    with pytest.raises(TooLarge):
        await fetch(url, into, limits=FetchLimits(4 * MIB, 20), network=exempt(web))
    assert into.total <= 4 * MIB
    assert into.largest <= MIB


@pytest.mark.parametrize("encoding", ["gzip, gzip", "gzip, br", "compress", "x"])
async def test_nested_and_unknown_encodings_are_refused(web: Web, encoding: str) -> None:
    url = web.page("/", gzip.compress(gzip.compress(b"x")), Content_Encoding=encoding)
    with pytest.raises(UnsupportedType):
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
    with pytest.raises(TooLarge):
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
    with pytest.raises(TooLarge):
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

    web.pages["/"] = lambda request: slow_body(request, web)
    with pytest.raises(Enough):
        fetch_blocking(web.url("/"), io.BytesIO(), limits=LIMITS, network=exempt(web), checkpoint=checkpoint)
