"""A loop that has subscribed to something closes, whatever its listener does with a cancellation."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from pytest_django import Settings

from core.pubsub import Subscriber

LOST = 3
"""The loop cancels every task, the group of listeners its own once more, and each listener what it awaits."""


@pytest.mark.timeout(20)
@pytest.mark.parametrize("redis_url", ["", "redis://127.0.0.1/0"])
def test_cancellations_that_are_lost_do_not_keep_the_loop_open(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, redis_url: str
) -> None:
    """As `asyncio.wait_for` loses one before Python 3.12, if what it waits for comes at that moment."""
    settings.REDIS_URL = redis_url
    lost: list[str] = []

    async def lose(self: Subscriber, tried: asyncio.Event) -> None:
        self._listening.set()
        tried.set()
        for number in range(LOST):
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            lost.append(f"cancellation {number}")
        await asyncio.Event().wait()

    async def listen(self: Subscriber, tried: asyncio.Event) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(Subscriber, "_listen", listen if redis_url else lose)
    monkeypatch.setattr(Subscriber, "_listen_to_redis", lose)

    async def subscribe() -> None:
        async with Subscriber().subscribe("news"):
            pass

    asyncio.run(subscribe())
    assert len(lost) == LOST
