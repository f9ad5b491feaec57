"""Assistants and bindings over REST: who sees and changes them, versions, and what counts for a request."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.utils import timezone

from accounts.access.identity import principal_of_user
from accounts.models import AuditEntry, Membership, Session, User
from accounts.people.deletion import delete_users
from accounts.roles import Role
from assistants.configuration.people import export_assistants
from assistants.configuration.recorded import configured_in
from assistants.models import Assistant, Binding
from core.http.arrival import Arrival
from tests.assistants.conversing import begin, call, say
from tests.conftest import Cast
from tests.factories import indexed_document

pytestmark = pytest.mark.django_db(transaction=True)
MINE = {"name": "Mine", "visibility": "mine"}
SOLAR = "The solar farm in Almería produced 42 gigawatt hours in 2023."
ROSES = "Tea roses are pruned in late winter, before the buds break."
QUESTION = "How much did the solar farm in Almería produce in 2023?"


@pytest.fixture
async def people(people: Cast) -> Cast:
    """Make charlie an editor."""
    await Membership.objects.acreate(workspace=people.team, user=people.charlie, role=Role.EDITOR)
    return people


async def make(people: Cast, whose: str = "alice", **body: Any) -> dict[str, Any]:
    given = {"name": "Guide", "visibility": "workspace", "workspace_id": str(people.team.pk)} | body
    reply = await call(people, "POST", "assistants", given, whose)
    assert reply.status_code == 201, reply.content
    made: dict[str, Any] = reply.json()
    assert reply["Location"].endswith(f"/api/v1/assistants/{made['id']}")
    return made


async def refused(
    people: Cast, method: str, path: str, body: Any = None, name: str = "alice"
) -> tuple[int, Any]:
    reply = await call(people, method, path, body, name)
    error = reply.json()["error"]
    return reply.status_code, error.get("param") or error["code"]


# --- Who -------------------------------------------------------------------------------------------------


async def test_each_change_of_settings_is_a_version(people: Cast) -> None:
    made = await make(people, settings={"instructions": "Be brief.", "starters": ["What is new?"]})
    assert (made["version"], made["starters"], made["may_change"]) == (1, ["What is new?"], True)
    path = f"assistants/{made['id']}"
    renamed = (
        await call(people, "PATCH", path, {"name": "Pilot", "description": "Knows the harbour."})
    ).json()
    assert (renamed["name"], renamed["version"]) == ("Pilot", 1)
    changed = (await call(people, "PATCH", path, {"settings": {"instructions": "Be long."}})).json()
    assert (changed["version"], changed["settings"]["instructions"]) == (2, "Be long.")
    versions = (await call(people, "GET", f"{path}/versions")).json()["results"]
    assert [(each["number"], each["settings"]["instructions"]) for each in versions] == [
        (2, "Be long."),
        (1, "Be brief."),
    ]
    actions = [
        entry.action async for entry in AuditEntry.unscoped.filter(target_id=made["id"]).order_by("pk")
    ]
    assert actions == ["assistant.created", "assistant.changed", "assistant.changed"]
    assert (await call(people, "DELETE", path)).status_code == 204
    assert await refused(people, "GET", path) == (404, "not_found")


async def test_who_sees_and_changes(people: Cast) -> None:
    shared, own = await make(people), await make(people, **MINE)
    seen = (await call(people, "GET", "assistants", name="bob")).json()["results"]
    assert [(each["name"], each["may_change"], each["is_own"]) for each in seen] == [("Guide", False, False)]
    assert await refused(people, "GET", f"assistants/{own['id']}", name="bob") == (404, "not_found")
    for method, body in (("PATCH", {"name": "Taken"}), ("DELETE", None)):
        assert await refused(people, method, f"assistants/{own['id']}", body, "bob") == (404, "not_found")
        assert await refused(people, method, f"assistants/{shared['id']}", body, "bob") == (403, "forbidden")
    # An editor has assistants of its own; one of the workspace is for its admins to make.
    mine = await make(people, "charlie", visibility="mine")
    assert await refused(
        people, "PATCH", f"assistants/{mine['id']}", {"visibility": "workspace"}, "charlie"
    ) == (
        403,
        "forbidden",
    )
    given = {"name": "Other", "visibility": "workspace", "workspace_id": str(people.team.pk)}
    assert await refused(people, "POST", "assistants", given, "charlie") == (403, "forbidden")


async def test_external_users_ask_and_change_nothing(people: Cast) -> None:
    made = await make(people, settings={"instructions": "Secret.", "starters": ["Hello?"]})
    own = await make(people, **MINE)
    headers = people.headers("alice") | {"X-External-User-Id": "x"}
    get = AsyncClient().get
    shown = (await get(f"/api/v1/assistants/{made['id']}", headers=headers)).json()
    assert (shown["settings"], shown["starters"], shown["may_change"]) == (None, ["Hello?"], False)
    assert (await get(f"/api/v1/assistants/{own['id']}", headers=headers)).status_code == 404
    for rest in ("versions", "resolved"):
        assert (await get(f"/api/v1/assistants/{made['id']}/{rest}", headers=headers)).status_code == 403
    for method, path in (("PATCH", f"/{made['id']}"), ("DELETE", f"/{made['id']}"), ("POST", "")):
        reply = await AsyncClient().generic(
            method, f"/api/v1/assistants{path}", '{"name": "x"}', "application/json", headers=headers
        )
        assert reply.status_code == 403


async def test_what_is_refused(people: Cast) -> None:
    await make(people)
    cases: list[tuple[dict[str, Any], int, str]] = [
        ({"name": "Guide"}, 400, "name"),
        ({"name": " \u200b"}, 400, "name"),
        ({"settings": {"tools": []}}, 400, "settings.tools"),
        ({"settings": {"tools": ["shell"]}}, 400, "settings.tools[0]"),
        ({"settings": {"model": "no-such-model"}}, 400, "settings.model"),
        ({"settings": {"limits": {"max_steps": 21}}}, 400, "settings.limits.max_steps"),
        ({"settings": {"web": {"provider": "no"}}}, 400, "settings.web.provider"),
        ({"settings": {"web": {"whitelisted_domains": ["not a domain"]}}}, 400, "whitelisted_domains[0]"),
        ({"settings": {"scope": {"document_ids": [str(uuid4())]}}}, 404, "settings.scope.document_ids[0]"),
        ({"settings": {"misspelt": 1}}, 400, "settings.misspelt"),
        ({"workspace_id": str(uuid4())}, 404, "workspace_id"),
    ]
    for more, status, param in cases:
        body = {"name": "Other", "visibility": "workspace", "workspace_id": str(people.team.pk)} | more
        got = await refused(people, "POST", "assistants", body)
        assert got[0] == status and str(got[1]).endswith(param), (more, got)


# --- Bindings --------------------------------------------------------------------------------------------


async def test_null_inherits_and_an_object_replaces(people: Cast) -> None:
    settings = {"instructions": "Be brief.", "web": {"count": 3, "country": "DE"}}
    made = await make(people, settings=settings)
    path = f"assistants/{made['id']}"
    overrides = {"web": {"enabled": False}, "instructions": None}
    bound = (
        await call(people, "POST", f"{path}/bindings", {"kind": "api_key", "overrides": overrides})
    ).json()
    assert bound["overrides"]["web"]["enabled"] is False and "instructions" not in bound["overrides"]
    resolved = (await call(people, "GET", f"{path}/resolved?binding_id={bound['id']}")).json()
    assert resolved["overridden"] == ["web"]
    assert resolved["settings"]["instructions"] == "Be brief."
    # Replaced whole: what the object does not name is not the assistant's.
    assert resolved["settings"]["web"]["count"] is None
    plain = (await call(people, "GET", f"{path}/resolved")).json()
    assert (plain["settings"]["web"]["count"], plain["overridden"]) == (3, [])
    inherits = {"overrides": {"web": None}}
    await call(people, "PATCH", f"{path}/bindings/{bound['id']}", inherits)
    again = (await call(people, "GET", f"{path}/resolved?binding_id={bound['id']}")).json()
    assert again["settings"]["web"]["count"] == 3
    assert await refused(people, "POST", f"{path}/bindings", {"kind": "api_key"}) == (400, "kind")
    assert (await call(people, "DELETE", f"{path}/bindings/{bound['id']}")).status_code == 204
    assert await Binding.objects.acount() == 0


async def test_bindings_that_are_refused(people: Cast) -> None:
    path = f"assistants/{(await make(people))['id']}/bindings"
    cases: list[tuple[dict[str, Any], int, str]] = [
        ({"kind": "fax"}, 400, "kind"),
        ({"kind": "widget"}, 400, "allowed_origins"),
        ({"kind": "page", "allowed_origins": ["https://a.example"]}, 400, "allowed_origins"),
        ({"kind": "widget", "allowed_origins": ["https://a.example/path"]}, 400, "allowed_origins[0]"),
        ({"kind": "widget", "allowed_origins": ["null"]}, 400, "allowed_origins[0]"),
        ({"kind": "api_key", "key_id": str(uuid4())}, 404, "key_id"),
        ({"kind": "page", "key_id": str(uuid4())}, 400, "key_id"),
    ]
    for body, status, param in cases:
        assert await refused(people, "POST", path, body) == (status, param), body
    assert await refused(people, "POST", path, {"kind": "page"}, "bob") == (403, "forbidden")
    assert await refused(people, "GET", path, name="bob") == (403, "forbidden")


async def test_the_way_of_a_request_decides(people: Cast) -> None:
    """A key's request is bound by its key, then by any key; a widget by its token; a page by no key."""
    from accounts.access.identity import principal_of_key, principal_of_user
    from accounts.models import ApiKey
    from assistants.configuration.resolving import binding_for

    made = await make(people)
    path = f"assistants/{made['id']}/bindings"
    key = await ApiKey.objects.select_related("user").aget(user=people.alice)
    for body in (
        {"kind": "page"},
        {"kind": "api_key"},
        {"kind": "api_key", "key_id": str(key.pk)},
        {"kind": "websocket"},
        {"kind": "mcp"},
        {"kind": "widget", "allowed_origins": ["https://shop.example"]},
    ):
        assert (await call(people, "POST", path, body)).status_code == 201

    def kinds() -> list[tuple[str, bool]]:
        bindings = list(Binding.objects.all())
        own = principal_of_key(key)
        other = principal_of_key(ApiKey.objects.select_related("user").get(user=people.bob))
        [widget] = [each for each in bindings if each.kind == "widget"]
        visitor = replace(other, token_expires_at=timezone.now(), binding_id=widget.pk)
        browser = replace(visitor, binding_id=None)
        person = principal_of_user(people.alice)
        ways = [
            (person, Arrival("http", "/api/v1/tools/agent")),
            (person, Arrival("websocket", "/ws/sessions/1")),
            (own, Arrival("http", "/v1/responses")),
            (other, Arrival("http", "/v1/responses")),
            (other, Arrival("http", "/mcp")),
            (other, Arrival("websocket", "/ws/tools/agent")),
            (visitor, Arrival("http", "/widgets/1/messages", "https://shop.example")),
            (browser, Arrival("http", "/api/v1/tools/agent", "https://shop.example")),
            (other, Arrival("http", "/api/v1/tools/agent", "https://shop.example")),
        ]
        found = [binding_for(principal, bindings, arrival) for principal, arrival in ways]
        return [(each.kind, each.key_id is not None) for each in found if each is not None]

    assert await sync_to_async(kinds)() == [
        ("page", False),
        ("page", False),
        ("api_key", True),
        ("api_key", False),
        ("mcp", False),
        ("websocket", False),
        ("widget", False),
        ("api_key", False),
        ("api_key", False),
    ]


# --- Conversations ---------------------------------------------------------------------------------------


async def test_an_assistant_answers_in_a_conversation(people: Cast) -> None:
    add = sync_to_async(indexed_document)
    await add(people.team, SOLAR, name="solar.pdf")
    roses = await add(people.team, ROSES, name="roses.pdf")
    made = await make(people, settings={"scope": {"document_ids": [str(roses.pk)]}})
    session = await begin(people, assistant_id=made["id"])
    assert session["assistant_id"] == made["id"]
    outside = await say(people, session, QUESTION)
    assert not outside["answered"]
    assert {each["document_id"] for each in outside["contexts"]} <= {str(roses.pk)}
    assert outside["assistant"] == {"id": made["id"], "name": "Guide", "version": 1, "binding_id": None}
    inside = await say(people, session, "When are tea roses pruned?")
    assert "late winter" in inside["response"]
    execution = (await call(people, "GET", f"executions/{inside['execution_id']}")).json()
    assert execution["inputs"]["assistant"] == {"id": made["id"], "version": 1, "binding_id": None}
    # Without it the conversation searches everything again.
    path = f"sessions/{session['id']}"
    assert (await call(people, "PATCH", path, {"assistant_id": None})).json()["assistant_id"] is None
    plain = await say(people, session, QUESTION, parent_id=None)
    assert plain["answered"] and "assistant" not in plain


async def test_a_deleted_assistant_leaves_its_conversations(people: Cast) -> None:
    await sync_to_async(indexed_document)(people.team, SOLAR)
    made = await make(people)
    session = await begin(people, assistant_id=made["id"])
    await say(people, session, QUESTION)
    await call(people, "DELETE", f"assistants/{made['id']}")
    assert not await Assistant.unscoped.aexists()
    assert (await say(people, session, QUESTION))["answered"]


async def test_an_invisible_assistant_can_not_be_chosen(people: Cast) -> None:
    own = await make(people, **MINE)
    body = {"workspace_id": str(people.team.pk), "assistant_id": own["id"]}
    assert await refused(people, "POST", "sessions", body, "bob") == (404, "assistant_id")
    assert await refused(people, "POST", "tools/agent", {"query": "x", "assistant_id": own["id"]}, "bob") == (
        404,
        "assistant_id",
    )


async def test_attached_files_are_read_besides_the_scope(people: Cast) -> None:
    add = sync_to_async(indexed_document)
    roses = await add(people.team, ROSES, name="roses.pdf")
    made = await make(people, settings={"scope": {"document_ids": [str(roses.pk)]}})
    session = await begin(people, assistant_id=made["id"])
    row = await Session.unscoped.aget(pk=session["id"])
    attached = await add(people.team, SOLAR, name="attached.pdf", session=row)
    result = await say(people, session, QUESTION)
    assert [each["document_id"] for each in result["contexts"] if each["used_in_response"]] == [
        str(attached.pk)
    ]


# --- When who made one leaves ----------------------------------------------------------------------------


async def test_what_all_use_outlives_who_made_it(people: Cast) -> None:
    """It went with the account of its maker."""
    await Membership.objects.filter(workspace=people.team, user=people.bob).aupdate(role=Role.ADMIN)
    shared = await make(people, "bob")
    own = await make(people, "bob", **MINE)
    members = {name: b"".join(parts) for name, parts in await in_thread(export_assistants, people.bob)}
    exported = [json.loads(line) for line in members["assistants.jsonl"].splitlines()]
    assert {each["id"] for each in exported} == {shared["id"], own["id"]}
    assert [version["number"] for version in exported[0]["versions"]] == [1]

    await sync_to_async(delete_users)([people.bob.pk])
    left = await Assistant.unscoped.aget()
    assert (str(left.pk), left.user_id) == (shared["id"], people.alice.pk)


async def test_the_export_has_none_of_a_workspace_that_was_left(people: Cast) -> None:
    await Membership.objects.filter(workspace=people.team, user=people.bob).aupdate(role=Role.ADMIN)
    await make(people, "bob", **MINE)
    await Membership.objects.filter(workspace=people.team, user=people.bob).adelete()
    assert await in_thread(export_assistants, people.bob) == [("assistants.jsonl", [])]


async def test_a_run_goes_on_without_an_assistant_that_it_may_no_longer_ask(people: Cast) -> None:
    made = await make(people)
    begun_with = {"assistant": {"id": made["id"], "version": 1, "binding_id": None}}
    find = sync_to_async(lambda: configured_in(principal_of_user(people.bob), begun_with))
    assert (await find()) is not None
    await call(people, "PATCH", f"assistants/{made['id']}", {"visibility": "mine"})
    assert await find() is None


async def in_thread(export: Any, user: User) -> list[tuple[str, Any]]:
    return await sync_to_async(lambda: [(name, list(parts)) for name, parts in export(user)])()
