"""SearXNG, a metasearch engine to host oneself (https://docs.searxng.org/dev/search_api.html)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Self

import httpx2
from django.conf import settings
from pydantic import BaseModel

from search.web import dates
from search.web.base import Hit, Outcome, Recency, WebQuery
from search.web.providers.client import Client
from search.web.providers.engine import Engine, Number, ResultPage, Text, applied_filters
from search.web.providers.failures import failure
from search.web.providers.operators import with_sites

TIME_RANGES = {
    Recency.HOUR: "day",
    Recency.DAY: "day",
    Recency.WEEK: "week",
    Recency.MONTH: "month",
    Recency.YEAR: "year",
}
PAGE = 10
"""Hits at least, where there are more."""
# An instance with its limiter on serves only what looks like a browser.
HEADERS = {"Accept": "application/json, text/html;q=0.9", "Accept-Language": "en,*;q=0.5"}


class _Result(BaseModel):
    title: Text = ""
    url: Text = ""
    content: Text = ""
    engine: Text = ""
    score: Number = None
    publishedDate: Text = ""  # noqa: N815


class _Reply(BaseModel):
    results: list[_Result]
    answers: list[Any] = []
    corrections: list[Any] = []
    infoboxes: list[Any] = []
    suggestions: list[Any] = []
    unresponsive_engines: list[Any] = []


class SearXng(Engine):
    """Asks other engines; costs nothing."""

    name: ClassVar[str] = "searxng"
    label = "SearXNG"
    price: ClassVar[Decimal] = Decimal(0)

    @classmethod
    def configured(cls) -> Self | None:
        """Return the engine if the settings hold its address, perhaps with name and password."""
        return cls(settings.SEARXNG_BASE_URL) if settings.SEARXNG_BASE_URL else None

    def __init__(self, address: str) -> None:
        url = httpx2.URL(address)
        super().__init__(str(url.copy_with(userinfo=b"", query=None, fragment=None)), url.password)
        self._auth = (url.username, url.password) if url.userinfo else None

    @property
    def secrets(self) -> Sequence[str]:
        """The password, also as it is sent."""
        sent = b64encode(":".join(self._auth or ()).encode()).decode()
        return [secret for secret in (self.key, sent) if secret]

    async def ask(self, query: WebQuery, client: Client, now: datetime) -> ResultPage:
        """Return the first page; the second too if that has too little."""
        hits = await self._page(query, 1, client)
        if PAGE <= len(hits) < query.count:
            hits = [*hits, *await self._page(query, 2, client)]
        days = query.recency is not Recency.HOUR
        return ResultPage(
            _hits(hits),
            applied_filters(recency=days, country=query.country and query.language, language=True),
        )

    async def _page(self, query: WebQuery, number: int, client: Client) -> Sequence[_Result]:
        params = {
            "q": with_sites(query, deny=False),
            "format": "json",
            "pageno": str(number),
            "language": _language(query),
            # So that what is found by then is sent, instead of nothing.
            "timeout_limit": f"{max(1.0, settings.WEB_SEARCH_TIMEOUT_SECS - 1):.1f}",
        }
        if query.recency:
            params["time_range"] = TIME_RANGES[query.recency]
        url = f"{self.address}/search"
        reply = self.read(await client.get(url, params, headers=HEADERS, auth=self._auth), _Reply)
        if number == 1 and _is_outage(reply):
            raise failure(self.label, Outcome.UNAVAILABLE, "none of its engines answered")
        return reply.results


def _language(query: WebQuery) -> str:
    if query.language is None:
        return "all"
    return f"{query.language}-{query.country}" if query.country else query.language


def _is_outage(reply: _Reply) -> bool:
    """Tell whether nothing came from any engine, where some say that they can't be asked."""
    said = reply.answers or reply.corrections or reply.infoboxes or reply.suggestions
    return bool(reply.unresponsive_engines) and not (reply.results or said)


def _hits(results: Sequence[_Result]) -> list[Hit]:
    top = max((result.score or 0.0 for result in results), default=0.0)
    return [_hit(result, top) for result in results]


def _hit(result: _Result, top: float) -> Hit:
    published = dates.iso(result.publishedDate)
    # Scores have no upper bound: they compare the hits of one reply.
    score = None if result.score is None or top <= 0 else max(result.score, 0.0) / top
    return Hit(
        result.title,
        result.url,
        result.content,
        published_at=published.day,
        published_time=published.time,
        engine=result.engine or None,
        score=score,
    )
