"""Cleans what providers send before anybody reads it, because strangers wrote it (contract §6).

Titles, URLs and snippets are reduced to visible text of limited length. Sanitising twice gives the same
result, so cached and fresh hits are equal.

An HTML parser (nh3 was tried) does not help. Hits are also plain text, of which it drops everything after the
`<` of `i<n`, and entities of entities need several rounds with it, too.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import replace

import httpx2

from search.web.base import Hit
from search.web.domains import place_of

TITLE_BYTES = 512
URL_BYTES = 2048
SNIPPET_BYTES = 4096
# Of what is sent, this much is looked at: markup may make a text longer than what remains of it.
_READ_CHARS = 16 * SNIPPET_BYTES
# Entities of entities are rare by accident; more of them are somebody's play.
_LAYERS = 8

_TAG = re.compile(r"<(?:/?[a-z][^<>]*|[!?][^<>]*)>", re.IGNORECASE)
_WITHIN_WORDS = re.compile(
    r"</?(?:a|abbr|b|cite|code|em|font|i|mark|small|span|strong|sub|sup|u|wbr)\b[^<>]*>", re.IGNORECASE
)
_URL_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-f]{1,6});", re.IGNORECASE)


def sanitise_hit(hit: Hit) -> Hit | None:
    """Return the hit with clean texts, or None if its URL can't be shown."""
    url = clean_url(hit.url)
    if url is None:
        return None
    host, _ = place_of(url)
    return replace(
        hit,
        url=url,
        title=clean_text(hit.title, TITLE_BYTES) or host,
        snippet=clean_text(hit.snippet, SNIPPET_BYTES),
        site_name=clean_text(hit.site_name or "", TITLE_BYTES) or host,
        engine=clean_text(hit.engine, TITLE_BYTES) if hit.engine else None,
    )


def clean_text(text: str, limit: int) -> str:
    """Return HTML or plain text as one line of visible text of at most `limit` bytes of UTF-8."""
    text = text[:_READ_CHARS]
    for _ in range(_LAYERS):
        before, text = text, _visible(_without_tags(html.unescape(text)))
        if text == before:
            break
    else:
        text = _visible(text.translate(_UNMARKED))
    return text.encode()[:limit].decode(errors="ignore").rstrip()


def clean_url(text: str) -> str | None:
    """Return an http(s) URL in its normal form, in ASCII; None for anything else, or if it is too long.

    None also if it holds a name or password: it would log readers in, or pose as another host.
    """
    if len(text) > 2 * URL_BYTES:
        return None
    try:
        # Once more, because the port of HTTPS:// is not known to be its usual one.
        parsed = httpx2.URL(str(httpx2.URL(_without_entities(_visible(text)))))
        url = str(parsed)
        place_of(url)
    except (ValueError, httpx2.InvalidURL):
        return None
    return url if len(url) <= URL_BYTES and not parsed.userinfo else None


_UNMARKED = str.maketrans("&<>", "   ")


def _visible(text: str) -> str:
    """Return the text without control and format characters, its white space folded."""
    if not text.isprintable():
        text = "".join(" " if char.isspace() else char for char in text if not _is_hidden(char))
    return " ".join(text.split())


def _is_hidden(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs") and not char.isspace()


def _without_tags(text: str) -> str:
    return _TAG.sub(" ", _WITHIN_WORDS.sub("", text))


def _without_entities(url: str) -> str:
    """Return the URL without the entities of a page it was copied from.

    Only complete ones: `&copy=1` is a parameter.
    """
    while (shorter := _URL_ENTITY.sub(lambda entity: html.unescape(entity[0]), url)) != url:
        url = shorter
    return url
