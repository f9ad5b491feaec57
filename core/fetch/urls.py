"""URLs of the web: parsed strictly, written in one normal form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set
from pathlib import PurePosixPath
from typing import TypeAlias
from urllib.parse import unquote

from django.conf import settings
from httpx2 import URL, InvalidURL

from core.fetch.errors import InvalidUrl

Address: TypeAlias = tuple[str, int]

MAX_URL = 2048
DEFAULT_PORTS = {"http": 80, "https": 443}
PORTS = frozenset(DEFAULT_PORTS.values())
# Letters, digits, hyphens: nothing percent-encoded, which others might decode differently. `:` is for IPv6.
HOST = re.compile(r"(?<![a-z0-9_.-])(?:[a-z0-9_-]++(?:\.[a-z0-9_-]++)*+|[0-9a-f.]*+:[0-9a-f:.]++)")


def web_url(text: str, allowed: Set[Address] | None = None) -> URL:
    """Return the URL in its normal form: no fragment, no default port, host lower-case and in ASCII.

    Raises `InvalidUrl` unless it is an http(s) URL of at most `MAX_URL` characters on port 80 or 443 without
    credentials. `allowed` (default: `WEB_FETCH_ALLOW`) are addresses with any port.
    """
    text = text.strip()
    _refuse_characters(text)
    try:
        url = URL(text)
        host = url.raw_host.decode().removesuffix(".")
        url = url.copy_with(host=host, raw_path=url.raw_path, fragment=None)
    except (InvalidURL, ValueError):
        raise InvalidUrl from None
    _refuse_parts(url, allowed_addresses() if allowed is None else allowed)
    if len(str(url)) > MAX_URL:
        raise InvalidUrl(f"A web address has at most {MAX_URL} characters.")
    return url


def address_of(url: URL) -> Address:
    """Return the host and the port that the URL leads to."""
    return url.raw_host.decode(), DEFAULT_PORTS[url.scheme] if url.port is None else url.port


def name_of_url(url: str) -> str:
    """Return a name to use until the title is known: the last part of the path, else the host."""
    parsed = URL(url)
    return PurePosixPath(unquote(parsed.raw_path.decode().partition("?")[0])).name or parsed.host


def allowed_addresses() -> frozenset[Address]:
    """Return the addresses that `WEB_FETCH_ALLOW` exempts from the guard."""
    pairs = (entry.lower().rpartition(":") for entry in settings.WEB_FETCH_ALLOW)
    return frozenset((host.strip("[]"), int(port)) for host, _, port in pairs)


def _refuse_characters(text: str) -> None:
    if len(text) > MAX_URL:
        raise InvalidUrl(f"A web address has at most {MAX_URL} characters.")
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in text):
        raise InvalidUrl("A web address has no control characters.")


def _refuse_parts(url: URL, allowed: Set[Address]) -> None:
    if url.scheme not in DEFAULT_PORTS or not HOST.fullmatch(url.raw_host.decode()):
        raise InvalidUrl
    if url.userinfo:
        raise InvalidUrl("Leave name and password out of the address: they would be stored and shown.")
    if address_of(url)[1] not in PORTS and address_of(url) not in allowed:
        raise InvalidUrl("Only the ports 80 and 443 are fetched from.")
