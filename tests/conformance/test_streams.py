"""`rag_search` through a running web server: every event and result, over every transport, has its shape.

The schemas are those of the contract's own examples. Every transport is read by a client library of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.streaming import Server, Stream, check_numbers, check_partials, running, validator
from tests.conftest import make_cast
from tests.factories import indexed_document

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = {"query": "How much did the solar farm produce in 2023?"}
LARGE = (
    "The solar farm in Almería produced 42 gigawatt hours in 2023. " + "Its owner is the town itself. " * 8
)


@pytest.fixture(scope="module")
def web(django_db_setup: None) -> Iterator[str]:
    """Where a web server listens."""
    with running() as url:
        yield url


@pytest.fixture
def server(web: str) -> Iterator[Server]:
    cast = make_cast()
    indexed_document(cast.team, LARGE)
    made = Server(web, cast)
    with made.http:
        yield made


def check(events: Stream) -> dict[str, Any]:
    """Check numbers, shapes and order of a whole stream, and return its result."""
    messages = check_numbers(events)
    for message in messages:
        validator("rag_search_events").validate(message)
    order = [message["data"].get("phase") or message["data"].get("output_key") for message in messages]
    phases = ["SEARCH_PREPARATION", "RETRIEVAL", "RERANKING", "contexts", "COMPILING_RESULTS"]
    assert order == [*phases, *["response"] * (len(order) - 6), None]
    retrieved, kept = messages[1]["data"]["data"], messages[2]["data"]["data"]
    assert kept["initial_count"] <= retrieved["retrieved_count"]
    assert kept["kept_count"] == len(messages[3]["data"]["contexts"])
    result: dict[str, Any] = messages[-1]["data"]
    check_partials(messages, result["response"])
    assert result["execution_id"] == messages[0]["data"]["execution_id"]
    return result


def test_json(server: Server) -> None:
    reply = server.post("tools/rag_search", QUESTION)
    result = reply.json()
    validator("rag_search_result").validate(result)
    server.check("ToolResult", result)
    assert reply.headers["X-Execution-Id"] == result["execution_id"]
    details = server.details(result["execution_id"])
    assert (details["status"], details["result"], details["error"]) == ("completed", result, None)


@pytest.mark.parametrize("limit", [512, 700, 32768])
def test_sse(server: Server, limit: int) -> None:
    address = f"tools/rag_search?sse_max_bytes={limit}"
    headers, events = server.sse("POST", address, json=QUESTION | {"stream": True})
    result = check(events)
    assert headers["X-Execution-Id"] == result["execution_id"]
    assert headers["Content-Type"] == "text/event-stream"
    raw = server.http.get(f"executions/{result['execution_id']}/events?sse_max_bytes={limit}").content
    assert max(len(frame) + 2 for frame in raw.split(b"\n\n")) <= limit


def test_execute_and_follow(server: Server) -> None:
    reply = server.post("tools/rag_search/execute", {"inputs": QUESTION})
    accepted = reply.json()
    validator("accepted").validate(accepted)
    server.check("Accepted", accepted)
    assert (reply.status_code, reply.headers["X-Execution-Id"]) == (202, accepted["execution_id"])
    _, events = server.sse("GET", accepted["stream_url"])
    result = check(events)
    assert server.http.get(accepted["details_url"]).json()["result"] == result
    over = server.http.get(accepted["stream_url"], headers={"Last-Event-ID": str(len(events))})
    assert (over.status_code, over.content) == (204, b"")


def test_websocket(server: Server) -> None:
    check(server.socket({"type": "run", "inputs": QUESTION}))
    check(server.socket(QUESTION))


def test_every_transport_replays_the_same_events(server: Server) -> None:
    events = server.socket(QUESTION)
    id = events[0][1]["data"]["execution_id"]
    for after in range(len(events)):
        _, replayed = server.sse("GET", f"executions/{id}/events?after={after}&sse_max_bytes=512")
        assert replayed == events[after:]
        assert server.socket({"type": "resume", "execution_id": id, "after": after}) == events[after:]


def test_tools_and_executions_are_listed_as_the_schema_says(server: Server) -> None:
    server.post("tools/rag_search", QUESTION)
    server.check("ToolList", server.http.get("tools").json())
    server.check("ExecutionList", server.http.get("executions").json())


def test_nothing_found_has_the_same_shape(server: Server) -> None:
    _, events = server.sse(
        "POST", "tools/rag_search", json={"query": "x", "document_ids": [], "stream": True}
    )
    assert check(events)["contexts"] == []
