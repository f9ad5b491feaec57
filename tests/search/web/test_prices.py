"""What searches cost, and what those that fail do."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar, Self

import pytest
from asgiref.sync import sync_to_async
from pytest_django import Settings

from accounts.ledger.base import Payer
from accounts.models.ledger import Charge
from search.web.base import Outcome, Provider, ProviderFailed, SearchHits, WebQuery
from search.web.prices import cost_of, estimate_of, price_of
from search.web.provider_call import call_provider
from tests.conftest import make_cast


class Priced(Provider):
    """A provider that asks for pages and for tokens, and fails if it is told to."""

    name: ClassVar[str] = "brave"
    label: ClassVar[str] = "Brave"
    price: ClassVar[Decimal] = Decimal("0.005")
    likely_extra: ClassVar[Decimal] = Decimal("0.02")

    def __init__(self, fails: Outcome | None = None) -> None:
        self._fails = fails

    @classmethod
    def configured(cls) -> Self | None:
        return cls()

    def most_calls(self, query: WebQuery) -> int:
        return 2

    async def search(self, query: WebQuery) -> SearchHits:
        if self._fails:
            raise ProviderFailed(self._fails, "It failed.")
        return SearchHits((), calls=1, extra_cost=Decimal("0.001"))


def test_a_search_costs_its_calls_and_what_comes_on_top(settings: Settings) -> None:
    provider = Priced()
    found = SearchHits((), calls=1, extra_cost=Decimal("0.001"))
    assert (price_of(Priced), estimate_of(provider, WebQuery("x", 20))) == (
        Decimal("0.005"),
        Decimal("0.03"),
    )
    assert cost_of(provider, found) == Decimal("0.006")
    settings.WEB_PRICES = ["tavily=16.00", "brave=3.00"]
    assert (price_of(provider), cost_of(provider, found)) == (Decimal("0.003"), Decimal("0.004"))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("fails", "spent"),
    [
        (None, ["0.006"]),
        (Outcome.UNAVAILABLE, []),
        (Outcome.AUTH, []),
        (Outcome.BAD_RESPONSE, []),
        # Nobody knows: the estimate counts.
        (Outcome.TIMEOUT, ["0.03"]),
    ],
)
async def test_what_fails_costs_nothing_unless_nobody_knows(fails: Outcome | None, spent: list[str]) -> None:
    team = (await sync_to_async(make_cast)()).team
    try:
        await call_provider(Priced(fails), WebQuery("x", 20), Payer(team.pk))
    except ProviderFailed as failure:
        assert failure.outcome is fails
    charges = await sync_to_async(lambda: list(Charge.unscoped.values_list("amount", flat=True)))()
    assert charges == [Decimal(amount) for amount in spent]
