"""One attempt at one provider: past its breaker, paid for, and counted."""

from __future__ import annotations

from decimal import Decimal

from accounts.ledger.base import Order, Payer
from accounts.ledger.paying import ActualCost, paying
from accounts.models.ledger import Purpose
from search.web import metrics
from search.web.base import Outcome, Provider, ProviderFailed, SearchHits, WebQuery
from search.web.breaker import BreakerOpen, ProviderBreaker
from search.web.prices import cost_of, estimate_of


async def attempt(provider: Provider, query: WebQuery, payer: Payer) -> SearchHits:
    """Return what the provider finds.

    Raise `ProviderFailed` (`BreakerOpen` if it was not even asked), or `BudgetExceeded`.
    """
    order = Order(payer, Purpose.SEARCH, provider.name, estimate_of(provider, query))
    try:
        async with ProviderBreaker(provider.name).guarding(), paying(order) as bill:
            found = await _billed(provider, query, bill)
    except BreakerOpen:
        metrics.called(provider.name, "unavailable")
        raise
    except ProviderFailed:
        metrics.called(provider.name, "error")
        raise
    metrics.called(provider.name, "ok")
    return found


async def _billed(provider: Provider, query: WebQuery, bill: ActualCost) -> SearchHits:
    try:
        with metrics.timed(provider.name):
            found = await provider.search(query)
    except ProviderFailed as failure:
        # A provider that fails bills nothing. Whether it does for what came too late, nobody knows.
        if failure.outcome is not Outcome.TIMEOUT:
            bill.cost = Decimal(0)
        raise
    bill.cost = cost_of(provider, found)
    return found
