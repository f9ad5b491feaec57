"""The breaker of a provider, with a clock that stands until it is moved, and shared by processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import psycopg
import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from core.errors import BudgetExceeded
from search.models import Breaker
from search.web import breaker
from search.web.base import Outcome, ProviderFailed
from search.web.breaker import (
    CHALLENGED_SECS,
    FAILURES,
    LONGEST_OPEN_SECS,
    LONGEST_WAIT_SECS,
    PROBE_SECS,
    QUOTA_SECS,
    BreakerOpen,
    ProviderBreaker,
    State,
    states,
)
from tests.testing.actors import Actor, Clock
from tests.testing.live import environment

pytestmark = pytest.mark.django_db(transaction=True)
OUTAGE = ProviderFailed(Outcome.UNAVAILABLE, "It is down.")


class Calls:
    """Calls of one provider, which end as they are told to."""

    def __init__(self, provider: str = "brave") -> None:
        self.clock = Clock()
        self.breaker = ProviderBreaker(provider, clock=self.clock)

    async def fail(self, failure: Exception = OUTAGE, times: int = 1) -> None:
        for _ in range(times):
            with pytest.raises(type(failure)) as raised:
                async with self.breaker.guarding():
                    raise failure
            assert raised.value is failure

    async def succeed(self, times: int = 1) -> None:
        for _ in range(times):
            async with self.breaker.guarding():
                pass

    async def refused(self) -> float | None:
        """Expect the breaker to be open and return for how long."""
        with pytest.raises(BreakerOpen) as raised:
            async with self.breaker.guarding():
                pytest.fail("was let through")
        assert (raised.value.outcome, raised.value.counts) == (Outcome.UNAVAILABLE, False)
        return raised.value.retry_after

    async def open_for(self, secs: float) -> None:
        """Expect it to be open for exactly so long."""
        assert await self.refused() == secs
        self.clock.secs += secs - 0.001
        await self.refused()
        self.clock.secs += 0.001
        assert await self.state() is State.HALF_OPEN

    async def state(self) -> State:
        known = await sync_to_async(states)(self.clock())
        return known.get(self.breaker.name, State.CLOSED)


@pytest.fixture
def calls() -> Calls:
    return Calls()


def failure(outcome: Outcome, retry_after: float | None = None, *, counts: bool = True) -> ProviderFailed:
    return ProviderFailed(outcome, "It failed.", counts=counts, retry_after=retry_after)


# --- Closed ----------------------------------------------------------------------------------------------


async def test_five_failures_in_a_row_open_it(calls: Calls) -> None:
    await calls.fail(times=FAILURES - 1)
    assert await calls.state() is State.CLOSED
    await calls.fail()
    await calls.open_for(10)


async def test_a_success_between_failures_starts_the_count_anew(calls: Calls) -> None:
    await calls.fail(times=FAILURES - 1)
    await calls.succeed()
    assert not await Breaker.objects.aexists()
    await calls.fail(times=FAILURES - 1)
    assert await calls.state() is State.CLOSED


@pytest.mark.parametrize(
    "error",
    [
        failure(Outcome.INVALID_REQUEST, counts=False),
        BudgetExceeded(),
        ValueError("a bug of ours"),
        asyncio.CancelledError(),
    ],
    ids=["bad input", "no money", "a bug", "cancelled"],
)
async def test_what_says_nothing_about_the_provider_does_not_count(calls: Calls, error: Exception) -> None:
    await calls.fail(error, times=FAILURES + 1)
    assert not await Breaker.objects.aexists()


async def test_each_provider_has_its_own(calls: Calls) -> None:
    await calls.fail(times=FAILURES)
    await Calls("tavily").succeed()
    assert await calls.refused() == 10


async def test_what_goes_well_is_read_once_and_writes_nothing(
    calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    async def within(secs: float, function: Callable[..., object], *arguments: object) -> object:
        def watched() -> object:
            with CaptureQueriesContext(connection) as captured:
                result = function(*arguments)
            ran.extend(query["sql"] for query in captured)
            return result

        return await sync_to_async(watched)()

    monkeypatch.setattr(breaker, "in_database_within", within)
    await calls.succeed()
    assert [sql.split()[0] for sql in ran] == ["SELECT"]


# --- Open and half-open ----------------------------------------------------------------------------------


async def test_each_time_it_opens_for_twice_as_long_up_to_a_limit(calls: Calls) -> None:
    await calls.fail(times=FAILURES)
    for secs in (10, 20, 40, 80, 120, LONGEST_OPEN_SECS):
        await calls.open_for(secs)
        await calls.fail()


async def test_two_successes_close_it_and_forget(calls: Calls) -> None:
    await calls.fail(times=FAILURES)
    await calls.open_for(10)
    await calls.succeed()
    assert await calls.state() is State.HALF_OPEN
    await calls.succeed()
    assert not await Breaker.objects.aexists()
    await calls.fail(times=FAILURES)
    await calls.open_for(10)


async def test_a_failure_between_the_two_successes_opens_it_again(calls: Calls) -> None:
    await calls.fail(times=FAILURES)
    await calls.open_for(10)
    await calls.succeed()
    await calls.fail()
    await calls.open_for(20)
    await calls.succeed()
    assert await calls.state() is State.HALF_OPEN


async def test_half_open_lets_one_through_at_a_time(calls: Calls) -> None:
    await calls.fail(times=FAILURES)
    await calls.open_for(10)
    async with calls.breaker.guarding():
        assert await calls.refused() is None
    await calls.succeed()
    assert await calls.state() is State.CLOSED


@pytest.mark.parametrize("error", [failure(Outcome.INVALID_REQUEST, counts=False), asyncio.CancelledError()])
async def test_a_probe_that_says_nothing_makes_room_for_the_next(calls: Calls, error: Exception) -> None:
    await calls.fail(times=FAILURES)
    await calls.open_for(10)
    await calls.fail(error)
    assert await calls.state() is State.HALF_OPEN
    await calls.succeed(times=2)
    assert await calls.state() is State.CLOSED


async def test_a_call_that_began_before_it_opened_neither_closes_nor_prolongs(calls: Calls) -> None:
    begun, ends = asyncio.Semaphore(0), asyncio.Event()

    async def call(error: Exception | None) -> None:
        async with calls.breaker.guarding():
            begun.release()
            await ends.wait()
            if error:
                raise error

    await calls.fail()
    late = [asyncio.create_task(call(error)) for error in (None, OUTAGE)]
    for _ in late:
        await begun.acquire()
    await calls.fail(times=FAILURES - 1)
    ends.set()
    assert await asyncio.gather(*late, return_exceptions=True) == [None, OUTAGE]
    await calls.open_for(10)


async def test_a_probe_whose_process_is_gone_is_replaced(calls: Calls) -> None:
    await calls.fail(times=FAILURES)
    await calls.open_for(10)
    lost = calls.breaker.guarding()
    await lost.__aenter__()
    assert await calls.refused() is None
    calls.clock.secs += PROBE_SECS
    await calls.succeed()
    # It was not gone, only slow: its word no longer counts.
    assert await lost.__aexit__(ProviderFailed, OUTAGE, None) is False
    assert await calls.state() is State.HALF_OPEN


# --- What providers say ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "retry_after", "secs"),
    [
        (Outcome.BOT_CHALLENGE, None, CHALLENGED_SECS),
        (Outcome.QUOTA, None, QUOTA_SECS),
        (Outcome.QUOTA, 60.0, QUOTA_SECS),
        (Outcome.QUOTA, 7200.0, 7200.0),
        (Outcome.QUOTA, 1_419_704.0, LONGEST_WAIT_SECS),
    ],
)
@pytest.mark.parametrize("counts", [True, False])
async def test_what_will_not_pass_soon_opens_it_at_once(
    calls: Calls, outcome: Outcome, retry_after: float | None, secs: float, counts: bool
) -> None:
    await calls.fail(failure(outcome, retry_after, counts=counts))
    await calls.open_for(secs)
    await calls.succeed(times=2)
    assert await calls.state() is State.CLOSED


async def test_a_provider_that_wants_a_pause_gets_it_without_being_broken(calls: Calls) -> None:
    await calls.fail(failure(Outcome.RATE_LIMITED, 3.0))
    assert await calls.refused() == 3.0
    calls.clock.secs += 3
    assert await calls.state() is State.CLOSED
    async with calls.breaker.guarding():
        await calls.succeed()
    assert not await Breaker.objects.aexists()


async def test_of_two_waits_the_longer_counts(calls: Calls) -> None:
    await calls.fail(failure(Outcome.TIMEOUT), times=FAILURES - 1)
    await calls.fail(failure(Outcome.RATE_LIMITED, 45.0))
    await calls.open_for(45)
    await calls.fail(failure(Outcome.RATE_LIMITED, 1.0))
    await calls.open_for(20)


@pytest.mark.parametrize("retry_after", [0.0, -5.0])
async def test_no_wait_is_none(calls: Calls, retry_after: float) -> None:
    await calls.fail(failure(Outcome.RATE_LIMITED, retry_after))
    await calls.succeed()


async def test_a_refused_key_keeps_it_open_until_the_configuration_changes(
    calls: Calls, settings: Settings
) -> None:
    settings.BRAVE_API_KEY = "wrong"
    await calls.fail(failure(Outcome.AUTH, counts=False))
    assert await calls.refused() is None
    calls.clock.secs += 10 * LONGEST_WAIT_SECS
    assert await calls.refused() is None
    settings.TAVILY_API_KEY = "new"
    assert await calls.refused() is None
    settings.BRAVE_API_KEY = "right"
    await calls.succeed(times=2)
    assert not await Breaker.objects.aexists()
    row = Breaker(name="web_search:brave")
    assert "wrong" not in str(vars(row))


async def test_a_second_refused_key_is_as_bad_as_the_first(calls: Calls, settings: Settings) -> None:
    for key in ("wrong", "worse"):
        settings.BRAVE_API_KEY = key
        await calls.fail(failure(Outcome.AUTH, counts=False))
        assert await calls.refused() is None
    row = await Breaker.objects.aget()
    assert "worse" not in str(vars(row))


# --- Several processes -----------------------------------------------------------------------------------


@pytest.fixture
def actors() -> Iterator[list[Actor]]:
    with ExitStack() as stack:
        yield [stack.enter_context(Actor()) for _ in range(2)]


def test_processes_count_together_and_one_alone_probes(actors: list[Actor]) -> None:
    one, other = actors
    assert [one.tell("fail", "brave", "unavailable") for _ in range(3)] == ["failed"] * 3
    assert [other.tell("fail", "brave", "timeout") for _ in range(2)] == ["failed"] * 2
    assert [actor.tell("succeed", "brave") for actor in actors] == ["open", "open"]
    for actor in actors:
        actor.tell("at", 10)
    for actor in actors:
        actor.send("hold", "brave")
    assert sorted(actor.receive() for actor in actors) == ["entered", "open"]
    for actor in actors:
        actor.tell("let_go")
    assert one.tell("succeed", "brave") == "entered"
    assert not Breaker.objects.exists()


def test_a_probe_that_dies_with_its_process_is_taken_over(actors: list[Actor]) -> None:
    one, other = actors
    for _ in range(FAILURES):
        one.tell("fail", "brave", "unavailable")
    for actor in actors:
        actor.tell("at", 10)
    assert one.tell("hold", "brave") == "entered"
    one.kill()
    assert other.tell("succeed", "brave") == "open"
    other.tell("at", 10 + PROBE_SECS)
    assert other.tell("succeed", "brave") == "entered"


# --- A database that fails -------------------------------------------------------------------------------


@pytest.fixture
def broken() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE search_breaker RENAME TO elsewhere")
        yield
        cursor.execute("ALTER TABLE elsewhere RENAME TO search_breaker")


@pytest.mark.usefixtures("broken")
async def test_without_its_table_calls_go_through(calls: Calls) -> None:
    await calls.fail(times=FAILURES + 1)
    await calls.succeed()


async def test_a_database_that_hangs_is_not_waited_for(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaker, "DATABASE_SECS", 0.2)
    with psycopg.connect(environment()["DATABASE_URL"]) as other:
        other.execute("LOCK TABLE search_breaker IN ACCESS EXCLUSIVE MODE")
        await calls.fail()
        await calls.succeed()


async def test_a_table_that_goes_away_under_a_call_hides_no_result(calls: Calls) -> None:
    await calls.fail()

    def rename(old: str, new: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE {old} RENAME TO {new}")

    async with calls.breaker.guarding():
        await sync_to_async(rename)("search_breaker", "elsewhere")
    await calls.fail()
    await sync_to_async(rename)("elsewhere", "search_breaker")
    assert (await Breaker.objects.aget()).failures == 1
