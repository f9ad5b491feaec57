"""The agent's tools for the web: the same search and the same guarded fetch as in the API."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from decimal import Decimal
from functools import partial

from pydantic import BaseModel, ConfigDict

from assistants.agent.outcome import AgentTool, CallOutcome, CallSteps, Gathering, rendered
from core.api.validation import validated
from core.llm.base import ChatFunction
from core.threads import in_database
from runs.events import ToolUpdate
from search.contexts import context_of_page
from search.inputs import QueryText
from search.web.events import RankedSource, Sources
from search.web.filters import in_domains
from search.web.function_tools import MODEL_TOOLS
from search.web.inputs import WebSearchInput
from search.web.pipeline import FoundHits, KeptSources, find_hits, keep_sources
from search.web.preferences import enabled_settings
from search.web.presentation import phase, ranked_sources
from search.web.prices import estimate_of
from search.web.providers.registry import candidates
from search.web.web_fetch import DEFAULT_TOKENS, WebFetchInput, web_fetch

SNIPPET_CHARS = 300


class _Search(BaseModel):
    model_config = ConfigDict(extra="ignore")

    query: QueryText


# --- web_search ------------------------------------------------------------------------------------------


async def _search(gathering: Gathering, arguments: object) -> CallSteps:
    asked, book = gathering.asked, gathering.book
    query = validated(_Search, arguments).query
    gathering.guard.check_query(query)
    inputs = asked.web.search(query)
    await asked.payment.require(await in_database(_most_expensive, gathering, inputs))
    async with aclosing(find_hits(asked.principal, inputs, asked.run, gathering.clock)) as steps:
        async for step in steps:
            if isinstance(step, FoundHits):
                hits = step
            else:
                yield step
    async with aclosing(keep_sources(hits, asked.wanted, gathering.clock)) as kept_steps:
        async for each in kept_steps:
            # The pages get the numbers of this run first.
            if isinstance(each, ToolUpdate) and isinstance(each.data, Sources):
                continue
            if isinstance(each, KeptSources):
                kept = each
            else:
                yield each
    sources = book.add_pages(zip(ranked_sources(kept.sources), kept.contexts, strict=True))
    contexts = [book.contexts[source.rank - 1] for source in sources]
    found = hits.searched.found.hits
    gathering.guard.learn_pages(
        [*(context.text for context in contexts), *(f"{hit.title} {hit.snippet}" for hit in found)],
        [*(hit.url for hit in found), *(source.url for source in sources)],
    )
    yield ToolUpdate(data=Sources(sources=sources))
    shown = [
        {"url": source.url, "title": source.title, **view}
        for source, view in zip(sources, rendered(contexts), strict=True)
        if isinstance(view, dict)
    ]
    yield CallOutcome(list(shown), len(shown))


def _most_expensive(gathering: Gathering, inputs: WebSearchInput) -> Decimal:
    """Return the US dollars of the most expensive engine that may be asked."""
    asked = gathering.asked
    settings = enabled_settings(asked.principal, asked.run.workspace_id)
    query = inputs.web_query(settings.default_count)
    engines = candidates(inputs.provider or settings.provider)
    return max((estimate_of(engine, query) for engine in engines), default=Decimal(0))


# --- web_fetch -------------------------------------------------------------------------------------------


async def _fetch(gathering: Gathering, arguments: object) -> CallSteps:
    asked, book = gathering.asked, gathering.book
    inputs = validated(WebFetchInput, arguments)
    gathering.guard.check_address(inputs.url)
    await in_database(enabled_settings, asked.principal, asked.run.workspace_id)
    query = asked.web.search(asked.question.question).web_query()
    budgets = (inputs.max_tokens or DEFAULT_TOKENS, query.max_tokens, query.max_tokens_per_page)
    inputs = inputs.model_copy(update={"max_tokens": min(each for each in budgets if each)})
    yield phase("SCRAPING_URLS", "started", data={"url_count": 1})
    # The deployment's own lists are in the query.
    page = await web_fetch(inputs, partial(in_domains, query))
    gathering.clock.mark("pages")
    yield phase("SCRAPING_URLS", "completed", data={"scraped_count": 1})
    context = await asyncio.to_thread(
        context_of_page, 0, url=page.url, title=page.title, text=page.text, language=None, score=None
    )
    source = RankedSource(
        rank=0, title=page.title, url=page.url, snippet=page.text[:SNIPPET_CHARS], rerank_score=None
    )
    sources = book.add_pages([(source, context)]) if page.text else []
    gathering.guard.learn_pages([page.text, page.title], [page.url])
    yield ToolUpdate(data=Sources(sources=sources))
    shown = rendered([book.contexts[each.rank - 1] for each in sources])
    yield CallOutcome({"url": page.url, "sources": shown}, len(shown))


def _function(name: str) -> ChatFunction:
    tool = MODEL_TOOLS[name]
    return ChatFunction(name, tool.description, tool.input_schema)


TOOLS = [
    AgentTool(_function("web_search"), _search, "query"),
    AgentTool(_function("web_fetch"), _fetch, "url"),
]
