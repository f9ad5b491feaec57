"""`web_search`: a question to the web becomes hits, or a streamed, cited answer.

    search ─ fetch pages, if wanted ─ rerank ─ answer, marker by marker ─ resolve the citations

One async generator of typed events; every transport is a frame around it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import asdict

from accounts.ledger.base import Payer
from accounts.ledger.spending import cost_of_execution
from accounts.principal import Principal
from core.threads import in_database
from runs.context import Run
from runs.events import ToolEnd, ToolUpdate, Trace, Usage, Yielded
from search.answering import CitedAnswer, answer_from
from search.contexts import PageContext, context_of_page
from search.generation.base import Corpus
from search.preferences import rag_settings
from search.rerank.registry import NONE, reranker
from search.timing import StageTimer
from search.web.events import RerankedResults, SearchCompleted, Sources, WebAnswer, WebPhase, WebResults
from search.web.inputs import WebSearchInput
from search.web.preferences import enabled_settings
from search.web.presentation import phase, ranked_sources, steps_of, web_result, web_sources
from search.web.searching import SearchOutcome, SearchRequest, search
from search.web.sources import (
    EXPANDED,
    SCRAPED,
    PageSource,
    SelectedSource,
    excerpts,
    reranked,
    with_pages,
    within_budget,
)


async def web_search(principal: Principal, inputs: WebSearchInput, run: Run) -> AsyncIterator[Yielded]:
    """Yield the events of one search: its phases, sources and text, how it came about, its result."""
    yield ToolUpdate(
        data=WebPhase(execution_id=run.execution_id, phase="WEB_SEARCH", status="started", query=inputs.query)
    )
    clock = StageTimer()
    request, pages = await in_database(_request, principal, inputs, run)
    searched = await search(request)
    clock.mark("search")
    hits = searched.found.hits
    found = SearchCompleted(results_count=len(hits), sources=web_sources(searched))
    yield phase("WEB_SEARCH", "completed", data=found, output_key="sources")
    if inputs.mode == "results":
        rest = _results(inputs, run, request, searched, pages, clock)
    else:
        rest = _answer(principal, inputs, run, request, searched, pages, clock)
    async with aclosing(rest) as events:
        async for event in events:
            yield event


def _request(principal: Principal, inputs: WebSearchInput, run: Run) -> tuple[SearchRequest, int]:
    """Return what is searched for, and how many pages to fetch; raise what keeps the search from starting."""
    web = enabled_settings(principal, run.workspace_id)
    payer = Payer(run.workspace_id, web.max_cost, run.execution_id)
    expand = web.expand_default if inputs.expand is None else inputs.expand
    scrape = web.scraping and inputs.mode == "answer"
    request = SearchRequest.of(principal, inputs, web, payer)
    return request, SCRAPED if scrape else EXPANDED if expand else 0


async def _cost(run: Run) -> float:
    """Return what the search and the models have cost, in US dollars."""
    return float(await in_database(cost_of_execution, run.execution_id))


async def _results(
    inputs: WebSearchInput,
    run: Run,
    request: SearchRequest,
    searched: SearchOutcome,
    pages: int,
    clock: StageTimer,
) -> AsyncGenerator[Yielded, None]:
    """Finish a search of mode `results`."""
    query = request.query
    sources = await with_pages(list(map(PageSource, searched.found.hits)), pages, query)
    clock.mark("pages")
    shown = await asyncio.to_thread(excerpts, sources, query)
    cost = 0.0 if searched.from_cache else await _cost(run)
    yield Trace(usage=Usage(), cost=cost, timings=clock.timings, steps=steps_of(searched))
    yield ToolEnd(
        data=WebResults(
            query=inputs.query,
            provider=searched.provider,
            providers=dict(searched.outcomes),
            from_cache=searched.from_cache,
            results=list(map(web_result, sources, shown)),
            ignored_filters=inputs.given_names(searched.found.ignored_filters),
            execution_id=run.execution_id,
        )
    )


async def _answer(
    principal: Principal,
    inputs: WebSearchInput,
    run: Run,
    request: SearchRequest,
    searched: SearchOutcome,
    pages: int,
    clock: StageTimer,
) -> AsyncGenerator[Yielded, None]:
    """Finish a search of mode `answer`: fetch pages if wanted, rerank, write from the best, cite."""
    wanted = await in_database(rag_settings, principal, run.workspace_id)
    query, sources = request.query, list(map(PageSource, searched.found.hits))
    if pages:
        yield phase("SCRAPING_URLS", "started", data={"url_count": min(pages, len(sources))})
        read = await with_pages(sources, pages, query)
        # Where it is known that the lists forbid a page, what an engine says of it is not read either.
        sources = [source for source in read if not source.is_denied]
        clock.mark("pages")
        scraped = sum(source.page is not None for source in sources)
        yield phase("SCRAPING_URLS", "completed", data={"scraped_count": scraped})

    yield phase("RERANKING", "started")
    chosen = await asyncio.to_thread(reranker, wanted.reranker)
    ranked = await asyncio.to_thread(reranked, query.text, sources, chosen, query, request.payer)
    kept = await asyncio.to_thread(within_budget, ranked[: wanted.contexts], query)
    clock.mark("reranking")
    count = sum(source.score is not None for source in ranked)
    yield phase("RERANKING", "completed", data={"reranked_count": count})
    yield ToolUpdate(data=RerankedResults(reranked_results=len(kept)))
    yield ToolUpdate(data=Sources(sources=ranked_sources(kept)))

    yield phase("GENERATION", "started")
    contexts = await asyncio.to_thread(_contexts, kept, query.language)
    writing = answer_from(
        contexts,
        inputs.query,
        principal=principal,
        run=run,
        wanted=wanted,
        clock=clock,
        corpus=Corpus.WEB,
    )
    async with aclosing(writing) as parts:
        async for part in parts:
            if isinstance(part, CitedAnswer):
                answer = part
            else:
                yield part
    yield phase("GENERATION", "completed")
    steps = steps_of(searched) | {"citations": [asdict(verdict) for verdict in answer.resolved.verdicts]}
    cost = None if answer.cost is None else await _cost(run)
    yield Trace(usage=answer.usage, cost=cost, timings=clock.timings, steps=steps)
    reranked_by = chosen.name if chosen else NONE
    yield ToolEnd(data=_web_answer(inputs, run, searched, kept, reranked_by, answer, clock.timings))


def _contexts(kept: Sequence[SelectedSource], language: str | None) -> list[PageContext]:
    return [
        context_of_page(
            rank, url=source.url, title=source.title, text=text, language=language, score=source.score
        )
        for rank, (source, text) in enumerate(kept, start=1)
    ]


def _web_answer(
    inputs: WebSearchInput,
    run: Run,
    searched: SearchOutcome,
    kept: Sequence[SelectedSource],
    reranked_by: str,
    answer: CitedAnswer,
    timings: dict[str, float],
) -> WebAnswer:
    found, resolved = searched.found, answer.resolved
    return WebAnswer(
        query=inputs.query,
        response=resolved.response,
        sources=ranked_sources(kept, resolved),
        sources_used=resolved.sources_used,
        model=answer.model,
        reranker=reranked_by,
        total_results=len(found.hits),
        reranked_results=len(kept),
        execution_id=run.execution_id,
        provider=searched.provider,
        providers=dict(searched.outcomes),
        from_cache=searched.from_cache,
        ignored_filters=inputs.given_names(found.ignored_filters),
        answered=bool(resolved.quotes),
        citations_removed=resolved.removed,
        usage=answer.usage,
        timings=timings,
    )
