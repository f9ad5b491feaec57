"""Sanitising: whatever a provider sends, what remains is short, visible text."""

from __future__ import annotations

import html
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from search.web.base import Hit
from search.web.sanitise import SNIPPET_BYTES, TITLE_BYTES, URL_BYTES, clean_text, clean_url, sanitise_hit

# Any Unicode, lone surrogates too, and the stuff of markup more often.
MARKUP = """<b> </b> < > & amp; lt; #x200b; #38; &copy <!-- --> <script é 水 a &#xD800;"""
HIDDEN = ["\u200b", "\u202e", "\U000e0041", "\x00", "\n", "\ud800", "\u2028", "\xa0", " "]
anything = st.text(st.characters(codec=None), max_size=300) | st.lists(
    st.sampled_from([*MARKUP.split(), *HIDDEN]),
    max_size=40,
).map("".join)
limits = st.sampled_from([1, 3, 10, TITLE_BYTES, SNIPPET_BYTES])


@given(anything, limits)
@example("&amp;" * 50 + "lt;b>", 512)
@example("é" * 300, 511)
@example("<<b>b>x", 10)
@example("&l\u200bt;b&gt;", 100)
def test_any_text_becomes_short_visible_text(text: str, limit: int) -> None:
    clean = clean_text(text, limit)
    assert len(clean.encode()) <= limit
    assert not [char for char in clean if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    assert clean == " ".join(clean.split())
    assert clean_text(clean, limit) == clean


@given(anything)
def test_no_tag_and_no_entity_remains(text: str) -> None:
    clean = clean_text(text, SNIPPET_BYTES)
    assert html.unescape(clean) == clean
    assert not re.search(r"<[a-z/!?][^<>]*>", clean, re.IGNORECASE)


@given(st.text(st.characters(codec="utf-8", categories=["L", "N", "Po", "Sc"], exclude_characters="&<>")))
def test_plain_words_stay_as_they_are(text: str) -> None:
    assert clean_text(text, 10**6) == text


@given(anything | anything.map("https://example.org/{}".format) | anything.map("https://{}/".format))
@example("https://example.org/?a=1&copy=2")
@example("https://example.org/" + "é" * 600)
def test_any_url_becomes_a_url_of_the_web_or_nothing(text: str) -> None:
    url = clean_url(text)
    if url is not None:
        assert url.startswith(("http://", "https://"))
        assert url.isascii()
        assert url.isprintable()
        assert not set(url) & set(' "<>')
        assert len(url) <= URL_BYTES
        assert clean_url(url) == url


@given(st.builds(Hit, anything, anything.map("https://a.example/{}".format), anything, anything))
def test_sanitising_twice_is_sanitising_once(hit: Hit) -> None:
    clean = sanitise_hit(hit)
    if clean is not None:
        assert clean.title
        assert clean.site_name
        assert sanitise_hit(clean) == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Exports grew &#x27;fast&#x27; …", "Exports grew 'fast' …"),
        ("a <strong>b</strong>c", "a bc"),
        ("one<br/>two<p>three</p>", "one two three"),
        ("2 < 3 and 4 > 3", "2 < 3 and 4 > 3"),
        ("<script>x</script>", "x"),
        ("&lt;script&gt;x&amp;lt;/script&amp;gt;", "x"),
        ("<!-- hidden -->shown", "shown"),
        ("a\r\n\tb\u2028c\xa0d", "a b c d"),
        ("pay\u202elap\u202c now\u200b\ufeff", "paylap now"),
        ("tag\U000e0041\U000e0042s", "tags"),
        ("soft\u00adhyphen", "softhyphen"),
        ("a \u200b b", "a b"),
        ("R&D at AT&T; &unknown;", "R&D at AT&T; &unknown;"),
        ("", ""),
    ],
)
def test_texts(text: str, clean: str) -> None:
    assert clean_text(text, SNIPPET_BYTES) == clean


def test_a_text_is_cut_at_a_character() -> None:
    assert clean_text("é" * 300, 511) == "é" * 255
    assert clean_text("水" * 5000, SNIPPET_BYTES) == "水" * (SNIPPET_BYTES // 3)
    assert clean_text("ab cd", 3) == "ab"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://example.org", "https://example.org"),
        ("  HTTPS://EXAMPLE.org:443/A?b=c#d ", "https://example.org/A?b=c#d"),
        ("https://exa\u200bmple.org/a\nb", "https://example.org/a%20b"),
        ("https://example.org/?a=1&amp;b=2", "https://example.org/?a=1&b=2"),
        ("https://example.org/?a=1&copy=2", "https://example.org/?a=1&copy=2"),
        ("https://example.org/é水?ü", "https://example.org/%C3%A9%E6%B0%B4?%C3%BC"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ('https://example.org/"><b>', "https://example.org/%22%3E%3Cb%3E"),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
    ],
)
def test_urls(text: str, url: str) -> None:
    assert clean_url(text) == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.org",
        "//example.org/",
        "javascript:alert(1)",
        "data:text/html,x",
        "ftp://example.org/",
        "file:///etc/passwd",
        "java\u200bscript:alert(1)",
        "https://",
        "https://exa mple.org/",
        "https://example.org\\.evil.example/",
        "https://example..org/",
        "https://example.org/" + "x" * URL_BYTES,
        "https://example.org/" + "é" * 400,
        "https://example.org/" + "x" * 100_000,
    ],
)
def test_hits_without_a_url_of_the_web_are_dropped(text: str) -> None:
    assert sanitise_hit(Hit("Title", text, "Snippet")) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://user:password@a.example/",
        "https://user@a.example/",
        "https://:password@a.example/",
        "https://bank.example%40evil.example@a.example/",
        "https://user&#58;password&#64;a.example/",
        "HTTPS://User:Password@A.example:443/x",
    ],
)
def test_hits_whose_url_has_a_name_or_password_are_dropped(url: str) -> None:
    """Such addresses log readers in somewhere, or pose as another host."""
    assert clean_url(url) is None
    assert sanitise_hit(Hit("Title", url, "Snippet")) is None


def test_the_longest_url_is_kept_whole() -> None:
    url = "https://example.org/" + "x" * (URL_BYTES - 20)
    assert clean_url(url) == url
    assert clean_url(url + "x") is None


def test_who_has_no_title_is_called_by_host() -> None:
    hit = sanitise_hit(Hit("\u200b<b></b>", "https://example.org/x", "", site_name=" ", engine="br\u200bave"))
    assert hit
    assert (hit.title, hit.site_name, hit.engine) == ("example.org", "example.org", "brave")


@pytest.mark.parametrize("unit", ["&amp;", "<", "<!--", "<a ", "&#38;", "&", "\u200b", "<b>", "&lt;", " "])
def test_no_text_keeps_it_busy(unit: str) -> None:
    """What would take long in a naive reading ends all the same."""
    assert len(clean_text(unit * 200_000, SNIPPET_BYTES).encode()) <= SNIPPET_BYTES
    clean_url(f"https://example.org/{unit * 700}")
