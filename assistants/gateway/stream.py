"""The events of a run as the events of a response, in the order that both clients expect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assistants.gateway.cited import results_of_contexts, results_of_pages, with_numbers
from assistants.gateway.errors import error_json
from assistants.gateway.response import (
    ResponseFacts,
    completed_fields,
    fetch_item,
    function_items,
    message_item,
    search_item,
    text_of,
    text_part,
)
from runs.journal import StoredEvent

Json = dict[str, Any]
Event = tuple[str, Json]
"""A type and what it carries; `sequence_number` is added when it is sent."""
WITHHELD = {"code": "not_found", "message": "A document that was read for this answer is no longer visible."}
WRITES = ("COMPILING_RESULTS", "GENERATION")
"""The phases with which the answer begins."""


class ResponseEvents:
    """Translates one run; what it says of the output is remembered, for the response at the end."""

    def __init__(self, facts: ResponseFacts) -> None:
        self._facts = facts
        self._query = facts.execution.inputs.get("query") or ""
        self._items: list[Json] = []
        self._sent = ""
        self._writes = self._thinks = False
        self.is_over = False

    def begin(self) -> Iterator[Event]:
        """Yield what every response begins with."""
        yield "response.created", {"response": self._facts.skeleton()}
        yield "response.in_progress", {"response": self._facts.skeleton()}
        self._thinks = True
        yield "response.reasoning.started", {}

    def feed(self, event: StoredEvent) -> Iterator[Event]:
        """Yield what one event of the run becomes; its end is `complete` or `fail`."""
        data = event.data
        if event.event == "tool_partial_update":
            if data["content"] is None:
                yield from self.fail(WITHHELD, "failed", None)
                return
            yield from self._begin_message()
            yield self._delta(with_numbers(data["content"]))
        elif event.event == "tool_update":
            yield from self._update(data)

    def _update(self, data: Mapping[str, Any]) -> Iterator[Event]:
        phase, status = data.get("phase"), data.get("status")
        if data.get("output_key") == "asked":
            self._query = data["asked"] or ""
        elif data.get("output_key") == "call":
            self._query = data["query"] or ""
        elif phase in ("SEARCH_PREPARATION", "WEB_SEARCH") and status == "started":
            yield "response.reasoning.search_queries", {"queries": [self._query] if self._query else []}
        elif "contexts" in data:
            yield from self._found(results_of_contexts(data["contexts"], self._facts.base_url))
        elif "sources" in data:
            yield from self._found(results_of_pages(data["sources"]))
        elif data.get("output_key") == "failure":
            yield from self._found([])
        elif phase == "SCRAPING_URLS" and status == "started" and self._facts.execution.tool == "web_fetch":
            urls = [self._facts.execution.inputs["url"]]
            yield "response.reasoning.fetch_url_queries", {"urls": urls}
        elif phase in WRITES and status == "started":
            yield from self._begin_message()

    def _found(self, results: list[Json]) -> Iterator[Event]:
        self._items.append(search_item(self._facts, len(self._items) + 1, [self._query], results))
        yield "response.reasoning.search_results", {"results": results}

    # --- The message ---------------------------------------------------------------------------------------

    @property
    def _place(self) -> Json:
        return {
            "item_id": self._facts.item_id("msg"),
            "output_index": len(self._items),
            "content_index": 0,
        }

    def _begin_message(self) -> Iterator[Event]:
        if self._writes:
            return
        self._writes = True
        yield from self._show_items()
        begun = {
            "type": "message",
            "id": self._facts.item_id("msg"),
            "role": "assistant",
            "status": "in_progress",
            "content": [],
        }
        yield "response.output_item.added", {"output_index": len(self._items), "item": begun}
        part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        yield "response.content_part.added", self._place | {"part": part}

    def _show_items(self) -> Iterator[Event]:
        """Yield what was found, once it is known what it is for."""
        self._thinks = False
        yield "response.reasoning.stopped", {}
        for index, item in enumerate(self._items):
            yield "response.output_item.added", {"output_index": index, "item": item}
            yield "response.output_item.done", {"output_index": index, "item": item}

    def _delta(self, text: str) -> Event:
        self._sent += text
        return "response.output_text.delta", self._place | {"delta": text, "logprobs": []}

    # --- The end -------------------------------------------------------------------------------------------

    def complete(self, result: Mapping[str, Any], usage: Json) -> Iterator[Event]:
        """Yield the end of a response that is complete."""
        if result.get("unavailable"):
            yield from self.fail(WITHHELD, "failed", usage)
            return
        self.is_over = True
        execution = self._facts.execution
        if execution.tool == "web_fetch":
            self._items = [fetch_item(self._facts, result)]
            yield "response.reasoning.fetch_url_results", {"contents": self._items[0]["contents"]}
        if items := function_items(self._facts, result):
            yield from self._function_calls(items)
            yield "response.completed", {"response": self._whole(result, items) | {"usage": usage}}
            return
        yield from self._begin_message()
        cited = text_of(execution, result, self._facts.base_url)
        if rest := cited.text[len(self._sent) :]:
            yield self._delta(rest)
        for index, annotation in enumerate(cited.annotations):
            added = {"annotation_index": index, "annotation": annotation}
            yield "response.output_text.annotation.added", self._place | added
        yield "response.output_text.done", self._place | {"text": cited.text, "logprobs": []}
        yield "response.content_part.done", self._place | {"part": text_part(cited)}
        item = message_item(self._facts, cited)
        yield "response.output_item.done", {"output_index": len(self._items), "item": item}
        yield "response.completed", {"response": self._whole(result, [item]) | {"usage": usage}}

    def _whole(self, result: Mapping[str, Any], last: list[Json]) -> Json:
        """Return the response at its end; `last` are its last items."""
        execution = self._facts.execution
        response = self._facts.skeleton("completed") | completed_fields(self._facts, execution, result)
        if execution.tool == "agent":
            # As it was streamed: an item for each call.
            response |= {"output": [*self._items, *last]}
        return response

    def _function_calls(self, items: list[Json]) -> Iterator[Event]:
        """Yield the calls that the caller is asked for, instead of a message."""
        yield from self._show_items()
        for index, item in enumerate(items, start=len(self._items)):
            place = {"item_id": item["id"], "output_index": index}
            begun = item | {"arguments": "", "status": "in_progress"}
            yield "response.output_item.added", {"output_index": index, "item": begun}
            yield "response.function_call_arguments.delta", place | {"delta": item["arguments"]}
            named = {"name": item["name"], "arguments": item["arguments"]}
            yield "response.function_call_arguments.done", place | named
            yield "response.output_item.done", {"output_index": index, "item": item}

    def fail(self, error: Mapping[str, Any], status: str, usage: Json | None) -> Iterator[Event]:
        """Yield the end of a response that fails; both clients read the error, each in another place."""
        self.is_over = True
        if self._thinks:
            self._thinks = False
            yield "response.reasoning.stopped", {}
        theirs = error_json(dict(error))
        response = self._facts.skeleton(status) | {
            "output": self._items,
            "error": {"code": theirs["code"], "message": theirs["message"]},
            "usage": usage,
        }
        yield "response.failed", {"error": theirs, "response": response}


class ResponseEventsForNode(ResponseEvents):
    """The same without Perplexity's own events, at which `stream()` of OpenAI's client for Node.js ends."""

    def begin(self) -> Iterator[Event]:
        """Yield what every response begins with."""
        return _without_thoughts(super().begin())

    def feed(self, event: StoredEvent) -> Iterator[Event]:
        """Yield what one event of the run becomes."""
        return _without_thoughts(super().feed(event))

    def complete(self, result: Mapping[str, Any], usage: Json) -> Iterator[Event]:
        """Yield the end of a response that is complete."""
        return _without_thoughts(super().complete(result, usage))

    def fail(self, error: Mapping[str, Any], status: str, usage: Json | None) -> Iterator[Event]:
        """Yield the end of a response that fails."""
        return _without_thoughts(super().fail(error, status, usage))


def _without_thoughts(events: Iterator[Event]) -> Iterator[Event]:
    return (event for event in events if not event[0].startswith("response.reasoning."))
