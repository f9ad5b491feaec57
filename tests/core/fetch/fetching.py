"""Fetching in tests: with limits, on a network that a test controls."""

from __future__ import annotations

import io
from typing import Any

from core.fetch import Fetched, FetchLimits, GuardedNetwork, fetch
from tests.testing.web import Web

MIB = 2**20
LIMITS = FetchLimits(max_bytes=MIB, timeout_secs=20)


def exempt(web: Web, **more: Any) -> GuardedNetwork:
    """A network on which the server's own address needs no check."""
    return GuardedNetwork(allowed={("127.0.0.1", web.port)}, **more)


async def get(url: str, network: GuardedNetwork, limits: FetchLimits = LIMITS) -> tuple[bytes, Fetched]:
    """Return what stands at a URL, and what is told of it."""
    into = io.BytesIO()
    fetched = await fetch(url, into, limits=limits, network=network)
    return into.getvalue(), fetched
