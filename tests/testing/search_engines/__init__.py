"""Loopback servers that stand for web search providers.

    with double("brave") as brave, override_settings(**brave.settings):
        brave.pages = [WebPage("Tea", "https://news.example/tea", "Exports grew.")]
        brave.fail(Failure.RATE_LIMITED)      # the next request; then it answers again

Each speaks the format its provider documents, applies the filters that its provider has, and refuses what its
provider would refuse.
"""

from __future__ import annotations

from django.utils.module_loading import import_string

from tests.testing.search_engines.pages import WebPage
from tests.testing.search_engines.server import Failure, ProviderDouble, Reply

__all__ = ["DOUBLES", "Failure", "ProviderDouble", "Reply", "WebPage", "double"]

DOUBLES = {
    "brave": "BraveDouble",
    "tavily": "TavilyDouble",
    "serpapi": "SerpApiDouble",
    "perplexity": "PerplexityDouble",
    "searxng": "SearXngDouble",
    "anthropic": "AnthropicDouble",
    "duckduckgo": "DuckDuckGoDouble",
}


def double(name: str) -> ProviderDouble:
    """Return the double of a provider; it runs while its `with` block does."""
    made: ProviderDouble = import_string(f"tests.testing.search_engines.{name}.{DOUBLES[name]}")()
    return made
