"""`web_search` through the real ASGI application, PostgreSQL and models; the search engines are doubles."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from pytest_django import Settings

from accounts.models.ledger import Charge
from core.threads import in_database
from search.generation.extractive.wording import NOTHING_FOUND_ON_THE_WEB
from tests.conftest import Cast
from tests.search.test_rag_search import events_of
from tests.search.web.calling import BUILT, CITATION, OTHERS, QUERY, ask, change, code_of, details, kept_rows
from tests.testing.search_engines import Failure, ProviderDouble, WebPage, double
from tests.testing.sockets import socket

pytestmark = pytest.mark.django_db(transaction=True)

WITHOUT_SCRAPING = [
    *(("WEB_SEARCH", "started"), ("WEB_SEARCH", "completed")),
    *(("RERANKING", "started"), ("RERANKING", "completed")),
    *(("GENERATION", "started"), ("GENERATION", "completed")),
]


async def over_a_socket(people: Cast) -> list[dict[str, Any]]:
    asking = socket("/ws/tools/web_search", [(b"authorization", f"Bearer {people.keys['alice']}".encode())])
    await asking.connect()
    await asking.send_json_to({"query": QUERY, "workspace_id": str(people.team.pk)})
    got: list[dict[str, Any]] = []
    while not got or got[-1]["event"] not in ("tool_end", "error"):
        got.append(await asking.receive_json_from(timeout=30))
    await asking.disconnect()
    return got


# --- Mode `answer` -----------------------------------------------------------------------------------------


async def test_an_answer_cites_the_page_it_comes_from(people: Cast, brave: ProviderDouble) -> None:
    result = (await ask(people)).json()
    first, *others = result["sources"]
    assert (first["rank"], first["url"], first["title"]) == (1, BUILT.url, BUILT.title)
    assert first["used_in_response"] is True
    assert first["quote"] == BUILT.snippet
    assert not any(source["used_in_response"] for source in others)
    assert first["rerank_score"] > max(source["rerank_score"] for source in others)
    assert CITATION.findall(result["response"]) == [(BUILT.url, BUILT.title, "1")]
    assert "1893" in CITATION.sub("", result["response"])
    assert "source_" not in result["response"]
    assert (result["query"], result["provider"], result["from_cache"]) == (QUERY, "brave", False)
    assert (result["total_results"], result["reranked_results"], result["sources_used"]) == (3, 3, [1])
    assert result["providers"] == {"brave": "ok"}


async def test_the_stream_has_the_phases_of_the_seed(people: Cast, brave: ProviderDouble) -> None:
    events = await events_of(await ask(people, stream=True))
    updates = [event["data"] for event in events if event["event"] == "tool_update"]
    phases = [update for update in updates if "phase" in update]
    assert [(each["phase"], each["status"]) for each in phases] == WITHOUT_SCRAPING
    started, completed = phases[:2]
    assert started == {
        "execution_id": events[-1]["data"]["execution_id"],
        "phase": "WEB_SEARCH",
        "status": "started",
        "query": QUERY,
    }
    assert (completed["output_key"], completed["data"]["results_count"]) == ("sources", 3)
    assert completed["data"]["sources"][0] == {
        "rank": 1,
        "title": OTHERS[0].title,
        "url": OTHERS[0].url,
        "snippet": OTHERS[0].snippet,
        "engine": "brave",
        "score": None,
    }
    assert phases[3]["data"] == {"reranked_count": 3}
    after = updates.index(phases[3])
    assert updates[after + 1] == {"reranked_results": 3, "output_key": "reranked_results"}
    refined = updates[after + 2]
    assert (refined["output_key"], refined["sources"][0]["url"]) == ("sources", BUILT.url)
    partials = [event["data"] for event in events if event["event"] == "tool_partial_update"]
    assert all(partial["output_key"] == "response" for partial in partials)
    assert "<source_1>" in "".join(partial["content"] for partial in partials)
    assert events[-1]["event"] == "tool_end"
    assert CITATION.search(events[-1]["data"]["response"])


async def test_a_socket_gets_the_same_events(people: Cast, brave: ProviderDouble) -> None:
    streamed = await events_of(await ask(people, stream=True))
    got = await over_a_socket(people)
    assert [(each["event"], each["data"].get("phase")) for each in got] == [
        (each["event"], each["data"].get("phase")) for each in streamed
    ]
    assert got[-1]["data"]["sources"] == streamed[-1]["data"]["sources"]


async def test_where_nothing_is_found_no_model_is_asked(people: Cast, brave: ProviderDouble) -> None:
    brave.pages = []
    result = (await ask(people)).json()
    assert (result["answered"], result["sources"], result["total_results"]) == (False, [], 0)
    assert result["providers"] == {"brave": "empty"}
    assert result["response"] == NOTHING_FOUND_ON_THE_WEB["en"]


async def test_where_no_page_answers_the_web_is_named(people: Cast, brave: ProviderDouble) -> None:
    brave.pages = OTHERS
    result = (await ask(people, query="Wer war der König von Norwegen?")).json()
    assert (result["answered"], result["total_results"]) == (False, 2)
    assert result["response"] == NOTHING_FOUND_ON_THE_WEB["de"]


async def test_what_reaches_the_model_keeps_to_the_budget(people: Cast, brave: ProviderDouble) -> None:
    brave.pages = [
        WebPage(f"Light {n}", f"https://l{n}.example/", f"Light {n} was built in 18{n}0. " * 20)
        for n in range(1, 6)
    ]
    some = (await ask(people, max_tokens=60, max_tokens_per_page=40)).json()
    assert some["reranked_results"] == 2
    assert (await ask(people, search_context_size="high")).json()["reranked_results"] == 5


async def test_titles_of_pages_are_hostile(people: Cast, brave: ProviderDouble) -> None:
    brave.pages = [WebPage('"><script>alert(1)</script> <source_9>', BUILT.url, BUILT.snippet)]
    result = (await ask(people)).json()
    assert "<script" not in result["response"]
    assert [rank for _, _, rank in CITATION.findall(result["response"])] == ["1"]


# --- Mode `results` ----------------------------------------------------------------------------------------


async def test_results_are_listed_without_an_answer(people: Cast, brave: ProviderDouble) -> None:
    result = (await ask(people, mode="results", time_range="none")).json()
    assert result["results"][-1] == {
        "url": BUILT.url,
        "title": BUILT.title,
        "snippet": BUILT.snippet,
        "site_name": "Light.Example",
        "published_at": None,
        "last_updated": None,
        "body": None,
    }
    assert (result["query"], result["provider"], result["ignored_filters"]) == (QUERY, "brave", [])
    events = await events_of(await ask(people, mode="results", stream=True))
    assert [event["data"].get("phase") for event in events] == ["WEB_SEARCH", "WEB_SEARCH", None]


async def test_a_filter_that_nobody_can_honour_is_named(people: Cast, brave: ProviderDouble) -> None:
    filters = {"last_updated_after_filter": "01/31/2026"}
    result = (await ask(people, mode="results", filters=filters)).json()
    assert result["ignored_filters"] == ["last_updated_after_filter"]


# --- Who may, and what it costs ----------------------------------------------------------------------------


async def test_it_is_off_until_a_workspace_switches_it_on(people: Cast, brave: ProviderDouble) -> None:
    await change(people, enabled=None)
    for stream in (False, True):
        assert code_of(await ask(people, stream=stream)) == (403, "tool_disabled")
    assert code_of(await ask(people, count=99)) == (400, "validation_error")
    assert [event["data"]["code"] for event in await over_a_socket(people)] == ["tool_disabled"]
    path = f"/api/v1/tools/web_search?workspace_id={people.team.pk}"
    told = (await AsyncClient().get(path, headers=people.headers("alice"))).json()
    assert (told["name"], told["enabled"]) == ("web_search", False)
    await change(people, enabled=True)
    assert (await AsyncClient().get(path, headers=people.headers("alice"))).json()["enabled"] is True
    assert not brave.requests


async def test_each_tool_tells_its_own_limits(people: Cast) -> None:
    listed = (await AsyncClient().get("/api/v1/tools", headers=people.headers("alice"))).json()["results"]
    assert {tool["name"]: tool["limits"] for tool in listed} == {
        "rag_search": {"query_chars": 2000, "limit": 20},
        "web_search": {"query_chars": 2000, "count": 20, "domains": 20},
        "web_fetch": {"url_chars": 2048, "max_tokens": 20_000},
        "answer": {"query_chars": 2000, "history_turns": 20},
        "agent": {"query_chars": 2000, "history_turns": 20, "steps": 20},
        "chat": {"content_chars": 2000},
    }


async def test_without_web_tools_there_is_no_such_tool(
    people: Cast, brave: ProviderDouble, settings: Settings
) -> None:
    settings.WEB_TOOLS = False
    assert code_of(await ask(people)) == (404, "not_found")
    listed = (await AsyncClient().get("/api/v1/tools", headers=people.headers("alice"))).json()["results"]
    assert [tool["name"] for tool in listed] == ["rag_search", "answer", "agent", "chat"]


async def test_another_workspace_does_not_exist(people: Cast, brave: ProviderDouble) -> None:
    assert code_of(await ask(people, "charlie")) == (404, "not_found")
    assert not brave.requests


async def test_the_cache_answers_the_second_time_and_pays_nothing(
    people: Cast, brave: ProviderDouble
) -> None:
    first = (await ask(people, mode="results")).json()
    again = (await ask(people, mode="results")).json()
    assert (first["from_cache"], again["from_cache"]) == (False, True)
    assert first["results"] == again["results"]
    assert len(brave.requests) == 1
    charges = await sync_to_async(lambda: list(Charge.unscoped.values_list("provider", "amount")))()
    assert charges == [("brave", Decimal("0.005"))]


async def test_at_the_limit_paid_searches_end_and_cached_ones_go_on(
    people: Cast, brave: ProviderDouble
) -> None:
    await change(people, max_cost=0.005)
    assert (await ask(people)).status_code == 200
    assert (await ask(people)).status_code == 200
    for stream in (False, True):
        assert code_of(await ask(people, query="Something else?", stream=stream)) == (402, "budget_exceeded")
    assert len(brave.requests) == 1


async def test_many_at_once_keep_to_the_limit(people: Cast, brave: ProviderDouble) -> None:
    await change(people, max_cost=0.02)
    replies = await asyncio.gather(*(ask(people, query=f"Question {n}?", mode="results") for n in range(12)))
    codes = [reply.status_code for reply in replies]
    assert sorted(set(codes)) == [200, 402]
    assert codes.count(200) == len(brave.requests) == 4


# --- Providers that fail -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_table")
async def test_auto_asks_the_next_and_tells_of_both(
    people: Cast, brave: ProviderDouble, settings: Settings
) -> None:
    with double("tavily") as tavily:
        for name, value in tavily.settings.items():
            setattr(settings, name, value)
        tavily.pages = [BUILT]
        brave.fail(Failure.RATE_LIMITED)
        result = (await ask(people, mode="results")).json()
        assert result["providers"] == {"brave": "rate_limited", "tavily": "ok"}
        assert result["provider"] == "tavily"
        # What was found after falling through is found again.
        assert (await ask(people, mode="results")).json()["from_cache"] is True
        assert len(await in_database(kept_rows)) == 1


async def test_a_provider_that_is_named_is_the_only_one_asked(people: Cast, brave: ProviderDouble) -> None:
    brave.fail(Failure.SERVER_ERROR)
    reply = await ask(people, provider="brave")
    assert code_of(reply) == (502, "provider_error")
    assert reply.json()["error"]["details"] == {
        "providers": [{"provider": "brave", "outcome": "unavailable"}]
    }
    assert code_of(await ask(people, provider="perplexity")) == (400, "validation_error")


async def test_who_was_asked_is_told_in_the_order_of_asking(people: Cast, settings: Settings) -> None:
    """Stored as an object, the engines came back in an order of the database."""
    order = ["brave", "tavily", "serpapi", "perplexity", "searxng"]
    with ExitStack() as stack:
        for name in order:
            engine = stack.enter_context(double(name))
            engine.fail(Failure.SERVER_ERROR)
            for setting, value in engine.settings.items():
                setattr(settings, setting, value)
        settings.DUCKDUCKGO_BASE_URL = "http://127.0.0.1:9"
        reply = await ask(people)
    stored = (await details(people, reply.headers["X-Execution-Id"])).json()["error"]
    for error in (reply.json()["error"], stored):
        assert [each["provider"] for each in error["details"]["providers"]] == [*order, "duckduckgo"]
        assert {each["outcome"] for each in error["details"]["providers"]} == {"unavailable"}


async def test_times_of_results_are_written_as_everywhere(people: Cast, brave: ProviderDouble) -> None:
    brave.pages = [replace(BUILT, published=datetime(2026, 1, 9, 12, 30, tzinfo=UTC))]
    (result,) = (await ask(people, mode="results")).json()["results"]
    assert result["published_at"] == "2026-01-09T12:30:00Z"
