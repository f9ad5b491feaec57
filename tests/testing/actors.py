"""Processes of their own on the test's database, told line by line what to do.

`Actor` is the test's side; `python -m tests.testing.actors` the process. Each line it reads is an action
with its words, each line it writes what came of it, as JSON. Its clock stands until it is set.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from tests.testing.paths import ROOT

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """A clock that stands."""

    def __init__(self) -> None:
        self.secs = 0.0

    def __call__(self) -> datetime:
        return EPOCH + timedelta(seconds=self.secs)


class Actor:
    """A process on the test's database; a context manager that ends it."""

    def __init__(self) -> None:
        from tests.testing.live import environment

        command = [sys.executable, "-m", "tests.testing.actors"]
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Actor:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """End the process at once, as a crash would."""
        self._process.kill()
        self._process.communicate()

    def send(self, *words: object) -> None:
        """Tell the process to do something."""
        assert self._process.stdin is not None
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()

    def receive(self) -> Any:
        """Wait for what came of it."""
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def tell(self, *words: object) -> Any:
        """Do both."""
        self.send(*words)
        return self.receive()


class _Actions:
    """What the process can do."""

    def __init__(self) -> None:
        self._clock = Clock()
        self._held = AsyncExitStack()

    async def at(self, secs: str) -> None:
        self._clock.secs = float(secs)

    async def fail(self, provider: str, outcome: str) -> str:
        from search.web.base import Outcome, ProviderFailed
        from search.web.breaker import BreakerOpen, ProviderBreaker

        try:
            async with ProviderBreaker(provider, clock=self._clock).guarding():
                raise ProviderFailed(Outcome(outcome), "It failed.")
        except BreakerOpen:
            return "open"
        except ProviderFailed:
            return "failed"

    async def succeed(self, provider: str) -> str:
        entered = await self.hold(provider)
        await self.let_go()
        return entered

    async def hold(self, provider: str) -> str:
        """Begin a call and leave it there."""
        from search.web.breaker import BreakerOpen, ProviderBreaker

        try:
            await self._held.enter_async_context(ProviderBreaker(provider, clock=self._clock).guarding())
        except BreakerOpen:
            return "open"
        return "entered"

    async def let_go(self) -> None:
        await self._held.aclose()

    async def reserve(self, workspace: str, amount: str, cap: str, times: str) -> int:
        """Reserve an amount some times at once, leave it there, and tell how often it was granted."""
        from accounts.ledger.base import Order, Payer
        from accounts.ledger.paying import reserve
        from accounts.models.ledger import Purpose
        from core.errors import BudgetExceeded

        order = Order(Payer(UUID(workspace), Decimal(cap)), Purpose.SEARCH, "brave", Decimal(amount))
        outcomes = await asyncio.gather(*(reserve(order) for _ in range(int(times))), return_exceptions=True)
        unforeseen = [one for one in outcomes if isinstance(one, BaseException)]
        assert all(isinstance(one, BudgetExceeded) for one in unforeseen), unforeseen
        return len(outcomes) - len(unforeseen)

    async def look_up(self, key: str) -> str | None:
        from search.web import cache

        found = await cache.look_up(key)
        return found.provider if found else None


async def main() -> None:
    import django

    await asyncio.to_thread(django.setup)
    actions = _Actions()
    while line := await asyncio.to_thread(sys.stdin.readline):
        action, *words = line.split()
        sys.stdout.write(json.dumps(await getattr(actions, action)(*words)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
