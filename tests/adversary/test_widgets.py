"""A widget's token at every address: it opens its own widget, and nothing else."""

from __future__ import annotations

import json
import re

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.test import AsyncClient
from django.urls import get_resolver
from pytest import Subtests

from core.http.error_pages import API_PREFIXES
from locus.asgi import application
from tests.adversary.places import pages
from tests.adversary.requests import unknown
from tests.adversary.world import SECRET, World
from tests.assistants.widgets.visiting import SHOP, make_widget, visit
from tests.conftest import Cast, make_cast

pytestmark = pytest.mark.django_db(transaction=True)
PUBLIC = ("/api/schema", "/api/docs", "/.well-known/", "/oauth/")
"""Beginnings of addresses that nobody needs a key for."""
PARAMETER = re.compile(r"<(?:(\w+):)?\w+>")


@pytest.fixture
async def people() -> Cast:
    return await sync_to_async(make_cast)()


async def test_it_opens_no_address_of_the_api(people: Cast, subtests: Subtests) -> None:
    visitor = await visit(people, await make_widget(people))
    headers = {"Authorization": f"Bearer {visitor.token}", "Origin": SHOP}
    found = pages(get_resolver().url_patterns)
    addresses = {PARAMETER.sub(_some_id, f"/{page.pattern}") for page in found}
    tried = 0
    for address in sorted(addresses):
        if not address.startswith(API_PREFIXES) or address.startswith(PUBLIC):
            continue
        tried += 1
        for method in ("GET", "POST", "PATCH", "DELETE"):
            reply = await AsyncClient().generic(method, address, "{}", "application/json", headers=headers)
            with subtests.test(address=f"{method} {address}"):
                assert reply.status_code == 403, reply.content
                assert "for a widget" in json.loads(reply.content)["error"]["message"]
    assert tried > 80


def _some_id(parameter: re.Match[str]) -> str:
    return "1" if parameter[1] == "int" else unknown("document")


@pytest.mark.parametrize("path", ["/ws/tools/rag_search", "/ws/documents"])
async def test_it_opens_no_socket(people: Cast, path: str) -> None:
    visitor = await visit(people, await make_widget(people))
    headers = [(b"authorization", f"Bearer {visitor.token}".encode()), (b"host", b"testserver")]
    socket = WebsocketCommunicator(application, path, headers=headers)
    await socket.connect()
    closed = await socket.receive_output()
    assert (closed["type"], closed["code"]) == ("websocket.close", 4401)


async def test_nobody_makes_one_for_a_foreign_widget(subtests: Subtests) -> None:
    """`test_api` tries every attacker; this says what one that is made can't read."""
    world = await sync_to_async(World)()
    owner = world.owner("x")
    team = next(thing for thing in world.things if thing.kind == "binding" and thing.workspace)
    body = {"binding_id": team.id, "external_user_id": "x"}
    made = await owner.client().post("/api/v1/auth/token", body, "application/json", headers=owner.headers)
    assert made.status_code == 200, made.content
    headers = {"Authorization": f"Bearer {made.json()['token']}", "Origin": SHOP}
    base = f"/widgets/{team.id}"
    told = [await AsyncClient().get(base + path, headers=headers) for path in ("", "/messages")]
    for thing in world.things:
        if thing.kind == "chunk":
            told += [
                await AsyncClient().get(f"{base}/places/{thing.id}{page}", headers=headers)
                for page in ("", "/page")
            ]
    assert [reply.status_code for reply in told[:2]] == [200, 200]
    assert {reply.status_code for reply in told[2:]} == {404}
    assert not [reply for reply in told[1:] if SECRET in reply.content.decode()]
