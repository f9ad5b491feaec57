"""Conversations through the API: begun, asked in, listed, changed, deleted."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async

from accounts.models import AuditEntry, Session
from assistants.models import ChatMessage
from kb.models import Document
from runs.models import Execution, ExecutionEvent
from tests.assistants.conversing import begin, call, say, thread
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.search.test_rag_search import events_of, without_markup

pytestmark = pytest.mark.django_db(transaction=True)
HOW_MUCH = "How much did the solar farm produce in 2023?"


async def test_a_question_is_answered_and_stored_once(people: Cast, documents: dict[str, Document]) -> None:
    session = await begin(people)
    result = await say(people, session, HOW_MUCH)
    assert (result["outcome"], result["answered"], result["asked"]) == ("answered", True, HOW_MUCH)
    assert "42 gigawatt hours" in result["response"]
    [message] = await thread(people, session)
    assert (message["id"], message["content"], message["parent_id"]) == (result["message_id"], HOW_MUCH, None)
    [answer] = message["answers"]
    assert (answer["execution_id"], answer["result"]) == (result["execution_id"], result)
    execution = await Execution.unscoped.aget()
    assert execution.inputs == {"message_id": message["id"]}
    assert execution.session_id == execution.session_id is not None
    details = (await call(people, "GET", f"sessions/{session['id']}")).json()
    assert details["title"] == HOW_MUCH
    assert details["updated_at"] > session["updated_at"]


async def test_the_stream(people: Cast, documents: dict[str, Document]) -> None:
    session = await begin(people)
    body = {"content": HOW_MUCH, "stream": True}
    response = await call(people, "POST", f"sessions/{session['id']}/messages", body)
    events = await events_of(response)
    first, asked = events[0]["data"], events[1]["data"]
    assert first == {
        "execution_id": response["X-Execution-Id"],
        "session_id": session["id"],
        "message_id": first["message_id"],
        "phase": "PREPARATION",
        "status": "started",
    }
    [called] = asked["calls"]
    assert (asked["asked"], asked["carried"], called["tool"]) == (HOW_MUCH, False, "rag_search")
    of_tool = [event["data"] for event in events if event["data"].get("tool")]
    assert {(data["tool"], data["call_id"]) for data in of_tool} == {("rag_search", called["call_id"])}
    assert [data.get("phase") for data in of_tool] == [
        "SEARCH_PREPARATION",
        "RETRIEVAL",
        "RERANKING",
        None,
    ]
    partials = "".join(e["data"]["content"] for e in events if e["event"] == "tool_partial_update")
    assert events[-1]["event"] == "tool_end"
    assert without_markup(partials) == without_markup(events[-1]["data"]["response"])


async def test_execute_and_follow(people: Cast, documents: dict[str, Document]) -> None:
    session = await begin(people)
    path = f"sessions/{session['id']}/messages/execute"
    accepted = await call(people, "POST", path, {"inputs": {"content": HOW_MUCH}})
    assert accepted.status_code == 202
    events = await events_of(
        await call(people, "GET", f"executions/{accepted.json()['execution_id']}/events")
    )
    assert events[-1]["data"]["outcome"] == "answered"


async def test_nothing_and_closest_are_told_apart(people: Cast, documents: dict[str, Document]) -> None:
    session = await begin(people)
    nothing = await say(people, session, "Who won the chess championship of Reykjavik in 1972?")
    assert (nothing["outcome"], nothing["answered"]) == ("nothing", False)
    closest = await say(people, session, "What did the solar farm in Almería cost?")
    assert closest["outcome"] in ("closest", "answered")


async def test_branches(people: Cast, documents: dict[str, Document]) -> None:
    session = await begin(people)
    first = await say(people, session, HOW_MUCH)
    second = await say(people, session, "When are tea roses pruned?")
    edited = await say(people, session, "Who owns the solar farm?", parent_id=first["message_id"])
    again = await say(people, session, message_id=second["message_id"])
    assert again["message_id"] == second["message_id"]
    assert again["execution_id"] != second["execution_id"]
    one, two, three = await thread(people, session)
    assert (two["parent_id"], three["parent_id"]) == (one["id"], one["id"])
    assert two["sibling_ids"] == three["sibling_ids"] == [second["message_id"], edited["message_id"]]
    assert [a["execution_id"] for a in two["answers"]] == [second["execution_id"], again["execution_id"]]
    anew = await say(people, session, "When are tea roses pruned?", parent_id=None)
    assert [m["parent_id"] for m in await thread(people, session) if m["id"] == anew["message_id"]] == [None]


async def test_the_list(people: Cast, documents: dict[str, Document]) -> None:
    old, pinned, new = [await begin(people, title=title) for title in ("Old", "Pinned", "New")]
    await call(people, "PATCH", f"sessions/{pinned['id']}", {"pinned": True})
    await say(people, old, "When are tea roses pruned?")

    async def listed(query: str = "", name: str = "alice") -> list[str]:
        response = await call(people, "GET", f"sessions{query}", name=name)
        assert response.status_code == 200, response.content
        return [session["id"] for session in response.json()["results"]]

    assert await listed() == [pinned["id"], old["id"], new["id"]]
    assert await listed("?q=tea%20ROSES") == [old["id"]]
    assert await listed("?q=pinn") == [pinned["id"]]
    assert await listed(name="bob") == []
    first = (await call(people, "GET", "sessions?limit=2")).json()
    rest = (await call(people, "GET", first["next"].split("/api/v1/")[1])).json()
    assert [session["id"] for session in rest["results"]] == [new["id"]]


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"title": " "}, "title"),
        ({"tools": {"documents": False}}, "tools"),
        ({"tools": {"documents": None}}, "tools.documents"),
        ({"scope": {"documents": []}}, "scope.documents"),
        ({"pinned": "yes"}, "pinned"),
        ({"owner": 1}, "owner"),
    ],
)
async def test_bad_changes(people: Cast, change: dict[str, Any], param: str) -> None:
    session = await begin(people)
    response = await call(people, "PATCH", f"sessions/{session['id']}", change)
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)


async def test_the_scope_narrows(people: Cast, documents: dict[str, Document]) -> None:
    session = await begin(people, scope={"document_ids": [str(documents["roses"].pk)]})
    result = await say(people, session, HOW_MUCH)
    assert {context["document_name"] for context in result["contexts"]} <= {"roses.pdf"}
    there = await say(people, session, HOW_MUCH, document_ids=[str(documents["solar"].pk)])
    assert there["answered"]
    execution = await Execution.unscoped.aget(pk=there["execution_id"])
    assert execution.read_workspaces == [people.team.pk]
    await call(people, "PATCH", f"sessions/{session['id']}", {"scope": {"tags": ["garden"]}})
    assert (await say(people, session, HOW_MUCH))["contexts"] == []
    await call(people, "PATCH", f"sessions/{session['id']}", {"scope": {}})
    assert (await say(people, session, HOW_MUCH))["answered"]


async def test_a_scope_names_only_what_is_seen(people: Cast, documents: dict[str, Document]) -> None:
    theirs = await sync_to_async(
        lambda: indexed_document(people.charlie.personal_workspace, "Secret words.", name="secret.pdf")
    )()
    session = await begin(people)
    for scope, param in (
        ({"document_ids": [str(theirs.pk)]}, "scope.document_ids[0]"),
        ({"workspace_ids": [str(theirs.workspace_id)]}, "scope.workspace_ids[0]"),
    ):
        response = await call(people, "PATCH", f"sessions/{session['id']}", {"scope": scope})
        assert (response.status_code, response.json()["error"]["param"]) == (404, param)


async def test_an_attached_file_is_searched_here_alone(people: Cast, documents: dict[str, Document]) -> None:
    session, other = await begin(people), await begin(people)
    row = await Session.unscoped.aget(pk=session["id"])
    await sync_to_async(indexed_document)(
        people.team, "The lighthouse keeper is called Ines.", name="keeper.pdf", session=row
    )
    who = "Who is the lighthouse keeper?"
    assert (await say(people, session, who))["answered"]
    assert not (await say(people, other, who))["answered"]
    # A scope is about what else is searched.
    await call(people, "PATCH", f"sessions/{session['id']}", {"scope": {"tags": ["garden"]}})
    assert (await say(people, session, who))["answered"]
    bobs = await call(
        people, "POST", "tools/rag_search", {"query": who, "session_id": session["id"]}, name="bob"
    )
    assert bobs.status_code == 404


async def test_deletion(people: Cast, documents: dict[str, Document]) -> None:
    session = await begin(people)
    row = await Session.unscoped.aget(pk=session["id"])
    attached = await sync_to_async(indexed_document)(people.team, "A note.", name="note.pdf", session=row)
    await say(people, session, HOW_MUCH)
    await say(people, session, "When are tea roses pruned?")
    events = await ExecutionEvent.objects.acount()
    response = await call(people, "DELETE", f"sessions/{session['id']}")
    assert response.json() == {
        "deleted": {"sessions": 1, "messages": 2, "executions": 2, "events": events, "documents": 1}
    }
    assert not await Execution.unscoped.aexists()
    assert not await ChatMessage.unscoped.aexists()
    assert not await Document.unscoped.filter(pk=attached.pk).aexists()
    assert (await call(people, "GET", f"sessions/{session['id']}")).status_code == 404
    entry = await AuditEntry.unscoped.aget(action="session.deleted")
    assert (entry.target_id, entry.details["messages"]) == (session["id"], 2)


async def test_deletion_of_a_message_takes_what_follows(people: Cast, documents: dict[str, Document]) -> None:
    session = await begin(people)
    first = await say(people, session, HOW_MUCH)
    second = await say(people, session, "When are tea roses pruned?")
    await say(people, session, "Who owns the solar farm?")
    path = f"sessions/{session['id']}/messages/{second['message_id']}"
    deleted = (await call(people, "DELETE", path)).json()["deleted"]
    assert (deleted["messages"], deleted["executions"]) == (2, 2)
    assert [message["id"] for message in await thread(people, session)] == [first["message_id"]]
    assert (await call(people, "DELETE", path)).status_code == 404


async def test_feedback(people: Cast, documents: dict[str, Document]) -> None:
    session = await begin(people)
    result = await say(people, session, HOW_MUCH)
    path = f"executions/{result['execution_id']}"
    given = {"rating": "down", "reasons": ["incomplete"], "comment": "Which year?"}
    kept = (await call(people, "PUT", f"{path}/feedback", given)).json()
    assert kept == given | {"at": kept["at"]}
    assert (await call(people, "GET", path)).json()["feedback"] == kept
    assert (await thread(people, session))[0]["answers"][0]["feedback"] == kept
    assert (await call(people, "PUT", f"{path}/feedback", {"rating": "good"})).status_code == 400
    assert (await call(people, "PUT", f"{path}/feedback", given, name="bob")).status_code == 404
    assert (await call(people, "DELETE", f"{path}/feedback")).status_code == 204
    assert (await call(people, "GET", path)).json()["feedback"] is None
