"""Perplexity's Search API: `POST /search`."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from tests.testing.search_engines.pages import WebPage, at_any, at_none, between, since
from tests.testing.search_engines.server import Failure, ProviderDouble, Refused, Reply, Request

Day = Annotated[str, StringConstraints(pattern=r"^\d\d/\d\d/\d{4}$")]
Entry = Annotated[str, StringConstraints(pattern=r"^-?(https?://)?\.?[a-z0-9.:_-]+(/\S*)?$")]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    query: Annotated[str, Field(min_length=1)]
    max_results: Annotated[int, Field(ge=1, le=20)] = 10
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    max_tokens_per_page: Annotated[int, Field(ge=1)] = 4096
    country: Annotated[str, Field(pattern="^[A-Z]{2}$")] = "US"
    search_domain_filter: Annotated[list[Entry], Field(min_length=1, max_length=20)] | None = None
    search_language_filter: Annotated[list[str], Field(min_length=1, max_length=10)] | None = None
    search_recency_filter: Literal["hour", "day", "week", "month", "year"] | None = None
    search_after_date_filter: Day | None = None
    search_before_date_filter: Day | None = None
    last_updated_after_filter: Day | None = None
    last_updated_before_filter: Day | None = None

    @model_validator(mode="after")
    def _one_kind_of_list(self) -> Self:
        assert len({entry.startswith("-") for entry in self.search_domain_filter or []}) < 2
        return self


class PerplexityDouble(ProviderDouble):
    name: ClassVar[str] = "perplexity"
    method: ClassVar[str] = "POST"
    path: ClassVar[str] = "/search"

    def answer(self, request: Request) -> Reply:
        if request.headers.get("authorization") != f"Bearer {self.key}":
            return self._error(401, "Invalid API key provided.")
        if "max_tokens_per_page" not in request.params:
            raise Refused("without a limit a page has thousands of tokens")
        found = _found(self.pages, request.read(Body))
        return Reply(200, {"id": "e38", "server_time": None, "results": [_result(page) for page in found]})

    def refusal(self, problem: str) -> Reply:
        detail = [{"loc": ["body"], "msg": problem + self.said_besides, "type": "value_error"}]
        return Reply(422, {"detail": detail})

    def failure(self, failure: Failure) -> Reply | None:
        match failure:
            case Failure.RATE_LIMITED:
                return self._error(429, "Too many requests.", {"Retry-After": "5"})
            case Failure.QUOTA:
                return self._error(402, "Insufficient credit.")
            case Failure.BAD_KEY:
                return self._error(401, "Invalid API key provided.")
            case Failure.FORBIDDEN:
                return self._error(403, "Forbidden.")
            case Failure.INVALID:
                return self._error(400, "Bad request.")
            case Failure.ERROR_IN_200:
                return self._error(200, "Something went wrong.")
            case Failure.OVERLOADED:
                return self._error(503, "Overloaded.")
        return None

    def _error(self, status: int, text: str, headers: dict[str, str] | None = None) -> Reply:
        error = {"message": text + self.said_besides, "type": "error", "code": status}
        return Reply(status, {"error": error}, headers or {})


def _found(pages: Any, body: Body) -> list[WebPage]:
    entries = body.search_domain_filter or []
    found = at_none(pages, [entry[1:] for entry in entries if entry.startswith("-")])
    if allowed := [entry for entry in entries if not entry.startswith("-")]:
        found = at_any(found, allowed)
    found = since(found, body.search_recency_filter)
    found = between(found, _day(body.search_after_date_filter), _day(body.search_before_date_filter))
    after, before = _day(body.last_updated_after_filter), _day(body.last_updated_before_filter)
    if after or before:
        days = [(page, page.updated) for page in found if page.updated]
        found = [page for page, day in days if (after or date.min) <= day <= (before or date.max)]
    return found[: body.max_results]


def _day(text: str | None) -> date | None:
    return datetime.strptime(text, "%m/%d/%Y").date() if text else None


def _result(page: WebPage) -> dict[str, Any]:
    return {
        "title": page.title,
        "url": page.url,
        "snippet": page.snippet,
        "date": page.published and page.published.strftime("%Y-%m-%d"),
        "last_updated": page.updated and page.updated.isoformat(),
    }
