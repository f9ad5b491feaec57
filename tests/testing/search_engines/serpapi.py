"""SerpAPI, engine google: `GET /search.json`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tests.testing.search_engines.pages import WebPage, between, by_operators, since
from tests.testing.search_engines.server import Failure, ProviderDouble, Reply, Request

PAGE = 10
TBS = re.compile(r"qdr:([hdwmy])|cdr:1,cd_min:(\d\d/\d\d/\d{4}),cd_max:(\d\d/\d\d/\d{4})")
SPANS = {"h": "hour", "d": "day", "w": "week", "m": "month", "y": "year"}
HL = """
ar bg ca hr cs da nl en et fi fr de el hu is id it iw ja ko lv lt no pl pt pt-br ro ru sr sk sl es sv tr zh-cn
zh-tw
"""
LR = """
ar bg ca zh-CN zh-TW hr cs da nl en et fi fr de el iw hu is id it ja ko lv lt no pl pt ro ru sr sk sl es sv tr
"""


class Params(BaseModel):
    model_config = ConfigDict(extra="forbid")

    engine: Literal["google"]
    api_key: str
    q: Annotated[str, Field(min_length=1)]
    gl: Annotated[str, Field(pattern=r"^[a-z]{2}$")] = "us"
    hl: str = "en"
    lr: str = "lang_en"
    location: str = ""
    lat: Annotated[float, Field(ge=-90, le=90)] | None = None
    lon: Annotated[float, Field(ge=-180, le=180)] | None = None
    start: Annotated[int, Field(multiple_of=PAGE)] = 0
    tbs: Annotated[str, Field(pattern=f"^(?:{TBS.pattern})$")] = ""

    @model_validator(mode="after")
    def _known(self) -> Self:
        assert self.gl != "gb", "Unsupported `gb` country - gl parameter."
        assert self.hl in HL.split(), "Unsupported language - hl parameter."
        assert self.lr.removeprefix("lang_") in LR.split(), "Unsupported language - lr parameter."
        assert (self.lat is None) == (self.lon is None)
        assert self.lat is None or not self.location
        return self


class SerpApiDouble(ProviderDouble):
    name: ClassVar[str] = "serpapi"
    path: ClassVar[str] = "/search.json"

    def answer(self, request: Request) -> Reply:
        if request.params.get("api_key") != self.key:
            return self._error(
                401, "Invalid API key. Your API key should be here: https://serpapi.com/manage"
            )
        params = request.read(Params)
        found = _found(self.pages, params)[params.start : params.start + PAGE]
        body: dict[str, Any] = {
            "search_metadata": {"id": "65f", "status": "Success", "total_time_taken": 1.2},
            "search_parameters": {"engine": "google", "q": params.q, "gl": params.gl},
        }
        if not found:
            return Reply(200, body | NO_HITS)
        results = [_result(position, page) for position, page in enumerate(found, start=1)]
        return Reply(200, body | {"organic_results": results})

    def refusal(self, problem: str) -> Reply:
        return self._error(400, problem)

    def failure(self, failure: Failure) -> Reply | None:
        match failure:
            case Failure.RATE_LIMITED:
                return self._error(429, "You are exceeding 200 searches per hour.")
            case Failure.QUOTA:
                return self._error(429, "Your account has run out of searches.")
            case Failure.BAD_KEY:
                return self._error(401, "Invalid API key.")
            case Failure.FORBIDDEN:
                return self._error(403, "Your account is not allowed to do this.")
            case Failure.INVALID:
                return self._error(400, "Unsupported `xx` country - gl parameter.")
            case Failure.ERROR_IN_200:
                return Reply(200, {"search_metadata": {"id": "65f", "status": "Error"}, "error": "We tried."})
            case Failure.OVERLOADED:
                return Reply(503, {"search_metadata": {"id": "65f", "status": "Error"}, "error": "We tried."})
        return None

    def _error(self, status: int, text: str) -> Reply:
        return Reply(status, {"error": text + self.said_besides})


NO_HITS = {
    "search_information": {"organic_results_state": "Fully empty"},
    "error": "Google hasn't returned any results for this query.",
}


def _found(pages: Any, params: Params) -> list[WebPage]:
    found = by_operators(pages, params.q)
    said = TBS.fullmatch(params.tbs)
    if said is None:
        return found
    if said[1]:
        return since(found, SPANS[said[1]])
    return between(found, *(datetime.strptime(day, "%m/%d/%Y").date() for day in said.groups()[1:]))


def _result(position: int, page: WebPage) -> dict[str, Any]:
    result = {"position": position, "title": page.title, "link": page.url, "displayed_link": page.host}
    if page.snippet:
        result |= {"snippet": page.snippet, "source": page.host.title()}
    if page.published:
        days = (datetime.now(UTC).date() - page.published.date()).days
        result["date"] = f"{days} days ago" if 1 < days < 7 else page.published.strftime("%b %d, %Y")
    return result
