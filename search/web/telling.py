"""How a web search is told: its phases, sources and results as events and traces know them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import JsonValue

from search.citations.resolve import Resolved
from search.events import PhaseName, RankedSource, SearchCompleted, ToolUpdate, WebPhase, WebResult, WebSource
from search.web.base import Hit
from search.web.searching import Searched
from search.web.sources import Kept


def phase(
    name: PhaseName,
    status: Literal["started", "completed"],
    *,
    data: SearchCompleted | dict[str, int] | None = None,
    output_key: Literal["sources"] | None = None,
) -> ToolUpdate:
    """Return the event of a phase."""
    return ToolUpdate(data=WebPhase(phase=name, status=status, data=data, output_key=output_key))


def web_sources(searched: Searched) -> list[WebSource]:
    """Return the hits as the engine gave them."""
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


def ranked_sources(kept: Sequence[Kept], resolved: Resolved | None = None) -> list[RankedSource]:
    """Return the pages that an answer may use, and, once it is checked, which it does use and where."""
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


def web_result(hit: Hit, body: str | None) -> WebResult:
    """Return a hit as a result of mode `results`, with the page's text where it was fetched."""
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


def steps_of(searched: Searched) -> dict[str, JsonValue]:
    """Return what a trace tells of a search."""
    return {
        "provider": searched.provider,
        "providers": dict(searched.outcomes),
        "from_cache": searched.from_cache,
        "found": len(searched.found.hits),
    }
