"""What does web search add to the search engine's own time? `python -m bench.web [--concurrent 200]`

Starts the real web server on a scratch database; the search engines are doubles on loopback that take a known
time, the pages come from a slow site on ten hosts. Prints what is added to a cached search, to a search and
to an answer, how long ten pages take together, and what becomes of many searches at once while the engines
fail at random: each must end in a result or a typed error, and the ledger must say what the engines bill.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from statistics import median, quantiles
from time import perf_counter
from typing import Any

import httpx
from httpx_sse import aconnect_sse, connect_sse

from bench.upload import server
from tests.testing.scratch import scratch_database

TIMES = 100
PROVIDER_SECS = 0.2
PAGES = 10
PAGE_SECS = 1.0
LONG_PAGE_CHARS = 200_000
FETCH_SECS = 4.0
ENGINE_TIMEOUT_SECS = 5.0
FAILING = 0.3
START_SECS = 120.0
TERMINAL = ("tool_end", "error")
PRICES = {"brave": Decimal("0.005"), "tavily": Decimal("0.008"), "perplexity": Decimal("0.005")}
WORDS = "The harbour lighthouse was built in 1893, and its keepers wrote down wind and water. "
Body = dict[str, Any]
fresh = count()
"""Questions that nobody has asked before."""


# --- What the server stands on ---------------------------------------------------------------------------


@contextmanager
def engines() -> Iterator[dict[str, Any]]:
    """Run doubles of three engines that cost money and one that does not; the server is led to them."""
    from tests.testing.search_engines import WebPage, double

    pages = [WebPage(f"Light {n}", f"https://l{n}.example/", WORDS * 3) for n in range(PAGES)]
    with ExitStack() as stack:
        running = {name: stack.enter_context(double(name)) for name in (*PRICES, "duckduckgo")}
        for each in running.values():
            each.pages = pages
            os.environ |= each.settings
        yield running


class SlowPage(BaseHTTPRequestHandler):
    """Answers after a second, `/never` not at all, `/long` with a book's chapter."""

    def do_GET(self) -> None:
        """Send a page, or for `/robots.txt` that there are no rules."""
        is_page = self.path != "/robots.txt"
        time.sleep(FETCH_SECS * 3 if self.path == "/never" else PAGE_SECS if is_page else 0)
        paragraphs = LONG_PAGE_CHARS // (5 * len(WORDS)) if self.path == "/long" else 8
        body = f"<html><body>{f'<p>{WORDS * 5}</p>' * paragraphs}</body></html>".encode()
        # Who was to wait for ever has left.
        with suppress(ConnectionError):
            self.send_response(200 if is_page else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def site() -> Iterator[list[str]]:
    """Serve pages from ten hosts of loopback, since programs wait between two pages of one host."""
    with ExitStack() as stack:
        addresses = []
        for number in range(PAGES):
            host = stack.enter_context(ThreadingHTTPServer((f"127.0.0.{number + 2}", 0), SlowPage))
            threading.Thread(target=host.serve_forever, daemon=True).start()
            stack.callback(host.shutdown)
            addresses.append(f"127.0.0.{number + 2}:{host.server_port}")
        os.environ["WEB_FETCH_ALLOW"] = ",".join(addresses)
        yield addresses


# --- One after the other ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Took:
    """How long searches took, in milliseconds: for a client, and by the pipeline's own clock."""

    whole: list[float]
    pipeline: list[float]
    stages: dict[str, list[float]]

    def __str__(self) -> str:
        """Return both as percentiles, and the median of each stage."""
        stages = ", ".join(f"{name} {median(each):.0f}" for name, each in self.stages.items())
        return (
            f"{_percentiles(self.whole)} ms for a client, {_percentiles(self.pipeline)} ms in the pipeline "
            f"({stages})"
        )


def searched(http: httpx.Client, bodies: Iterable[Body], engine_secs: float = 0.0) -> Took:
    """Make searches one after the other; return what they took beyond the engine's own time."""
    took = Took([], [], defaultdict(list))
    for body in bodies:
        begun = perf_counter()
        reply = http.post("tools/web_search", json=body)
        took.whole.append(1000 * (perf_counter() - begun - engine_secs))
        reply.raise_for_status()
        trace = http.get(f"executions/{reply.headers['X-Execution-Id']}").json()["trace"]
        timings = {name: 1000 * secs for name, secs in trace["timings"].items()}
        took.pipeline.append(timings.pop("total") - 1000 * engine_secs)
        for name, milliseconds in timings.items():
            took.stages[name].append(milliseconds - (1000 * engine_secs if name == "search" else 0))
    return took


def new_searches(mode: str) -> Iterator[Body]:
    """Return searches that nobody has made before."""
    return ({"query": f"When was light {next(fresh)} built?", "mode": mode} for _ in range(TIMES))


def cached(http: httpx.Client) -> Took:
    """Return what the same search takes, again and again."""
    body = {"query": "the same light", "mode": "results"}
    http.post("tools/web_search", json=body).raise_for_status()
    return searched(http, [body] * TIMES)


def added(http: httpx.Client, brave: Any, mode: str) -> Took:
    """Return what is added to the engine's own time."""
    brave.delay_secs = PROVIDER_SECS
    took = searched(http, new_searches(mode), own_secs(brave))
    brave.delay_secs = 0.0
    return took


def own_secs(brave: Any) -> float:
    """Return how long whoever asks the engine waits for it, in seconds."""
    took, billed = [], list(brave.billed)
    with httpx.Client(headers={"X-Subscription-Token": brave.key}) as http:
        for _ in range(TIMES // 4):
            begun = perf_counter()
            http.get(brave.url + brave.path, params={"q": "light", "text_decorations": "false"})
            took.append(perf_counter() - begun)
    brave.billed = billed
    return median(took)


def scraped(http: httpx.Client, brave: Any, urls: Sequence[str]) -> tuple[int, float]:
    """Return how many pages an answer was written from, and how many seconds it took to fetch them."""
    from tests.testing.search_engines import WebPage

    brave.pages = [WebPage(f"Page {number}", url, WORDS) for number, url in enumerate(urls)]
    body = {"query": f"When was light {next(fresh)} built?", "count": PAGES, "stream": True}
    begun, read, secs = 0.0, 0, 0.0
    with connect_sse(http, "POST", "tools/web_search", json=body) as source:
        for event in source.iter_sse():
            data = event.json()["data"]
            if (data.get("phase"), data.get("status")) == ("SCRAPING_URLS", "started"):
                begun = perf_counter()
            elif data.get("phase") == "SCRAPING_URLS":
                read, secs = data["data"]["scraped_count"], perf_counter() - begun
    return read, secs


# --- All at once -----------------------------------------------------------------------------------------


class Chance:
    """Lets something go wrong with one request in so many; the same in each run."""

    def __init__(self, seed: str) -> None:
        from tests.testing.search_engines import Failure

        self._random, self._lock = random.Random(seed), threading.Lock()  # noqa: S311
        self._mishaps = [
            *(Failure.SERVER_ERROR, Failure.NOT_JSON, Failure.WRONG_SHAPE, Failure.CUT_OFF),
            *(Failure.OVERLOADED, Failure.ERROR_IN_200, Failure.RATE_LIMITED, Failure.SLOW),
        ]

    def __call__(self) -> Any:
        """Return what goes wrong, if anything does."""
        with self._lock:
            return self._random.choice(self._mishaps) if self._random.random() < FAILING else None


async def storm(url: str, key: str, searches: int) -> Counter[str]:
    """Make many searches at once, half of them streamed; return how they ended."""
    headers = {"Authorization": f"Bearer {key}"}
    limits = httpx.Limits(max_connections=searches)
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=START_SECS, limits=limits) as http:
        return Counter(await asyncio.gather(*(_end(http, number) for number in range(searches))))


async def _end(http: httpx.AsyncClient, number: int) -> str:
    body: Body = {
        "query": f"Light {next(fresh)} in a storm",
        "mode": "answer" if number % 4 == 0 else "results",
    }
    if number % 2:
        reply = (await http.post("tools/web_search", json=body)).json()
        return str(reply["error"]["code"]) if "error" in reply else "result"
    async with aconnect_sse(http, "POST", "tools/web_search", json=body | {"stream": True}) as source:
        # A ping comes as an event without data.
        events = [event.json() async for event in source.aiter_sse() if event.data]
    ends = [event for event in events if event["event"] in TERMINAL]
    assert ends == events[-1:], "a stream ends once"
    return "result" if ends[0]["event"] == "tool_end" else str(ends[0]["data"]["code"])


def ledger() -> dict[str, Decimal]:
    """Return what was charged for each engine; `unsettled` what is left over, which must be nothing."""
    from django.db.models import Sum

    from accounts.models.ledger import Charge

    charges = Charge.unscoped.order_by()
    sums = dict(charges.values_list("provider").annotate(Sum("amount")))
    return sums | {"unsettled": Decimal(charges.filter(settled_at=None).count())}


def bills(running: Mapping[str, Any]) -> dict[str, Decimal]:
    """Return what the engines bill."""
    return {name: len(running[name].billed) * price for name, price in PRICES.items()}


# --- All of it -------------------------------------------------------------------------------------------


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--concurrent", type=int, default=200)
    searches = parser.parse_args().concurrent
    os.environ |= {
        "WEB_FETCH_TIMEOUT_SECS": str(FETCH_SECS),
        "WEB_SEARCH_TIMEOUT_SECS": str(ENGINE_TIMEOUT_SECS),
    }
    with engines() as running, site() as addresses, scratch_database():
        key, workspace_id = _admin()
        with server() as (port, process):
            url = f"http://127.0.0.1:{port}/api/v1/"
            headers = {"Authorization": f"Bearer {key}"}
            with httpx.Client(base_url=url, headers=headers, timeout=START_SECS) as http:
                settings = f"workspaces/{workspace_id}/settings"
                http.patch(settings, json={"web_search": {"enabled": True}}).raise_for_status()
                _one_after_the_other(http, running["brave"], addresses, settings)
            for each in running.values():
                each.mishap = Chance(each.name)
            before, begun = process.cpu_times(), perf_counter()
            ends = asyncio.run(storm(url, key, searches))
            secs, after = perf_counter() - begun, process.cpu_times()
        charged, billed = ledger(), bills(running)
    used = after.user + after.system - before.user - before.system
    print(f"{searches} searches at once: {dict(ends)} in {secs:.1f} s, {used:.0f} s of processor time")
    asked = {name: f"{len(each.billed)} of {len(each.requests)}" for name, each in running.items()}
    print(f"Answered by the engines: {asked}")
    exact = {name: charged.get(name, Decimal(0)) - bill for name, bill in billed.items()}
    print(f"Ledger minus bills, in US dollars: {_told(exact)}; {charged['unsettled']} reservations left")


def _one_after_the_other(http: httpx.Client, brave: Any, addresses: Sequence[str], settings: str) -> None:
    # What is loaded once is not what a search takes.
    searched(http, [{"query": "the first light"}])
    print(f"Load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"Cached search: {cached(http)}")
    print(f"Added to a search: {added(http, brave, 'results')}")
    print(f"Added to an answer: {added(http, brave, 'answer')}")
    http.patch(settings, json={"web_search": {"scraping": True}}).raise_for_status()
    for paths, what in (
        (["/page"] * PAGES, "each after 1 s"),
        (["/long"] * PAGES, f"each after 1 s and of {LONG_PAGE_CHARS:,} characters"),
        (["/page"] * (PAGES - 1) + ["/never"], f"one of them never (limit {FETCH_SECS:.0f} s)"),
    ):
        urls = [f"http://{address}{path}" for address, path in zip(addresses, paths, strict=True)]
        read, secs = scraped(http, brave, urls)
        print(f"{PAGES} pages, {what}: {read} read in {secs:.1f} s")
    http.patch(settings, json={"web_search": {"scraping": False}}).raise_for_status()


def _admin() -> tuple[str, str]:
    """Return a key that may change settings, and the workspace of its user."""
    from accounts.access.keys import create_key
    from accounts.models import User, Workspace
    from accounts.roles import KeyScope

    user = User.objects.create_user("bench@example.org")
    key = create_key(user, "bench", scopes=KeyScope.values)[1]
    return key, str(Workspace.objects.get(personal_of=user).pk)


def _percentiles(values: Sequence[float]) -> str:
    parts = quantiles(values, n=20)
    return f"p50 {parts[9]:.1f}, p95 {parts[18]:.1f}"


def _told(amounts: Mapping[str, Decimal]) -> str:
    return ", ".join(f"{name} {amount:+.6f}" for name, amount in amounts.items())


if __name__ == "__main__":
    main()
