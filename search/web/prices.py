"""What searches cost, in US dollars: by `WEB_PRICES`, or else as the providers' price lists say."""

from __future__ import annotations

from decimal import Decimal

from django.conf import settings

from search.web.base import Provider, SearchHits, WebQuery
from search.web.providers.registry import configured_providers


def price_of(provider: Provider | type[Provider]) -> Decimal:
    """Return the US dollars for one call: by `WEB_PRICES`, or else as the provider's price list says."""
    prices = dict(entry.split("=") for entry in settings.WEB_PRICES)
    own = prices.get(provider.name)
    return provider.price if own is None else Decimal(own) / 1000


def prices() -> dict[str, float]:
    """Return the US dollars for a call of each provider that is configured."""
    return {provider.name: float(price_of(provider)) for provider in configured_providers()}


def estimate_of(provider: Provider, query: WebQuery) -> Decimal:
    """Return what a search may cost, in US dollars."""
    return price_of(provider) * provider.most_calls(query) + provider.likely_extra


def cost_of(provider: Provider, found: SearchHits) -> Decimal:
    """Return what a search has cost, in US dollars."""
    return price_of(provider) * found.calls + found.extra_cost
