"""A loop that has subscribed to something closes, whatever its listener does with a cancellation."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from core.pubsub import Subscriber


@pytest.mark.timeout(20)
def test_a_cancellation_that_is_lost_does_not_keep_the_loop_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `asyncio.wait_for` loses one before Python 3.12, if what it waits for comes at that moment."""
    lost: list[str] = []

    async def listen(self: Subscriber, tried: asyncio.Event) -> None:
        self._listening.set()
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        lost.append("one")
        await asyncio.Event().wait()

    monkeypatch.setattr(Subscriber, "_listen", listen)

    async def subscribe() -> None:
        async with Subscriber().subscribe("news"):
            pass

    asyncio.run(subscribe())
    assert lost == ["one"]
