"""`web_search`: a question to the web becomes hits, or a streamed, cited answer.

    search ─ fetch pages, if wanted ─ rerank ─ answer, marker by marker ─ resolve the citations

One async generator of typed events; every transport is a frame around it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass

from accounts.ledger.base import Payer
from accounts.ledger.spending import cost_of_execution
from accounts.principal import Principal
from core.threads import in_database
from runs.context import Run
from runs.events import ToolEnd, ToolUpdate, Trace, Usage, Yielded
from search.answering import CitedAnswer, answer_from
from search.contexts import PageContext, context_of_page
from search.generation.base import Corpus
from search.preferences import RagSettings, rag_settings
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


@dataclass(frozen=True, slots=True)
class FoundHits:
    """What the search engines found: the last item of `find_hits`."""

    request: SearchRequest
    searched: SearchOutcome
    pages: int
    """How many pages are to be fetched."""


@dataclass(frozen=True, slots=True)
class KeptSources:
    """The pages that an answer may use: the last item of `keep_sources`."""

    sources: Sequence[SelectedSource]
    contexts: Sequence[PageContext]
    reranker: str


async def web_search(principal: Principal, inputs: WebSearchInput, run: Run) -> AsyncIterator[Yielded]:
    """Yield the events of one search: its phases, sources and text, how it came about, its result."""
    clock = StageTimer()
    async with aclosing(find_hits(principal, inputs, run, clock)) as steps:
        async for step in steps:
            if isinstance(step, FoundHits):
                found = step
            else:
                yield step
    finish = _results if inputs.mode == "results" else _answer
    async with aclosing(finish(principal, inputs, run, found, clock)) as events:
        async for event in events:
            yield event


async def find_hits(
    principal: Principal, inputs: WebSearchInput, run: Run, clock: StageTimer
) -> AsyncGenerator[ToolUpdate | FoundHits, None]:
    """Yield the events of the search itself, and last the `FoundHits`."""
    yield ToolUpdate(
        data=WebPhase(execution_id=run.execution_id, phase="WEB_SEARCH", status="started", query=inputs.query)
    )
    request, pages = await in_database(_request, principal, inputs, run)
    searched = await search(request)
    clock.mark("search")
    hits = SearchCompleted(results_count=len(searched.found.hits), sources=web_sources(searched))
    yield phase("WEB_SEARCH", "completed", data=hits, output_key="sources")
    yield FoundHits(request, searched, pages)


def _request(principal: Principal, inputs: WebSearchInput, run: Run) -> tuple[SearchRequest, int]:
    """Return what is searched for, and how many pages to fetch; raise what keeps the search from starting."""
    web = enabled_settings(principal, run.workspace_id)
    payer = Payer(run.workspace_id, web.max_cost, run.execution_id, principal.usage_owner)
    expand = web.expand_default if inputs.expand is None else inputs.expand
    scrape = web.scraping and inputs.mode == "answer"
    request = SearchRequest.of(principal, inputs, web, payer)
    return request, SCRAPED if scrape else EXPANDED if expand else 0


async def cost_of_run(run: Run) -> float:
    """Return what the search and the models have cost, in US dollars."""
    return float(await in_database(cost_of_execution, run.execution_id))


async def _results(
    principal: Principal, inputs: WebSearchInput, run: Run, found: FoundHits, clock: StageTimer
) -> AsyncGenerator[Yielded, None]:
    """Finish a search of mode `results`."""
    query, searched = found.request.query, found.searched
    sources = await with_pages(list(map(PageSource, searched.found.hits)), found.pages, query)
    clock.mark("pages")
    shown = await asyncio.to_thread(excerpts, sources, query)
    cost = 0.0 if searched.from_cache else await cost_of_run(run)
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


async def keep_sources(
    found: FoundHits, wanted: RagSettings, clock: StageTimer, *, first_rank: int = 1
) -> AsyncGenerator[ToolUpdate | KeptSources, None]:
    """Fetch pages if wanted, rerank, and keep the best: yield the events, and last the `KeptSources`."""
    query, sources = found.request.query, list(map(PageSource, found.searched.found.hits))
    if found.pages:
        yield phase("SCRAPING_URLS", "started", data={"url_count": min(found.pages, len(sources))})
        read = await with_pages(sources, found.pages, query)
        # Where it is known that the lists forbid a page, what an engine says of it is not read either.
        sources = [source for source in read if not source.is_denied]
        clock.mark("pages")
        scraped = sum(source.page is not None for source in sources)
        yield phase("SCRAPING_URLS", "completed", data={"scraped_count": scraped})

    yield phase("RERANKING", "started")
    chosen = await asyncio.to_thread(reranker, wanted.reranker)
    if chosen is not None:
        chosen = chosen.suited_to(query.text, [query.language])
    ranked = await asyncio.to_thread(reranked, query.text, sources, chosen, query, found.request.payer)
    kept = await asyncio.to_thread(within_budget, ranked[: wanted.contexts], query)
    clock.mark("reranking")
    count = sum(source.score is not None for source in ranked)
    yield phase("RERANKING", "completed", data={"reranked_count": count})
    yield ToolUpdate(data=RerankedResults(reranked_results=len(kept)))
    yield ToolUpdate(data=Sources(sources=ranked_sources(kept, first_rank=first_rank)))
    contexts = await asyncio.to_thread(_contexts, kept, query.language, first_rank)
    yield KeptSources(kept, contexts, chosen.name if chosen else NONE)


async def _answer(
    principal: Principal, inputs: WebSearchInput, run: Run, found: FoundHits, clock: StageTimer
) -> AsyncGenerator[Yielded, None]:
    """Finish a search of mode `answer`: keep the best sources, write from them, cite."""
    wanted = await in_database(rag_settings, principal, run.workspace_id)
    async with aclosing(keep_sources(found, wanted, clock)) as steps:
        async for step in steps:
            if isinstance(step, KeptSources):
                kept = step
            else:
                yield step
    yield phase("GENERATION", "started")
    writing = answer_from(
        kept.contexts,
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
    verdicts = [asdict(verdict) for verdict in answer.resolved.verdicts]
    steps_made = steps_of(found.searched) | {"citations": verdicts}
    cost = None if answer.cost is None else await cost_of_run(run)
    yield Trace(usage=answer.usage, cost=cost, timings=clock.timings, steps=steps_made)
    yield ToolEnd(data=_web_answer(inputs, run, found.searched, kept, answer, clock.timings))


def _contexts(kept: Sequence[SelectedSource], language: str | None, first_rank: int) -> list[PageContext]:
    return [
        context_of_page(
            rank, url=source.url, title=source.title, text=text, language=language, score=source.score
        )
        for rank, (source, text) in enumerate(kept, start=first_rank)
    ]


def _web_answer(
    inputs: WebSearchInput,
    run: Run,
    searched: SearchOutcome,
    kept: KeptSources,
    answer: CitedAnswer,
    timings: dict[str, float],
) -> WebAnswer:
    found, resolved = searched.found, answer.resolved
    return WebAnswer(
        query=inputs.query,
        response=resolved.response,
        sources=ranked_sources(kept.sources, resolved),
        sources_used=resolved.sources_used,
        model=answer.model,
        reranker=kept.reranker,
        total_results=len(found.hits),
        reranked_results=len(kept.sources),
        execution_id=run.execution_id,
        provider=searched.provider,
        providers=dict(searched.outcomes),
        from_cache=searched.from_cache,
        ignored_filters=inputs.given_names(found.ignored_filters),
        answered=bool(resolved.quotes),
        outcome="answered" if resolved.quotes else "closest" if kept.contexts else "nothing",
        citations_removed=resolved.removed,
        usage=answer.usage,
        timings=timings,
    )
