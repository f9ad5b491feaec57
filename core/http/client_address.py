"""The client's address: the only place that reads `X-Forwarded-For` and `X-Forwarded-Proto`.

Anybody can write these headers. They count only if the connection's peer is in `TRUSTED_PROXIES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
UNKNOWN = "unknown"
"""The address of a peer that has none, such as one on a Unix socket."""
HTTP_SCHEMES = frozenset({"http", "https"})


def client_address(source: HttpRequest | Request | Mapping[str, Any]) -> str:
    """Return the IP address of a request's client, given the request or its ASGI scope.

    That is the peer of the connection. If the peer is a trusted proxy, it is the last address in
    `X-Forwarded-For` that is no trusted proxy: the client wrote everything before it.
    """
    if isinstance(source, HttpRequest | Request):
        peer, forwarded = source.META.get("REMOTE_ADDR"), source.META.get("HTTP_X_FORWARDED_FOR", "")
    else:
        peer, forwarded = (source.get("client") or [None])[0], forwarded_header(source, b"x-forwarded-for")
    if not is_trusted_proxy(peer):
        return _canonical(peer)
    return _last_untrusted(forwarded) or _canonical(peer)


_current: ContextVar[str] = ContextVar("client_address", default="")


def begin_address(address: str) -> None:
    """Remember the address of the client whose request or socket this task handles."""
    _current.set(address)


def current_address() -> str:
    """Return the address of the client that this task or thread serves; "" outside a request."""
    return _current.get()


def client_network(address: str) -> str:
    """Return the network under which an address is counted: an IPv6 client can choose from a whole /64."""
    parsed = _parse_address(address)
    if isinstance(parsed, IPv6Address):
        return str(ip_network((parsed, 64), strict=False))
    return address


def forwarded_scheme(scope: Mapping[str, Any]) -> str | None:
    """Return `http` or `https` if a trusted proxy names the client's scheme, else None."""
    if not is_trusted_proxy((scope.get("client") or [None])[0]):
        return None
    scheme = forwarded_header(scope, b"x-forwarded-proto").rsplit(",", 1)[-1].strip().lower()
    return scheme if scheme in HTTP_SCHEMES else None


def forwarded_header(scope: Mapping[str, Any], name: bytes) -> str:
    """Return a header of an ASGI scope, several of them joined with commas."""
    return ",".join(value.decode("latin-1") for key, value in scope["headers"] if key == name)


def is_trusted_proxy(address: str | None) -> bool:
    """Return whether `TRUSTED_PROXIES` names the address or a network that contains it."""
    parsed = _parse_address(address or "")
    return parsed is not None and any(
        parsed.version == network.version and parsed in network
        for network in _networks(tuple(settings.TRUSTED_PROXIES))
    )


def _last_untrusted(forwarded: str) -> str | None:
    """Return the last address that is no trusted proxy, or the first if all are; None for invalid text."""
    last = None
    for entry in reversed(forwarded.split(",")):
        parsed = _parse_address(_without_port(entry.strip()))
        if parsed is None:
            break
        last = str(parsed)
        if not is_trusted_proxy(last):
            break
    return last


def _without_port(entry: str) -> str:
    """Return the address of `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]` or `[…]:80`."""
    if entry.startswith("["):
        return entry[1:].partition("]")[0]
    return entry.partition(":")[0] if entry.count(":") == 1 else entry


def _canonical(address: str | None) -> str:
    parsed = _parse_address(address or "")
    return str(parsed) if parsed else address or UNKNOWN


@lru_cache(maxsize=1024)
def _parse_address(address: str) -> Address | None:
    """Return the address, as IPv4 if a dual-stack socket writes it as IPv6; None if it is invalid."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed


@lru_cache(maxsize=8)
def _networks(names: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ip_network(name, strict=False) for name in names)
