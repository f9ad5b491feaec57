"""SearXNG: `GET /search?format=json`."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field

from tests.testing.search_engines.pages import WebPage, by_operators, since
from tests.testing.search_engines.server import Failure, ProviderDouble, Reply, Request


class Params(BaseModel):
    model_config = ConfigDict(extra="forbid")

    q: Annotated[str, Field(min_length=1)]
    format: Literal["json"]
    language: Annotated[str, Field(pattern=r"^(all|auto|[a-z]{2,3}(-[a-zA-Z]{2})?)$")] = "auto"
    pageno: Annotated[int, Field(ge=1)] = 1
    time_range: Literal["day", "week", "month", "year"] | None = None
    timeout_limit: Annotated[float, Field(gt=0)] = 3.0


@dataclass
class SearXngDouble(ProviderDouble):
    user: str = "locus"
    """Whom the proxy before the instance lets in, with `key` as password; empty if there is no proxy."""
    page_size: int = 10
    unresponsive: int = 0
    """How many engines could not be asked."""

    name: ClassVar[str] = "searxng"
    path: ClassVar[str] = "/search"

    @property
    def settings(self) -> dict[str, Any]:
        login = f"{quote(self.user, safe='')}:{quote(self.key, safe='')}@" if self.user else ""
        return {"SEARXNG_BASE_URL": self.url.replace("http://", f"http://{login}")}

    def answer(self, request: Request) -> Reply:
        expected = f"Basic {base64.b64encode(f'{self.user}:{self.key}'.encode()).decode()}"
        if self.user and request.headers.get("authorization") != expected:
            return Reply(401, b"<h1>401 Authorization Required</h1>", {"Content-Type": "text/html"})
        params = request.read(Params)
        found = since(by_operators(self.pages, params.q), params.time_range)
        start = (params.pageno - 1) * self.page_size
        shown = list(enumerate(found))[start : start + self.page_size]
        return Reply(200, self._body(params.q, [_result(rank, page) for rank, page in shown]))

    def refusal(self, problem: str) -> Reply:
        return Reply(400, {"error": problem + self.said_besides})

    def failure(self, failure: Failure) -> Reply | None:
        page = {"Content-Type": "text/html"}
        match failure:
            case Failure.RATE_LIMITED:
                return Reply(429, b"Too Many Requests", page | {"Retry-After": "3600"})
            case Failure.FORBIDDEN:
                return Reply(403, b"<h1>Forbidden</h1>", page)
            case Failure.INVALID:
                return Reply(400, {"error": "No query" + self.said_besides})
            case Failure.ERROR_IN_200:
                return Reply(200, self._body("", []) | {"unresponsive_engines": [["qwant", "timeout"]]})
            case Failure.OVERLOADED:
                return Reply(500, {"error": "search error"})
        return None

    def _body(self, words: str, results: list[dict[str, Any]]) -> dict[str, Any]:
        down = [["duckduckgo", "CAPTCHA"], ["qwant", "Suspended: timeout"]][: self.unresponsive]
        rest: dict[str, Any] = {name: [] for name in ("answers", "corrections", "infoboxes", "suggestions")}
        return {"query": words, "results": results, "unresponsive_engines": down, **rest}


def _result(rank: int, page: WebPage) -> dict[str, Any]:
    return {
        "url": page.url,
        "title": page.title,
        "content": page.snippet,
        "engine": "brave",
        "engines": ["brave", "google"],
        "score": 5.33 / (rank + 1),
        "category": "general",
        "publishedDate": page.published and page.published.strftime("%Y-%m-%dT%H:%M:%S"),
        "thumbnail": "",
    }
