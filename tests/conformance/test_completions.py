"""`/v1/chat/completions` through the official clients, against a running web server."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from pytest import Subtests

from tests.conformance.gateway import OTHER, PAGE, QUESTION, Gateway
from tests.testing.search_engines import Failure

pytestmark = pytest.mark.django_db(transaction=True)

MESSAGES: Any = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": QUESTION},
]
ASKED: dict[str, Any] = {"model": "locus", "messages": MESSAGES}
DOCUMENTS = {"extra_body": {"disable_search": True}}
FOLLOW_UP: Any = [
    *MESSAGES,
    {"role": "assistant", "content": "The solar farm in Almería produced 42 gigawatt hours in 2023 [1]."},
    {"role": "user", "content": "And who is its owner?"},
]


def test_a_completion(gateway: Gateway) -> None:
    made = gateway.openai().chat.completions.create(**ASKED, **DOCUMENTS)
    [choice] = made.choices
    assert (made.object, choice.finish_reason, choice.message.role) == (
        "chat.completion",
        "stop",
        "assistant",
    )
    text = choice.message.content or ""
    assert "42 gigawatt hours" in text
    [cited] = choice.message.annotations or ()
    place = cited.url_citation
    number = text[place.start_index : place.end_index]
    assert number == "[1]"
    extra: Any = made
    assert extra.citations[0] == place.url == extra.search_results[0]["url"]
    assert made.usage is not None and made.usage.total_tokens == 0
    assert made.model == "extractive"


@pytest.mark.parametrize("wants_usage", [False, True])
def test_chunks(gateway: Gateway, wants_usage: bool) -> None:
    more: Any = {"stream_options": {"include_usage": True}} if wants_usage else {}
    whole = gateway.openai().chat.completions.create(**ASKED, **DOCUMENTS)
    chunks = list(gateway.openai().chat.completions.create(**ASKED, **DOCUMENTS, stream=True, **more))
    assert len({chunk.id for chunk in chunks}) == 1
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
    assert chunks[0].choices[0].delta.role == "assistant"
    said = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(said) == whole.choices[0].message.content
    reasons = [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices]
    assert reasons == [None] * (len(reasons) - 1) + ["stop"]
    last: Any = next(chunk for chunk in reversed(chunks) if chunk.choices)
    assert len(last.citations) == len(last.search_results) == 1
    assert last.choices[0].delta.annotations[0]["type"] == "url_citation"
    assert [chunk.usage is not None for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert bool(chunks[-1].choices) is not wants_usage


def test_openai_s_own_reader_of_streams(gateway: Gateway) -> None:
    with gateway.openai().chat.completions.stream(**ASKED, **DOCUMENTS) as stream:
        final = stream.get_final_completion()
    assert "42 gigawatt hours" in (final.choices[0].message.content or "")


async def test_async_clients(gateway: Gateway) -> None:
    async with gateway.async_openai() as client:
        whole = await client.chat.completions.create(**ASKED, **DOCUMENTS)
        stream = await client.chat.completions.create(**ASKED, **DOCUMENTS, stream=True)
        said = [chunk.choices[0].delta.content or "" async for chunk in stream]
    assert "".join(said) == whole.choices[0].message.content


def test_by_perplexity(gateway: Gateway) -> None:
    client = gateway.perplexity()
    made: Any = client.chat.completions.create(**ASKED, search_domain_filter=["solar.example"])
    assert made.citations == [PAGE.url]
    assert made.choices[0].message.content.count("[1]") == 1
    assert made.search_results[0].url == PAGE.url
    assert made.usage.cost.total_cost == 0.005
    chunks = list(client.chat.completions.create(**ASKED, web_search_options={}, stream=True))
    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert "42 gigawatt hours" in said
    assert chunks[-1].citations == [PAGE.url, OTHER.url]


def test_a_follow_up_knows_what_was_said(gateway: Gateway) -> None:
    made = gateway.openai().chat.completions.create(model="locus", messages=FOLLOW_UP, **DOCUMENTS)
    assert "[1]" in (made.choices[0].message.content or "")
    with gateway.http() as http:
        newest = http.get("/api/v1/executions?limit=1").json()["results"][0]
        asked = http.get(f"/api/v1/executions/{newest['id']}").json()["result"]["asked"]
    assert (newest["tool"], "solar farm" in asked) == ("answer", True)


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"model": "gpt-5"}, "model_not_found", "model"),
    ({"n": 2}, "unsupported_parameter", "n"),
    ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "unsupported_tool", "tools"),
    ({"functions": [{"name": "f"}]}, "unsupported_tool", "functions"),
    ({"response_format": {"type": "json_object"}}, "unsupported_parameter", "response_format"),
    ({"messages": []}, "validation_error", "messages"),
    (
        {"messages": [{"role": "tool", "content": "x", "tool_call_id": "y"}]},
        "validation_error",
        "messages[0]",
    ),
    (
        {"web_search_options": {"user_location": {"type": "approximate", "approximate": {"country": "X"}}}},
        "validation_error",
        "web_search_options.user_location.country",
    ),
]


def test_refusals(gateway: Gateway, subtests: Subtests) -> None:
    for more, code, param in REFUSED:
        with subtests.test(more=more):
            with pytest.raises(openai.BadRequestError) as refused:
                gateway.openai().chat.completions.create(**ASKED | more)
            assert (refused.value.code, refused.value.param) == (code, param)


def test_a_failure_during_a_stream(gateway: Gateway) -> None:
    gateway.brave.mishap = lambda: Failure.SERVER_ERROR
    with pytest.raises(openai.APIError, match="No search engine answered"):
        list(gateway.openai().chat.completions.create(**ASKED, web_search_options={}, stream=True))
