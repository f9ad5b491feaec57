"""Whose word on a client's address counts: a proxy that the operator trusts, nobody else."""

from __future__ import annotations

import pytest
from django.test import RequestFactory
from pytest_django import Settings

from core.http.client_address import client_address, client_network, forwarded_scheme

PROXIES = ["10.0.0.0/8", "2001:db8:1::/48", "192.0.2.7"]


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("198.51.100.1", None, "198.51.100.1"),
        # A peer that is no proxy, the same machine among them, can claim nothing.
        ("198.51.100.1", "203.0.113.5", "198.51.100.1"),
        ("127.0.0.1", "203.0.113.5", "127.0.0.1"),
        # What the client wrote stands before what the proxy has appended.
        ("10.1.2.3", "203.0.113.5", "203.0.113.5"),
        ("10.1.2.3", "1.1.1.1, 203.0.113.5", "203.0.113.5"),
        ("10.1.2.3", "1.1.1.1, 203.0.113.5, 10.9.9.9, 192.0.2.7", "203.0.113.5"),
        ("10.1.2.3", "10.4.4.4, 10.5.5.5", "10.4.4.4"),
        ("10.1.2.3", "", "10.1.2.3"),
        ("10.1.2.3", "203.0.113.5, nonsense", "10.1.2.3"),
        ("10.1.2.3", "203.0.113.5:4711", "203.0.113.5"),
        ("10.1.2.3", "[2001:db8:2::9]:4711", "2001:db8:2::9"),
        ("2001:db8:1::1", "2001:db8:2::9", "2001:db8:2::9"),
        ("::ffff:10.1.2.3", "203.0.113.5", "203.0.113.5"),
        ("::ffff:198.51.100.1", "203.0.113.5", "198.51.100.1"),
        (None, "203.0.113.5", "unknown"),
    ],
)
def test_only_a_trusted_proxy_names_the_client(
    settings: Settings, peer: str | None, forwarded: str | None, address: str
) -> None:
    settings.TRUSTED_PROXIES = PROXIES
    headers = [] if forwarded is None else [(b"x-forwarded-for", forwarded.encode())]
    scope = {"type": "http", "client": (peer, 1234) if peer else None, "headers": headers}
    assert client_address(scope) == address
    request = RequestFactory().get("/", REMOTE_ADDR=peer or "", HTTP_X_FORWARDED_FOR=forwarded or "")
    assert client_address(request) == address
    # Read again from what it has become, it stays the same.
    assert client_address(scope | {"client": (address, 0)}) == address


@pytest.mark.parametrize(
    ("peer", "said", "scheme"),
    [
        ("10.1.2.3", "https", "https"),
        ("10.1.2.3", "http, HTTPS", "https"),
        ("10.1.2.3", "ftp", None),
        ("10.1.2.3", "", None),
        ("127.0.0.1", "https", None),
    ],
)
def test_only_a_trusted_proxy_says_that_the_client_speaks_https(
    settings: Settings, peer: str, said: str, scheme: str | None
) -> None:
    settings.TRUSTED_PROXIES = PROXIES
    scope = {"client": (peer, 1234), "headers": [(b"x-forwarded-proto", said.encode())]}
    assert forwarded_scheme(scope) == scheme


def test_addresses_of_one_ipv6_network_count_together() -> None:
    assert (
        client_network("2001:db8:2:3:4::9") == client_network("2001:db8:2:3:ffff::1") == "2001:db8:2:3::/64"
    )
    assert client_network("203.0.113.5") == "203.0.113.5"
    assert client_network("unknown") == "unknown"
