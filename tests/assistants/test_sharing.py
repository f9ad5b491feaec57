"""Members of a workspace read a conversation that is shared there; nobody else, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from accounts.access.keys import create_key
from accounts.models import AuditEntry, Membership, Session, Workspace
from accounts.roles import KeyScope
from assistants.models import ChatMessage
from kb.models import Document
from runs.models import Execution
from tests.assistants.conversing import begin, call, say, thread
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.search.test_rag_search import events_of

pytestmark = pytest.mark.django_db(transaction=True)
HOW_MUCH = "How much did the solar farm produce in 2023?"


@pytest.fixture
async def shared(people: Cast, documents: dict[str, Document]) -> dict[str, Any]:
    """Return a shared conversation of alice's with one answer, and its message."""
    session = await begin(people, shared=True)
    return session | {"result": await say(people, session, HOW_MUCH)}


async def test_a_member_reads_it_at_its_address(people: Cast, shared: dict[str, Any]) -> None:
    details = (await call(people, "GET", f"sessions/{shared['id']}", name="bob")).json()
    assert (details["title"], details["is_own"], details["shared_by"]) == (
        HOW_MUCH,
        False,
        people.alice.email,
    )
    [message] = await thread(people, shared, "bob")
    assert message["content"] == HOW_MUCH
    assert message["answers"][0]["result"] == shared["result"]
    execution = f"executions/{shared['result']['execution_id']}"
    assert (await call(people, "GET", execution, name="bob")).json()["result"] == shared["result"]
    events = await events_of(await call(people, "GET", f"{execution}/events", name="bob"))
    assert events[-1]["data"] == shared["result"]
    exported = await call(people, "GET", f"sessions/{shared['id']}/export", name="bob")
    assert "42 gigawatt hours" in exported.content.decode()
    assert (await call(people, "GET", "sessions", name="bob")).json()["results"] == []
    assert (await call(people, "GET", "executions", name="bob")).json()["results"] == []


CHANGES = [
    ("PATCH", "sessions/{session}", {"title": "Mine"}),
    ("PATCH", "sessions/{session}", {"shared": False}),
    ("DELETE", "sessions/{session}", None),
    ("POST", "sessions/{session}/messages", {"content": "And now?"}),
    ("POST", "sessions/{session}/messages", {"message_id": "{message}"}),
    ("POST", "sessions/{session}/messages/execute", {"inputs": {"content": "And now?"}}),
    ("DELETE", "sessions/{session}/messages/{message}", None),
    ("DELETE", "executions/{execution}", None),
    ("POST", "executions/{execution}/cancel", None),
    ("PUT", "executions/{execution}/feedback", {"rating": "up"}),
    ("DELETE", "executions/{execution}/feedback", None),
]


@pytest.mark.parametrize(("method", "path", "body"), CHANGES)
async def test_a_member_changes_nothing(
    people: Cast, shared: dict[str, Any], method: str, path: str, body: Any
) -> None:
    ids = {"session": shared["id"], "message": shared["result"]["message_id"]}
    ids["execution"] = shared["result"]["execution_id"]
    filled = {k: v.format(**ids) if isinstance(v, str) else v for k, v in body.items()} if body else body
    response = await call(people, method, path.format(**ids), filled, name="bob")
    assert (response.status_code, response.json()["error"]["code"]) == (403, "forbidden")
    # A stranger is told nothing of it.
    strangers = await call(people, method, path.format(**ids), filled, name="charlie")
    assert strangers.status_code == 404


READS = ["sessions/{}", "sessions/{}/messages", "sessions/{}/export"]


@pytest.mark.parametrize("path", READS)
async def test_nobody_else_reads_it(people: Cast, shared: dict[str, Any], path: str) -> None:
    for name, headers in (("charlie", {}), ("bob", {"X-External-User-Id": "x"})):
        address = path.format(shared["id"])
        response = await call(people, "GET", address, name=name, **headers)
        unknown = await call(
            people, "GET", path.format("00000000-0000-4000-8000-000000000000"), name=name, **headers
        )
        assert (response.status_code, response.content) == (404, unknown.content)


async def test_what_is_not_shared_is_nobodys(people: Cast, shared: dict[str, Any]) -> None:
    response = await call(people, "PATCH", f"sessions/{shared['id']}", {"shared": False})
    assert response.json()["shared"] is False
    for path in READS:
        assert (await call(people, "GET", path.format(shared["id"]), name="bob")).status_code == 404
    execution = f"executions/{shared['result']['execution_id']}"
    assert (await call(people, "GET", execution, name="bob")).status_code == 404
    assert (await call(people, "GET", f"{execution}/events", name="bob")).status_code == 404
    actions = [e.action async for e in AuditEntry.unscoped.filter(target_type="session").order_by("pk")]
    assert actions == ["session.shared", "session.unshared"]


async def test_a_removed_member_reads_nothing(people: Cast, shared: dict[str, Any]) -> None:
    await Membership.objects.filter(user=people.bob, workspace=people.team).adelete()
    assert (await call(people, "GET", f"sessions/{shared['id']}", name="bob")).status_code == 404


async def test_a_reader_sees_nothing_of_documents_that_it_may_not_see(
    people: Cast, documents: dict[str, Document]
) -> None:
    session = await begin(people, shared=True)
    row = await Session.unscoped.aget(pk=session["id"])
    attached = await sync_to_async(indexed_document)(
        people.team, "The vault code of the farm is swordfish.", name="vault.pdf", session=row
    )
    own = await sync_to_async(lambda: people.alice.personal_workspace)()
    personal = await sync_to_async(indexed_document)(own, "The spare key hangs in the boathouse.")
    for question, document in (
        ("What is the vault code of the farm?", attached),
        ("Where does the spare key hang?", personal),
    ):
        result = await say(people, session, question, document_ids=[str(document.pk)])
        assert result["answered"]
    for message in await thread(people, session, "bob"):
        seen = message["answers"][0]["result"]
        assert (seen["response"], seen["asked"], seen["unavailable"]) == (None, None, True)
        assert not {"swordfish", "boathouse", "vault"} & set(str(seen).replace("'", " ").split())
        # The question is the owner's own words, which the owner has shared.
        assert message["content"]
        events = f"executions/{message['answers'][0]['execution_id']}/events"
        told = str(await events_of(await call(people, "GET", events, name="bob")))
        assert "swordfish" not in told and "boathouse" not in told
    exported = (await call(people, "GET", f"sessions/{session['id']}/export", name="bob")).content.decode()
    assert "swordfish" not in exported and "boathouse" not in exported
    for document in (attached, personal):
        assert (await call(people, "GET", f"documents/{document.pk}", name="bob")).status_code == 404


async def test_what_else_ran_in_the_session_stays_its_owners(people: Cast, shared: dict[str, Any]) -> None:
    ran = await call(people, "POST", "tools/rag_search", {"query": HOW_MUCH, "session_id": shared["id"]})
    path = f"executions/{ran.json()['execution_id']}"
    assert (await call(people, "GET", path, name="bob")).status_code == 404
    search = await call(people, "POST", "search", {"query": HOW_MUCH, "session_id": shared["id"]}, name="bob")
    assert search.status_code == 404


async def test_a_narrowed_key_reads_no_question_of_elsewhere(
    people: Cast, documents: dict[str, Document]
) -> None:
    def narrowed() -> str:
        own = people.alice.personal_workspace
        indexed_document(own, "The spare key hangs in the boathouse.")
        return create_key(people.alice, "narrow", scopes=KeyScope.values, workspaces=[people.team])[1]

    secret = await sync_to_async(narrowed)()
    session = await begin(people)
    await say(people, session, "Where does the spare key hang?")
    response = await AsyncClient().get(
        f"/api/v1/sessions/{session['id']}/messages", headers={"X-API-KEY": secret}
    )
    [message] = response.json()["results"]
    assert (message["content"], message["unavailable"]) == (None, True)
    assert "boathouse" not in response.content.decode()


async def test_a_personal_conversation_can_not_be_shared(people: Cast) -> None:
    session = (await call(people, "POST", "sessions", {})).json()
    response = await call(people, "PATCH", f"sessions/{session['id']}", {"shared": True})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "conflict")
    theirs = await call(
        people,
        "POST",
        "sessions",
        {"workspace_id": str(people.team.pk), "shared": True},
        **{"X-External-User-Id": "x"},
    )
    assert theirs.status_code == 400


async def test_the_scope_is_not_named_to_readers(people: Cast, documents: dict[str, Document]) -> None:
    own = await sync_to_async(lambda: people.alice.personal_workspace)()
    session = await begin(people, shared=True, scope={"workspace_ids": [str(own.pk)]})
    seen = (await call(people, "GET", f"sessions/{session['id']}", name="bob")).json()
    assert set(seen["scope"].values()) == {None}


async def test_postgresql_keeps_it_so(people: Cast, shared: dict[str, Any]) -> None:
    """Without the scope in Python, too: a reader's rows, and nobody's to write."""
    from accounts.access.identity import principal_of_user
    from accounts.scope import as_principal

    def counts() -> tuple[Any, ...]:
        row = Session.unscoped.get(pk=shared["id"])
        indexed_document(people.team, "A note.", name="note.pdf", session=row)
        Workspace.objects.filter(pk=people.team.pk).update(share_with_external_users=True)
        found = []
        for who, external in ((people.bob, None), (people.bob, "x"), (people.charlie, None)):
            with as_principal(principal_of_user(who, external)):
                tables = (Session, ChatMessage, Execution)
                found.append(
                    (
                        [table.unscoped.count() for table in tables],
                        [table.unscoped.update(user=people.alice) for table in tables],
                        Document.unscoped.filter(session=row).count(),
                    )
                )
        return tuple(found)

    nothing = ([0, 0, 0], [0, 0, 0], 0)
    assert await sync_to_async(counts)() == (([1, 1, 1], [0, 0, 0], 0), nothing, nothing)
