"""Conversations in exports, archives, and deletions of those whom they belong to."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.test import Client

from accounts.models import Session
from accounts.people.deletion import delete_users, delete_workspaces
from accounts.people.export import members_of
from assistants.models import ChatAnswer, ChatMessage
from kb.models import Document
from runs.models import Execution, ExecutionEvent
from tests.assistants.conversing import begin, call, say
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.runs.test_archives import export, imported

pytestmark = pytest.mark.django_db(transaction=True)
HOW_MUCH = "How much did the solar farm produce in 2023?"


@pytest.fixture
async def session(people: Cast, documents: dict[str, Document]) -> dict[str, Any]:
    """Return a conversation of two turns, the first answered twice."""
    begun = await begin(people, title="Energy", pinned=True)
    first = await say(people, begun, HOW_MUCH)
    await say(people, begun, message_id=first["message_id"])
    await say(people, begun, "When are tea roses pruned?")
    return begun


async def test_an_archive_brings_it_back(people: Cast, session: dict[str, Any]) -> None:
    archive = await sync_to_async(export)(people)
    workspace = await sync_to_async(imported)(people, archive, "charlie")

    def read() -> Any:
        (row,) = Session.unscoped.filter(workspace=workspace)
        reply = Client().get(f"/api/v1/sessions/{row.pk}/messages", headers=people.headers("charlie"))
        return row, reply.json()["results"]

    row, messages = await sync_to_async(read)()
    assert (row.title, row.pinned, row.shared, row.user_id) == ("Energy", True, False, people.charlie.pk)
    one, two = messages
    assert (one["content"], two["parent_id"], len(one["answers"])) == (HOW_MUCH, one["id"], 2)
    result = one["answers"][0]["result"]
    assert (result["message_id"], result["session_id"]) == (one["id"], str(row.pk))
    assert "42 gigawatt hours" in result["response"]


async def test_a_persons_export_has_the_messages(people: Cast, session: dict[str, Any]) -> None:
    def messages() -> list[Any]:
        members = {name: b"".join(content) for name, content in members_of(people.alice)}
        return [json.loads(line) for line in members["messages.jsonl"].splitlines()]

    found = await sync_to_async(messages)()
    assert {each["content"] for each in found} == {HOW_MUCH, "When are tea roses pruned?"}
    assert sum(len(each["answers"]) for each in found) == 3


@pytest.mark.parametrize("what", ["user", "workspace"])
async def test_it_goes_with_its_user_and_workspace(people: Cast, session: dict[str, Any], what: str) -> None:
    if what == "user":
        # A workspace needs an owner.
        await sync_to_async(people.team.memberships.filter(user=people.bob).update)(role="owner")
        await sync_to_async(delete_users)([people.alice.pk])
    else:
        await sync_to_async(delete_workspaces)([people.team.pk])
    for table in (ChatMessage.unscoped, ChatAnswer.objects, Execution.unscoped, ExecutionEvent.objects):
        assert not await table.aexists()


async def test_it_goes_with_its_external_user(people: Cast, documents: dict[str, Document]) -> None:
    headers = {"X-External-User-Id": "x"}
    body = {"workspace_id": str(people.team.pk)}
    begun = (await call(people, "POST", "sessions", body, **headers)).json()
    await sync_to_async(indexed_document)(people.team, "A note of x.", external_user_id="x")
    path = f"sessions/{begun['id']}/messages"
    assert (await call(people, "POST", path, {"content": HOW_MUCH}, **headers)).status_code == 200
    assert (await call(people, "GET", path)).status_code == 404
    mine = await begin(people)
    await say(people, mine, HOW_MUCH)
    response = await call(people, "DELETE", f"external-users/x?workspace_id={people.team.pk}")
    deleted = response.json()["deleted"]
    assert (deleted["messages"], deleted["executions"], deleted["sessions"]) == (1, 1, 1), deleted
    assert [row.session_id async for row in ChatMessage.unscoped.all()] == [UUID(mine["id"])]
