"""The adversary at other people's protocols: every id of others, in every place where an id goes there.

These addresses are not in the API's schema, so their places are named here; an address without one fails.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pytest import Subtests

from assistants.gateway.response import response_id
from kb.embedding import embedding_model
from locus.urls import gateway
from tests.adversary.requests import Answer, unknown
from tests.adversary.world import ATTACKERS, SECRET, Attacker, World, lost_rows, rows

pytestmark = pytest.mark.django_db(transaction=True)

WITHOUT_IDS = {"v1/models": "a list of names, the same for everybody who sees a workspace"}
INPUT = {"model": "locus", "input": "jam"}
MESSAGES = {"model": "locus", "messages": [{"role": "user", "content": "jam"}]}
JSON_RPC = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
MCP_HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
Body = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """Where an id goes: an address, and what is sent there."""

    kind: str
    route: str
    name: str
    body: Callable[[str], Body] | None = None
    method: str = "POST"

    def __str__(self) -> str:
        return f"{self.method} {self.route} {self.name}"


def _of_asker(route: str, asked: Body) -> list[Place]:
    return [
        Place("workspace", route, "workspace_id", lambda id: asked | {"workspace_id": id}),
        Place("session", route, "session_id", lambda id: asked | {"session_id": id}),
    ]


def _of_answers(route: str, asked: Body) -> list[Place]:
    def scope(name: str, kind: str) -> Place:
        def body(id: str) -> Body:
            inner = {"filters": {name: [id]}} if name == "collection_ids" else {name: [id]}
            return asked | {"tools": [{"type": "rag_search"} | inner]}

        return Place(kind, route, f"tools.{name}", body)

    return [
        *_of_asker(route, asked),
        Place("assistant", route, "model", lambda id: asked | {"model": id}),
        scope("document_ids", "document"),
        scope("workspace_ids", "workspace"),
        scope("collection_ids", "collection"),
    ]


def _of_mcp(tool: str, name: str, kind: str, value: Callable[[str], Any], **more: Any) -> Place:
    def body(id: str) -> Body:
        return JSON_RPC | {"params": {"name": tool, "arguments": more | {name: value(id)}}}

    return Place(kind, "mcp", f"{tool} {name} {kind}", body)


PLACES = [
    Place("execution", "v1/responses/<str:id>", "id", None, "GET"),
    Place("execution", "v1/responses/<str:id>/cancel", "id"),
    *_of_answers("v1/responses", INPUT),
    *_of_answers("v1/agent", INPUT),
    *_of_answers("v1/chat/completions", MESSAGES),
    *_of_answers("chat/completions", MESSAGES),
    *_of_asker("search", {"query": "jam"}),
    *_of_asker("v1/embeddings", {"model": embedding_model().name, "input": "jam"}),
    *_of_asker("v1/rerank", {"query": "jam", "documents": ["jam", "tea"]}),
    _of_mcp("fetch", "id", "chunk", str),
    _of_mcp("fetch", "id", "document", str),
    _of_mcp("list_documents", "workspace_id", "workspace", str),
    _of_mcp("rag_search", "document_ids", "document", lambda id: [id], query="jam"),
    _of_mcp("rag_search", "workspace_ids", "workspace", lambda id: [id], query="jam"),
    _of_mcp("rag_search", "workspace_id", "workspace", str, query="jam"),
    _of_mcp("rag_search", "session_id", "session", str, query="jam"),
    _of_mcp("rag_search", "filters", "collection", lambda id: {"collection_ids": [id]}, query="jam"),
    _of_mcp("web_search", "workspace_id", "workspace", str, query="jam"),
    _of_mcp("web_fetch", "workspace_id", "workspace", str, url="https://example.org/"),
]


def test_every_address_has_a_case() -> None:
    routes = {str(pattern.pattern) for pattern in gateway}
    assert routes == {place.route for place in PLACES} | set(WITHOUT_IDS)


async def ask(attacker: Attacker, place: Place, id: str) -> Answer:
    """Send the request of a place with an id there."""
    sent = response_id(id) if place.kind == "execution" else id
    address = "/" + re.sub(r"<\w+:id>", sent, place.route)
    if attacker.asker.session is not None and place.kind != "session":
        address += f"?session_id={attacker.asker.session}"
    headers = attacker.headers | (MCP_HEADERS if place.route == "mcp" else {})
    body = json.dumps(place.body(id) if place.body else {})
    content_type = "application/json"
    response = await attacker.client().generic(place.method, address, body, content_type, headers=headers)
    return await Answer.of(response, id, sent)


def _is_refusal(place: Place, answer: Answer) -> bool:
    if place.route == "mcp" and answer.status == 200:
        return bool(json.loads(answer.body)["result"].get("isError"))
    return answer.status in (400, 401, 403, 404)


async def test_each_place_is_one(subtests: Subtests) -> None:
    """The owner's own id must be answered otherwise than an unknown one, or the walk below proves nothing."""
    world = await sync_to_async(World)()
    owner = world.owner()
    for place in PLACES:
        thing = next(thing for thing in world.things if thing.kind == place.kind and owner.sees(thing))
        nothing, mine = await ask(owner, place, unknown(place.kind)), await ask(owner, place, thing.id)
        with subtests.test(place=str(place)):
            assert _is_refusal(place, nothing), nothing
            assert mine.status < 500 and mine != nothing, mine


@pytest.mark.parametrize("name", ATTACKERS)
async def test_nobody_reaches_what_is_not_theirs(name: str, subtests: Subtests) -> None:
    world = await sync_to_async(World)()
    attacker = await sync_to_async(world.attacker)(name)
    before = await sync_to_async(rows)()
    tried = 0
    for place in PLACES:
        expected = await ask(attacker, place, unknown(place.kind))
        for thing in world.things:
            if thing.kind == place.kind and not attacker.sees(thing):
                tried += 1
                answer = await ask(attacker, place, thing.id)
                with subtests.test(place=str(place), thing=f"{thing.kind} {thing.about}"):
                    assert _is_refusal(place, answer), answer
                    assert answer == expected
                    assert SECRET not in answer.body
    assert tried
    assert not lost_rows(before, await sync_to_async(rows)())


async def test_a_login_opens_nothing(subtests: Subtests) -> None:
    """A page of another site could send the cookie along: only a key or token counts here."""
    world = await sync_to_async(World)()
    alice = await sync_to_async(world.attacker)("alice logged in")
    for place in PLACES:
        thing = next(thing for thing in world.things if thing.kind == place.kind)
        with subtests.test(place=str(place)):
            assert (await ask(alice, place, thing.id)).status == 401
