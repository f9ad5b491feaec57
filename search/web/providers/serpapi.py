"""SerpAPI, its engine google (https://serpapi.com/search-api). The key goes in the address."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import ClassVar

from pydantic import BaseModel, Field

from search.web import dates
from search.web.base import Hit, Location, Outcome, Recency, WebQuery
from search.web.filters import window
from search.web.providers.client import Client, Reply
from search.web.providers.countries import COUNTRY_NAMES
from search.web.providers.engine import Engine, ResultPage, Text, applied_filters
from search.web.providers.failures import failure
from search.web.providers.operators import with_sites

PAGE = 10
"""Hits at most; Google does not give more at once."""
SPANS = {Recency.HOUR: "h", Recency.DAY: "d", Recency.WEEK: "w", Recency.MONTH: "m", Recency.YEAR: "y"}
EARLIEST = date(1970, 1, 1)
# What Google can restrict results to; SerpAPI refuses any other.
_LANGUAGES = "ar bg ca hr cs da nl en et fi fr de el hu is id it ja ko lv lt no pl pt ro ru sr sk sl es sv tr"
LANGUAGES = {code: code for code in _LANGUAGES.split()} | {"he": "iw", "nb": "no", "zh": "zh-CN"}
LANGUAGES_OF = {("zh", "TW"): "zh-TW", ("zh", "HK"): "zh-TW"}
INTERFACES_OF = {("pt", "BR"): "pt-br"}
RAN_OUT = "run out"


class _Result(BaseModel):
    title: Text = ""
    link: Text = ""
    snippet: Text = ""
    source: Text = ""
    date: Text = ""


class _Metadata(BaseModel):
    status: Text = ""


class _Reply(BaseModel):
    search_metadata: _Metadata = Field(default_factory=_Metadata)
    organic_results: list[_Result] = []


class SerpApi(Engine):
    """Google's results."""

    name: ClassVar[str] = "serpapi"
    label = "SerpAPI"
    price: ClassVar[Decimal] = Decimal("0.015")
    key_setting = "SERPAPI_KEY"
    address_setting = "SERPAPI_BASE_URL"

    def most_calls(self, query: WebQuery) -> int:
        """Return the number of pages, each billed alone."""
        return -(-query.count // PAGE)

    async def ask(self, query: WebQuery, client: Client, now: datetime) -> ResultPage:
        """Return as many pages as hold the hits that are wanted, or as there are."""
        narrowing = _times(query, now) | _language(query) | _whereabouts(query.location)
        if query.country:
            narrowing["gl"] = "uk" if query.country == "GB" else query.country.lower()
        pages = [await self._page(with_sites(query), narrowing, 0, client)]
        if pages[0] and query.count > PAGE:
            pages.append(await self._page(with_sites(query), narrowing, PAGE, client))
        honoured = applied_filters(
            recency=True,
            published=True,
            country=True,
            language="lr" in narrowing,
            location=narrowing.keys() & {"location", "lat"},
        )
        hits = (_hit(result, query.language) for page in pages for result in page)
        return ResultPage(hits, honoured, calls=len(pages))

    def outcome(self, reply: Reply) -> Outcome:
        """Tell an hour's limit from that of the plan, by its words."""
        if reply.status == 429 and RAN_OUT in str(reply.json_object().get("error")):
            return Outcome.QUOTA
        return super().outcome(reply)

    async def _page(self, text: str, narrowing: dict[str, str], start: int, client: Client) -> list[_Result]:
        params = {"engine": "google", "q": text, **narrowing, "api_key": self.key}
        if start:
            params["start"] = str(start)
        reply = self.read(await client.get(f"{self.address}/search.json", params), _Reply)
        if reply.search_metadata.status != "Success":
            raise failure(self.label, Outcome.UNAVAILABLE, "the search failed there")
        # That nothing was found is told by an error and no results.
        return reply.organic_results


def _times(query: WebQuery, now: datetime) -> dict[str, str]:
    if query.published:
        days = window(query, now)
        ends = (days.after or EARLIEST, days.before or now.date())
        return {"tbs": "cdr:1,cd_min:{:%m/%d/%Y},cd_max:{:%m/%d/%Y}".format(*ends)}
    return {"tbs": f"qdr:{SPANS[query.recency]}"} if query.recency else {}


def _language(query: WebQuery) -> dict[str, str]:
    spoken = (query.language or "", query.country or "")
    language = LANGUAGES_OF.get(spoken, LANGUAGES.get(spoken[0]))
    if language is None:
        return {}
    return {"lr": f"lang_{language}", "hl": INTERFACES_OF.get(spoken, language.lower())}


def _whereabouts(location: Location | None) -> dict[str, str]:
    if location is None:
        return {}
    if location.latitude is not None and location.longitude is not None:
        return {"lat": f"{location.latitude:.6f}", "lon": f"{location.longitude:.6f}"}
    country = COUNTRY_NAMES.get(location.country or "", "").title()
    names = [name for name in (location.city, location.region, country) if name]
    return {"location": ", ".join(names)} if names else {}


def _hit(result: _Result, language: str | None) -> Hit:
    return Hit(
        result.title,
        result.link,
        result.snippet,
        site_name=result.source or None,
        published_at=dates.words(result.date, language).day,
        engine="google",
    )
