"""Brave Search (https://api-dashboard.search.brave.com/app/documentation/web-search/query)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Literal

from pydantic import BaseModel, Field

from search.web import dates
from search.web.base import Hit, Location, Outcome, Recency, WebQuery
from search.web.domains import DomainRule, in_all
from search.web.filters import window
from search.web.providers.client import Client, Reply
from search.web.providers.engine import (
    Engine,
    ResultPage,
    Text,
    applied_filters,
    applied_times,
    hits_to_request,
)
from search.web.providers.operators import with_sites

FRESHNESS = {
    Recency.HOUR: "pd",
    Recency.DAY: "pd",
    Recency.WEEK: "pw",
    Recency.MONTH: "pm",
    Recency.YEAR: "py",
}
# Ranges need both ends.
EARLIEST = "1970-01-01"
ANYWHERE = "ALL"
_COUNTRIES = """
AR AU AT BE BR CA CL CN DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO PH PL PT RU SA ZA ES SE CH TW TR GB US
"""
COUNTRIES = frozenset(_COUNTRIES.split())
# Not quite ISO 639-1; any other is refused.
_LANGUAGES = """
ar bg bn ca cs da de en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nb nl pa pl ro ru sk sl sr
sv ta te th tr uk vi
"""
LANGUAGES = {code: code for code in _LANGUAGES.split()} | {
    "ja": "jp",
    "no": "nb",
    "pt": "pt-pt",
    "zh": "zh-hans",
}
LANGUAGES_OF = {("pt", "BR"): "pt-br", ("zh", "TW"): "zh-hant", ("zh", "HK"): "zh-hant"}
BOOST = 3
"""Of 1 to 10."""
MOST_RULES = 50
"""Of each kind but those that allow: they travel in the address, and a deployment may have hundreds."""


class _Profile(BaseModel):
    name: Text = ""


class _Result(BaseModel):
    title: Text = ""
    url: Text = ""
    description: Text = ""
    page_age: Text = ""
    profile: _Profile | None = None


class _Web(BaseModel):
    results: list[_Result] = []


class _Reply(BaseModel):
    type: Literal["search"]
    # Absent where nothing is found.
    web: _Web = Field(default_factory=_Web)


class Brave(Engine):
    """Its own index; takes all filters but that of the last update."""

    name: ClassVar[str] = "brave"
    label = "Brave"
    price: ClassVar[Decimal] = Decimal("0.005")
    key_setting = "BRAVE_API_KEY"
    address_setting = "BRAVE_BASE_URL"
    most_chars = 400
    most_words = 50

    async def ask(self, query: WebQuery, client: Client, now: datetime) -> ResultPage:
        """Return the first page of web results."""
        narrowing = _narrowing(query, now)
        headers = {
            "X-Subscription-Token": self.key,
            "Accept": "application/json",
            "Cache-Control": "no-cache",
        }
        whereabouts = _whereabouts(query.location)
        params = {
            "q": _words(query),
            "count": str(hits_to_request(query)),
            "text_decorations": "false",
            "result_filter": "web",
            **narrowing,
        }
        reply = await client.get(f"{self.address}/res/v1/web/search", params, headers=headers | whereabouts)
        honoured = applied_filters(
            country=narrowing.get("country") != ANYWHERE,
            language="search_lang" in narrowing,
            location=whereabouts,
        )
        return ResultPage(map(_hit, self.read(reply, _Reply).web.results), honoured | applied_times(query))

    def outcome(self, reply: Reply) -> Outcome:
        """Tell a bad key from a bad parameter, and a month's quota from a second's."""
        error = _error(reply)
        if reply.status == 422 and "TOKEN" in str(error.get("code")):
            return Outcome.AUTH
        if reply.status == 429 and _is_used_up(reply, error):
            return Outcome.QUOTA
        return super().outcome(reply)

    def retry_after(self, reply: Reply) -> float | None:
        """Return when the last of the windows that are used up begins anew."""
        resets, left = _windows(reply, "Reset"), _windows(reply, "Remaining")
        used_up = [reset for reset, remaining in zip(resets, left, strict=False) if not remaining]
        return max(used_up or resets[:1], default=reply.retry_after)


def _words(query: WebQuery) -> str:
    """Return the words, with the sites that are allowed where a goggle can't tell them."""
    if _is_for_goggles(query):
        return query.text
    words = with_sites(query, deny=False, most_chars=Brave.most_chars)
    return words if len(words.split()) <= Brave.most_words else query.text


def _is_for_goggles(query: WebQuery) -> bool:
    return not any(rule.is_suffix for rule in in_all(query.allow or ((),)))


def _narrowing(query: WebQuery, now: datetime) -> dict[str, str]:
    language = query.language or ""
    sent = {
        "freshness": _freshness(query, now),
        "country": (query.country if query.country in COUNTRIES else ANYWHERE) if query.country else "",
        "search_lang": LANGUAGES_OF.get((language, query.country or ""), LANGUAGES.get(language, "")),
        "goggles": _goggles(query),
    }
    return {name: value for name, value in sent.items() if value}


def _freshness(query: WebQuery, now: datetime) -> str:
    if query.published:
        days = window(query, now)
        return f"{days.after or EARLIEST}to{days.before or now.date()}"
    return FRESHNESS[query.recency] if query.recency else ""


def _goggles(query: WebQuery) -> str:
    """Return the lists as rules of a goggle, of which only sites are sure: our own look does the rest."""
    lines: list[str] = []
    if query.allow and _is_for_goggles(query):
        lines += ["$discard", *_rules("$", in_all(query.allow))]
    denied = [rule for rule in query.deny if rule.is_exactly_a_site and not rule.is_suffix]
    lines += _rules("$discard,", denied[:MOST_RULES])
    preferred = [rule for rule in query.prefer if not rule.is_suffix]
    lines += _rules(f"$boost={BOOST},", preferred[:MOST_RULES])
    return "\n".join(lines)


def _rules(effect: str, rules: Sequence[DomainRule]) -> list[str]:
    return [f"{effect}site={host}" for host in dict.fromkeys(rule.host for rule in rules)]


def _whereabouts(location: Location | None) -> dict[str, str]:
    if location is None:
        return {}
    region = _ascii(location.region)
    sent = {
        "X-Loc-Lat": "" if location.latitude is None else f"{location.latitude:.6f}",
        "X-Loc-Long": "" if location.longitude is None else f"{location.longitude:.6f}",
        "X-Loc-City": _ascii(location.city),
        # A code is a state, anything longer a state's name.
        "X-Loc-State" if len(region) <= 3 else "X-Loc-State-Name": region,
        "X-Loc-Country": location.country or "",
    }
    return {name: value for name, value in sent.items() if value}


def _ascii(name: str | None) -> str:
    """Return a name without its accents, or nothing if it has other letters: headers are ASCII."""
    plain = unicodedata.normalize("NFKD", name or "")
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    return plain if plain.isascii() and plain.isprintable() else ""


def _hit(result: _Result) -> Hit:
    published = dates.iso(result.page_age)
    return Hit(
        result.title,
        result.url,
        result.description,
        site_name=result.profile.name if result.profile else None,
        published_at=published.day,
        published_time=published.time,
    )


def _error(reply: Reply) -> dict[str, object]:
    error = reply.json_object().get("error")
    return error if isinstance(error, dict) else {}


def _is_used_up(reply: Reply, error: dict[str, object]) -> bool:
    """Tell whether the longest window, the last one, has nothing left."""
    meta = error.get("meta")
    limits = meta if isinstance(meta, dict) else {}
    limit, current = limits.get("quota_limit"), limits.get("quota_current")
    if isinstance(limit, int) and isinstance(current, int) and limit > 0:
        return current >= limit
    remaining = _windows(reply, "Remaining")
    return len(remaining) > 1 and remaining[-1] == 0


def _windows(reply: Reply, name: str) -> list[float]:
    """Return what a header `X-RateLimit-…` says of each window: a second, a month."""
    values = reply.headers.get(f"X-RateLimit-{name}", "").split(",")
    return [float(value) for value in map(str.strip, values) if value.isascii() and value.isdigit()]
