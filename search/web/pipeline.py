"""`web_search`: a question to the web becomes hits, or a streamed, cited answer.

    search ─ fetch pages, if wanted ─ rerank ─ answer, marker by marker ─ resolve the citations

One async generator of typed events; every transport is a frame around it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from html import escape

from accounts.ledger.base import Payer
from accounts.ledger.spending import cost_of_execution
from accounts.principal import Principal
from core.threads import in_database
from runs.context import Run
from runs.events import ToolEnd, ToolUpdate, Trace, Usage, Yielded
from search.answering import AnswerStream, TextStream, embed, paid_answer
from search.citations.resolve import Resolved
from search.citations.verifying import verified
from search.generation.base import Context, Corpus, GenerationRequest, GenerationUsage
from search.generation.extractive import nothing_found
from search.generation.registry import generator
from search.preferences import RagSettings, rag_settings
from search.rerank.registry import NONE, reranker
from search.timing import StageTimer
from search.web.events import RerankedResults, SearchCompleted, Sources, WebAnswer, WebPhase, WebResults
from search.web.inputs import WebSearchInput
from search.web.preferences import enabled_settings
from search.web.presentation import (
    phase,
    ranked_sources,
    steps_of,
    web_result,
    web_sources,
)
from search.web.searching import SearchOutcome, SearchRequest, search
from search.web.sources import (
    EXPANDED,
    SCRAPED,
    PageSource,
    SelectedSource,
    as_context,
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
    making = await in_database(_Making.of, principal, inputs, run)
    searched = await search(making.wanted)
    clock.mark("search")
    hits = searched.found.hits
    found = SearchCompleted(results_count=len(hits), sources=web_sources(searched))
    yield phase("WEB_SEARCH", "completed", data=found, output_key="sources")
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
    wanted: SearchRequest
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
            SearchRequest.of(principal, inputs, web, payer),
            SCRAPED if scrape else EXPANDED if expand else 0,
        )


async def _cost(making: _Making) -> float:
    """Return what the search and the model have cost, in US dollars."""
    return float(await in_database(cost_of_execution, making.run.execution_id))


# --- Mode `results` ----------------------------------------------------------------------------------------


async def _results(
    making: _Making, searched: SearchOutcome, clock: StageTimer
) -> AsyncGenerator[Yielded, None]:
    sources = await with_pages(
        list(map(PageSource, searched.found.hits)), making.fetched, making.wanted.query
    )
    clock.mark("pages")
    shown = await asyncio.to_thread(excerpts, sources, making.wanted.query)
    cost = 0.0 if searched.from_cache else await _cost(making)
    yield Trace(usage=Usage(), cost=cost, timings=clock.timings, steps=steps_of(searched))
    yield ToolEnd(
        data=WebResults(
            query=making.inputs.query,
            provider=searched.provider,
            providers=dict(searched.outcomes),
            from_cache=searched.from_cache,
            results=list(map(web_result, sources, shown)),
            ignored_filters=making.inputs.given_names(searched.found.ignored_filters),
            execution_id=making.run.execution_id,
        )
    )


# --- Mode `answer` -----------------------------------------------------------------------------------------


async def _answer(
    making: _Making, searched: SearchOutcome, clock: StageTimer
) -> AsyncGenerator[Yielded, None]:
    rag = await in_database(rag_settings, making.principal, making.run.workspace_id)
    answering = _Answering(making, searched, clock, rag, list(map(PageSource, searched.found.hits)))
    for step in (answering.read_pages, answering.choose_pages, answering.write, answering.finish):
        async with aclosing(step()) as events:
            async for event in events:
                yield event


@dataclass(slots=True)
class _Answering:
    """An answer on its way: each step yields its events and leaves here what the next ones need."""

    making: _Making
    searched: SearchOutcome
    clock: StageTimer
    rag: RagSettings
    sources: list[PageSource]
    kept: list[SelectedSource] = field(default_factory=list)
    reranked_by: str = NONE
    contexts: list[Context] = field(default_factory=list)
    written: AnswerStream = field(default_factory=AnswerStream)

    async def read_pages(self) -> AsyncGenerator[Yielded, None]:
        """Fetch the pages of the first hits, if the settings or the request want that."""
        wanted = self.making.fetched
        if not wanted:
            return
        yield phase("SCRAPING_URLS", "started", data={"url_count": min(wanted, len(self.sources))})
        self.sources = await with_pages(self.sources, wanted, self.making.wanted.query)
        # Where it is known that the lists forbid a page, what an engine says of it is not read either.
        self.sources = [source for source in self.sources if not source.is_denied]
        self.clock.mark("pages")
        scraped = sum(source.page is not None for source in self.sources)
        yield phase("SCRAPING_URLS", "completed", data={"scraped_count": scraped})

    async def choose_pages(self) -> AsyncGenerator[Yielded, None]:
        """Rank the sources, and keep those that an answer is written from."""
        query = self.making.wanted.query
        yield phase("RERANKING", "started")
        chosen = await asyncio.to_thread(reranker, self.rag.reranker)
        self.reranked_by = chosen.name if chosen else NONE
        payer = self.making.wanted.payer
        ranked = await asyncio.to_thread(reranked, query.text, self.sources, chosen, query, payer)
        self.kept = await asyncio.to_thread(within_budget, ranked[: self.rag.contexts], query)
        self.clock.mark("reranking")
        count = sum(source.score is not None for source in ranked)
        yield phase("RERANKING", "completed", data={"reranked_count": count})
        yield ToolUpdate(data=RerankedResults(reranked_results=len(self.kept)))
        yield ToolUpdate(data=Sources(sources=ranked_sources(self.kept)))

    async def write(self) -> AsyncGenerator[Yielded, None]:
        """Let the generator write, piece by piece."""
        yield phase("GENERATION", "started")
        language = self.making.wanted.query.language
        self.contexts = [as_context(rank, *each, language) for rank, each in enumerate(self.kept, start=1)]
        pieces = _pieces(self.making, self.rag, self.contexts)
        async with aclosing(self.written.partials(pieces)) as partials:
            async for partial in partials:
                yield partial
        self.clock.mark("generation")

    async def finish(self) -> AsyncGenerator[Yielded, None]:
        """Check what was written, and tell the result."""
        written = self.written
        resolved = await asyncio.to_thread(_resolved, self.making, self.contexts, written, self.kept)
        self.clock.mark("verification")
        yield phase("GENERATION", "completed")
        steps = steps_of(self.searched) | {"citations": [asdict(verdict) for verdict in resolved.verdicts]}
        cost = None if written.cost is None else await _cost(self.making)
        yield Trace(usage=written.usage, cost=cost, timings=self.clock.timings, steps=steps)
        yield ToolEnd(data=self._result(resolved))

    def _result(self, resolved: Resolved) -> WebAnswer:
        found = self.searched.found
        return WebAnswer(
            query=self.making.inputs.query,
            response=resolved.response,
            sources=ranked_sources(self.kept, resolved),
            sources_used=resolved.sources_used,
            model=self.written.spent.model,
            reranker=self.reranked_by,
            total_results=len(found.hits),
            reranked_results=len(self.kept),
            execution_id=self.making.run.execution_id,
            provider=self.searched.provider,
            providers=dict(self.searched.outcomes),
            from_cache=self.searched.from_cache,
            ignored_filters=self.making.inputs.given_names(found.ignored_filters),
            answered=bool(resolved.quotes),
            citations_removed=resolved.removed,
            usage=self.written.usage,
            timings=self.clock.timings,
        )


async def _pieces(making: _Making, rag: RagSettings, contexts: Sequence[Context]) -> TextStream:
    """Ask the generator, unless there is nothing it could answer from."""
    chosen = generator(rag.generation_model)
    asked = GenerationRequest(making.inputs.query, contexts, rag.reflection, corpus=Corpus.WEB)
    if not contexts:
        yield nothing_found(asked)
        yield GenerationUsage(chosen.name)
        return
    async with aclosing(paid_answer(making.run, chosen, asked)) as pieces:
        async for piece in pieces:
            yield piece


def _resolved(
    making: _Making, contexts: Sequence[Context], written: AnswerStream, kept: Sequence[SelectedSource]
) -> Resolved:
    def cite(context: Context) -> str:
        """Return how a response cites a page (contract §6)."""
        source = kept[context.rank - 1][0]
        url, title = escape(source.url), escape(source.title)
        return f'<web_citation url="{url}" title="{title}">[{context.rank}]</web_citation>'

    shown = [context for context in contexts if written.was_shown(context.rank)]
    return verified(written.raw, shown, making.inputs.query, embed, cite)
