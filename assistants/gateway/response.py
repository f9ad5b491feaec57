"""The response object of `/v1/responses`, for a run in any state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.principal import Principal
from assistants.gateway.cited import CitedText, cited_text, results_of_contexts, results_of_pages
from assistants.gateway.errors import error_json
from assistants.gateway.request import ResponsesRequest
from assistants.gateway.usage import called_tools, usage_of
from core.errors import NotFound
from runs.lifecycle import own_execution
from runs.models import CHAT, Execution, ExecutionStatus
from runs.withholding import shown_result

Json = dict[str, Any]
PREFIX, OURS = "resp_", "call_"
STATUSES = {
    ExecutionStatus.QUEUED: "in_progress",
    ExecutionStatus.RUNNING: "in_progress",
    ExecutionStatus.COMPLETED: "completed",
    ExecutionStatus.FAILED: "failed",
    ExecutionStatus.CANCELLED: "cancelled",
}
ANSWERING = ("rag_search", "web_search", "web_fetch", "answer", "agent", CHAT)
"""Tools whose executions can be read as responses."""


def response_id(execution_id: str) -> str:
    """Return the id of the response that an execution is."""
    return f"{PREFIX}{execution_id.removeprefix(OURS)}"


def execution_of(principal: Principal, id: str) -> Execution:
    """Return the principal's own execution that a response is; raise `NotFound`."""
    execution = (
        own_execution(principal, f"{OURS}{id.removeprefix(PREFIX)}") if id.startswith(PREFIX) else None
    )
    if execution is None or execution.tool not in ANSWERING:
        raise NotFound
    return execution


@dataclass(frozen=True, slots=True)
class ResponseFacts:
    """What a response says besides its output."""

    execution: Execution
    """As it was when the response began."""
    model: str
    base_url: str
    """Where this server's pages are."""
    request: ResponsesRequest | None = None
    """None where the response is read again: what its request said besides the question is not kept."""

    @property
    def id(self) -> str:
        """The id of the response."""
        return response_id(self.execution.pk)

    def item_id(self, prefix: str, number: int = 1) -> str:
        """Return the id of an item."""
        return f"{prefix}_{self.execution.pk.removeprefix(OURS)}_{number}"

    def _given(self, name: str, default: Any) -> Any:
        value = getattr(self.request, name, None)
        return default if value is None else value

    def skeleton(self, status: str = "in_progress") -> Json:
        """Return the response without output, as it begins."""
        given = self._given
        return {
            "id": self.id,
            "object": "response",
            "created_at": int(self.execution.created_at.timestamp()),
            "status": status,
            "model": self.model,
            "output": [],
            "error": None,
            "incomplete_details": None,
            "instructions": given("instructions", None),
            "metadata": given("metadata", {}),
            "background": False,
            "store": False,
            "previous_response_id": None,
            "parallel_tool_calls": given("parallel_tool_calls", True),
            "tool_choice": given("tool_choice", "auto"),
            "tools": given("tools", []),
            "temperature": given("temperature", 1.0),
            "top_p": given("top_p", 1.0),
            "max_output_tokens": given("max_output_tokens", None),
            "usage": None,
        }


def response_of(facts: ResponseFacts, execution: Execution, principal: Principal) -> Json:
    """Return the response of an execution as its reader may see it now; it may ask the database."""
    response = facts.skeleton(STATUSES[ExecutionStatus(execution.status)])
    if execution.status == ExecutionStatus.COMPLETED:
        result = shown_result(principal, execution)
        response |= completed_fields(facts, execution, result)
    if execution.error:
        error = error_json(execution.error)
        response["error"] = {"code": error["code"], "message": error["message"]}
    if execution.finished_at:
        response["usage"] = usage_of(execution)
    return response


def completed_fields(facts: ResponseFacts, execution: Execution, result: Mapping[str, Any]) -> Json:
    """Return model and output of a response that is complete."""
    found = [
        search_item(facts, number, [asked_in(execution, result)], results)
        for number, results in enumerate(_results(facts, execution, result), start=1)
    ]
    if execution.tool == "web_fetch":
        found = [fetch_item(facts, result)]
    return {
        "output": [*found, *last_items(facts, execution, result)],
        "model": result.get("model") or facts.model,
    }


def last_items(facts: ResponseFacts, execution: Execution, result: Mapping[str, Any]) -> list[Json]:
    """Return the answer, or the calls of functions that the caller is asked for before there is one."""
    calls = function_items(facts, result)
    return calls or [message_item(facts, text_of(execution, result, facts.base_url))]


def function_items(facts: ResponseFacts, result: Mapping[str, Any]) -> list[Json]:
    """Return the items of the calls that the caller is asked for."""
    return [
        {
            "type": "function_call",
            "id": facts.item_id("fc", number),
            "call_id": call["call_id"],
            "name": call["name"],
            "arguments": call["arguments"],
            "status": "completed",
        }
        for number, call in enumerate(result.get("function_calls") or (), start=1)
    ]


def text_of(execution: Execution, result: Mapping[str, Any], base_url: str) -> CitedText:
    """Return the text of a result: of a fetched page that of the page."""
    if execution.tool == "web_fetch":
        return CitedText(result["text"], [])
    return cited_text(result, base_url)


def asked_in(execution: Execution, result: Mapping[str, Any]) -> str:
    """Return the question as it was searched."""
    return result.get("asked") or execution.inputs.get("query") or ""


def _results(facts: ResponseFacts, execution: Execution, result: Mapping[str, Any]) -> list[list[Json]]:
    """Return the results of each search, in their order."""
    tools = [call["tool"] for call in result.get("calls", ())] or called_tools(execution)
    found = {
        "rag_search": results_of_contexts(result.get("contexts", ()), facts.base_url),
        "web_search": results_of_pages(result.get("sources", ())),
    }
    # The agent may call a tool several times; a result has the sources of all its calls together.
    return [found[tool] for tool in dict.fromkeys(tools) if tool in found]


def search_item(facts: ResponseFacts, number: int, queries: list[str], results: list[Json]) -> Json:
    """Return the item of one search."""
    return {
        "type": "search_results",
        "id": facts.item_id("srs", number),
        "queries": [query for query in queries if query],
        "results": results,
    }


def fetch_item(facts: ResponseFacts, page: Mapping[str, Any]) -> Json:
    """Return the item of a page that was fetched."""
    content = {"url": page["url"], "title": page["title"], "snippet": page["text"]}
    return {"type": "fetch_url_results", "id": facts.item_id("fur"), "contents": [content]}


def message_item(facts: ResponseFacts, cited: CitedText) -> Json:
    """Return the item of the answer."""
    return {
        "type": "message",
        "id": facts.item_id("msg"),
        "role": "assistant",
        "status": "completed",
        "content": [text_part(cited)],
    }


def text_part(cited: CitedText) -> Json:
    """Return the one part of the answer."""
    return {
        "type": "output_text",
        "text": cited.text,
        "annotations": cited.annotations,
        "logprobs": [],
    }
