"""DuckDuckGo's page for browsers without scripts: `POST /html/`."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from tests.testing.search_engines.pages import WebPage, by_operators, since
from tests.testing.search_engines.server import Failure, ProviderDouble, Reply, Request

SPANS = {"d": "day", "w": "week", "m": "month", "y": "year"}
NEEDED = {
    "user-agent": "Mozilla/5.0",
    "accept": "text/html",
    "accept-language": "en",
    "referer": "http",
    "sec-fetch-dest": "document",
    "sec-fetch-mode": "navigate",
    "sec-fetch-site": "same-origin",
    "sec-fetch-user": "?1",
}
HTML = {"Content-Type": "text/html; charset=UTF-8"}
AD = """
<div class="result results_links results_links_deep result--ad web-result ">
 <div class="links_main links_deep result__body">
  <h2 class="result__title">
   <a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=shop.example">Buy tea</a></h2>
  <a class="result__snippet" href="https://duckduckgo.com/y.js?ad_domain=shop.example">Tea!</a></div></div>
"""
NO_MORE = """
<div class="result results_links results_links_deep web-result result--no-result">
 <div class="links_main links_deep result__body"><div class="no-results">No more results.</div></div></div>
"""
CHALLENGE = """
<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html" method="POST">
 <div class="anomaly-modal__mask">
  <div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></div></form>
"""


class Form(BaseModel):
    model_config = ConfigDict(extra="forbid")

    q: Annotated[str, Field(min_length=1)]
    b: Literal[""]
    kl: Annotated[str, StringConstraints(pattern=r"^([a-z]{2}-[a-z]{2,3}|wt-wt)?$")] = ""
    df: Literal["", "d", "w", "m", "y"] = ""


@dataclass
class DuckDuckGoDouble(ProviderDouble):
    redirects: bool = True
    """Whether links lead over `/l/?uddg=`."""

    name: ClassVar[str] = "duckduckgo"
    method: ClassVar[str] = "POST"
    path: ClassVar[str] = "/html/"

    @property
    def settings(self) -> dict[str, Any]:
        return {"DUCKDUCKGO_BASE_URL": self.url}

    def answer(self, request: Request) -> Reply:
        if not all(request.headers.get(name, "").startswith(value) for name, value in NEEDED.items()):
            return self.challenge(202)
        form = request.read(Form)
        if len(form.q) >= 500:
            return Reply(200, b"", HTML)
        if any(word.startswith("!") for word in form.q.split()):
            return Reply(303, b"", {"Location": "http://127.0.0.1:9/"})
        sent = {name: value for name, value in (("kl", form.kl), ("df", form.df)) if value}
        cookies = "; ".join(f"{name}={value}" for name, value in sent.items())
        if request.headers.get("cookie", "") != cookies:
            return self.challenge(202)
        found = since(by_operators(self.pages, form.q), SPANS.get(form.df))
        return self.page(AD + "".join(self._result(page) for page in found[:10]) + ("" if found else NO_MORE))

    def refusal(self, problem: str) -> Reply:
        return Reply(400, problem.encode(), HTML)

    def failure(self, failure: Failure) -> Reply | None:
        match failure:
            case Failure.CHALLENGE:
                return self.challenge(202)
            case Failure.FORBIDDEN:
                return Reply(403, b"<h1>Forbidden</h1>", HTML)
            case Failure.OVERLOADED:
                return Reply(503, b"<h1>Service Unavailable</h1>", HTML)
            case Failure.WRONG_SHAPE:
                return self.page("<article><a href='https://tea.example/'>New markup!</a></article>")
        return None

    def challenge(self, status: int) -> Reply:
        """Reply with the page that asks to prove that one is no robot."""
        return Reply(status, f"<html><body>{CHALLENGE}</body></html>".encode(), HTML)

    def page(self, results: str) -> Reply:
        """Reply with a page of results."""
        body = f'<div id="links" class="results">{results}</div>'
        return Reply(200, f"<!DOCTYPE html><html><body>{body}</body></html>".encode(), HTML)

    def _result(self, page: WebPage) -> str:
        url = page.url
        if self.redirects:
            url = f"//duckduckgo.com/l/?uddg={quote(page.url, safe='')}&rut=abc"
        day = (
            f"<span>&nbsp; &nbsp; {page.published:%Y-%m-%dT%H:%M:%S}.0000000</span>" if page.published else ""
        )
        href, title, snippet = html.escape(url), html.escape(page.title), html.escape(page.snippet)
        return f"""
<div class="result results_links results_links_deep web-result ">
 <div class="links_main links_deep result__body">
  <h2 class="result__title"><a rel="nofollow" class="result__a" href="{href}">{title}</a></h2>
  <div class="result__extras"><div class="result__extras__url">
    <a class="result__url" href="{href}">{page.host}</a>{day}</div></div>
  <a class="result__snippet" href="{href}"><b></b>{snippet}</a></div></div>"""
