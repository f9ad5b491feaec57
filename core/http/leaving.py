"""Whether the client of a request has left: noted by the handler of HTTP, and asked by views.

A view in a thread is not told: it goes on, and what it begins has nobody to read it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(slots=True)
class WaitingClient:
    """Who waits for the reply of one request."""

    loop: asyncio.AbstractEventLoop
    has_left: bool = False
    on_leaving: list[Callable[[], object]] = field(default_factory=list)


_client: ContextVar[WaitingClient | None] = ContextVar("client", default=None)


def expect_client() -> None:
    """Begin a request, in its own context: until told otherwise, its client is there."""
    _client.set(WaitingClient(asyncio.get_running_loop()))


def note_leaving() -> None:
    """Note that the client of this context's request has left."""
    if client := _client.get():
        client.has_left = True
        for act in client.on_leaving:
            client.loop.call_soon_threadsafe(act)


def stop_if_client_left() -> None:
    """Raise `CancelledError` in a coroutine whose client left before it began: later it is cancelled."""
    client = _client.get()
    if client and client.has_left:
        raise asyncio.CancelledError


def when_client_leaves(act: Callable[[], object]) -> None:
    """Have something done in the event loop once the client leaves, or now if it has; perhaps twice."""
    if client := _client.get():
        # In this order: the client may leave between the two.
        client.on_leaving.append(act)
        if client.has_left:
            client.loop.call_soon_threadsafe(act)
