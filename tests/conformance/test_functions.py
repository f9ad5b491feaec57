"""Functions of the caller, through OpenAI's own client: asked for, called, sent back, answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState

from kb.models import Document
from tests.conformance.gateway import QUESTION, Gateway
from tests.conformance.streaming import running
from tests.conftest import Cast
from tests.testing.chat_models import OpenAiProvider, Turn

pytestmark = pytest.mark.django_db(transaction=True)
SHAPE = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
FUNCTION = {"name": "weather", "description": "Says how the weather was.", "parameters": SHAPE}
RESPONSES_TOOL = {"type": "function", **FUNCTION}
COMPLETIONS_TOOL = {"type": "function", "function": FUNCTION}
SUNNY = "On 3 May the sun shone for eleven hours."
ASKS = "How long did the sun shine on 3 May?"
WANTS = Turn(calls=(("weather", {"day": "3 May"}),))
DONE = Turn(words=("DONE",))
SAYS = Turn(words=("The sun shone for eleven hours. ", "<source_1>"))


@pytest.fixture(scope="module")
def model(django_db_setup: None) -> Iterator[OpenAiProvider]:
    with OpenAiProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def with_model(model: OpenAiProvider) -> Iterator[Gateway]:
    """A web server whose chat model answers as its turns say."""
    settings = {
        "GENERATION_PROVIDER": "openai-compatible",
        "GENERATION_MODEL": "llama3.2:3b",
        "GENERATION_BASE_URL": model.url,
    }
    with running(**settings) as url:
        yield Gateway(url, None)


@pytest.fixture
def client(with_model: Gateway, model: OpenAiProvider, cast: Cast, document: Document) -> Iterator[Any]:
    with_model.key = cast.keys["alice"]
    model.requests.clear()
    yield with_model.openai()
    with_model.close()


def offered(model: OpenAiProvider) -> dict[str, Any]:
    return {each["function"]["name"]: each["function"] for each in model.requests[0]["tools"]}


@pytest.mark.parametrize("streams", [False, True])
def test_a_response_asks_and_goes_on(client: Any, model: OpenAiProvider, streams: bool) -> None:
    asked: list[Any] = [{"role": "user", "content": ASKS}]

    def respond() -> Any:
        made = client.responses.create(model="locus", input=asked, tools=[RESPONSES_TOOL], stream=streams)
        if not streams:
            return made
        events = list(made)
        assert [event.sequence_number for event in events] == [*range(len(events))]
        kinds = [event.type for event in events]
        if "response.function_call_arguments.done" in kinds:
            done = events[kinds.index("response.function_call_arguments.done")]
            parts = [each.delta for each in events if each.type == "response.function_call_arguments.delta"]
            assert json.loads("".join(parts)) == json.loads(done.arguments) == {"day": "3 May"}
            assert "response.output_text.delta" not in kinds
        assert kinds[-1] == "response.completed"
        return events[-1].response

    model.turns = [WANTS]
    first = respond()
    [call] = [item for item in first.output if item.type == "function_call"]
    assert (call.name, json.loads(call.arguments), call.status) == ("weather", {"day": "3 May"}, "completed")
    assert (first.status, first.output_text) == ("completed", "")
    assert offered(model)["weather"]["parameters"]["properties"] == SHAPE["properties"]
    assert "rag_search" in offered(model)
    # What was put out goes back as it is, with what the function gave.
    asked += [item.model_dump(exclude_none=True) for item in first.output]
    asked.append({"type": "function_call_output", "call_id": call.call_id, "output": SUNNY})
    model.requests.clear()
    model.turns = [DONE, SAYS]
    second = respond()
    assert second.output_text == "The sun shone for eleven hours. [1]"
    [read] = [each for each in model.requests[0]["messages"] if each["role"] == "tool"]
    assert SUNNY in read["content"] and read["content"].startswith("=====")
    [annotation] = second.output[-1].content[0].annotations
    assert annotation.url == "locus://functions/weather"


@pytest.mark.parametrize("streams", [False, True])
def test_a_completion_asks_and_goes_on(client: Any, model: OpenAiProvider, streams: bool) -> None:
    messages: list[Any] = [{"role": "user", "content": ASKS}]
    more = {"model": "locus", "tools": [COMPLETIONS_TOOL]}
    model.turns = [WANTS]
    if streams:
        state = ChatCompletionStreamState()
        for chunk in client.chat.completions.create(messages=messages, stream=True, **more):
            state.handle_chunk(chunk)
        choice = state.get_final_completion().choices[0]
    else:
        choice = client.chat.completions.create(messages=messages, **more).choices[0]
    assert choice.finish_reason == "tool_calls"
    [call] = choice.message.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == ("weather", {"day": "3 May"})
    asked = {"id": call.id, "type": "function", "function": call.function.model_dump(exclude_none=True)}
    messages.append({"role": "assistant", "content": None, "tool_calls": [asked]})
    messages.append({"role": "tool", "tool_call_id": call.id, "content": SUNNY})
    model.turns = [DONE, SAYS]
    answer = client.chat.completions.create(messages=messages, **more)
    assert answer.choices[0].finish_reason == "stop"
    assert answer.choices[0].message.content == "The sun shone for eleven hours. [1]"
    assert answer.model_extra["citations"] == ["locus://functions/weather"]


def test_own_tools_are_called_first(client: Any, model: OpenAiProvider) -> None:
    """A search of documents, then the caller's function, then an answer from both."""
    question = f"{QUESTION} {ASKS}"
    tools = [{"type": "rag_search"}, RESPONSES_TOOL]
    model.turns = [Turn(calls=(("rag_search", {"query": QUESTION}),)), WANTS]
    first = client.responses.create(model="locus", input=question, tools=tools)
    assert [item.type for item in first.output] == ["search_results", "function_call"]
    call = first.output[-1]
    asked: list[Any] = [{"role": "user", "content": question}, call.model_dump(exclude_none=True)]
    asked.append({"type": "function_call_output", "call_id": call.call_id, "output": SUNNY})
    model.turns = [
        Turn(calls=(("rag_search", {"query": QUESTION}),)),
        DONE,
        Turn(words=("The farm produced 42 gigawatt hours. <source_2> ", "The sun shone. <source_1>")),
    ]
    second = client.responses.create(model="locus", input=asked, tools=tools)
    assert "[2]" in second.output_text and "[1]" in second.output_text


TIDES = {"type": "function", "name": "tides", "parameters": SHAPE}
CHOSEN: list[tuple[Any, list[Any], set[str]]] = [
    ({"type": "function", "name": "weather"}, [RESPONSES_TOOL, TIDES], {"weather"}),
    ("required", [RESPONSES_TOOL, TIDES], {"weather", "tides"}),
]


@pytest.mark.parametrize(("choice", "tools", "names"), CHOSEN, ids=["named", "required"])
def test_a_choice_demands_a_call(
    client: Any, model: OpenAiProvider, choice: Any, tools: list[Any], names: set[str]
) -> None:
    """Nothing is searched first; a model that asks for something else has failed, as has one that answers."""
    model.turns = [WANTS]
    made = client.responses.create(model="locus", input=QUESTION, tools=tools, tool_choice=choice)
    assert [(item.type, item.name) for item in made.output] == [("function_call", "weather")]
    assert made.output_text == ""
    [asked] = model.requests
    demanded = asked["tool_choice"]
    assert names <= set(offered(model))
    assert demanded == "required" or demanded["function"]["name"] == "weather"
    for disobedient in (DONE, Turn(calls=(("rag_search", {"query": QUESTION}),))):
        model.turns = [disobedient]
        with pytest.raises(openai.InternalServerError, match="has not asked for the function") as failed:
            client.responses.create(model="locus", input=QUESTION, tools=tools, tool_choice=choice)
        assert failed.value.code == "server_error"


def test_a_completion_demands_a_call(client: Any, model: OpenAiProvider) -> None:
    model.turns = [WANTS]
    choice = {"type": "function", "function": {"name": "weather"}}
    asked: Any = {"model": "locus", "messages": [{"role": "user", "content": QUESTION}]}
    made = client.chat.completions.create(**asked, tools=[COMPLETIONS_TOOL], tool_choice=choice)
    assert made.choices[0].finish_reason == "tool_calls"
    assert model.requests[0]["tool_choice"]["function"]["name"] == "weather"


def test_no_function_is_called_where_the_choice_is_none(client: Any, model: OpenAiProvider) -> None:
    """What functions have given so far is read all the same."""
    call = {"type": "function_call", "call_id": "c", "name": "weather", "arguments": "{}"}
    given = {"type": "function_call_output", "call_id": "c", "output": SUNNY}
    model.turns = [DONE, SAYS]
    asked: Any = [{"role": "user", "content": ASKS}, call, given]
    made = client.responses.create(model="locus", input=asked, tools=[RESPONSES_TOOL], tool_choice="none")
    assert made.output_text == "The sun shone for eleven hours. [1]"
    assert "weather" not in offered(model)


def test_what_is_refused(client: Any, model: OpenAiProvider, gateway: Gateway) -> None:
    def refusal(client: Any, **body: Any) -> tuple[str | None, str | None]:
        with pytest.raises(openai.BadRequestError) as refused:
            client.responses.create(model="locus", **({"input": ASKS} | body))
        return refused.value.code, refused.value.param

    twice = [RESPONSES_TOOL, RESPONSES_TOOL]
    assert refusal(client, tools=twice) == ("validation_error", "tools")
    assert refusal(client, tools=[RESPONSES_TOOL | {"name": "rag_search"}])[1] == "tools"
    assert refusal(client, tools=[RESPONSES_TOOL | {"name": "not good"}])[1] == "tools"
    call = {"type": "function_call", "call_id": "c", "name": "weather", "arguments": "{}"}
    asks = {"role": "user", "content": ASKS}
    assert refusal(client, input=[asks, call], tools=[RESPONSES_TOOL])[1] == "input"
    for choice in ({"type": "function", "name": "tides"}, {"type": "function"}):
        refused = refusal(client, tools=[RESPONSES_TOOL], tool_choice=choice)
        assert refused == ("validation_error", "tool_choice")
    # Where no chat model is connected nobody would ever call it.
    assert refusal(gateway.openai(), tools=[RESPONSES_TOOL]) == ("unsupported_tool", "tools")
    assert model.requests == []
