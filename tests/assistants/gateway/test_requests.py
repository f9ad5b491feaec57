"""What requests in other people's forms come to: the question, its history, the tools."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from pytest import Subtests
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from assistants.gateway.conversation import Conversation, conversation_of
from assistants.gateway.errors import ModelNotFound, UnsupportedParameter, UnsupportedTool
from assistants.gateway.plan import GatewayRequest, plan_of
from assistants.gateway.wanted_tools import wanted_tools
from core.errors import NotFound, UnknownField, ValidationError
from tests.conftest import Cast

CALL = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"}
WEB, DOCUMENTS, FETCH = {"type": "web_search"}, {"type": "rag_search"}, {"type": "fetch_url"}


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text}


class TestConversation:
    def test_a_text_is_one_question(self) -> None:
        assert conversation_of("What?", "input") == Conversation("What?", [])

    def test_turns_and_their_answers(self) -> None:
        items = [
            {"role": "system", "content": "Be brief."},
            user("One?"),
            user([{"type": "input_text", "text": "Or two?"}]),
            {"type": "search_results", "results": []},
            assistant([{"type": "output_text", "text": "Two [1]."}]),
            user("Why?"),
        ]
        expected = [{"question": "One?\nOr two?", "answer": "Two."}]
        assert conversation_of(items, "input") == Conversation("Why?", expected, "Be brief.")

    def test_the_last_turns_count(self) -> None:
        items = [each for number in range(30) for each in (user(f"{number}?"), assistant("Yes."))]
        found = conversation_of([*items, user("And?")], "messages")
        assert [turn["question"] for turn in found.history] == [f"{number}?" for number in range(10, 30)]

    @pytest.mark.parametrize(
        ("items", "error", "param"),
        [
            ([], ValidationError, "input"),
            ([user("x"), assistant("y")], ValidationError, "input"),
            (["x"], ValidationError, "input[0]"),
            ([{"role": "nobody", "content": "x"}], ValidationError, "input[0].role"),
            ([user(None)], ValidationError, "input[0].content"),
            (
                [user([{"type": "input_file", "file_id": "x"}])],
                UnsupportedParameter,
                "input[0].content[0].type",
            ),
            ([user([{"type": "text", "text": 1}])], ValidationError, "input[0].content[0].text"),
            ([user("x"), {"type": "function_call_output", "call_id": "x"}], ValidationError, "input[1]"),
            ([user("x"), {"type": "function_call_output", "call_id": {}}], ValidationError, "input[1]"),
            ([user("x"), {"role": "tool", "tool_call_id": ["x"]}], ValidationError, "input[1]"),
            ([user("x"), CALL], ValidationError, "input"),
            ([user("x"), CALL | {"name": None}], ValidationError, "input[1]"),
            ([{"type": "computer_call"}], ValidationError, "input[0].type"),
        ],
    )
    def test_what_is_refused(self, items: list[Any], error: type[ValidationError], param: str) -> None:
        with pytest.raises(error) as refused:
            conversation_of(items, "input")
        assert refused.value.param == param

    def test_functions_of_both_protocols(self) -> None:
        output = {"type": "function_call_output", "call_id": "c1", "output": "Sunny."}
        deeper = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
        for items in (
            [user("x"), CALL, output],
            [
                user("x"),
                {"role": "assistant", "content": None, "tool_calls": [deeper]},
                {"role": "tool", "tool_call_id": "c1", "content": "Sunny."},
            ],
        ):
            found = conversation_of(items, "input")
            assert (found.question, found.history) == ("x", [])
            assert found.function_results == [
                {"call_id": "c1", "name": "weather", "arguments": "{}", "output": "Sunny."}
            ]
            # The next question is another one.
            later = conversation_of([*items, assistant("It is sunny."), user("And now?")], "input")
            assert (later.question, later.function_results) == ("And now?", [])
            assert later.history == [{"question": "x", "answer": "It is sunny."}]


class TestTools:
    def test_functions_of_the_caller(self) -> None:
        shape = {"type": "object", "properties": {}}
        flat = {"type": "function", "name": "f", "description": "d", "parameters": shape, "strict": True}
        deep = {"type": "function", "function": {"name": "f", "description": "d", "parameters": shape}}
        for tool in (flat, deep):
            wanted = wanted_tools([tool], "auto")
            assert wanted.functions == [{"name": "f", "description": "d", "parameters": shape}]
            assert not wanted
        with pytest.raises(ValidationError) as refused:
            wanted_tools([{"type": "function", "function": {}}], None)
        assert refused.value.param == "tools[0].name"

    def test_openai_s_names_of_domains(self) -> None:
        filters = {"allowed_domains": ["a.org"], "blocked_domains": ["b.org"]}
        wanted = wanted_tools([WEB | {"filters": filters, "external_web_access": True}], None)
        assert wanted.web == {
            "filters": {"whitelisted_domains": ["a.org"], "search_domain_filter": ["-b.org"]}
        }

    def test_what_every_tool_takes_is_no_option(self) -> None:
        for name in ("workspace_id", "external_user_id", "stream", "query"):
            with pytest.raises(UnknownField) as refused:
                wanted_tools([WEB, DOCUMENTS | {name: "x"}], None)
            assert refused.value.param == f"tools[1].{name}"

    def test_a_choice_leaves_one(self) -> None:
        wanted = wanted_tools([WEB, DOCUMENTS], {"type": "rag_search"})
        assert (wanted.web, wanted.documents) == (None, {})

    def test_a_choice_of_functions(self) -> None:
        tools = [{"type": "function", "name": name} for name in "fg"]
        for choice, called in (
            ("auto", []),
            ("required", ["f", "g"]),
            ({"type": "function", "name": "g"}, ["g"]),
            ({"type": "function", "function": {"name": "g"}}, ["g"]),
        ):
            wanted = wanted_tools(tools, choice)
            assert (wanted.must_call, len(wanted.functions)) == (called, 2)
        assert wanted_tools([*tools, DOCUMENTS], "required").must_call == []
        assert wanted_tools(tools, "none").functions == []
        for refused in ([], [DOCUMENTS], [*tools, DOCUMENTS]):
            with pytest.raises(UnsupportedParameter):
                wanted_tools(refused, "none")

    @pytest.mark.parametrize(
        "choice",
        [{"type": "function", "name": "f"}, {"type": "function"}, {"type": "web_search"}, "sometimes"],
    )
    def test_choices_that_can_t_be_kept(self, choice: Any) -> None:
        with pytest.raises(ValidationError) as refused:
            wanted_tools([DOCUMENTS], choice)
        assert refused.value.param == "tool_choice"

    def test_a_tool_stands_there_once(self) -> None:
        with pytest.raises(ValidationError, match="twice"):
            wanted_tools([WEB, {"type": "web_search_preview"}], None)

    def test_the_operator_may_have_removed_the_web(self, settings: Settings) -> None:
        settings.WEB_TOOLS = False
        for tool in (WEB, FETCH):
            with pytest.raises(UnsupportedTool):
                wanted_tools([tool], None)


def request(tools: list[Any], items: Any = "Who?", **asker: Any) -> GatewayRequest:
    conversation = conversation_of(items, "input")
    return GatewayRequest(conversation, wanted_tools(tools, None), ["locus"], asker, "input")


LATER = [user("Who?"), assistant("Nobody."), user("Why?")]


class TestPlan:
    @pytest.mark.parametrize(
        ("tools", "items", "tool", "inputs"),
        [
            ([DOCUMENTS | {"limit": 3}], "Who?", "rag_search", {"limit": 3}),
            ([WEB | {"count": 3}], "Who?", "web_search", {"count": 3}),
            ([WEB, FETCH], "Who?", "web_search", {"expand": True}),
            ([FETCH], "Read (https://a.example/b), please.", "web_fetch", {"url": "https://a.example/b"}),
        ],
    )
    def test_the_tool(self, cast: Cast, tools: Any, items: Any, tool: str, inputs: dict[str, Any]) -> None:
        call = plan_of(principal_of_user(cast.alice), request(tools, items)).call
        assert (call.tool.name, call.holds_statements) == (tool, True)
        assert call.inputs.model_dump(mode="json").items() >= inputs.items()

    def test_both_and_later_questions_run_answer(self, cast: Cast) -> None:
        principal = principal_of_user(cast.alice)
        for tools, items in (([DOCUMENTS, WEB], "Who?"), ([DOCUMENTS], LATER), ([], LATER)):
            assert plan_of(principal, request(tools, items)).call.tool.name == "answer"

    def test_without_tools_the_workspace_decides(self, cast: Cast) -> None:
        call = plan_of(principal_of_user(cast.alice), request([])).call
        assert call.tool.name == "rag_search"

    def test_faults_are_named_as_the_request_has_them(self, cast: Cast, subtests: Subtests) -> None:
        principal, id = principal_of_user(cast.alice), str(cast.team.pk)
        cases: list[tuple[GatewayRequest, type[Exception], str]] = [
            (request([DOCUMENTS], " "), ValidationError, "input"),
            (request([WEB, DOCUMENTS], " "), ValidationError, "input"),
            (request([WEB, DOCUMENTS | {"limit": 0}]), ValidationError, "tools[1].limit"),
            (request([WEB | {"count": 0}, DOCUMENTS]), ValidationError, "tools[0].count"),
            (request([WEB, DOCUMENTS | {"document_ids": [id]}]), NotFound, "tools[1].document_ids[0]"),
            (request([DOCUMENTS | {"document_ids": [id]}]), NotFound, "tools[0].document_ids[0]"),
            (request([DOCUMENTS], session_id=id), NotFound, "session_id"),
            (request([DOCUMENTS], workspace_id=str(UUID(int=0))), NotFound, "workspace_id"),
            (request([FETCH]), UnsupportedTool, "input"),
        ]
        for asked, error, param in cases:
            with subtests.test(param=param), pytest.raises(error) as refused:
                plan_of(principal, asked)
            assert refused.value.param == param  # type: ignore[attr-defined]

    def test_models(self, cast: Cast) -> None:
        principal = principal_of_user(cast.alice)
        asked = request([DOCUMENTS])
        plan_of(principal, GatewayRequest(asked.conversation, asked.tools, ["extractive"], {}, "input"))
        with pytest.raises(ModelNotFound):
            plan_of(principal, GatewayRequest(asked.conversation, asked.tools, ["gpt-5"], {}, "input"))
