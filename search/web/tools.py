"""`web_search` and `web_fetch` as tools."""

from __future__ import annotations

from core.fetch import MAX_URL
from runs.registry import Tool
from search.inputs import MOST_QUERY_CHARS
from search.web import web_fetch
from search.web.events import (
    LimitReached,
    NobodyAnswered,
    PageRefused,
    RerankedResults,
    Sources,
    WebAnswer,
    WebPage,
    WebPhase,
    WebResults,
)
from search.web.inputs import MOST_DOMAINS, WebSearchInput
from search.web.pipeline import web_search
from search.web.preferences import MOST_HITS, are_web_tools_offered, is_enabled
from search.web.prices import prices
from search.web.searching import admit

WEB_SEARCH = Tool(
    "web_search",
    "Searches the web for current information, and answers from the pages found, or lists them.",
    WebSearchInput,
    web_search,
    {"query_chars": MOST_QUERY_CHARS, "count": MOST_HITS, "domains": MOST_DOMAINS},
    results=(WebAnswer, WebResults),
    updates=(WebPhase, RerankedResults, Sources),
    failure_details=(NobodyAnswered, LimitReached),
    admit=admit,
    enabled=is_enabled,
    offered=are_web_tools_offered,
    cost=prices,
)
WEB_FETCH = Tool(
    "web_fetch",
    web_fetch.DESCRIPTION,
    web_fetch.WebFetchInput,
    web_fetch.run,
    {"url_chars": MAX_URL, "max_tokens": web_fetch.MOST_TOKENS},
    results=(WebPage,),
    updates=(WebPhase,),
    failure_details=(PageRefused,),
    admit=web_fetch.admit,
    enabled=is_enabled,
    offered=are_web_tools_offered,
)
