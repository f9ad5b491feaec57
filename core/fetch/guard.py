"""Connections to public addresses only.

A name is resolved once, each of its addresses is checked, and the connection goes to one of those. A name
that resolves differently between check and connection (DNS rebinding) gains nothing. TLS still checks the
name.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterable, Sequence, Set
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TypeAlias

import anyio.to_thread
import httpcore2

from core.fetch.errors import BlockedUrl, UnknownHost, UnreachableUrl
from core.fetch.urls import Address, allowed_addresses

Resolver: TypeAlias = Callable[[str, int], Sequence[str]]

CONNECT_SECS = 10.0
NO_NAME_SERVER = "The name of this host could not be looked up. Check the address, or try again later."
ADDRESSES_TRIED = 4
# `127.1`, `0x7f000001`, `017700000001`, `2130706433`: forms that C libraries accept as IPv4.
NUMBER = re.compile(r"\d++|0x[0-9a-f]*+")
# Endings of names that only a local network knows; errors must not reveal whether they exist.
LOCAL_ENDINGS = frozenset(
    {"localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp", "private"}
)
GLOBAL_UNICAST_6 = ip_network("2000::/3")
# IPv4 addresses written as IPv6: the IPv4 address in the last 32 bits is checked.
CARRYING_IPV4 = [ip_network("::ffff:0:0/96"), ip_network("64:ff9b::/96")]
# Python's `is_global` follows the registries at its release; some of our Python versions lack these.
NEVER_PUBLIC = [
    ip_network(network)
    for network in (
        "192.0.0.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "168.63.129.16/32",  # Azure's metadata, at a public address
        "2001::/23",  # Teredo among others
        "2001:db8::/32",
        "2002::/16",  # 6to4
        "3fff::/20",
    )
]


def is_public(address: str) -> bool:
    """Return whether an IP address (as text) is public, in any notation."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv4Address):
        return ip.is_global and not ip.is_multicast and not _is_in(ip, NEVER_PUBLIC)
    if ip.scope_id is not None:
        return False
    if _is_in(ip, CARRYING_IPV4):
        return is_public(str(IPv4Address(int(ip) & 0xFFFFFFFF)))
    return ip in GLOBAL_UNICAST_6 and ip.is_global and not _is_in(ip, NEVER_PUBLIC)


def _is_in(ip: IPv4Address | IPv6Address, networks: Iterable[object]) -> bool:
    return any(ip in network for network in networks)  # type: ignore[operator]


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a name from the system; raise `OSError` or `UnicodeError` if it has none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """Opens connections for the HTTP client, after checking their addresses.

    `allowed` (default: `WEB_FETCH_ALLOW`) are hosts and ports that need no check. Tests replace `resolver`
    and `dialer`; the dialer gets addresses only.
    """

    def __init__(
        self,
        *,
        allowed: Set[Address] | None = None,
        resolver: Resolver = resolve,
        dialer: httpcore2.AsyncNetworkBackend | None = None,
    ) -> None:
        self.allowed = allowed_addresses() if allowed is None else allowed
        self._resolver = resolver
        self._dialer = dialer or httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address of `host` that answers; raise `BlockedUrl` or `UnreachableUrl`."""
        if (host, port) in self.allowed:
            addresses = await self._addresses(host, port)
        else:
            addresses = await self._public_addresses(host, port)
        for address in addresses[:ADDRESSES_TRIED]:
            try:
                return await self._dialer.connect_tcp(
                    address, port, min(timeout or CONNECT_SECS, CONNECT_SECS), local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        raise UnreachableUrl

    async def sleep(self, seconds: float) -> None:
        """Wait, when the HTTP client asks for it."""
        await anyio.sleep(seconds)

    async def _public_addresses(self, host: str, port: int) -> Sequence[str]:
        if _is_address(host):
            addresses: Sequence[str] = [host]
        elif _is_local_name(host):
            raise BlockedUrl
        else:
            addresses = await self._addresses(host, port)
        # All must be public: a name with a public and a private address is broken, or an attack.
        if not all(is_public(address) for address in addresses):
            raise BlockedUrl
        return addresses

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        if _is_address(host):
            return [host]
        try:
            # A name server that never answers must not outlive the fetch's deadline.
            return await anyio.to_thread.run_sync(self._resolver, host, port, abandon_on_cancel=True)
        except socket.gaierror as error:
            raise UnknownHost(NO_NAME_SERVER if error.errno == socket.EAI_AGAIN else None) from None
        except (OSError, UnicodeError):
            raise UnknownHost from None


def _is_local_name(host: str) -> bool:
    """Return whether only a local network knows the name, or C libraries accept it as an address."""
    _, dot, last = host.rpartition(".")
    is_local = last in LOCAL_ENDINGS or f".{host}".endswith(".home.arpa")
    return not dot or is_local or NUMBER.fullmatch(last) is not None


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
