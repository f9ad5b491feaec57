"""Many searches at once while engines fail at random: each ends, and the ledger is exact."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from decimal import Decimal
from threading import Event, Lock
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings as configured
from django.db.models import Sum
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from accounts.models.ledger import Balance, Charge
from core.threads import in_database
from search.web.inputs import WebSearchInput
from search.web.searching import admit
from tests.conftest import Cast
from tests.search.web.calling import QUERY, ask, change
from tests.testing.search_engines import Failure, ProviderDouble, double

pytestmark = pytest.mark.django_db(transaction=True)

SEARCHES = 200
PRICES = {"brave": Decimal("0.005"), "tavily": Decimal("0.008"), "perplexity": Decimal("0.005")}
MISHAPS = [
    *(Failure.SERVER_ERROR, Failure.NOT_JSON, Failure.WRONG_SHAPE, Failure.CUT_OFF, Failure.OVERLOADED),
    *(Failure.ERROR_IN_200, Failure.RATE_LIMITED),
]


class Chance:
    """Lets something go wrong, with a probability; the same each time, for as many threads as ask."""

    def __init__(self, share: float, seed: str) -> None:
        self._share, self._random, self._lock = share, random.Random(seed), Lock()

    def __call__(self) -> Failure | None:
        with self._lock:
            return self._random.choice(MISHAPS) if self._random.random() < self._share else None


@pytest.fixture
def engines(settings: Settings) -> Iterator[dict[str, ProviderDouble]]:
    """Run three engines that cost money and one that does not, each failing now and then."""
    with ExitStack() as stack:
        running = {name: stack.enter_context(double(name)) for name in (*PRICES, "duckduckgo")}
        for each in running.values():
            each.mishap = Chance(0.4, each.name)
            for name, value in each.settings.items():
                setattr(settings, name, value)
        settings.WEB_SEARCH_TIMEOUT_SECS = 60.0
        yield running


@sync_to_async
def charged() -> dict[str, Decimal]:
    """Return what was charged for each provider; nothing is left reserved, and the balances are the sum."""
    assert not Charge.unscoped.filter(settled_at=None).exists()
    sums = Charge.unscoped.values_list("provider").annotate(cost=Sum("amount"))
    charged: dict[str, Decimal] = dict(sums)
    assert {balance.total for balance in Balance.unscoped.all()} == {sum(charged.values())}
    return charged


def outcome(reply: Any) -> str:
    """Return which provider answered, or the code of the error."""
    body = reply.json()
    if reply.status_code == 200:
        return str(body["provider"])
    assert reply.status_code in (502, 504)
    return str(body["error"]["code"])


@pytest.mark.parametrize("count", [50, pytest.param(SEARCHES, marks=pytest.mark.slow("storms"))])
async def test_the_ledger_is_exact_whatever_fails(
    people: Cast, engines: dict[str, ProviderDouble], count: int
) -> None:
    searches = (ask(people, query=f"Lighthouse {n}?", mode="results") for n in range(count))
    outcomes = Counter(map(outcome, await asyncio.gather(*searches)))
    assert sum(outcomes.values()) == count
    billed = {name: len(engines[name].billed) for name in PRICES}
    assert {name: outcomes[name] for name in PRICES} == billed
    assert len([name for name in PRICES if billed[name]]) > 1
    assert await charged() == {name: count * PRICES[name] for name, count in billed.items() if count}


@pytest.mark.slow("storms")
async def test_a_limit_holds_among_failures(people: Cast, engines: dict[str, ProviderDouble]) -> None:
    await change(people, max_cost=0.1, provider="tavily")
    searches = (ask(people, query=f"Lighthouse {n}?", mode="results") for n in range(SEARCHES))
    replies = await asyncio.gather(*searches)
    codes = Counter(reply.status_code for reply in replies)
    assert set(codes) <= {200, 402, 502}
    assert codes[200] == len(engines["tavily"].billed)
    total = sum((await charged()).values())
    assert total == codes[200] * PRICES["tavily"] <= Decimal("0.1")


async def test_a_crowd_is_let_in_without_waiting_for_itself(
    people: Cast, engines: dict[str, ProviderDouble]
) -> None:
    """Each view holds a connection: none may wait for a thread that wants another."""
    engines["brave"].mishap = lambda: None
    await change(people, max_cost=0.005, provider="brave")
    assert (await ask(people, mode="results")).status_code == 200
    over = Event()
    busy = [asyncio.create_task(in_database(over.wait, 60)) for _ in range(configured.DATABASE_POOL_SIZE)]
    principal = await sync_to_async(principal_of_user)(people.alice)
    inputs = WebSearchInput(query=QUERY)
    try:
        # It is found though no thread is free, and so there is no budget to exceed.
        await sync_to_async(admit)(principal, inputs, people.team.pk)
    finally:
        over.set()
        await asyncio.gather(*busy)
