"""Crawl policy for fetches that no person asked for: `robots.txt` (RFC 9309), and time between requests.

It applies to pages that a program picks, such as search results. A person names a document's URL, and might
as well open it in a browser. The rules of hosts are kept in this process only, as a cache.
"""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx2
from django.conf import settings
from protego import Protego

from core.fetch.client import FetchLimits, fetch
from core.fetch.errors import BlockedUrl, FetchError, RobotsDisallowed, UnreachableUrl, UnsupportedResponse
from core.fetch.guard import GuardedNetwork

# RFC 9309 requires reading at least 500 KiB; sites with longer rules are not fetched. Rules are kept for less
# than a day.
MAX_RULES_BYTES = 500 * 1024
RULES_SECS = 3600.0
# A server that failed to send its rules is asked again soon.
NO_ANSWER_SECS = 60.0
TIMEOUT_SECS = 5.0
HOST_GAP_SECS = 0.5
LONGEST_WAIT_SECS = 10.0
HOSTS_REMEMBERED = 1000
# Rules take twenty times the memory of their text; larger ones are not cached.
REMEMBERED_RULES_BYTES = 32 * 1024

EVERYBODY = Protego.parse("")
UNTOLD = "The site's robots.txt could not be read. Try again later."


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of an origin, or why they are unknown, and until when this is valid."""

    robots: Protego | FetchError
    until: float


class CrawlPolicy:
    """The check before a request; one per process, safe for many tasks of one event loop."""

    def __init__(
        self,
        *,
        network: GuardedNetwork | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._network, self._clock, self._sleep = network, clock, sleep
        self._rules: dict[str, _Rules] = {}
        self._asking: dict[str, asyncio.Task[_Rules]] = {}
        self._free_at: dict[str, float] = {}

    async def check(self, url: httpx2.URL) -> None:
        """Wait for the host's turn.

        Raises `RobotsDisallowed` if the rules forbid the URL. Raises `UnreachableUrl` if no server answers,
        or if it should send its rules and does not (RFC 9309, 2.3.1).
        """
        robots = await self._robots_of(url)
        if isinstance(robots, FetchError):
            # A new exception, because one that is raised several times collects all tracebacks.
            raise type(robots)(robots.message)
        # Half a megabyte of patterns takes too long for the event loop.
        if not await asyncio.to_thread(robots.can_fetch, str(url), _agent()):
            raise RobotsDisallowed
        delay = robots.crawl_delay(_agent()) or 0.0
        await self._take_turn(url.host, max(HOST_GAP_SECS, delay))

    async def _take_turn(self, host: str, gap: float) -> None:
        now = self._clock()
        turn = max(now, self._free_at.get(host, now))
        if turn - now > LONGEST_WAIT_SECS:
            raise RobotsDisallowed("The site asks programs to wait too long between two pages.")
        if len(self._free_at) >= HOSTS_REMEMBERED:
            self._free_at = {one: at for one, at in self._free_at.items() if at > now}
        self._free_at[host] = turn + gap
        if turn > now:
            await self._sleep(turn - now)

    async def _robots_of(self, url: httpx2.URL) -> Protego | FetchError:
        origin = str(url.copy_with(raw_path=b"/robots.txt", fragment=None))
        known = self._rules.get(origin)
        if known is None or known.until <= self._clock():
            known = await self._asked(origin)
        return known.robots

    async def _asked(self, origin: str) -> _Rules:
        """Request the rules once for all waiting tasks; a cancelled task does not cancel the request for the
        others."""
        task = self._asking.get(origin)
        if task is None or task.get_loop() is not asyncio.get_running_loop():
            task = self._asking[origin] = asyncio.create_task(self._ask(origin))
        return await asyncio.shield(task)

    async def _ask(self, origin: str) -> _Rules:
        try:
            robots, believed_secs = await self._fetched(origin)
        finally:
            self._asking.pop(origin, None)
        if len(self._rules) >= HOSTS_REMEMBERED:
            self._rules.pop(next(iter(self._rules)))
        rules = self._rules[origin] = _Rules(robots, self._clock() + believed_secs)
        return rules

    async def _fetched(self, origin: str) -> tuple[Protego | FetchError, float]:
        """Return the rules or why there are none, and how long this is valid; without the file there are no
        rules."""
        body = io.BytesIO()
        limits = FetchLimits(MAX_RULES_BYTES, TIMEOUT_SECS)
        try:
            await fetch(origin, body, limits=limits, network=self._network)
        except UnsupportedResponse:
            return EVERYBODY, RULES_SECS
        except BlockedUrl:
            # The guard refuses the page itself with a better message.
            return EVERYBODY, 0.0
        except UnreachableUrl as error:
            if error.status is None:
                return error, NO_ANSWER_SECS
            has_none = 400 <= error.status < 500 and error.status != 429
            return (EVERYBODY, RULES_SECS) if has_none else (UnreachableUrl(UNTOLD), NO_ANSWER_SECS)
        except FetchError:
            return UnreachableUrl(UNTOLD), NO_ANSWER_SECS
        text = body.getvalue().decode("utf-8", "replace")
        robots = await asyncio.to_thread(Protego.parse, text)
        return robots, RULES_SECS if len(text) <= REMEMBERED_RULES_BYTES else 0.0


def _agent() -> str:
    """Return our name in rules: the product of `WEB_FETCH_USER_AGENT`, without version and comments."""
    return str(settings.WEB_FETCH_USER_AGENT).split("/")[0].split(" ")[0]
