"""From the settings to the search engines that may be asked, in the order of `auto`."""

from __future__ import annotations

import logging

from django.utils.module_loading import import_string

from core.errors import ValidationError
from search.web.base import Provider
from search.web.filters import deployment_list

PROVIDERS = {
    "brave": "search.web.providers.brave.Brave",
    "tavily": "search.web.providers.tavily.Tavily",
    "serpapi": "search.web.providers.serpapi.SerpApi",
    "perplexity": "search.web.providers.perplexity.Perplexity",
    "searxng": "search.web.providers.searxng.SearXng",
    "anthropic": "search.web.providers.anthropic.Anthropic",
    "duckduckgo": "search.web.providers.duckduckgo.DuckDuckGo",
}
AUTO = "auto"

logger = logging.getLogger(__name__)


def configured_providers() -> list[Provider]:
    """Return the providers that the settings offer, in the order in which `auto` asks them."""
    return [found for name in PROVIDERS if (found := _configured_provider(name))]


def provider(name: str) -> Provider:
    """Return the provider of this name; raise `ValidationError` if it is unknown or not configured."""
    found = _configured_provider(name) if name in PROVIDERS else None
    if found is None:
        raise ValidationError(f"provider: must be one of {', '.join(offered_names())}.", param="provider")
    return found


def candidates(name: str) -> list[Provider]:
    """Return whom to ask, one after the other: a provider that is named, alone, or for `auto` all."""
    return configured_providers() if name == AUTO else [provider(name)]


def offered_names() -> list[str]:
    """Return the names that a search may give."""
    return [AUTO, *(each.name for each in configured_providers())]


def start() -> str:
    """Check what the settings say; return the line to report. For every process that searches, at its start.

    Raise `ImproperlyConfigured` naming the setting if a domain list can't be read. No provider is asked.
    """
    for name in ("WHITELISTED_DOMAINS", "BLACKLISTED_DOMAINS"):
        deployment_list(name)
    report = f"Searching the web with {', '.join(each.name for each in configured_providers())}."
    logger.info(report)
    return report


def kind_of(name: str) -> type[Provider]:
    """Return the class of a provider that need not be configured; raise `KeyError` if there is none."""
    engine: type[Provider] = import_string(PROVIDERS[name])
    return engine


def _configured_provider(name: str) -> Provider | None:
    return kind_of(name).configured()
