"""What a turn does: follow-ups, documents and web in one answer, sockets, exports."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pymupdf
import pytest
from asgiref.sync import sync_to_async
from pytest_django import Settings

from accounts.models import Session
from assistants.conversations import title_of
from kb.deletion import delete_documents
from kb.models import Document
from runs.models import Execution, ExecutionEvent
from tests.assistants.conversing import begin, call, say, thread
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.search.test_rag_search import events_of
from tests.search.web.calling import BUILT, change
from tests.search.web.conftest import brave  # noqa: F401 - a fixture
from tests.testing.search_engines import Failure, ProviderDouble
from tests.testing.sockets import Socket, socket

pytestmark = pytest.mark.django_db(transaction=True)
HOW_MUCH = "How much did the solar farm produce in 2023?"
WHEN_BUILT = "When was the harbour lighthouse built?"


# --- Follow-ups ------------------------------------------------------------------------------------------


@pytest.fixture
async def report(people: Cast) -> Document:
    make = sync_to_async(indexed_document)
    year = "The solar farm produced {} gigawatt hours in {}."
    text = f"{year.format(42, 2023)} {year.format(39, 2022)}"
    return await make(people.team, text, name="report.pdf")


async def test_a_follow_up_knows_what_was_said(people: Cast, report: Document) -> None:
    session = await begin(people)
    await say(people, session, HOW_MUCH)
    followed = await say(people, session, "And the year before?")
    assert followed["asked"] != "And the year before?"
    assert "2022" in followed["asked"] and "solar farm" in followed["asked"]
    assert "39 gigawatt hours" in followed["response"]
    # It is stored as it was written.
    assert (await thread(people, session))[1]["content"] == "And the year before?"


async def test_a_new_beginning_knows_nothing(people: Cast, report: Document) -> None:
    session = await begin(people)
    await say(people, session, HOW_MUCH)
    anew = await say(people, session, "And the year before?", parent_id=None)
    assert anew["asked"] == "And the year before?"


async def test_a_deleted_document_leaves_no_word_in_later_turns(people: Cast, report: Document) -> None:
    """What a follow-up carries may be words of documents that only earlier answers have read."""
    session = await begin(people)
    first = await say(people, session, HOW_MUCH)
    followed = await say(people, session, "And the year before?")
    run = await Execution.unscoped.aget(pk=followed["execution_id"])
    assert run.read_documents == [report.pk]
    await sync_to_async(delete_documents)([report.pk])
    for message in await thread(people, session):
        result = message["answers"][0]["result"]
        assert (result["response"], result["asked"]) == (None, None)
    executions = [first["execution_id"], followed["execution_id"]]
    stored = [event async for event in ExecutionEvent.objects.filter(execution__in=executions)]
    assert "gigawatt" not in str([event.data for event in stored])
    assert "2022" not in str([event.data.get("asked") for event in stored])


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Why?", "Why?"),
        ("Why\n  so?", "Why so?"),
        ("word " * 40, "word " * 15 + "word…"),
        ("x" * 100, "x" * 80 + "…"),
    ],
)
def test_titles_are_cut_at_a_word(question: str, title: str) -> None:
    assert title_of(question) == title


# --- Web -------------------------------------------------------------------------------------------------


@pytest.fixture
async def online(people: Cast, brave: ProviderDouble) -> AsyncIterator[ProviderDouble]:  # noqa: F811
    await change(people, enabled=True)
    yield brave


async def test_documents_and_web_in_one_answer(
    people: Cast, documents: dict[str, Document], online: ProviderDouble, settings: Settings
) -> None:
    settings.GENERATION_PROVIDER = "scripted"
    lighthouse = "The harbour lighthouse was painted red in 1950. The keeper lived in the harbour lighthouse."
    await sync_to_async(indexed_document)(people.team, lighthouse, name="lighthouse.pdf")
    session = await begin(people, tools={"web": True})
    body = {"content": "When was the harbour lighthouse built, and painted red?", "stream": True}
    events = await events_of(await call(people, "POST", f"sessions/{session['id']}/messages", body))
    assert {e["data"].get("tool") for e in events} == {None, "rag_search", "web_search"}
    result = events[-1]["data"]
    ranks = [each["rank"] for each in (*result["contexts"], *result["sources"])]
    assert ranks == list(range(1, len(ranks) + 1))
    [sources] = [e["data"] for e in events if "sources" in e["data"] and e["event"] == "tool_update"]
    assert [each["rank"] for each in sources["sources"]] == [each["rank"] for each in result["sources"]]
    assert "<citation id=" in result["response"]
    assert f'<web_citation url="{BUILT.url}"' in result["response"]
    used = {each["rank"] for each in (*result["contexts"], *result["sources"]) if each["used_in_response"]}
    assert used == set(result["sources_used"])
    assert (result["outcome"], len(result["calls"])) == ("answered", 2)
    details = (await call(people, "GET", f"executions/{result['execution_id']}")).json()
    assert details["cost"] is not None


async def test_the_web_alone(people: Cast, documents: dict[str, Document], online: ProviderDouble) -> None:
    session = await begin(people, tools={"documents": False, "web": True})
    result = await say(people, session, WHEN_BUILT)
    assert (result["contexts"], result["outcome"]) == ([], "answered")
    execution = await Execution.unscoped.aget()
    assert (execution.read_workspaces, execution.read_documents) == ([], [])


async def test_documents_answer_where_the_web_fails(
    people: Cast, documents: dict[str, Document], online: ProviderDouble
) -> None:
    online.fail(Failure.SERVER_ERROR, times=9)
    session = await begin(people, tools={"web": True})
    result = await say(people, session, HOW_MUCH)
    assert (result["outcome"], result["sources"]) == ("answered", [])
    events = await events_of(await call(people, "GET", f"executions/{result['execution_id']}/events"))
    [failed] = [e["data"] for e in events if e["data"].get("output_key") == "failure"]
    assert (failed["tool"], failed["code"]) == ("web_search", "provider_error")
    await call(people, "PATCH", f"sessions/{session['id']}", {"tools": {"documents": False}})
    reply = await call(people, "POST", f"sessions/{session['id']}/messages", {"content": HOW_MUCH})
    assert (reply.status_code, reply.json()["error"]["code"]) == (502, "provider_error")


async def test_a_switched_off_web_refuses(people: Cast, documents: dict[str, Document]) -> None:
    session = await begin(people, tools={"web": True})
    for path in ("messages", "messages/execute"):
        body = {"content": WHEN_BUILT} if path == "messages" else {"inputs": {"content": WHEN_BUILT}}
        reply = await call(people, "POST", f"sessions/{session['id']}/{path}", body)
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "tool_disabled")
    assert await thread(people, session) == []


# --- Requests --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "param"),
    [
        ({}, 400, "content"),
        ({"content": " "}, 400, "content"),
        ({"content": "x", "message_id": str(uuid4())}, 400, "content"),
        ({"message_id": str(uuid4())}, 404, "message_id"),
        ({"content": "x", "parent_id": str(uuid4())}, 404, "parent_id"),
        ({"content": "x", "document_ids": [str(uuid4())]}, 404, "document_ids[0]"),
        ({"content": "x", "session_id": str(uuid4())}, 400, "session_id"),
        ({"content": "x", "question": "y"}, 400, "question"),
    ],
)
async def test_bad_messages(people: Cast, body: dict[str, Any], status: int, param: str) -> None:
    session = await begin(people)
    reply = await call(people, "POST", f"sessions/{session['id']}/messages", body)
    assert (reply.status_code, reply.json()["error"]["param"]) == (status, param)
    assert await thread(people, session) == []


async def test_the_tool_itself_needs_a_session(people: Cast, documents: dict[str, Document]) -> None:
    reply = await call(people, "POST", "tools/chat", {"content": HOW_MUCH})
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "session_id")
    session = await begin(people)
    reply = await call(people, "POST", "tools/chat", {"content": HOW_MUCH, "session_id": session["id"]})
    assert reply.json()["answered"]
    for external in ("x",):
        body = {"content": HOW_MUCH, "external_user_id": external}
        reply = await call(people, "POST", f"sessions/{session['id']}/messages", body)
        assert reply.status_code == 404


async def test_the_same_request_twice_is_one_message(people: Cast, documents: dict[str, Document]) -> None:
    session = await begin(people)
    headers = {"Idempotency-Key": "once"}
    path, body = f"sessions/{session['id']}/messages", {"content": HOW_MUCH}
    first = await call(people, "POST", path, body, **headers)
    second = await call(people, "POST", path, body, **headers)
    assert first.json() == second.json()
    assert len(await thread(people, session)) == 1


# --- Sockets ---------------------------------------------------------------------------------------------


async def opened(people: Cast, session: dict[str, Any], name: str = "alice") -> Socket:
    headers = [(key.lower().encode(), value.encode()) for key, value in people.headers(name).items()]
    connection = socket(f"/ws/sessions/{session['id']}", [*headers, (b"host", b"testserver")])
    assert (await connection.connect(timeout=20))[0]
    return connection


async def until_the_end(connection: Socket) -> list[dict[str, Any]]:
    messages = [await connection.receive_json_from(20)]
    while messages[-1]["event"] not in ("tool_end", "error"):
        messages.append(await connection.receive_json_from(20))
    return messages


async def test_a_socket_stays_open_for_the_whole_conversation(
    people: Cast, documents: dict[str, Document]
) -> None:
    session = await begin(people)
    connection = await opened(people, session)
    await connection.send_json_to({"type": "message", "content": HOW_MUCH})
    first = await until_the_end(connection)
    assert first[-1]["data"]["outcome"] == "answered"
    assert [message["seq"] for message in first] == list(range(1, len(first) + 1))
    await connection.send_json_to({"type": "message", "content": " "})
    bad = await connection.receive_json_from(20)
    assert (bad["data"]["param"], "execution_id" in bad) == ("content", False)
    await connection.send_json_to({"type": "message", "content": "When are tea roses pruned?"})
    assert (await until_the_end(connection))[-1]["event"] == "tool_end"
    await connection.disconnect()
    again = await opened(people, session)
    await again.send_json_to({"type": "resume", "execution_id": first[0]["execution_id"], "after": 2})
    assert await until_the_end(again) == first[2:]
    await again.disconnect()
    assert len(await thread(people, session)) == 2


async def test_a_socket_is_for_its_own_user(people: Cast, documents: dict[str, Document]) -> None:
    session = await begin(people, shared=True)
    for name in ("bob", "charlie"):
        connection = await opened(people, session, name)
        closed = await connection.receive_output(20)
        assert (closed["type"], closed["code"]) == ("websocket.close", 4404)


# --- Exports ---------------------------------------------------------------------------------------------


async def test_exports(people: Cast, documents: dict[str, Document], online: ProviderDouble) -> None:
    session = await begin(people, title="Sun & <sea>")
    first = await say(people, session, HOW_MUCH)
    await call(people, "PATCH", f"sessions/{session['id']}", {"tools": {"documents": False, "web": True}})
    await say(people, session, WHEN_BUILT)
    path = f"sessions/{session['id']}/export"
    markdown = await call(people, "GET", path)
    assert markdown["Content-Type"] == "text/markdown; charset=utf-8"
    assert markdown["Content-Disposition"].startswith("attachment")
    text = markdown.content.decode()
    assert text.startswith("# Sun & \\<sea\\>\n\n## How much did the solar farm")
    assert "[^1]: solar.pdf, page 1" in text
    assert f"[^2]: {BUILT.title}, {BUILT.url}" in text
    assert "<citation" not in text and "<web_citation" not in text
    pdf = await call(people, "GET", f"{path}?format=pdf")
    with pymupdf.open(stream=pdf.content, filetype="pdf") as opened_pdf:
        printed = " ".join(" ".join(page.get_text() for page in opened_pdf).split())
    assert "Sun & <sea>" in printed and "42 gigawatt hours" in printed
    assert "1. solar.pdf, page 1" in printed and BUILT.url in printed.replace(" ", "")
    branch = await call(people, "GET", f"{path}?message_id={first['message_id']}")
    assert "lighthouse" not in branch.content.decode()
    assert (await call(people, "GET", f"{path}?message_id={uuid4()}")).status_code == 404
    empty = await begin(people)
    assert (await call(people, "GET", f"sessions/{empty['id']}/export?format=pdf")).status_code == 200


async def test_a_cancelled_answer_stays_in_the_thread(people: Cast, documents: dict[str, Document]) -> None:
    session = await begin(people)
    result = await say(people, session, HOW_MUCH)
    row = await Session.unscoped.aget(pk=session["id"])
    await Execution.unscoped.filter(pk=result["execution_id"]).aupdate(
        status="cancelled",
        result={"response": "The solar", "partial": True},
        error={"code": "cancelled", "message": "x"},
    )
    [message] = await thread(people, session)
    assert message["answers"][0]["result"] == {"response": "The solar", "partial": True}
    assert json.dumps(message) and row.pk
    exported = await call(people, "GET", f"sessions/{session['id']}/export")
    assert "The solar" in exported.content.decode()
