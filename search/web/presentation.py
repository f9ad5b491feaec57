"""A web search as events and traces show it: its phases, sources and results."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Literal

from pydantic import JsonValue

from runs.events import ToolUpdate
from search.citations.resolve import Resolved
from search.web.events import PhaseName, RankedSource, SearchCompleted, WebPhase, WebResult, WebSource
from search.web.searching import SearchOutcome
from search.web.sources import PageExcerpt, PageSource, SelectedSource


def phase(
    name: PhaseName,
    status: Literal["started", "completed"],
    *,
    data: SearchCompleted | dict[str, int] | None = None,
    output_key: Literal["sources"] | None = None,
) -> ToolUpdate:
    """Return the event of a phase."""
    return ToolUpdate(data=WebPhase(phase=name, status=status, data=data, output_key=output_key))


def web_sources(searched: SearchOutcome) -> list[WebSource]:
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


def ranked_sources(
    kept: Sequence[SelectedSource], resolved: Resolved | None = None, *, first_rank: int = 1
) -> list[RankedSource]:
    """Return the pages that an answer may use, and, once it is checked, which it does use and where."""
    quotes = resolved.quotes if resolved else {}
    return [
        RankedSource(
            rank=rank,
            title=source.title,
            url=source.url,
            snippet=source.hit.snippet,
            rerank_score=source.score,
            used_in_response=rank in quotes,
            quote=quotes[rank][0].text if rank in quotes else None,
        )
        for rank, (source, _) in enumerate(kept, start=first_rank)
    ]


def web_result(source: PageSource, shown: PageExcerpt) -> WebResult:
    """Return a source as a result of mode `results`; with a page it stands under that page's address."""
    hit = source.hit
    return WebResult(
        url=source.url if shown.body else hit.url,
        title=source.title if shown.body else hit.title,
        snippet=shown.snippet,
        site_name=hit.site_name,
        published_at=_iso(hit.published_time or hit.published_at),
        last_updated=_iso(hit.last_updated),
        body=shown.body,
    )


def _iso(when: date | None) -> str | None:
    """Return a day, or a moment in UTC, as ISO 8601 and the rest of the API write it."""
    return when.isoformat().replace("+00:00", "Z") if when else None


def steps_of(searched: SearchOutcome) -> dict[str, JsonValue]:
    """Return a trace's description of a search."""
    return {
        "provider": searched.provider,
        "providers": dict(searched.outcomes),
        "from_cache": searched.from_cache,
        "found": len(searched.found.hits),
    }
