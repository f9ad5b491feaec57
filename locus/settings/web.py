"""Fetching from the web and searching in it."""

import re

from environs import ValidationError, validate

from locus.settings.environment import VERSION, env, provider_key, provider_url


def _refuse_all_but_addresses(entries: list[str]) -> None:
    if bad := [entry for entry in entries if not re.fullmatch(r"(\[[^\]]+\]|[^:\s]+):[0-9]{1,5}", entry)]:
        raise ValidationError(f"“{bad[0]}” is not host:port.")


# Addresses that need not lie in the public web: exact pairs of host and port.
WEB_FETCH_ALLOW: list[str] = env.list("WEB_FETCH_ALLOW", [], validate=_refuse_all_but_addresses)
WEB_FETCH_MAX_BYTES = env.int("WEB_FETCH_MAX_BYTES", 50 * 2**20, validate=validate.Range(min=1))
WEB_FETCH_TIMEOUT_SECS = env.float("WEB_FETCH_TIMEOUT_SECS", 60.0, validate=validate.Range(min=0.1))
WEB_FETCH_USER_AGENT = env.str("WEB_FETCH_USER_AGENT", f"Locus/{VERSION} (fetches what its users name)")


def _refuse_all_but_prices(entries: list[str]) -> None:
    if bad := [entry for entry in entries if not re.fullmatch(r"[a-z]+=[0-9]+(\.[0-9]+)?", entry)]:
        raise ValidationError(f"“{bad[0]}” is not provider=price.")


WEB_TOOLS = env.bool("WEB_TOOLS", True)
# Whether admins may let assistants use tools of other servers, by the Model Context Protocol (ADR 70).
TOOL_SERVERS = env.bool("TOOL_SERVERS", True)
# For one search, however many requests it takes.
WEB_SEARCH_TIMEOUT_SECS = env.float("WEB_SEARCH_TIMEOUT_SECS", 10.0, validate=validate.Range(min=0.1))
WEB_SEARCH_RESULTS = env.int("WEB_SEARCH_RESULTS", 5, validate=validate.Range(min=1, max=20))
# Read by search/web/filters.py.
WHITELISTED_DOMAINS: list[str] = env.list("WHITELISTED_DOMAINS", [])
BLACKLISTED_DOMAINS: list[str] = env.list("BLACKLISTED_DOMAINS", [])

BRAVE_API_KEY = provider_key("BRAVE_API_KEY") or provider_key("BRAVE_SEARCH_API_KEY")
BRAVE_BASE_URL = provider_url("BRAVE_BASE_URL", "https://api.search.brave.com")
TAVILY_API_KEY = provider_key("TAVILY_API_KEY")
TAVILY_BASE_URL = provider_url("TAVILY_BASE_URL", "https://api.tavily.com")
TAVILY_LANGUAGE_FILTER = env.bool("TAVILY_LANGUAGE_FILTER", True)
SERPAPI_KEY = provider_key("SERPAPI_KEY")
SERPAPI_BASE_URL = provider_url("SERPAPI_BASE_URL", "https://serpapi.com")
PERPLEXITY_API_KEY = provider_key("PERPLEXITY_API_KEY")
PERPLEXITY_BASE_URL = provider_url("PERPLEXITY_BASE_URL", "https://api.perplexity.ai")
SEARXNG_URL = provider_url("SEARXNG_URL", "")
SEARXNG_BASE_URL = provider_url("SEARXNG_BASE_URL", SEARXNG_URL)
ANTHROPIC_BASE_URL = provider_url("ANTHROPIC_BASE_URL", "https://api.anthropic.com")
DUCKDUCKGO_BASE_URL = provider_url("DUCKDUCKGO_BASE_URL", "https://html.duckduckgo.com")

# A shared cache reveals to one tenant that another has asked the same.
WEB_CACHE_SHARED = env.bool("WEB_CACHE_SHARED", False)
# US dollars for 1,000 calls, such as brave=3.00, if a provider's price differs from its list price.
WEB_PRICES: list[str] = env.list("WEB_PRICES", [], validate=_refuse_all_but_prices)
