"""Widgets: visitors ask, go on, and see the places that were cited; by their token, from the sites named."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from accounts.access.throttling import AttemptLimit
from accounts.models import ApiKey, Session, Workspace
from assistants.models import Assistant, Binding, BindingKind, Visibility
from assistants.widgets import api
from kb.models import Document
from runs.models import Execution
from tests.assistants.conversing import call
from tests.assistants.widgets.visiting import SHOP, Visitor, make_widget, mint, visit
from tests.conftest import Cast
from tests.factories import chunk_id, indexed_document

pytestmark = pytest.mark.django_db(transaction=True)
SOLAR = "The solar farm in Almería produced 42 gigawatt hours in 2023. Its owner is the town itself."
ROSES = "Tea roses are pruned in late winter, before the buds break."
HOW_MUCH = "How much did the solar farm in Almería produce in 2023?"


@pytest.fixture
async def solar(people: Cast) -> Document:
    return await sync_to_async(indexed_document)(people.team, SOLAR, name="solar.pdf")


@pytest.fixture
async def widget(people: Cast) -> Binding:
    return await make_widget(people, starters=["How much?"])


# --- Asking ----------------------------------------------------------------------------------------------


async def test_a_visitor_asks_and_follows_up(people: Cast, widget: Binding, solar: Document) -> None:
    visitor = await visit(people, widget)
    shown = (await visitor.request()).json()
    assert shown == {
        "name": "Guide",
        "description": "",
        "starters": ["How much?"],
        "session_id": visitor.session_id,
    }
    assert (await visitor.request("GET", "/messages")).json() == {"results": []}
    # Who only looks leaves nothing behind.
    assert not await Session.unscoped.aexists()

    result = await visitor.ask(HOW_MUCH)
    assert result["answered"] and "42 gigawatt hours" in result["response"]
    assert result["session_id"] == visitor.session_id
    assert result["assistant"]["binding_id"] == str(widget.pk)
    assert (await visitor.ask("And who owns it?"))["answered"]
    messages = (await visitor.request("GET", "/messages")).json()["results"]
    assert [each["content"] for each in messages] == [HOW_MUCH, "And who owns it?"]
    session = await Session.unscoped.aget()
    assert (session.external_user_id, session.workspace_id) == ("visitor-1", people.team.pk)


async def test_a_later_token_goes_on_with_the_conversation(
    people: Cast, widget: Binding, solar: Document
) -> None:
    first = await visit(people, widget)
    await first.ask(HOW_MUCH)
    again = await visit(people, widget, session_id=first.session_id)
    assert again.session_id == first.session_id
    assert len((await again.request("GET", "/messages")).json()["results"]) == 1
    # Another visitor, and another assistant, do not.
    refused = await mint(people, widget, session_id=first.session_id, external_user_id="visitor-2")
    assert refused.status_code == 404
    other = await make_widget(people, "Other")
    assert (await mint(people, other, session_id=first.session_id)).status_code == 400


async def test_what_was_cited_is_shown_with_its_place(people: Cast, widget: Binding, solar: Document) -> None:
    roses = await sync_to_async(indexed_document)(people.team, ROSES, name="roses.pdf")
    visitor = await visit(people, widget)
    cited = str(await sync_to_async(chunk_id)(solar))
    assert (await visitor.request("GET", f"/places/{cited}")).status_code == 404
    await visitor.ask(HOW_MUCH)
    place = (await visitor.request("GET", f"/places/{cited}")).json()
    assert (place["document_name"], place["page_number"], place["has_page"]) == ("solar.pdf", 1, True)
    assert "42 gigawatt hours" in place["quotes"][0]["text"] and place["quotes"][0]["bbox"]
    page = await visitor.request("GET", f"/places/{cited}/page")
    assert (page.status_code, page["Content-Type"]) == (200, "image/png")
    assert page["Access-Control-Allow-Origin"] == SHOP
    # What it may read, but no answer has cited, stays closed; so does another visitor's.
    uncited = await sync_to_async(chunk_id)(roses)
    assert (await visitor.request("GET", f"/places/{uncited}")).status_code == 404
    other = await visit(people, widget, external_user_id="visitor-2")
    assert (await other.request("GET", f"/places/{cited}")).status_code == 404
    assert (await other.request("GET", f"/places/{cited}/page")).status_code == 404


async def test_a_visitor_stops_only_its_own_answer(people: Cast, widget: Binding, solar: Document) -> None:
    visitor, other = await visit(people, widget), await visit(people, widget, external_user_id="visitor-2")
    run = (await visitor.ask(HOW_MUCH))["execution_id"]
    assert (await visitor.request("POST", "/stop", {"execution_id": run})).json() == {"status": "completed"}
    assert (await other.request("POST", "/stop", {"execution_id": run})).status_code == 404
    # Its own run, of another conversation.
    again = await visit(people, widget)
    assert (await again.request("POST", "/stop", {"execution_id": run})).status_code == 404


async def test_a_widget_reads_its_own_workspace(people: Cast, widget: Binding) -> None:
    """Not all that the key's owner could read; more only where its scope names it."""
    other = await sync_to_async(Workspace.create_for)(people.alice, name="Other")
    await Workspace.objects.filter(pk=other.pk).aupdate(share_with_external_users=True)
    await sync_to_async(indexed_document)(other, SOLAR)
    assert not (await (await visit(people, widget)).ask(HOW_MUCH))["answered"]
    wide = await make_widget(people, "Wide", scope={"workspace_ids": [str(other.pk)]})
    assert (await (await visit(people, wide)).ask(HOW_MUCH))["answered"]


async def test_visitors_have_a_rate(
    people: Cast, widget: Binding, solar: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "VISITORS_QUESTIONS", AttemptLimit("test", 1, 3600))
    visitor = await visit(people, widget)
    await visitor.ask(HOW_MUCH)
    refused = await visitor.request("POST", "/messages", {"content": HOW_MUCH})
    assert (refused.status_code, refused["Access-Control-Allow-Origin"]) == (429, SHOP)
    assert int(refused["Retry-After"]) > 1
    assert (await (await visit(people, widget, external_user_id="visitor-2")).ask(HOW_MUCH))["answered"]


# --- Sites -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "origin", [None, "null", "https://evil.example", "http://shop.example", "https://shop.example:444"]
)
async def test_other_sites_are_refused(people: Cast, widget: Binding, origin: str | None) -> None:
    visitor = await visit(people, widget)
    for method, path, body in (
        ("GET", "", None),
        ("GET", "/messages", None),
        ("POST", "/messages", {"content": HOW_MUCH}),
        ("POST", "/stop", {"execution_id": "call_1"}),
        ("GET", f"/places/{uuid4()}", None),
        ("GET", f"/places/{uuid4()}/page", None),
    ):
        reply = await visitor.request(method, path, body, origin)
        assert reply.status_code == 403, (method, path)
        assert "Access-Control-Allow-Origin" not in reply
    assert not await Execution.unscoped.aexists()


async def test_preflights_name_the_sites_of_the_binding_alone(people: Cast, widget: Binding) -> None:
    other = await make_widget(people, "Other", "https://blog.example")

    async def preflight(binding: Any, origin: str) -> dict[str, str]:
        asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        reply = await AsyncClient().options(f"/widgets/{binding}/messages", headers=asked)
        assert reply.status_code == 204 and "Origin" in reply["Vary"]
        return {name: value for name, value in reply.items() if name.startswith("Access-Control")}

    allowed = await preflight(widget.pk, SHOP)
    assert allowed["Access-Control-Allow-Origin"] == SHOP
    assert allowed["Access-Control-Allow-Headers"] == "authorization, content-type"
    assert "Access-Control-Allow-Credentials" not in allowed
    assert await preflight(other.pk, SHOP) == {}
    assert await preflight(uuid4(), SHOP) == {}


async def test_the_script_may_be_embedded_anywhere(people: Cast) -> None:
    reply = await AsyncClient().get("/widget.js")
    assert reply.status_code == 200 and reply["Content-Type"].startswith("text/javascript")
    assert reply["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert len(reply.content) <= 30_000
    again = await AsyncClient().get("/widget.js", headers={"If-None-Match": reply["ETag"]})
    assert again.status_code == 304


# --- Tokens ----------------------------------------------------------------------------------------------


async def test_tokens_that_are_not_made(people: Cast, widget: Binding) -> None:
    page = await Binding.objects.acreate(assistant_id=widget.assistant_id, kind=BindingKind.PAGE)
    own = await Assistant.unscoped.acreate(
        workspace=people.team, user=people.alice, name="Own", visibility=Visibility.MINE
    )
    of_own = await Binding.objects.acreate(assistant=own, kind=BindingKind.WIDGET, origins=[SHOP])
    for binding, body, name, status, param in (
        (widget, {"external_user_id": None}, "alice", 400, "external_user_id"),
        (page, {}, "alice", 400, "binding_id"),
        # External users do not see what is one member's own.
        (of_own, {}, "alice", 404, "binding_id"),
        (widget, {}, "charlie", 404, "binding_id"),
        (Binding(pk=uuid4()), {}, "alice", 404, "binding_id"),
    ):
        reply = await mint(people, binding, name, **body)
        assert (reply.status_code, reply.json()["error"].get("param")) == (status, param)


async def test_it_opens_no_other_widget(people: Cast, widget: Binding) -> None:
    other = await make_widget(people, "Other")
    visitor = await visit(people, widget)
    reply = await Visitor(visitor.token, visitor.session_id, other.pk).request()
    unknown = await Visitor(visitor.token, visitor.session_id, uuid4()).request()
    assert (reply.status_code, reply.json()) == (404, unknown.json())


async def test_nothing_else_opens_a_widget(people: Cast, widget: Binding) -> None:
    plain = (await call(people, "POST", "auth/token", {"external_user_id": "visitor-1"})).json()["token"]
    for credential in (plain, people.keys["alice"], "locus_token_nonsense"):
        reply = await Visitor(credential, "", widget.pk).request()
        assert reply.status_code == 401
        # Its script learns why.
        assert reply["Access-Control-Allow-Origin"] == SHOP


async def test_it_ends_with_its_key_and_its_binding(people: Cast, widget: Binding) -> None:
    visitor = await visit(people, widget)
    assert (await visitor.request()).status_code == 200
    await sync_to_async(widget.delete)()
    assert (await visitor.request()).status_code == 404
    await ApiKey.objects.filter(user=people.alice).adelete()
    assert (await visitor.request()).status_code == 401


async def test_what_was_taken_back_is_read_no_more(people: Cast, widget: Binding, solar: Document) -> None:
    visitor = await visit(people, widget)
    await visitor.ask(HOW_MUCH)
    cited = await sync_to_async(chunk_id)(solar)
    await Workspace.objects.filter(pk=people.team.pk).aupdate(share_with_external_users=False)
    assert (await visitor.request("GET", f"/places/{cited}")).status_code == 404
