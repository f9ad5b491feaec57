"""Tavily (https://docs.tavily.com/documentation/api-reference/endpoint/search)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from django.conf import settings
from pydantic import BaseModel

from search.web import dates
from search.web.base import Hit, Outcome, Recency, WebQuery
from search.web.domains import DomainRule, in_all
from search.web.filters import window
from search.web.providers.client import Client, Reply
from search.web.providers.countries import COUNTRY_NAMES
from search.web.providers.engine import (
    Engine,
    Number,
    ResultPage,
    Text,
    applied_filters,
    applied_times,
    hits_to_request,
)

TIME_RANGES = {
    Recency.HOUR: "day",
    Recency.DAY: "day",
    Recency.WEEK: "week",
    Recency.MONTH: "month",
    Recency.YEAR: "year",
}
MOST_INCLUDED = 300
MOST_EXCLUDED = 150
# 432: the limit of the key or plan; 433: that of paying as one goes.
QUOTA = (432, 433)


class _Result(BaseModel):
    title: Text = ""
    url: Text = ""
    content: Text = ""
    score: Number = None
    published_date: Text = ""


class _Reply(BaseModel):
    results: list[_Result]


class Tavily(Engine):
    """Made for programs; tells no dates."""

    name: ClassVar[str] = "tavily"
    label = "Tavily"
    price: ClassVar[Decimal] = Decimal("0.008")
    key_setting = "TAVILY_API_KEY"
    address_setting = "TAVILY_BASE_URL"

    async def ask(self, query: WebQuery, client: Client, now: datetime) -> ResultPage:
        """Return what a basic search finds."""
        # What is not set is left out: Tavily refuses empty strings and nulls.
        narrowing = _times(query, now) | _domains(query) | _language(query.language)
        if country := COUNTRY_NAMES.get(query.country or ""):
            narrowing |= {"country": country}
        body = {"query": query.text, "max_results": hits_to_request(query), "topic": "general", **narrowing}
        headers = {"Authorization": f"Bearer {self.key}"}
        reply = await client.post_json(f"{self.address}/search", body, headers=headers)
        honoured = applied_filters(country="country" in narrowing, language="language" in narrowing)
        return ResultPage(map(_hit, self.read(reply, _Reply).results), honoured | applied_times(query))

    def outcome(self, reply: Reply) -> Outcome:
        """Know Tavily's own statuses."""
        return Outcome.QUOTA if reply.status in QUOTA else super().outcome(reply)


def _times(query: WebQuery, now: datetime) -> dict[str, str]:
    """Return a recency or a range: both together are an error."""
    if query.published:
        days = window(query, now)
        ends = {"start_date": days.after, "end_date": days.before}
        return {name: day.isoformat() for name, day in ends.items() if day}
    return {"time_range": TIME_RANGES[query.recency]} if query.recency else {}


def _domains(query: WebQuery) -> dict[str, Any]:
    sent: dict[str, Any] = {}
    if query.allow:
        # Two lists of twenty: never more than it takes.
        sent["include_domains"] = _entries(in_all(query.allow))
    elif query.prefer:
        sent["include_domains"] = _entries(query.prefer)[:MOST_INCLUDED]
        sent["include_domains_mode"] = "prefer"
    if query.deny:
        sent["exclude_domains"] = _entries(query.deny)[:MOST_EXCLUDED]
    return sent


def _entries(rules: Sequence[DomainRule]) -> list[str]:
    return [f"*{rule}" if rule.is_suffix else str(rule) for rule in rules]


def _language(language: str | None) -> dict[str, Any]:
    if language is None or not settings.TAVILY_LANGUAGE_FILTER:
        return {}
    return {"language": language, "filter_by_language": True}


def _hit(result: _Result) -> Hit:
    published = dates.mail(result.published_date)
    return Hit(
        result.title,
        result.url,
        result.content,
        published_at=published.day,
        published_time=published.time,
        score=None if result.score is None else min(max(result.score, 0.0), 1.0),
    )
