"""Stored answers show what their reader may see now, not what could be seen when they were made."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.test import AsyncClient
from django.utils import timezone
from jsonschema import Draft202012Validator

from accounts.access.identity import principal_of_user
from accounts.access.keys import create_key
from accounts.models import Membership, Workspace
from kb import deletion
from kb.changes import Changes, change
from kb.deletion import delete_document
from runs.events import DocumentsRead, Yielded
from runs.models import Execution, ExecutionEvent
from runs.registry import TOOLS
from runs.scrubbing import scrub_again
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document
from tests.runs.test_executions import end, said, start
from tests.search.test_rag_search import events_of

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "Ornithopter"
TEXT = f"The code word of the beta vault is {SECRET}. The vault lies below the harbour office."
QUESTION = {"query": "What is the code word of the beta vault?"}
Happening = Callable[["Asked"], Any]


class Asked:
    """bob, a member of alice's team, has asked about a document of it with his own key."""

    def __init__(self) -> None:
        self.people: Cast = make_cast()
        self.document = indexed_document(self.people.team, TEXT)
        self.headers = self.people.headers("bob")
        self.execution_id = ""

    async def ask(self, body: dict[str, Any] = QUESTION, **headers: str) -> Any:
        return await AsyncClient().post(
            "/api/v1/tools/rag_search",
            json.dumps(body),
            content_type="application/json",
            headers=self.headers | headers,
        )

    async def get(self, path: str) -> Any:
        return await AsyncClient().get(f"/api/v1/executions{path}", headers=self.headers)


@pytest.fixture
async def asked() -> Asked:
    one = await sync_to_async(Asked)()
    reply = await one.ask()
    assert SECRET in reply.json()["response"]
    one.execution_id = reply["X-Execution-Id"]
    return one


def narrow_the_key(asked: Asked) -> None:
    """bob gives a program a key that reads nothing but his personal workspace."""
    bob = asked.people.bob
    _, secret = create_key(bob, "narrow", workspaces=[bob.personal_workspace])
    asked.headers = {"Authorization": f"Bearer {secret}"}


def remove_the_member(asked: Asked) -> None:
    Membership.objects.filter(user=asked.people.bob, workspace=asked.people.team).delete()


def move_the_document(asked: Asked) -> None:
    alice = asked.people.alice
    target = Changes(workspace_id=alice.personal_workspace.pk)
    change(principal_of_user(alice), asked.document, target)


def delete_the_document(asked: Asked) -> None:
    delete_document(asked.document)


HAPPENINGS = [narrow_the_key, remove_the_member, move_the_document, delete_the_document]


@pytest.mark.parametrize("happening", HAPPENINGS)
async def test_no_word_of_an_answer_reaches_who_no_longer_sees_what_it_was_made_from(
    asked: Asked, happening: Happening
) -> None:
    """Only contexts were withheld: response, partials and trace still told the document's sentences."""
    before = await events_of(await asked.get(f"/{asked.execution_id}/events"))
    await sync_to_async(happening)(asked)
    details = await asked.get(f"/{asked.execution_id}")
    body = details.json()
    result = body["result"]
    assert details.status_code == 200
    assert (result["response"], result["unavailable"]) == (None, True)
    assert result["contexts"] == [
        {
            "rank": 1,
            "document_id": str(asked.document.pk),
            "unavailable": True,
            **dict.fromkeys(["text_preview", "quote", "quotes", "bbox"]),
        }
    ]
    assert (body["trace"]["unavailable"], "citations" in body["trace"]["steps"]) == (True, False)

    after = await events_of(await asked.get(f"/{asked.execution_id}/events"))
    assert [(e["id"], e["event"]) for e in after] == [(e["id"], e["event"]) for e in before]
    partials = [e["data"] for e in after if e["event"] == "tool_partial_update"]
    assert partials
    assert all(each == {"content": None, "output_key": "response", "unavailable": True} for each in partials)
    assert (after[-1]["data"]["response"], after[-1]["data"]["unavailable"]) == (None, True)
    schema = (await AsyncClient().get("/api/schema", {"format": "json"})).json()
    for name, values in {"ExecutionDetails": [body], "ToolEvent": after, "ToolResult": [result]}.items():
        checker = Draft202012Validator(
            {"$ref": f"#/components/schemas/{name}"} | {"components": schema["components"]}
        )
        for value in values:
            checker.validate(
                {key: part for key, part in value.items() if key != "id"} if "event" in value else value
            )
    listed = await asked.get("")
    for told in (details.content.decode(), json.dumps(after), listed.content.decode()):
        assert SECRET not in told


async def test_who_still_sees_all_of_it_sees_all_of_it(asked: Asked) -> None:
    other = await sync_to_async(indexed_document)(asked.people.team, "Tea roses are pruned in winter.")
    await sync_to_async(delete_document)(other)
    body = (await asked.get(f"/{asked.execution_id}")).json()
    assert SECRET in body["result"]["response"]
    assert "unavailable" not in body["result"]
    assert body["trace"]["steps"]["citations"]
    assert body["inputs"]["query"] == QUESTION["query"]


async def test_a_narrowed_key_does_not_read_what_was_asked_beyond_it(asked: Asked) -> None:
    await sync_to_async(narrow_the_key)(asked)
    [listed] = (await asked.get("")).json()["results"]
    told = (await asked.get(f"/{asked.execution_id}")).json()
    assert listed["inputs"] == told["inputs"] == {"query": None, "unavailable": True}
    within = {**QUESTION, "workspace_ids": [str((await _personal(asked)).pk)]}
    reply = await asked.ask(within)
    [own, _] = (await asked.get("")).json()["results"]
    assert (own["id"], own["inputs"]["query"]) == (reply["X-Execution-Id"], QUESTION["query"])


async def _personal(asked: Asked) -> Workspace:
    return await sync_to_async(lambda: asked.people.bob.personal_workspace)()


async def test_a_narrowed_key_gets_no_reply_to_a_wider_one(asked: Asked) -> None:
    """The same `Idempotency-Key` and body got the answer that a wider key of the user had been given."""
    key = {"Idempotency-Key": "1"}
    wide = await asked.ask(**key)
    assert SECRET in wide.content.decode()
    assert (await asked.ask(**key))["X-Execution-Id"] == wide["X-Execution-Id"]
    await sync_to_async(narrow_the_key)(asked)
    narrow = await asked.ask(**key)
    assert SECRET not in narrow.content.decode()
    assert (narrow.json()["answered"], narrow.json()["contexts"]) == (False, [])
    assert (await asked.ask(**key))["X-Execution-Id"] == narrow["X-Execution-Id"]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_reply_that_comes_again_obeys_the_present_scope(asked: Asked, stream: bool) -> None:
    key, body = {"Idempotency-Key": "1"}, {**QUESTION, "stream": stream}
    first = await asked.ask(body, **key)
    if stream:
        assert SECRET in json.dumps(await events_of(first))
    await sync_to_async(remove_the_member)(asked)
    again = await asked.ask(body, **key)
    assert again["X-Execution-Id"] == first["X-Execution-Id"]
    told = json.dumps(await events_of(again)) if stream else again.content.decode()
    assert SECRET not in told


# --- At rest -----------------------------------------------------------------------------------------------


def stored_words() -> str:
    """Return all that is stored of executions and their events."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT concat(coalesce(string_agg(e::text, ''), ''), (SELECT string_agg(v::text, '') FROM"
            " search_executionevent v)) FROM search_execution e"
        )
        return str(cursor.fetchone()[0])


async def test_a_deletion_leaves_no_words_at_rest_and_counts_what_it_scrubbed(asked: Asked) -> None:
    """The words of deleted documents stayed in the results for ever, and in the events for a week."""
    assert SECRET in await sync_to_async(stored_words)()
    events = await ExecutionEvent.objects.filter(event="tool_partial_update").acount() + 2
    receipt = await AsyncClient().delete(
        f"/api/v1/documents/{asked.document.pk}", headers=asked.people.headers("alice")
    )
    assert receipt.json()["scrubbed"] == {"executions": 1, "events": events}
    assert SECRET not in await sync_to_async(stored_words)()
    assert (await Execution.unscoped.aget()).last_seq == await ExecutionEvent.objects.acount()


Script = Callable[[str, asyncio.Event], AsyncIterator[Yielded]]


@pytest.mark.parametrize("says_early", [True, False], ids=["known", "not yet known"])
async def test_a_run_that_goes_on_after_the_deletion_leaves_no_words_either(
    asked: Asked, says_early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = asyncio.Event()
    read = DocumentsRead(documents=[asked.document.pk])

    async def script(execution_id: str) -> AsyncIterator[Yielded]:
        yield start(execution_id)
        if says_early:
            yield read
            yield said(f"{SECRET} at first. ")
        await go_on.wait()
        if not says_early:
            yield read
        yield said(f"{SECRET} and later.")
        done = end(execution_id)
        yield replace_response(done, f"{SECRET} at the end.")

    tool = replace(TOOLS["rag_search"], run=lambda _, __, run: script(run.execution_id))
    monkeypatch.setitem(TOOLS, "rag_search", tool)
    stream = await asked.ask({**QUESTION, "stream": True})
    heard: list[bytes] = []

    async def listen() -> None:
        async for block in stream.streaming_content:
            heard.append(block)

    listening = asyncio.create_task(listen())
    wanted = 2 if says_early else 1
    await until(lambda: _count(stream["X-Execution-Id"], wanted))
    await sync_to_async(delete_document)(asked.document)
    go_on.set()
    await asyncio.wait_for(listening, 30)
    assert b"event: tool_end" in b"".join(heard)
    assert b"and later" not in b"".join(heard) and b"at the end" not in b"".join(heard)
    assert SECRET not in await sync_to_async(stored_words)()


def replace_response(done: Any, text: str) -> Any:
    return done.model_copy(update={"data": done.data.model_copy(update={"response": text})})


async def _count(execution_id: str, wanted: int) -> bool:
    return await ExecutionEvent.objects.filter(execution_id=execution_id).acount() >= wanted


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await condition():
            await asyncio.sleep(0.01)


async def test_a_run_that_ended_just_too_early_to_see_the_deletion_is_scrubbed_by_a_job(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a transaction stores that began before the deletion committed, the deletion can't see."""
    monkeypatch.setattr(deletion, "scrubbers", [])
    await sync_to_async(delete_document)(asked.document)
    assert SECRET in await sync_to_async(stored_words)()
    await sync_to_async(scrub_again)([str(asked.document.pk)])
    assert SECRET not in await sync_to_async(stored_words)()


def test_what_was_stored_before_deletions_reached_it_is_scrubbed_by_the_migration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deletion, "scrubbers", [])
    migration = import_module("search.migrations.0004_what_executions_read")
    people = make_cast()
    here, gone = indexed_document(people.team), indexed_document(people.team, TEXT)
    contexts = [
        {"rank": 1, "document_id": str(gone.pk), "text_preview": SECRET, "quotes": [{"text": SECRET}]},
        {"rank": 2, "document_id": str(here.pk), "text_preview": "solar"},
    ]
    execution = Execution.unscoped.create(
        tool="rag_search",
        user=people.bob,
        workspace=people.team,
        inputs=QUESTION,
        status="completed",
        finished_at=timezone.now() - timedelta(days=30),
        result={"response": SECRET, "contexts": contexts, "answered": True},
        trace={"timings": {}, "steps": {"kept": 2, "citations": [{"statement": SECRET}]}},
    )
    for seq, (event, data) in enumerate(
        [("tool_update", {"contexts": contexts}), ("tool_partial_update", {"content": SECRET})], start=1
    ):
        ExecutionEvent.objects.create(execution=execution, seq=seq, event=event, data=data)
    delete_document(gone)
    with connection.cursor() as cursor:
        cursor.execute(migration.WHAT_WAS_READ)
        cursor.execute(f"BEGIN; {migration.SCRUB} COMMIT;")
    execution.refresh_from_db()
    result: Any = execution.result
    assert set(execution.read_documents) == {here.pk, gone.pk}
    assert set(execution.read_workspaces) == {people.team.pk, people.bob.personal_workspace.pk}
    assert SECRET not in stored_words()
    assert result["contexts"][1] == contexts[1]
    assert (result["response"], result["answered"]) == (None, True)
    assert execution.trace == {"timings": {}, "steps": {"kept": 2}, "unavailable": True}
