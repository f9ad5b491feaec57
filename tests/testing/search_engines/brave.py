"""Brave Search: `GET /res/v1/web/search`."""

from __future__ import annotations

import html
import re
from datetime import date
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from tests.testing.search_engines.pages import WebPage, at_any, at_none, between, by_operators, since
from tests.testing.search_engines.server import Failure, ProviderDouble, Refused, Reply, Request

COUNTRIES = """
ALL AR AU AT BE BR CA CL CN DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO PH PL PT RU SA ZA ES SE CH TW TR GB
US
"""
LANGUAGES = """
ar bg bn ca cs da de en en-gb es et eu fi fr gl gu he hi hr hu is it jp kn ko lt lv ml mr ms nb nl pa pl pt-br
pt-pt ro ru sk sl sr sv ta te th tr uk vi zh-hans zh-hant
"""
SPANS = {"pd": "day", "pw": "week", "pm": "month", "py": "year"}
RANGE = re.compile(r"(\d{4}-\d\d-\d\d)to(\d{4}-\d\d-\d\d)")
RULE = re.compile(r"\$(?:discard|discard,site=[^,]+|site=[^,]+|boost=(?:[1-9]|10),site=[^,]+)")
# A second, a month.
WINDOWS = {
    "X-RateLimit-Limit": "1, 15000",
    "X-RateLimit-Policy": "1;w=1, 15000;w=2592000",
    "X-RateLimit-Remaining": "1, 1000",
    "X-RateLimit-Reset": "1, 1419704",
}


class Params(BaseModel):
    model_config = ConfigDict(extra="forbid")

    q: str = Field(min_length=1, max_length=400)
    country: str = "US"
    search_lang: str = "en"
    count: int = Field(20, ge=1, le=20)
    offset: int = Field(0, ge=0, le=9)
    safesearch: Literal["off", "moderate", "strict"] = "moderate"
    freshness: str = ""
    text_decorations: Literal["true", "false"] = "true"
    spellcheck: Literal["true", "false"] = "true"
    result_filter: Literal["web"] = "web"
    extra_snippets: Literal["true", "false"] = "false"
    goggles: str = ""

    @field_validator("q")
    @classmethod
    def _few_words(cls, q: str) -> str:
        assert len(q.split()) <= 50
        return q

    @field_validator("country")
    @classmethod
    def _known_country(cls, country: str) -> str:
        assert country in COUNTRIES.split()
        return country

    @field_validator("search_lang")
    @classmethod
    def _known_language(cls, language: str) -> str:
        assert language in LANGUAGES.split()
        return language

    @field_validator("freshness")
    @classmethod
    def _known_freshness(cls, freshness: str) -> str:
        assert freshness in SPANS or RANGE.fullmatch(freshness)
        return freshness

    @field_validator("goggles")
    @classmethod
    def _rules(cls, goggles: str) -> str:
        assert all(RULE.fullmatch(line) for line in goggles.split("\n"))
        return goggles


class BraveDouble(ProviderDouble):
    name: ClassVar[str] = "brave"
    path: ClassVar[str] = "/res/v1/web/search"

    def answer(self, request: Request) -> Reply:
        if request.headers.get("x-subscription-token") != self.key:
            return self._error(422, "SUBSCRIPTION_TOKEN_INVALID", "The provided token is invalid.")
        params = request.read(Params)
        _check_whereabouts(request.headers)
        if params.text_decorations == "true":
            raise Refused("the marks would end up in snippets")
        body: dict[str, Any] = {"type": "search", "query": {"original": params.q}}
        if results := [_result(page) for page in _found(self.pages, params)]:
            body["web"] = {"type": "search", "results": results[: params.count]}
        return Reply(200, body, WINDOWS)

    def refusal(self, problem: str) -> Reply:
        return self._error(422, "VALIDATION", problem)

    def failure(self, failure: Failure) -> Reply | None:
        match failure:
            case Failure.RATE_LIMITED:
                limits = {"X-RateLimit-Remaining": "0, 1000", "X-RateLimit-Reset": "2, 1419704"}
                meta = {"rate_limit": 1, "rate_current": 1, "quota_limit": 15000, "quota_current": 14000}
                return self._error(429, "RATE_LIMITED", "Slow down.", meta, limits)
            case Failure.QUOTA:
                limits = {"X-RateLimit-Remaining": "1, 0", "X-RateLimit-Reset": "1, 1419704"}
                meta = {"rate_limit": 1, "rate_current": 0, "quota_limit": 15000, "quota_current": 15000}
                return self._error(429, "RATE_LIMITED", "Quota exceeded.", meta, limits)
            case Failure.BAD_KEY:
                return self._error(422, "SUBSCRIPTION_TOKEN_INVALID", "The provided token is invalid.")
            case Failure.FORBIDDEN:
                return self._error(403, "RESOURCE_NOT_ALLOWED", "Not in your plan.")
            case Failure.INVALID:
                return self._error(422, "VALIDATION", "Unable to validate request parameter(s)")
            case Failure.ERROR_IN_200:
                return self._error(200, "INTERNAL", "Something went wrong.")
            case Failure.OVERLOADED:
                return self._error(503, "UNAVAILABLE", "Try later.")
        return None

    def _error(
        self,
        status: int,
        code: str,
        detail: str,
        meta: dict[str, Any] | None = None,
        limits: dict[str, str] | None = None,
    ) -> Reply:
        error = {"id": "1", "status": status, "code": code, "detail": detail + self.said_besides}
        body = {"type": "ErrorResponse", "error": error | {"meta": meta or {}}, "time": 1773685964}
        return Reply(status, body, WINDOWS | (limits or {}))


def _check_whereabouts(headers: dict[str, str]) -> None:
    latitude, longitude = float(headers.get("x-loc-lat", 0)), float(headers.get("x-loc-long", 0))
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise Refused("X-Loc-Lat, X-Loc-Long")
    if not re.fullmatch("[A-Z]{2}", headers.get("x-loc-country", "US")):
        raise Refused("X-Loc-Country")


def _found(pages: Any, params: Params) -> list[WebPage]:
    found = by_operators(pages, params.q)
    rules = params.goggles.split("\n")
    if allowed := [rule.removeprefix("$site=") for rule in rules if rule.startswith("$site=")]:
        if "$discard" not in rules:
            raise Refused("without $discard the rest is found too")
        found = at_any(found, allowed)
    prefix = "$discard,site="
    found = at_none(found, [rule.removeprefix(prefix) for rule in rules if rule.startswith(prefix)])
    if days := RANGE.fullmatch(params.freshness):
        return between(found, date.fromisoformat(days[1]), date.fromisoformat(days[2]))
    return since(found, SPANS.get(params.freshness))


def _result(page: WebPage) -> dict[str, Any]:
    result = {
        "title": html.escape(page.title),
        "url": page.url,
        "description": html.escape(page.snippet),
        "language": "en",
        "meta_url": {"hostname": page.host},
        "profile": {"name": page.host.title()},
    }
    if page.published:
        result["page_age"] = page.published.strftime("%Y-%m-%dT%H:%M:%S")
        result["age"] = page.published.strftime("%B %d, %Y")
    return result
