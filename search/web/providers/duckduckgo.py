"""DuckDuckGo's page for browsers without scripts (https://html.duckduckgo.com/html/): no key, no promise.

Only the first page: asking for another without its token is answered by a block.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Self
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from lxml import etree, html

from search.web import dates
from search.web.base import Hit, Outcome, Recency, WebQuery
from search.web.domains import DomainRule, matches
from search.web.providers.client import Client, Reply
from search.web.providers.engine import Engine, ResultPage, applied_filters
from search.web.providers.failures import failure
from search.web.providers.operators import with_sites
from search.web.providers.regions import region

SPANS = {Recency.HOUR: "d", Recency.DAY: "d", Recency.WEEK: "w", Recency.MONTH: "m", Recency.YEAR: "y"}
# What a browser sends; without some of these the answer is a challenge.
HEADERS = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "en-US,en;q=0.5",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "same-origin",
    "Sec-Fetch-User": "?1",
}
ITSELF = (DomainRule("duckduckgo.com"),)
_RESULTS = "//*[@id='links']//*[contains(concat(' ', @class, ' '), ' web-result ')]"
_CHALLENGE = "//form[@id='challenge-form'] | //*[contains(@class, 'anomaly-modal')]"
_WITH_CLASS = ".//*[contains(concat(' ', @class, ' '), ' {} ')]"


class DuckDuckGo(Engine):
    """Always there, and easily takes a server for a robot."""

    name: ClassVar[str] = "duckduckgo"
    label = "DuckDuckGo"
    price: ClassVar[Decimal] = Decimal(0)
    most_chars = 499

    @classmethod
    def configured(cls) -> Self | None:
        """Return the engine: it needs no key."""
        return cls(settings.DUCKDUCKGO_BASE_URL)

    async def ask(self, query: WebQuery, client: Client, now: datetime) -> ResultPage:
        """Return the first page."""
        place, honoured = region(query.country, query.language)
        span = SPANS[query.recency] if query.recency else ""
        fields = {"q": _words(query), "b": "", "kl": place, "df": span}
        cookies = "; ".join(f"{name}={fields[name]}" for name in ("kl", "df") if fields[name])
        headers = HEADERS | {"Referer": f"{self.address}/"} | ({"Cookie": cookies} if cookies else {})
        reply = await client.post_form(f"{self.address}/html/", fields, headers=headers)
        days = query.recency is not Recency.HOUR
        return ResultPage(
            await asyncio.to_thread(self._hits, reply), honoured | applied_filters(recency=days)
        )

    def outcome(self, reply: Reply) -> Outcome:
        """Know that nobody is refused for a key here."""
        return Outcome.UNAVAILABLE if reply.status == 403 else super().outcome(reply)

    def _hits(self, reply: Reply) -> list[Hit]:
        page = _parse_page(reply)
        results = page.xpath(_RESULTS) if page is not None else []
        hits = [hit for result in results if (hit := _hit(result))]
        if hits:
            return hits
        # By its marks: ordinary results have words such as “captcha” too.
        if page is not None and page.xpath(_CHALLENGE):
            raise failure(self.label, Outcome.BOT_CHALLENGE)
        if reply.status != 200:
            raise self.failed(reply)
        if page is None or not page.xpath(_WITH_CLASS.format("no-results")):
            raise self.misunderstood("neither results nor a message that there are none")
        return []


def _words(query: WebQuery) -> str:
    """Return the query with its lists as far as they fit; a `!bang` would lead to another site."""
    text = " ".join(f'"{word}"' if word.startswith("!") else word for word in query.text.split())
    quoted = replace(query, text=text if len(text) <= DuckDuckGo.most_chars else query.text.replace("!", ""))
    return with_sites(quoted, deny=not query.allow, most_chars=DuckDuckGo.most_chars)


def _parse_page(reply: Reply) -> html.HtmlElement | None:
    try:
        return html.document_fromstring(reply.body, parser=html.HTMLParser(encoding="utf-8"))
    except (ValueError, etree.ParserError):
        return None


def _hit(result: html.HtmlElement) -> Hit | None:
    """Return a result as a hit; None for an advertisement, and for the word that there are no more."""
    links = result.xpath(_WITH_CLASS.format("result__a"))
    if not links or "result--ad" in result.get("class", "").split():
        return None
    url = _target(links[0].get("href", ""))
    if matches(url, ITSELF):
        return None
    published = dates.iso(_text(result, "result__extras__url", "/span").strip("\xa0 "))
    return Hit(
        links[0].text_content(),
        url,
        _text(result, "result__snippet"),
        published_at=published.day,
        published_time=published.time,
    )


def _target(href: str) -> str:
    """Return where a link leads: itself, or what `/l/?uddg=` carries."""
    url = f"https:{href}" if href.startswith("//") else href
    parts = urlsplit(url)
    if parts.path == "/l/" and (carried := parse_qs(parts.query).get("uddg")):
        return carried[0]
    return url


def _text(result: html.HtmlElement, name: str, below: str = "") -> str:
    found: Sequence[html.HtmlElement] = result.xpath(_WITH_CLASS.format(name) + below)
    return str(found[-1].text_content()) if found else ""
