"""Perplexity's Search API (https://docs.perplexity.ai/api-reference/search-post)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, ClassVar

from pydantic import BaseModel

from search.web import dates
from search.web.base import DateRange, Hit, WebQuery
from search.web.domains import DomainRule, in_all
from search.web.providers.client import Client
from search.web.providers.engine import Engine, ResultPage, Text, applied_filters, hits_to_request

MOST_DOMAINS = 20
# Extracts may be thousands of tokens long; a snippet holds about as many as the largest of these.
PAGE_TOKENS = 512
MOST_PAGE_TOKENS = 1024


class _Result(BaseModel):
    title: Text = ""
    url: Text = ""
    snippet: Text = ""
    date: Text = ""
    last_updated: Text = ""


class _Reply(BaseModel):
    results: list[_Result]


class Perplexity(Engine):
    """Gives extracts of pages; the only one that knows when a page was last updated."""

    name: ClassVar[str] = "perplexity"
    label = "Perplexity"
    price: ClassVar[Decimal] = Decimal("0.005")
    key_setting = "PERPLEXITY_API_KEY"
    address_setting = "PERPLEXITY_BASE_URL"

    async def ask(self, query: WebQuery, client: Client, now: datetime) -> ResultPage:
        """Return the results of one query."""
        narrowing = _narrowing(query)
        body = {"query": query.text, "max_results": hits_to_request(query), **_budget(query), **narrowing}
        headers = {"Authorization": f"Bearer {self.key}"}
        reply = await client.post_json(f"{self.address}/search", body, headers=headers)
        return ResultPage(map(_hit, self.read(reply, _Reply).results), _honoured_filters(query))


def _budget(query: WebQuery) -> dict[str, int]:
    page = min(query.max_tokens_per_page or PAGE_TOKENS, MOST_PAGE_TOKENS)
    return {
        "max_tokens_per_page": page,
        "max_tokens": max(page, query.max_tokens or page * hits_to_request(query)),
    }


def _narrowing(query: WebQuery) -> dict[str, Any]:
    sent = {
        "search_recency_filter": query.recency and query.recency.value,
        **_ends("search_{}_date_filter", query.published),
        **_ends("last_updated_{}_filter", query.updated),
        "country": query.country or (query.location and query.location.country),
        "search_language_filter": [query.language] if query.language else None,
        "search_domain_filter": _domains(query),
    }
    return {name: value for name, value in sent.items() if value}


def _ends(name: str, days: DateRange) -> dict[str, str]:
    ends: dict[str, date | None] = {"after": days.after, "before": days.before}
    return {name.format(end): f"{day:%m/%d/%Y}" for end, day in ends.items() if day}


def _domains(query: WebQuery) -> list[str]:
    """Return one of the lists, since both together are refused: the other is left to our own look."""
    if query.allow:
        allowed = _entries(in_all(query.allow))
        return allowed if len(allowed) <= MOST_DOMAINS else []
    return [f"-{entry}" for entry in _entries(query.deny)[:MOST_DOMAINS]]


def _entries(rules: Sequence[DomainRule]) -> list[str]:
    return [f"https://{rule}" if rule.path and not rule.is_suffix else rule.host for rule in rules]


def _honoured_filters(query: WebQuery) -> frozenset[str]:
    location = query.location
    only_country = (
        location is not None and location.latitude is None and not (location.region or location.city)
    )
    return applied_filters(
        recency=True,
        published=True,
        updated=True,
        country=True,
        language=True,
        location=only_country and query.country in (None, location and location.country),
    )


def _hit(result: _Result) -> Hit:
    published = dates.iso(result.date)
    return Hit(
        result.title,
        result.url,
        result.snippet,
        published_at=published.day,
        published_time=published.time,
        last_updated=dates.iso(result.last_updated).day,
    )
