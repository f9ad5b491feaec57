"""`web_search` and `web_fetch` through a running web server: every event and result, over every transport.

The schemas are those of the contract's own examples, which are checked against them here. Search engine and
site are doubles on loopback.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from httpx_sse import connect_sse

from accounts.models.ledger import Charge
from tests.conformance.streaming import (
    Server,
    Stream,
    check_numbers,
    check_partials,
    joined,
    running,
    to_the_end,
    validator,
)
from tests.conftest import Cast, make_cast
from tests.testing.live import wait_until
from tests.testing.search_engines import Failure, ProviderDouble, WebPage, double
from tests.testing.web import Web, serving

pytestmark = pytest.mark.django_db(transaction=True)

QUERY = "When was the harbour lighthouse in Almería built?"
BUILT = WebPage(
    'The harbour "lighthouse" & more', "https://light.example/a?b=1&c=2", "The lighthouse was built in 1893."
)
# As long as they come, with all that JSON and UTF-8 write in more than a byte.
LONG = [
    WebPage(f"Ferry {n} 灯台", f"https://f{n}.example/", f'Ferry {n}: "\\ Ærø 😀 \u0085 ' * 160)
    for n in range(19)
]
TRANSPORTS = ["json", "sse", "execute", "websocket"]
CITATION = re.compile(r'<web_citation url="([^"]*)" title="([^"]*)">\[(\d+)\]</web_citation>')


@dataclass
class Running:
    """A web server and what it stands on."""

    url: str
    brave: ProviderDouble
    site: Web


@pytest.fixture(scope="module")
def web(django_db_setup: None) -> Iterator[Running]:
    """Run a web server that has one search engine, and may fetch from one site."""
    with double("brave") as brave, serving() as site:
        environment = brave.settings | {
            "WEB_FETCH_ALLOW": site.address,
            "WEB_SEARCH_TIMEOUT_SECS": "60",
            # The engine without a key must not be reached by accident.
            "DUCKDUCKGO_BASE_URL": "http://127.0.0.1:9",
        }
        with running(**environment) as url:
            yield Running(url, brave, site)


@pytest.fixture
def cast() -> Cast:
    return make_cast()


@pytest.fixture
def server(web: Running, cast: Cast) -> Iterator[Server]:
    """Speak for alice, whose own workspace may search the web."""
    web.brave.pages = [*LONG[:4], BUILT]
    web.brave.requests.clear()
    web.brave.left.clear()
    made = Server(web.url, cast, "web_search")
    with made.http:
        change(made, enabled=True)
        yield made


def change(server: Server, **web_search: Any) -> None:
    """Change the settings of alice's own workspace."""
    workspaces = server.http.get("workspaces").json()["results"]
    (own,) = [each["id"] for each in workspaces if each["name"] != "Team"]
    reply = server.http.patch(f"workspaces/{own}/settings", json={"web_search": web_search})
    assert reply.status_code == 200, reply.text


def result_over(server: Server, transport: str, inputs: dict[str, Any]) -> tuple[dict[str, Any], Stream]:
    """Run the tool over a transport; return its result and its events, which JSON replays afterwards."""
    match transport:
        case "json":
            reply = server.post(f"tools/{server.tool}", inputs)
            assert reply.status_code == 200, reply.text
            id = reply.json()["execution_id"]
            assert reply.headers["X-Execution-Id"] == id
            return reply.json(), server.sse("GET", f"executions/{id}/events")[1]
        case "sse":
            headers, events = server.sse("POST", f"tools/{server.tool}", json=inputs | {"stream": True})
            assert headers["Content-Type"] == "text/event-stream"
            assert headers["X-Execution-Id"] == events[0][1]["data"]["execution_id"]
        case "execute":
            reply = server.post(f"tools/{server.tool}/execute", {"inputs": inputs})
            validator("accepted").validate(reply.json())
            assert (reply.status_code, reply.headers["X-Execution-Id"]) == (202, reply.json()["execution_id"])
            _, events = server.sse("GET", reply.json()["stream_url"])
        case _:
            events = server.socket({"type": "run", "inputs": inputs})
    return events[-1][1]["data"], events


# --- The examples of the contract --------------------------------------------------------------------------

SOURCE = {
    "rank": 1,
    "title": "Recent Advances in AI",
    "url": "https://example.com/ai-news",
    "snippet": "A summary of the latest breakthroughs...",
}
FOUND = [SOURCE | {"engine": "google", "score": 1.0}]
REFINED = [SOURCE | {"rerank_score": 0.85, "used_in_response": False}]
UPDATES: list[dict[str, Any]] = [
    {"phase": "WEB_SEARCH", "status": "started", "query": "latest advancements in AI"},
    {
        "phase": "WEB_SEARCH",
        "status": "completed",
        "data": {"results_count": 10, "sources": FOUND},
        "output_key": "sources",
    },
    {"phase": "SCRAPING_URLS", "status": "started", "data": {"url_count": 10}},
    {"phase": "SCRAPING_URLS", "status": "completed", "data": {"scraped_count": 8}},
    {"phase": "RERANKING", "status": "started"},
    {"phase": "RERANKING", "status": "completed", "data": {"reranked_count": 8}},
    {"reranked_results": 5, "output_key": "reranked_results"},
    {"sources": REFINED, "output_key": "sources"},
    {"phase": "GENERATION", "status": "started"},
    {"phase": "GENERATION", "status": "completed"},
]
ENDED = {
    "query": "latest advancements in AI",
    "response": 'According to the results <web_citation url="...">[1]</web_citation>...',
    "sources": [REFINED[0] | {"used_in_response": True}],
    "sources_used": [1],
    "model": "claude-sonnet-4-20250514",
    "reranker": "bge_text_reranker",
    "total_results": 10,
    "reranked_results": 5,
}
EXAMPLES: list[dict[str, Any]] = [
    *({"event": "tool_update", "data": update} for update in UPDATES),
    *(
        {"event": "tool_partial_update", "data": {"content": content, "output_key": "response"}}
        for content in ("According", " to", " the", " results <source_1>...")
    ),
    {"event": "tool_end", "data": ENDED},
    {"event": "tool_end", "data": ENDED | {"execution_id": "call_zIsjIkJwvPrJTz2GbIRGg8DE"}},
    {
        "event": "tool_end",
        "data": {
            "provider": "brave",
            "query": "rust async runtimes",
            "from_cache": False,
            "results": [
                {
                    "url": "https://example.com/post",
                    "title": "Title",
                    "snippet": "First 4 KiB of the description, sanitised.",
                    "site_name": "example.com",
                    "published_at": "2026-04-20T00:00:00Z",
                }
            ],
        },
    },
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: json.dumps(example["data"])[:50])
def test_the_contracts_examples_have_the_shape(example: dict[str, Any]) -> None:
    validator("web_search_events").validate(example)


# --- Shapes and order --------------------------------------------------------------------------------------

ASKED = [("WEB_SEARCH", "started"), ("WEB_SEARCH", "completed")]
SCRAPED = [("SCRAPING_URLS", "started"), ("SCRAPING_URLS", "completed")]
WRITTEN = [
    *(("RERANKING", "started"), ("RERANKING", "completed"), "reranked_results", "sources"),
    *(("GENERATION", "started"), "response", ("GENERATION", "completed"), "tool_end"),
]


def check_stream(events: Stream, schema: str) -> list[dict[str, Any]]:
    """Check numbers and shapes of a whole stream; return its messages."""
    messages = check_numbers(events)
    for message in messages:
        validator(schema, whole=True).validate(message)
    return messages


def order_of(messages: list[dict[str, Any]]) -> list[Any]:
    """Return the phases, keys and end of a stream, all partials as one."""
    order: list[Any] = []
    for message in messages:
        data = message["data"]
        step = (
            (data["phase"], data["status"]) if "phase" in data else data.get("output_key", message["event"])
        )
        if step != "response" or order[-1] != "response":
            order.append(step)
    return order


def check_answer(events: Stream, *, scraping: bool = False) -> dict[str, Any]:
    """Check a whole stream of mode `answer`, and return its result."""
    messages = check_stream(events, "web_search_events")
    assert order_of(messages) == [*ASKED, *(SCRAPED if scraping else []), *WRITTEN]
    updates = [message["data"] for message in messages if message["event"] == "tool_update"]
    result: dict[str, Any] = messages[-1]["data"]
    found, refined = updates[1]["data"], updates[-3]["sources"]
    assert found["results_count"] == len(found["sources"]) == result["total_results"]
    assert updates[-4]["reranked_results"] == len(refined) == result["reranked_results"]
    assert updates[-5]["data"]["reranked_count"] <= found["results_count"]
    check_partials(messages, result["response"])
    check_sources(result)
    shown = [source | {"used_in_response": False, "quote": None} for source in result["sources"]]
    assert shown == refined
    assert result["execution_id"] == messages[0]["data"]["execution_id"]
    return result


def check_sources(result: dict[str, Any]) -> None:
    """Check that ranks, uses and citations tell the same."""
    sources = {source["rank"]: source for source in result["sources"]}
    assert list(sources) == list(range(1, len(sources) + 1))
    assert [rank for rank, source in sources.items() if source["used_in_response"]] == result["sources_used"]
    cited = CITATION.findall(result["response"])
    assert sorted({int(rank) for _, _, rank in cited}) == result["sources_used"]
    for url, title, rank in cited:
        source = sources[int(rank)]
        assert (html.unescape(url), html.unescape(title)) == (source["url"], source["title"])


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_an_answer(server: Server, transport: str) -> None:
    result, events = result_over(server, transport, {"query": QUERY})
    assert check_answer(events) == result
    validator("web_search_answer", whole=True).validate(result)
    server.check("ToolResult", result)
    assert BUILT.url in [source["url"] for source in result["sources"] if source["used_in_response"]]
    told = server.details(result["execution_id"])
    assert (told["status"], told["result"], told["error"]) == ("completed", result, None)
    assert told["cost"] == 0.005


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_results(server: Server, transport: str) -> None:
    result, events = result_over(server, transport, {"query": QUERY, "mode": "results", "expand": True})
    messages = check_stream(events, "web_search_events")
    assert order_of(messages) == [*ASKED, "tool_end"]
    assert messages[-1]["data"] == result
    validator("web_search_results", whole=True).validate(result)
    assert result["results"][-1]["url"] == BUILT.url


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_page(server: Server, web: Running, transport: str) -> None:
    server.tool = "web_fetch"
    url = web.site.page("/light", b"<html><body><p>The light shines. \xf0\x9f\x98\x80</p></body></html>")
    result, events = result_over(server, transport, {"url": url})
    messages = check_stream(events, "web_fetch_events")
    assert order_of(messages) == [*SCRAPED, "tool_end"]
    assert messages[-1]["data"] == result
    validator("web_fetch_result", whole=True).validate(result)
    assert (result["url"], result["text"]) == (url, "The light shines. 😀")


@pytest.mark.parametrize("transport", ["sse", "websocket"])
def test_an_answer_from_pages(server: Server, web: Running, transport: str) -> None:
    change(server, scraping=True)
    url = web.site.page(
        "/pages", b"<html><body><p>The harbour lighthouse was built in 1893.</p></body></html>"
    )
    web.brave.pages = [WebPage("Light", url, "About light."), WebPage("Gone", web.site.url("/gone"), "Gone.")]
    result = check_answer(result_over(server, transport, {"query": QUERY})[1], scraping=True)
    assert result["sources"][0]["quote"] == "The harbour lighthouse was built in 1893."


@pytest.mark.parametrize("mode", ["answer", "results"])
def test_nothing_found_has_the_same_shape(server: Server, web: Running, mode: str) -> None:
    web.brave.pages = []
    result, events = result_over(server, "sse", {"query": QUERY, "mode": mode})
    if mode == "answer":
        assert (check_answer(events)["sources"], result["answered"]) == ([], False)
    else:
        assert check_stream(events, "web_search_events")[-1]["data"]["results"] == []


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_failure(server: Server, web: Running, transport: str) -> None:
    web.brave.fail(Failure.SERVER_ERROR)
    inputs = {"query": QUERY, "provider": "brave"}
    if transport == "json":
        reply = server.post("tools/web_search", inputs)
        error, id = reply.json()["error"], reply.headers["X-Execution-Id"]
        assert reply.status_code == 502
    else:
        error, events = result_over(server, transport, inputs)
        messages = check_stream(events, "web_search_events")
        assert order_of(messages) == [ASKED[0], "error"]
        id = messages[0]["data"]["execution_id"]
    validator("failure").validate(error)
    server.check("ErrorBody", {"error": error})
    assert (error["code"], error["details"]) == (
        "provider_error",
        {"providers": [{"provider": "brave", "outcome": "unavailable"}]},
    )
    assert server.details(id)["error"] == error


def test_every_engine_that_was_asked_is_told_of(server: Server, web: Running) -> None:
    """`auto` goes on to the engine without a key, which is led to a port where nobody listens."""
    web.brave.fail(Failure.RATE_LIMITED)
    error = server.post("tools/web_search", {"query": QUERY}).json()["error"]
    assert error["details"] == {
        "providers": [
            {"provider": "brave", "outcome": "rate_limited"},
            {"provider": "duckduckgo", "outcome": "unavailable"},
        ]
    }


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_limit_that_is_reached(server: Server, web: Running, transport: str) -> None:
    change(server, max_cost=0.001)
    if transport == "websocket":
        with server.opened() as socket:
            socket.send(json.dumps({"query": QUERY}))
            error = json.loads(socket.recv(timeout=60))["data"]
    else:
        path = "tools/web_search/execute" if transport == "execute" else "tools/web_search"
        inputs = {"query": QUERY}
        body = {"inputs": inputs} if transport == "execute" else inputs | {"stream": transport == "sse"}
        reply = server.post(path, body)
        error = reply.json()["error"]
        assert reply.status_code == 402
    validator("failure").validate(error)
    assert (error["code"], error["details"]) == ("budget_exceeded", {"limit": "workspace"})
    assert not web.brave.requests


def test_why_a_page_is_missing_is_told_on_every_transport(server: Server, web: Running) -> None:
    server.tool = "web_fetch"
    inputs = {"url": web.site.url("/missing")}
    reply = server.post("tools/web_fetch", inputs)
    expected = {"code": "provider_error", "details": {"reason": "unreachable_url"}}
    assert (reply.status_code, reply.json()["error"] | expected) == (502, reply.json()["error"])
    for transport in TRANSPORTS[1:]:
        data, events = result_over(server, transport, inputs)
        check_stream(events, "web_fetch_events")
        assert data == reply.json()["error"]


REFUSED: list[tuple[dict[str, Any], int, str, str | None]] = [
    ({}, 400, "validation_error", "query"),
    ({"query": QUERY, "count": 21}, 400, "validation_error", "count"),
    ({"query": QUERY, "whitelisted_domain": ["a.example"]}, 400, "unknown_field", "whitelisted_domain"),
    ({"query": QUERY, "time_range": "day", "freshness": "week"}, 400, "conflict", "freshness"),
    ({"query": QUERY, "provider": "tavily"}, 400, "validation_error", "provider"),
]


@pytest.mark.parametrize(("inputs", "status", "code", "param"), REFUSED, ids=lambda each: str(each)[:40])
def test_what_is_refused_is_refused_before_a_stream(
    server: Server, web: Running, inputs: dict[str, Any], status: int, code: str, param: str | None
) -> None:
    replies = [
        server.post("tools/web_search", inputs),
        server.post("tools/web_search", inputs | {"stream": True}),
        server.post("tools/web_search/execute", {"inputs": inputs}),
    ]
    for reply in replies:
        error = reply.json()["error"]
        assert (reply.status_code, error["code"], error["param"]) == (status, code, param)
    with server.opened() as socket:
        socket.send(json.dumps({"type": "run", "inputs": inputs}))
        message = json.loads(socket.recv(timeout=60))
        assert (message["event"], message["data"]) == ("error", replies[0].json()["error"])
        assert "execution_id" not in message
        # The socket stays open.
        socket.send(json.dumps({"query": QUERY}))
        check_answer(to_the_end(socket))
    assert len(web.brave.requests) == 1


# --- Large events, replays ---------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [512, 700, 4096, 32768])
def test_large_events_come_in_slices(server: Server, web: Running, limit: int) -> None:
    web.brave.pages = [*LONG, BUILT]
    inputs = {"query": QUERY, "count": 20, "stream": True}
    _, events = server.sse("POST", f"tools/web_search?sse_max_bytes={limit}", json=inputs)
    result = check_answer(events)
    address = f"executions/{result['execution_id']}/events"
    raw = server.http.get(f"{address}?sse_max_bytes={limit}").content
    frames = raw.split(b"\n\n")
    assert max(len(frame) + 2 for frame in frames) <= limit
    assert any(b"event: _delta_sse" in frame for frame in frames)
    assert server.sse("GET", address)[1] == events


def test_a_drop_within_a_large_event_replays_it_whole(server: Server, web: Running) -> None:
    web.brave.pages = [*LONG, BUILT]
    result, events = result_over(server, "sse", {"query": QUERY, "count": 20})
    address = f"executions/{result['execution_id']}/events?sse_max_bytes=512"
    with connect_sse(server.http, "GET", address) as source:
        heard = []
        for event in source.iter_sse():
            heard.append(event)
            if event.event == "_delta_sse" and event.json()["data"]["index"] == 2:
                break
    # A client that drops now knows the number of the first event, and gets the second from its first slice.
    assert [event.id for event in heard] == ["1", "1", "1", "1"]
    with connect_sse(server.http, "GET", address, headers={"Last-Event-ID": heard[-1].id}) as source:
        assert list(joined(source.iter_sse())) == events[1:]


def test_every_transport_replays_the_same_events_from_anywhere(server: Server) -> None:
    result, events = result_over(server, "websocket", {"query": QUERY})
    id = result["execution_id"]
    for after in range(len(events)):
        address = f"executions/{id}/events?sse_max_bytes=512"
        assert server.sse("GET", f"{address}&after={after}")[1] == events[after:]
        # The header wins.
        headers = {"Last-Event-ID": str(after)}
        assert server.sse("GET", f"{address}&after=0", headers=headers)[1] == events[after:]
        assert server.socket({"type": "resume", "execution_id": id, "after": after}) == events[after:]
    over = server.http.get(f"executions/{id}/events", headers={"Last-Event-ID": str(len(events))})
    assert (over.status_code, over.content) == (204, b"")


def test_a_search_goes_on_without_its_client_and_can_be_resumed(server: Server, web: Running) -> None:
    web.brave.delay_secs = 0.5
    try:
        with server.opened() as socket:
            socket.send(json.dumps({"query": QUERY}))
            first = json.loads(socket.recv(timeout=60))
    finally:
        web.brave.delay_secs = 0.0
    assert (first["seq"], first["data"]["query"]) == (1, QUERY)
    rest = server.socket({"type": "resume", "execution_id": first["execution_id"], "after": 1})
    check_answer([(1, {"event": first["event"], "data": first["data"]}), *rest])


# --- Cancelling --------------------------------------------------------------------------------------------


def by_rest(server: Server, execution_id: str) -> None:
    for _ in range(2):
        reply = server.post(f"executions/{execution_id}/cancel", {})
        assert (reply.status_code, reply.json()["status"]) == (200, "cancelled")


def by_socket(server: Server, execution_id: str) -> None:
    with server.opened() as socket:
        socket.send(json.dumps({"type": "cancel", "execution_id": execution_id}))
        wait_until(lambda: server.details(execution_id)["status"] == "cancelled", "it is cancelled")


@pytest.mark.parametrize("cancel", [by_rest, by_socket])
def test_a_cancel_reaches_the_search_engine(
    server: Server, web: Running, cancel: Callable[[Server, str], None]
) -> None:
    web.brave.fail(Failure.SLOW)
    accepted = server.post("tools/web_search/execute", {"inputs": {"query": QUERY}}).json()
    wait_until(lambda: web.brave.requests, "the search engine is asked")
    assert not web.brave.left.is_set()
    cancel(server, accepted["execution_id"])
    assert web.brave.left.wait(30)
    _, events = server.sse("GET", accepted["stream_url"])
    messages = check_stream(events, "web_search_events")
    assert order_of(messages) == [ASKED[0], "error"]
    assert messages[-1]["data"]["code"] == "cancelled"
    told = server.details(accepted["execution_id"])
    assert (told["status"], told["result"]) == ("cancelled", {"response": "", "partial": True})
    # Nobody knows whether the engine bills it: the estimate counts, and nothing stays reserved.
    wait_until(lambda: Charge.unscoped.filter(settled_at__isnull=False).exists(), "the charge is settled")
    assert [charge.amount for charge in Charge.unscoped.all()] == [Decimal("0.005")]
