"""URLs: read strictly, written in one way, and what names a document."""

from __future__ import annotations

from typing import Any

import pytest

from core.fetch import InvalidUrl, name_of_url, web_url


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
