"""What `POST /v1/chat/completions` takes, and what it answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from assistants.gateway.cited import Json, cited_text, results_of_contexts, results_of_pages, with_numbers
from assistants.gateway.errors import UnsupportedParameter, UnsupportedTool, error_json
from assistants.gateway.request import MOST_ITEMS, GatewayFields, ModelName, require_plain_text
from assistants.gateway.response import OURS
from assistants.gateway.stream import WITHHELD
from assistants.gateway.wanted_tools import WantedTools, wanted_tools, web_options
from core.errors import ValidationError
from runs.journal import StoredEvent
from runs.models import Execution
from search.web.inputs import WebFilters

PLACE = "web_search_options"
TOOL_CALLS = "tool_calls"
FIRST = {"role": "assistant", "content": ""}


def _as_list(value: object) -> object:
    return [] if value is None else value


class CompletionsRequest(GatewayFields):
    """A body of `POST /v1/chat/completions`: of OpenAI's and of Perplexity's fields those that mean something
    here."""

    messages: Annotated[list[Any], Field(min_length=1, max_length=MOST_ITEMS)]
    model: ModelName
    stream: bool | None = Field(None, strict=True)
    stream_options: dict[str, Any] | None = None
    n: int | None = Field(None, ge=1)
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, ge=0, le=1)
    response_format: Any = None
    tools: Annotated[list[Any], Field(max_length=64), BeforeValidator(_as_list)] = []
    tool_choice: Any = None
    functions: list[Any] | None = None
    web_search_options: dict[str, Any] | None = None
    disable_search: bool | None = None
    search_domain_filter: Any = None
    search_recency_filter: Any = None
    search_after_date_filter: Any = None
    search_before_date_filter: Any = None
    last_updated_after_filter: Any = None
    last_updated_before_filter: Any = None
    country: Any = None

    def require_supported(self) -> None:
        """Raise for what can't be kept: silence would promise it."""
        if self.functions:
            raise UnsupportedTool("functions is the name of earlier years: send tools.", param="functions")
        if self.n not in (None, 1):
            raise UnsupportedParameter("There is one answer to a question: n must be 1.", param="n")
        require_plain_text(self.response_format, "response_format")

    def most_tokens(self) -> int | None:
        """Return the lower of both names' values."""
        given = (self.max_tokens, self.max_completion_tokens)
        return min((each for each in given if each is not None), default=None)

    def wanted_tools(self) -> WantedTools:
        """Return the tools that are wanted: by `tools`, `web_search_options` and Perplexity's filters."""
        wanted = wanted_tools(self.tools, self.tool_choice)
        options = self._web_options()
        if options is not None and wanted.web is not None:
            raise ValidationError(f"Give {PLACE} or a tool web_search, not both.", param=PLACE)
        if options is not None:
            wanted.web, wanted.params["web"] = options, PLACE
        if self.disable_search and wanted.web is not None:
            raise ValidationError("disable_search contradicts a search of the web.", param="disable_search")
        if self.disable_search and not wanted:
            wanted.documents = {}
        return wanted

    def _web_options(self) -> dict[str, Any] | None:
        filters = {
            name: value
            for name in WebFilters.model_fields
            if name in type(self).model_fields and (value := getattr(self, name)) is not None
        }
        given = self.web_search_options
        if given is None and not filters:
            return None
        options = {name: value for name, value in (given or {}).items() if value is not None}
        place = options.get("user_location")
        if isinstance(place, Mapping) and isinstance(place.get("approximate"), Mapping):
            options["user_location"] = place["approximate"]
        return web_options(options | filters, PLACE)

    @property
    def wants_usage(self) -> bool:
        """Whether a stream ends with a chunk of its own for usage."""
        return bool((self.stream_options or {}).get("include_usage"))


@dataclass(frozen=True, slots=True)
class CompletionFacts:
    """What every chunk of a completion says."""

    execution: Execution
    model: str
    base_url: str

    def envelope(self, kind: str, model: str | None = None) -> Json:
        """Return a completion or chunk without its contents."""
        return {
            "id": f"chatcmpl-{self.execution.pk.removeprefix(OURS)}",
            "object": kind,
            "created": int(self.execution.created_at.timestamp()),
            "model": model or self.model,
        }


def completion_of(facts: CompletionFacts, result: Mapping[str, Any], usage: Json) -> Json:
    """Return the whole completion."""
    cited, calls = _cited(facts, result), _tool_calls(result)
    message = {"role": "assistant", "content": cited.text, "refusal": None, "annotations": cited.annotations}
    reason = "stop"
    if calls:
        message, reason = message | {"content": None, "tool_calls": calls}, TOOL_CALLS
    choice = {"index": 0, "message": message, "delta": FIRST, "finish_reason": reason, "logprobs": None}
    envelope = facts.envelope("chat.completion", result.get("model"))
    return envelope | {"choices": [choice], "usage": theirs(usage)} | cited.sources


def _tool_calls(result: Mapping[str, Any]) -> list[Json]:
    """Return the calls of functions that the caller is asked for."""
    return [
        {
            "id": call["call_id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": call["arguments"]},
        }
        for call in result.get("function_calls") or ()
    ]


@dataclass(frozen=True, slots=True)
class _Cited:
    text: str
    annotations: list[Json]
    sources: Json


def _cited(facts: CompletionFacts, result: Mapping[str, Any]) -> _Cited:
    if "text" in result:
        # A page that was fetched.
        page = {"title": result["title"], "url": result["url"], "snippet": result["text"][:300]}
        return _Cited(result["text"], [], sources_json([page | {"source": "web"}]))
    cited = cited_text(result, facts.base_url)
    results = results_of_contexts(result.get("contexts", ()), facts.base_url)
    results += results_of_pages(result.get("sources", ()))
    return _Cited(cited.text, [_url_citation(each) for each in cited.annotations], sources_json(results))


def sources_json(results: list[Json]) -> Json:
    """Return the fields that say what `[n]` stands for: `citations[n - 1]`."""
    results = sorted(results, key=lambda result: int(result.get("id", 0)))
    return {"citations": [result["url"] for result in results], "search_results": results}


def _url_citation(annotation: Json) -> Json:
    return {"type": "url_citation", "url_citation": {k: v for k, v in annotation.items() if k != "type"}}


def theirs(usage: Json) -> Json:
    """Return usage under the names of chat completions."""
    counted = {
        "prompt_tokens": usage["input_tokens"],
        "completion_tokens": usage["output_tokens"],
        "total_tokens": usage["total_tokens"],
        "num_search_queries": sum(each["invocation"] for each in usage["tool_calls_details"].values()),
    }
    cost = usage.get("cost")
    if cost is None:
        return counted
    return counted | {
        "cost": {
            "input_tokens_cost": cost["input_cost"],
            "output_tokens_cost": cost["output_cost"],
            "request_cost": cost["tool_calls_cost"],
            "total_cost": cost["total_cost"],
        }
    }


class CompletionChunks:
    """Translates one run into chunks."""

    def __init__(self, facts: CompletionFacts, *, wants_usage: bool) -> None:
        self._facts, self._wants_usage = facts, wants_usage
        self._sent = ""
        self.is_over = False

    def begin(self) -> Iterator[Json]:
        """Yield the chunk that says whose message it is."""
        yield self._chunk(FIRST)

    def feed(self, event: StoredEvent) -> Iterator[Json]:
        """Yield the text."""
        if event.event != "tool_partial_update":
            return
        if event.data["content"] is None:
            yield from self.fail(WITHHELD, "failed", None)
            return
        text = with_numbers(event.data["content"])
        self._sent += text
        yield self._chunk({"content": text})

    def complete(self, result: Mapping[str, Any], usage: Json) -> Iterator[Json]:
        """Yield the rest, and the sources with the last chunk of the text."""
        if result.get("unavailable"):
            yield from self.fail(WITHHELD, "failed", usage)
            return
        self.is_over = True
        cited, model = _cited(self._facts, result), result.get("model")
        if rest := cited.text[len(self._sent) :]:
            yield self._chunk({"content": rest})
        calls = _tool_calls(result)
        for index, call in enumerate(calls):
            yield self._chunk({"tool_calls": [{"index": index} | call]})
        reason = TOOL_CALLS if calls else "stop"
        last = self._chunk({"annotations": cited.annotations}, reason, model) | cited.sources
        if not self._wants_usage:
            yield last | {"usage": theirs(usage)}
            return
        yield last
        yield self._facts.envelope("chat.completion.chunk", model) | {"choices": [], "usage": theirs(usage)}

    def fail(self, error: Mapping[str, Any], status: str, usage: Json | None) -> Iterator[Json]:
        """Yield the error that clients raise."""
        self.is_over = True
        yield {"error": error_json(dict(error))}

    def _chunk(self, delta: Json, reason: str | None = None, model: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return self._facts.envelope("chat.completion.chunk", model) | {"choices": [choice]}
