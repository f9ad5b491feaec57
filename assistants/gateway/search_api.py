"""`POST /search`, as Perplexity's client asks: pages of the web, without an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from assistants.gateway.errors import UnsupportedParameter, UnsupportedTool, stored_error_response
from assistants.gateway.leaving import end_when_client_leaves
from assistants.gateway.request import GatewayFields
from assistants.gateway.view import GatewayView, wait_for
from core.api.validation import validated
from core.errors import LocusError, status_of
from runs.api import HEADER, begin_or_find
from runs.registry import tool_named
from runs.request import Call
from search.inputs import QueryText
from search.web.inputs import WebOptions
from search.web.preferences import are_web_tools_offered

MOST_QUERIES = 5
DEFAULT_RESULTS = 10
SIZES = ("search_context_size", "max_tokens", "max_tokens_per_page")


class PageSearch(GatewayFields):
    """A body of `POST /search`; our own options of `web_search` may stand beside theirs."""

    model_config = {"extra": "allow"}

    query: QueryText | Annotated[list[QueryText], Field(min_length=1, max_length=MOST_QUERIES)]
    max_results: int = Field(DEFAULT_RESULTS, ge=1, le=20)
    search_mode: Literal["web", "academic", "sec"] | None = None
    search_type: Literal["web", "fast", "people"] | None = None
    search_language_filter: Annotated[list[str], Field(max_length=20)] | None = None

    @property
    def queries(self) -> list[str]:
        """The queries, each of which is one search."""
        return [self.query] if isinstance(self.query, str) else self.query

    def options(self) -> dict[str, Any]:
        """Return the options of each search as `web_search` takes them."""
        if self.search_mode not in (None, "web"):
            raise UnsupportedParameter("Only the web is searched here.", param="search_mode")
        if self.search_type == "people":
            raise UnsupportedParameter("People are not searched for here.", param="search_type")
        given = {
            name: value
            for name, value in (self.model_extra or {}).items()
            if name in WebOptions.model_fields and value is not None
        }
        if languages := self.search_language_filter:
            if len(languages) > 1:
                raise UnsupportedParameter("One language at a time.", param="search_language_filter")
            given["language"] = languages[0]
        return {"count": self.max_results, **given, "mode": "results"}


class PerplexitySearchView(GatewayView):
    """Searches the web."""

    def post(self, request: Request) -> Response:
        """Return pages; several queries have one list, each page once."""
        if not are_web_tools_offered():
            raise UnsupportedTool("This installation does not go to the web.")
        body = validated(PageSearch, request.data)
        options = body.options()
        calls = [self._call(request, body, options, query) for query in body.queries]
        # An `Idempotency-Key` names one execution.
        executions = [begin_or_find(request, call, is_only=len(calls) == 1) for call in calls]
        for execution in executions:
            # They are read one after the other.
            end_when_client_leaves(execution.pk)
        finished = [
            wait_for(call.principal, execution) for call, execution in zip(calls, executions, strict=True)
        ]
        for one in finished:
            if one.error:
                return stored_error_response(one.error, status_of(one.error["code"]))
        found = [page for one in finished for page in (one.result or {}).get("results", ())]
        results = {page["url"]: _page(page) for page in found}
        reply = {"id": finished[0].pk, "results": list(results.values()), "server_time": None}
        return Response(reply, headers={HEADER: finished[0].pk})

    @staticmethod
    def _call(request: Request, body: PageSearch, options: Mapping[str, Any], query: str) -> Call:
        inputs = {**options, "query": query, **body.asker_json()}
        try:
            return Call.parse(principal_of(request), tool_named("web_search"), inputs)
        except LocusError as error:
            error.param = {"count": "max_results", "language": "search_language_filter"}.get(
                error.param or "", error.param
            )
            raise


def _page(result: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "title": result["title"],
        "url": result["url"],
        "snippet": result.get("body") or result["snippet"],
        "date": _day(result["published_at"]),
        "last_updated": _day(result["last_updated"]),
    }


def _day(moment: str | None) -> str | None:
    return moment[:10] if moment else None
