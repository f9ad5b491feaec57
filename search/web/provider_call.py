"""One call of one provider: through its breaker, paid for, and counted."""

from __future__ import annotations

from decimal import Decimal

from accounts.ledger.base import Order, Payer
from accounts.ledger.paying import paying
from accounts.models.ledger import Purpose
from core.last_errors import note_error_async
from core.llm.payment import ActualCost
from search.web import metrics
from search.web.base import Outcome, Provider, ProviderFailed, SearchHits, WebQuery
from search.web.breaker import BreakerOpen, ProviderBreaker, name_of
from search.web.prices import cost_of, estimate_of


async def call_provider(provider: Provider, query: WebQuery, payer: Payer) -> SearchHits:
    """Return the provider's hits.

    Raises `ProviderFailed` (`BreakerOpen` if it was not even called), or `BudgetExceeded`.
    """
    order = Order(payer, Purpose.SEARCH, provider.name, estimate_of(provider, query))
    try:
        async with ProviderBreaker(provider.name).guarding(), paying(order) as bill:
            found = await _search_and_bill(provider, query, bill)
    except BreakerOpen:
        metrics.count_call(provider.name, "unavailable")
        raise
    except ProviderFailed as failure:
        metrics.count_call(provider.name, "error")
        await note_error_async(name_of(provider.name), failure)
        raise
    metrics.count_call(provider.name, "ok")
    return found


async def _search_and_bill(provider: Provider, query: WebQuery, bill: ActualCost) -> SearchHits:
    try:
        with metrics.observe_time(provider.name):
            found = await provider.search(query)
    except ProviderFailed as failure:
        # A failing provider bills nothing. After a timeout it is unknown whether it does.
        if failure.outcome is not Outcome.TIMEOUT:
            bill.cost = Decimal(0)
        raise
    bill.cost = cost_of(provider, found)
    return found
