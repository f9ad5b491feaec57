"""One attempt at one provider: past its breaker, paid for, and counted."""

from __future__ import annotations

from search.web import metrics
from search.web.base import Found, Provider, ProviderFailed, WebQuery
from search.web.breaker import BreakerOpen, ProviderBreaker
from search.web.budget import Order, Payer, cost_of, estimate_of, paying
from search.web.models import Purpose


async def attempt(provider: Provider, query: WebQuery, payer: Payer) -> Found:
    """Return what the provider finds.

    Raise `ProviderFailed` (`BreakerOpen` if it was not even asked), or `BudgetExceeded`.
    """
    order = Order(payer, Purpose.SEARCH, provider.name, estimate_of(provider, query))
    try:
        async with ProviderBreaker(provider.name).guarding(), paying(order) as bill:
            with metrics.timed(provider.name):
                found = await provider.search(query)
            bill.cost = cost_of(provider, found)
    except BreakerOpen:
        metrics.called(provider.name, "unavailable")
        raise
    except ProviderFailed:
        metrics.called(provider.name, "error")
        raise
    metrics.called(provider.name, "ok")
    return found
