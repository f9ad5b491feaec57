"""Tavily: `POST /search`."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from tests.testing.search_engines.pages import at_any, at_none, between, since
from tests.testing.search_engines.server import Failure, ProviderDouble, Refused, Reply, Request

Domain = Annotated[str, StringConstraints(pattern=r"^(\*\.)?[a-z0-9.:_-]+(/\S*)?$")]
SPANS = {"d": "day", "w": "week", "m": "month", "y": "year"}


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    query: Annotated[str, Field(min_length=1)]
    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] = "basic"
    max_results: Annotated[int, Field(ge=0, le=20)] = 5
    topic: Literal["general", "news", "finance"] = "general"
    time_range: Literal["day", "week", "month", "year", "d", "w", "m", "y"] = "year"
    start_date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")] = ""
    end_date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")] = ""
    include_domains: Annotated[list[Domain], Field(max_length=300)] = []
    include_domains_mode: Literal["restrict", "prefer"] = "restrict"
    exclude_domains: Annotated[list[Domain], Field(max_length=150)] = []
    country: Annotated[str, Field(pattern=r"^[a-z ]{4,}$")] = ""
    language: Annotated[str, Field(pattern=r"^[a-z]{2}$")] = ""
    filter_by_language: bool = False

    @model_validator(mode="after")
    def _one_way_to_say_when(self) -> Self:
        given = self.model_fields_set
        assert not ("time_range" in given and given & {"start_date", "end_date"})
        assert self.topic == "general" or not self.country
        assert self.language or not self.filter_by_language
        return self


class TavilyDouble(ProviderDouble):
    name: ClassVar[str] = "tavily"
    method: ClassVar[str] = "POST"
    path: ClassVar[str] = "/search"

    def answer(self, request: Request) -> Reply:
        if request.headers.get("authorization") != f"Bearer {self.key}":
            return self._error(401, "Unauthorized: missing or invalid API key.")
        if any(value in ("", None, []) for value in request.params.values()):
            raise Refused("empty values are not allowed")
        found = self._found(request.read(Body))
        results = [
            {
                "title": page.title,
                "url": page.url,
                "content": page.snippet,
                "score": round(0.99 - rank / 100, 2),
                "raw_content": None,
            }
            for rank, page in enumerate(found)
        ]
        return Reply(
            200, {"query": request.params["query"], "images": [], "results": results, "response_time": 1.1}
        )

    def refusal(self, problem: str) -> Reply:
        return self._error(400, problem)

    def failure(self, failure: Failure) -> Reply | None:
        match failure:
            case Failure.RATE_LIMITED:
                return self._error(429, "Your request has been blocked.", {"Retry-After": "7"})
            case Failure.QUOTA:
                return self._error(432, "This request exceeds your plan's set usage limit.")
            case Failure.OVERLOADED:
                return self._error(503, "Overloaded.")
            case Failure.BAD_KEY:
                return self._error(401, "Unauthorized: missing or invalid API key.")
            case Failure.FORBIDDEN:
                return self._error(403, "Forbidden.")
            case Failure.INVALID:
                return self._error(422, "Unprocessable.")
            case Failure.ERROR_IN_200:
                return self._error(200, "Something went wrong.")
        return None

    def _found(self, body: Body) -> list[Any]:
        found = at_none(self.pages, body.exclude_domains)
        if body.include_domains and body.include_domains_mode == "restrict":
            found = at_any(found, body.include_domains)
        if "time_range" in body.model_fields_set:
            found = since(found, SPANS[body.time_range[0]])
        ends = [date.fromisoformat(end) if end else None for end in (body.start_date, body.end_date)]
        return between(found, *ends)[: body.max_results]

    def _error(self, status: int, text: str, headers: dict[str, str] | None = None) -> Reply:
        return Reply(status, {"detail": {"error": text + self.said_besides}}, headers or {})
