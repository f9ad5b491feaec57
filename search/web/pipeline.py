"""`web_search`: a question to the web becomes hits, or a streamed, cited answer.

    search ─ fetch pages, if wanted ─ rerank ─ answer, marker by marker ─ resolve the citations

One async generator of typed events; every transport is a frame around it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from html import escape
from typing import Literal

from pydantic import JsonValue

from accounts.principal import Principal
from kb.ledger.base import Payer
from kb.ledger.spending import cost_of_execution
from kb.threads import in_database
from search.answer.base import Asked, Context, Corpus, Spent
from search.answer.extractive import nothing_found
from search.answer.registry import answerer
from search.answering import Pieces, Written, embed, paid_answer
from search.citations.resolve import Resolved, resolve
from search.events import (
    PhaseName,
    RankedSource,
    RerankedResults,
    SearchCompleted,
    Sources,
    ToolEnd,
    ToolUpdate,
    Trace,
    Usage,
    WebAnswer,
    WebPhase,
    WebResult,
    WebResults,
    WebSource,
    Yielded,
)
from search.preferences import RagSettings, rag_settings
from search.rerank.registry import NONE, reranker
from search.run import Run
from search.timing import Clock
from search.web.base import Hit
from search.web.inputs import WebSearchInput
from search.web.preferences import enabled_settings
from search.web.searching import Searched, Wanted, search
from search.web.sources import (
    EXPANDED,
    SCRAPED,
    Kept,
    Source,
    as_context,
    reranked,
    with_pages,
    within_budget,
)


async def web_search(principal: Principal, inputs: WebSearchInput, run: Run) -> AsyncIterator[Yielded]:
    """Yield the events of one search: its phases, sources and text, how it came about, its result."""
    yield ToolUpdate(
        data=WebPhase(execution_id=run.execution_id, phase="WEB_SEARCH", status="started", query=inputs.query)
    )
    clock = Clock()
    making = await in_database(_Making.of, principal, inputs, run)
    searched = await search(making.wanted)
    clock.lap("search")
    hits = searched.found.hits
    found = SearchCompleted(results_count=len(hits), sources=_web_sources(searched))
    yield _phase("WEB_SEARCH", "completed", data=found, output_key="sources")
    finish = _results if inputs.mode == "results" else _answer
    async with aclosing(finish(making, searched, clock)) as events:
        async for event in events:
            yield event


@dataclass(frozen=True, slots=True)
class _Making:
    """What counts for one search: what was asked, how the web is searched, and how answers are written."""

    principal: Principal
    inputs: WebSearchInput
    run: Run
    wanted: Wanted
    fetched: int
    """How many pages to fetch."""

    @classmethod
    def of(cls, principal: Principal, inputs: WebSearchInput, run: Run) -> _Making:
        """Read the settings; raise what keeps the search from being made."""
        web = enabled_settings(principal, run.workspace_id)
        payer = Payer(run.workspace_id, web.max_cost, run.execution_id)
        expand = web.expand_default if inputs.expand is None else inputs.expand
        scrape = web.scraping and inputs.mode == "answer"
        return cls(
            principal,
            inputs,
            run,
            Wanted.of(principal, inputs, web, payer),
            SCRAPED if scrape else EXPANDED if expand else 0,
        )


# --- Mode `results` ----------------------------------------------------------------------------------------


async def _results(making: _Making, searched: Searched, clock: Clock) -> AsyncGenerator[Yielded, None]:
    sources = await with_pages(list(map(Source, searched.found.hits)), making.fetched, making.wanted.query)
    clock.lap("pages")
    fetched = [source for source in sources if source.page]
    bodies = dict(within_budget(fetched, making.wanted.query))
    cost = 0.0 if searched.from_cache else await _cost(making)
    yield Trace(usage=Usage(), cost=cost, timings=clock.laps, steps=_steps(searched))
    yield ToolEnd(
        data=WebResults(
            query=making.inputs.query,
            provider=searched.provider,
            providers=dict(searched.outcomes),
            from_cache=searched.from_cache,
            results=[_web_result(source.hit, bodies.get(source)) for source in sources],
            ignored_filters=making.inputs.given_names(searched.found.ignored_filters),
            execution_id=making.run.execution_id,
        )
    )


# --- Mode `answer` -----------------------------------------------------------------------------------------


async def _answer(making: _Making, searched: Searched, clock: Clock) -> AsyncGenerator[Yielded, None]:
    rag = await in_database(rag_settings, making.principal, making.run.workspace_id)
    query, hits = making.wanted.query, searched.found.hits
    sources = list(map(Source, hits))
    if making.fetched:
        yield _phase("SCRAPING_URLS", "started", data={"url_count": min(making.fetched, len(sources))})
        sources = await with_pages(sources, making.fetched, query)
        clock.lap("pages")
        scraped = sum(source.page is not None for source in sources)
        yield _phase("SCRAPING_URLS", "completed", data={"scraped_count": scraped})

    yield _phase("RERANKING", "started")
    chosen = await asyncio.to_thread(reranker, rag.reranker)
    ranked = await asyncio.to_thread(reranked, query.text, sources, chosen, query)
    kept = await asyncio.to_thread(within_budget, ranked[: rag.contexts], query)
    clock.lap("reranking")
    count = sum(source.score is not None for source in ranked)
    yield _phase("RERANKING", "completed", data={"reranked_count": count})
    yield ToolUpdate(data=RerankedResults(reranked_results=len(kept)))
    yield ToolUpdate(data=Sources(sources=_ranked_sources(kept)))

    yield _phase("GENERATION", "started")
    contexts = [as_context(rank, *each, query.language) for rank, each in enumerate(kept, start=1)]
    written = Written()
    async with aclosing(written.partials(_pieces(making, rag, contexts))) as partials:
        async for partial in partials:
            yield partial
    clock.lap("generation")
    resolved = await asyncio.to_thread(_resolved, making, contexts, written, kept)
    clock.lap("verification")
    yield _phase("GENERATION", "completed")
    steps = _steps(searched) | {"citations": [asdict(verdict) for verdict in resolved.verdicts]}
    cost = None if written.cost is None else await _cost(making)
    yield Trace(usage=written.usage, cost=cost, timings=clock.laps, steps=steps)
    yield ToolEnd(
        data=WebAnswer(
            query=making.inputs.query,
            response=resolved.response,
            sources=_ranked_sources(kept, resolved),
            sources_used=resolved.sources_used,
            model=written.spent.model,
            reranker=chosen.name if chosen else NONE,
            total_results=len(hits),
            reranked_results=len(kept),
            execution_id=making.run.execution_id,
            provider=searched.provider,
            providers=dict(searched.outcomes),
            from_cache=searched.from_cache,
            ignored_filters=making.inputs.given_names(searched.found.ignored_filters),
            answered=bool(resolved.quotes),
            citations_removed=resolved.removed,
            usage=written.usage,
            timings=clock.laps,
        )
    )


async def _pieces(making: _Making, rag: RagSettings, contexts: Sequence[Context]) -> Pieces:
    """Ask the answerer, unless there is nothing it could answer from."""
    chosen = answerer(rag.generation_model)
    asked = Asked(making.inputs.query, contexts, rag.reflection, corpus=Corpus.WEB)
    if not contexts:
        yield nothing_found(asked)
        yield Spent(chosen.name)
        return
    async with aclosing(paid_answer(making.run, chosen, asked)) as pieces:
        async for piece in pieces:
            yield piece


def _resolved(
    making: _Making, contexts: Sequence[Context], written: Written, kept: Sequence[Kept]
) -> Resolved:
    def cite(context: Context) -> str:
        """Return how a response cites a page (contract §6)."""
        hit = kept[context.rank - 1][0].hit
        url, title = escape(hit.url), escape(hit.title)
        return f'<web_citation url="{url}" title="{title}">[{context.rank}]</web_citation>'

    shown = [context for context in contexts if written.was_shown(context.rank)]
    return resolve(written.raw, shown, making.inputs.query, embed, cite)


# --- What is told ------------------------------------------------------------------------------------------


def _phase(
    name: PhaseName,
    status: Literal["started", "completed"],
    *,
    data: SearchCompleted | dict[str, int] | None = None,
    output_key: Literal["sources"] | None = None,
) -> ToolUpdate:
    return ToolUpdate(data=WebPhase(phase=name, status=status, data=data, output_key=output_key))


def _web_sources(searched: Searched) -> list[WebSource]:
    return [
        WebSource(
            rank=rank,
            title=hit.title,
            url=hit.url,
            snippet=hit.snippet,
            engine=hit.engine or searched.provider,
            score=hit.score,
        )
        for rank, hit in enumerate(searched.found.hits, start=1)
    ]


def _ranked_sources(kept: Sequence[Kept], resolved: Resolved | None = None) -> list[RankedSource]:
    quotes = resolved.quotes if resolved else {}
    return [
        RankedSource(
            rank=rank,
            title=source.hit.title,
            url=source.hit.url,
            snippet=source.hit.snippet,
            rerank_score=source.score,
            used_in_response=rank in quotes,
            quote=quotes[rank][0].text if rank in quotes else None,
        )
        for rank, (source, _) in enumerate(kept, start=1)
    ]


async def _cost(making: _Making) -> float:
    """Return what the search and the model have cost, in US dollars."""
    return float(await in_database(cost_of_execution, making.run.execution_id))


def _web_result(hit: Hit, body: str | None) -> WebResult:
    published = hit.published_time or hit.published_at
    return WebResult(
        url=hit.url,
        title=hit.title,
        snippet=hit.snippet,
        site_name=hit.site_name,
        published_at=published.isoformat() if published else None,
        last_updated=hit.last_updated.isoformat() if hit.last_updated else None,
        body=body,
    )


def _steps(searched: Searched) -> dict[str, JsonValue]:
    return {
        "provider": searched.provider,
        "providers": dict(searched.outcomes),
        "from_cache": searched.from_cache,
        "found": len(searched.found.hits),
    }
