"""Manners: what `robots.txt` says, and time between two requests to a host."""

from __future__ import annotations

import asyncio
import io
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest

from core.fetch import BlockedUrl, FetchLimits, GuardedNetwork, RobotsDisallowed, UnreachableUrl, fetch
from core.fetch.robots import HOST_GAP_SECS, HOSTS_REMEMBERED, NO_ANSWER_SECS, RULES_SECS, CrawlPolicy
from tests.testing.web import PUBLIC, Names, Routed, Web, reply, serving

LIMITS = FetchLimits(2**20, 20)


@dataclass
class Clock:
    """Time that passes when somebody sleeps."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, secs: float) -> None:
        self.slept.append(secs)


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as web:
        web.page("/page")
        yield web


@pytest.fixture
def clock() -> Clock:
    return Clock()


def network(web: Web) -> GuardedNetwork:
    return GuardedNetwork(allowed={("127.0.0.1", web.port)})


@pytest.fixture
def policy(web: Web, clock: Clock) -> CrawlPolicy:
    return CrawlPolicy(network=network(web), clock=clock, sleep=clock.sleep)


def rules(web: Web, *lines: str) -> None:
    web.page("/robots.txt", "\n".join(lines).encode(), "text/plain")


async def welcome(policy: CrawlPolicy, url: str) -> bool:
    try:
        await policy.check(httpx2.URL(url))
    except RobotsDisallowed as refused:
        assert refused.code == "robots_disallowed"
        return False
    except UnreachableUrl:
        return False
    return True


@pytest.mark.parametrize(
    ("lines", "path", "expected"),
    [
        (["User-agent: *", "Disallow: /"], "/page", False),
        (["User-agent: *", "Disallow:"], "/page", True),
        (["User-agent: *", "Disallow: /private/"], "/private/x", False),
        (["User-agent: *", "Disallow: /private/"], "/page", True),
        (["User-agent: *", "Disallow: /", "Allow: /page"], "/page", True),
        (["User-agent: *", "Disallow: /*.pdf$"], "/a/b.pdf", False),
        (["User-agent: Locus", "Disallow: /", "", "User-agent: *", "Allow: /"], "/page", False),
        (["User-agent: *", "Disallow: /", "", "User-agent: locus", "Allow: /"], "/page", True),
        (["User-agent: SomebodyElse", "Disallow: /"], "/page", True),
        (["<html>Not found</html>"], "/page", True),
        ([], "/page", True),
    ],
)
async def test_rules(web: Web, policy: CrawlPolicy, lines: list[str], path: str, expected: bool) -> None:
    rules(web, *lines)
    assert await welcome(policy, web.url(path)) is expected


def status(code: int) -> Callable[[Any], None]:
    return lambda request: reply(request, code, b"")


@pytest.mark.parametrize(
    ("code", "expected"),
    [(404, True), (401, True), (403, True), (410, True), (429, False), (500, False), (503, False)],
)
async def test_no_rules_are_a_welcome_and_no_answer_is_none(
    web: Web, policy: CrawlPolicy, code: int, expected: bool
) -> None:
    """RFC 9309, 2.3.1."""
    web.pages["/robots.txt"] = status(code)
    assert await welcome(policy, web.url("/page")) is expected


async def test_a_file_of_another_type_holds_no_rules(web: Web, policy: CrawlPolicy) -> None:
    web.page("/robots.txt", b"User-agent: *\nDisallow: /", "image/png")
    assert await welcome(policy, web.url("/page"))


async def test_rules_that_lie_inside_are_not_asked_for(web: Web, clock: Clock) -> None:
    web.redirect("/robots.txt", "http://127.0.0.1/robots.txt")
    names, dialer = Names(site_example=[[PUBLIC]]), Routed(web.port)
    guarded = GuardedNetwork(allowed=set(), resolver=names, dialer=dialer)
    policy = CrawlPolicy(network=guarded, clock=clock, sleep=clock.sleep)
    assert await welcome(policy, "http://site.example/page")
    assert dialer.dialled == [(PUBLIC, 80)]


@pytest.mark.parametrize("url", ["http://127.0.0.1/page", "http://inside.example/page"])
async def test_of_a_host_inside_the_guard_has_the_last_word(web: Web, clock: Clock, url: str) -> None:
    dialer = Routed(web.port)
    guarded = GuardedNetwork(allowed=set(), resolver=Names(inside_example=[["10.0.0.1"]]), dialer=dialer)
    policy = CrawlPolicy(network=guarded, clock=clock, sleep=clock.sleep)
    with pytest.raises(BlockedUrl):
        await fetch(url, io.BytesIO(), limits=LIMITS, network=guarded, admit=policy.check)
    assert dialer.dialled == []


async def test_a_host_that_is_not_there_is_unreachable_rather_than_unwelcoming(clock: Clock) -> None:
    policy = CrawlPolicy(network=GuardedNetwork(resolver=Names()), clock=clock, sleep=clock.sleep)
    with pytest.raises(UnreachableUrl):
        await policy.check(httpx2.URL("http://nowhere.example/"))


async def test_a_host_that_nobody_knows_is_told_from_one_that_tells_no_rules(web: Web, clock: Clock) -> None:
    """Of a name that does not exist it was said that the site does not tell what may be fetched."""

    def unanswered(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    web.pages["/robots.txt"] = lambda request: reply(request, 500, b"")
    untold = f"http://127.0.0.1:{web.port}/page"
    for url, known, words in (
        ("http://secret.nowhere.example/", GuardedNetwork(resolver=Names()), "No host of this name"),
        ("http://secret.nowhere.example/", GuardedNetwork(resolver=unanswered), "could not be looked up"),
        (untold, network(web), "robots.txt could not be read"),
        (
            f"http://127.0.0.1:{web.port + 1}/",
            GuardedNetwork(allowed={("127.0.0.1", web.port + 1)}),
            "reached",
        ),
    ):
        policy = CrawlPolicy(network=known, clock=clock, sleep=clock.sleep)
        for _ in range(2):
            with pytest.raises(UnreachableUrl) as failed:
                await fetch(url, io.BytesIO(), limits=LIMITS, network=known, admit=policy.check)
            assert words in failed.value.message
            assert "secret" not in failed.value.message
            assert "127.0.0.1" not in failed.value.message


async def test_more_rules_than_anybody_reads_forbid_everything(web: Web, policy: CrawlPolicy) -> None:
    rules(web, "User-agent: *", "Disallow: /private", *["# x"] * 200_000)
    assert not await welcome(policy, web.url("/page"))


async def test_a_giants_rules_are_asked_for_each_time(web: Web, policy: CrawlPolicy) -> None:
    rules(web, "User-agent: *", "Disallow: /private", *["# x"] * 20_000)
    assert await welcome(policy, web.url("/page"))
    assert not await welcome(policy, web.url("/private"))
    assert web.paths() == ["/robots.txt"] * 2


async def test_rules_are_asked_for_once_and_again_when_they_are_old(
    web: Web, policy: CrawlPolicy, clock: Clock
) -> None:
    rules(web, "User-agent: *", "Disallow: /private")
    await asyncio.gather(*(welcome(policy, web.url(f"/{number}")) for number in range(5)))
    assert web.paths() == ["/robots.txt"]
    clock.now += RULES_SECS + 1
    rules(web, "User-agent: *", "Disallow: /")
    assert not await welcome(policy, web.url("/page"))
    assert web.paths() == ["/robots.txt"] * 2


async def test_a_server_that_failed_is_asked_again_soon(web: Web, policy: CrawlPolicy, clock: Clock) -> None:
    web.pages["/robots.txt"] = status(503)
    assert not await welcome(policy, web.url("/page"))
    rules(web)
    assert not await welcome(policy, web.url("/page"))
    clock.now += NO_ANSWER_SECS + 1
    assert await welcome(policy, web.url("/page"))


async def test_who_stops_waiting_for_rules_takes_them_from_nobody(web: Web, policy: CrawlPolicy) -> None:
    def slow(request: Any) -> None:
        web.over.wait(0.3)
        reply(request, 200, b"", "text/plain")

    web.pages["/robots.txt"] = slow
    impatient = asyncio.create_task(welcome(policy, web.url("/1")))
    patient = asyncio.create_task(welcome(policy, web.url("/2")))
    while not web.asked:
        await asyncio.sleep(0.01)
    impatient.cancel()
    assert await patient
    assert web.paths() == ["/robots.txt"]


async def test_requests_to_a_host_have_time_between_them(web: Web, policy: CrawlPolicy, clock: Clock) -> None:
    rules(web)
    for path in ("/1", "/2", "/3"):
        assert await welcome(policy, web.url(path))
    assert clock.slept == [HOST_GAP_SECS, 2 * HOST_GAP_SECS]
    clock.now += 60
    assert await welcome(policy, web.url("/4"))
    assert len(clock.slept) == 2


async def test_another_host_does_not_wait(web: Web, clock: Clock) -> None:
    names, dialer = Names(a_example=[[PUBLIC]], b_example=[[PUBLIC]]), Routed(web.port)
    guarded = GuardedNetwork(resolver=names, dialer=dialer)
    policy = CrawlPolicy(network=guarded, clock=clock, sleep=clock.sleep)
    for host in ("a", "b"):
        assert await welcome(policy, f"http://{host}.example/page")
    assert clock.slept == []


async def test_a_host_may_ask_for_more_time_but_not_for_any(
    web: Web, policy: CrawlPolicy, clock: Clock
) -> None:
    rules(web, "User-agent: *", "Crawl-delay: 7")
    assert [await welcome(policy, web.url(f"/{number}")) for number in range(3)] == [True, True, False]
    assert clock.slept == [7.0]


async def test_what_is_remembered_of_hosts_is_bounded(web: Web, clock: Clock) -> None:
    names = Names(**{f"h{number}_example": [[PUBLIC]] for number in range(HOSTS_REMEMBERED + 1)})
    guarded = GuardedNetwork(resolver=names, dialer=Routed(web.port))
    policy = CrawlPolicy(network=guarded, clock=clock, sleep=clock.sleep)
    policy._rules = {f"http://old{number}/robots.txt": None for number in range(HOSTS_REMEMBERED)}
    policy._free_at = {f"old{number}": 0.0 for number in range(HOSTS_REMEMBERED)}
    assert await welcome(policy, "http://h1.example/page")
    assert len(policy._rules) == HOSTS_REMEMBERED
    assert list(policy._free_at) == ["h1.example"]


async def test_a_fetch_asks_before_each_hop(web: Web, policy: CrawlPolicy) -> None:
    rules(web, "User-agent: *", "Disallow: /private")
    web.redirect("/start", "/page")
    web.redirect("/bait", "/private")
    into = io.BytesIO()
    fetched = await fetch(web.url("/start"), into, limits=LIMITS, network=network(web), admit=policy.check)
    assert (fetched.url, into.getvalue()) == (web.url("/page"), b"<p>Hello</p>")
    with pytest.raises(RobotsDisallowed):
        await fetch(web.url("/bait"), into, limits=LIMITS, network=network(web), admit=policy.check)
    assert web.paths() == ["/robots.txt", "/start", "/page", "/bait"]
