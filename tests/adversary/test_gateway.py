"""The adversary at other people's protocols: every id of others, in every place where an id goes there.

These addresses are not in the API's schema, so their places are named here; an address without one fails.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from pydantic import BaseModel
from pytest import Subtests

from accounts.access.identity import principal_of_user
from accounts.access.keys import create_key
from assistants.answer import DocumentOptions
from assistants.gateway.completions import CompletionsRequest
from assistants.gateway.embeddings_api import EmbeddingsRequest
from assistants.gateway.file_search.batches import FileBatch
from assistants.gateway.file_search.files_api import NewFile
from assistants.gateway.file_search.filters import FileSearchTool
from assistants.gateway.file_search.finding import AddressedBody
from assistants.gateway.file_search.paging import FilesQuery, ObjectsQuery, StoreFilesQuery
from assistants.gateway.file_search.search_api import StoreSearch
from assistants.gateway.file_search.store_files_api import FileChange, FileInStore, NewBatch
from assistants.gateway.file_search.stores_api import NewStore, StoreChange
from assistants.gateway.mcp.server import server_for
from assistants.gateway.mcp.tools import TOOLS as MCP_TOOLS
from assistants.gateway.request import GatewayFields, ResponsesRequest
from assistants.gateway.rerank_api import RerankRequest
from assistants.gateway.response import response_id
from assistants.gateway.search_api import PageSearch
from kb.embedding import embedding_model
from kb.models import Document, DocumentCollection
from locus.urls import gateway
from runs.registry import TOOLS
from runs.request import CallFields
from tests.adversary.places import ids_in, ids_of
from tests.adversary.reference import Paper
from tests.adversary.requests import Answer, unknown
from tests.adversary.world import (
    ATTACKERS,
    SECRET,
    Attacker,
    Thing,
    World,
    lost_rows,
    rows,
    rows_for_others,
)

pytestmark = pytest.mark.django_db(transaction=True)

FILE = "v1/files/<str:id>"
STORE = "v1/vector_stores/<str:id>"
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
    sent: Callable[[str], str] = str
    """How the id stands in the address."""

    def __str__(self) -> str:
        return f"{self.method} {self.route} {self.name}"


def _of_asker(route: str, asked: Body) -> list[Place]:
    return [
        Place("workspace", route, "workspace_id", lambda id: asked | {"workspace_id": id}),
        Place("session", route, "session_id", lambda id: asked | {"session_id": id}),
    ]


def _of_answers(route: str, asked: Body) -> list[Place]:
    def scope(name: str, kind: str) -> Place:
        outer, _, inner = name.partition(".")

        def body(id: str) -> Body:
            return asked | {"tools": [{"type": "rag_search", outer: {inner: [id]} if inner else [id]}]}

        return Place(kind, route, f"tools.{name}", body)

    return [
        *_of_asker(route, asked),
        _within(route, asked),
        Place("assistant", route, "model", lambda id: asked | {"model": id}),
        scope("document_ids", "document"),
        scope("workspace_ids", "workspace"),
        scope("filters.collection_ids", "collection"),
        Place(
            "collection",
            route,
            "tools.vector_store_ids",
            lambda id: asked | {"tools": [{"type": "file_search", "vector_store_ids": [id]}]},
        ),
    ]


def _within(route: str, asked: Body | None = None) -> Place:
    """Return the place of a session in the query, where every request may have one."""
    body = None if asked is None else lambda _: asked
    method = "GET" if asked is None else "POST"
    return Place("session", route, "?session_id", body, method, lambda id: f"?session_id={id}")


def _of_mcp(tool: str, argument: str, kind: str, value: Callable[[str], Any], **more: Any) -> Place:
    name = argument.partition(".")[0]

    def body(id: str) -> Body:
        return JSON_RPC | {"params": {"name": tool, "arguments": more | {name: value(id)}}}

    return Place(kind, "mcp", f"{tool} {argument} {kind}", body)


def batch_of(id: str) -> str:
    """Return the id of a batch of one file."""
    return FileBatch(1_760_000_000, [UUID(id)]).id


def _of_list(route: str, kind: str) -> list[Place]:
    after = Place(kind, route, "after", None, "GET", lambda id: f"?after={id}")
    return [after, replace(after, name="before", sent=lambda id: f"?before={id}"), _within(route)]


def _of_files() -> list[Place]:
    inside, batches = f"{STORE}/files", f"{STORE}/file_batches"
    one, batch = f"{inside}/<str:file_id>", f"{batches}/<str:batch_id>"
    return [
        *_of_asker("v1/files", {"file": "no file"}),
        *_of_list("v1/files", "document"),
        Place("document", FILE, "id", None, "GET"),
        Place("document", f"{FILE}/content", "id", None, "GET"),
        *_of_list("v1/vector_stores", "collection"),
        *_of_asker("v1/vector_stores", {}),
        Place("document", "v1/vector_stores", "file_ids", lambda id: {"file_ids": [id]}),
        Place("collection", STORE, "id", None, "GET"),
        Place("collection", STORE, "id", lambda id: {"name": "x"}),
        Place("collection", f"{STORE}/search", "id", lambda id: {"query": "jam"}),
        *_of_list(inside, "document"),
        Place("collection", inside, "id", None, "GET"),
        Place("collection", inside, "id", lambda id: {}),
        Place("document", inside, "file_id", lambda id: {"file_id": id}),
        Place("document", one, "file_id", None, "GET"),
        Place("document", one, "file_id", lambda id: {"attributes": {"x": 1}}),
        Place("document", f"{one}/content", "file_id", None, "GET"),
        Place("document", one, "file_id", None, "DELETE"),
        Place("document", batches, "file_ids", lambda id: {"file_ids": [id]}),
        Place("document", batches, "files", lambda id: {"files": [{"file_id": id}]}),
        Place("document", batch, "batch_id", None, "GET", batch_of),
        Place("document", f"{batch}/files", "batch_id", None, "GET", batch_of),
        *_of_list(f"{batch}/files", "document"),
    ]


def _cursor_body(id: str) -> Body:
    return JSON_RPC | {"method": "resources/list", "params": {"cursor": id}}


def _of_resource(kind: str) -> Place:
    def body(id: str) -> Body:
        return JSON_RPC | {"method": "resources/read", "params": {"uri": f"locus://{kind}s/{id}"}}

    return Place(kind, "mcp", f"resource {kind}", body)


PLACES = [
    Place("execution", "v1/responses/<str:id>", "id", None, "GET", response_id),
    Place("execution", "v1/responses/<str:id>/cancel", "id", None, "POST", response_id),
    *_of_files(),
    *_of_answers("v1/responses", INPUT),
    *_of_answers("v1/agent", INPUT),
    *_of_answers("v1/chat/completions", MESSAGES),
    *_of_answers("chat/completions", MESSAGES),
    *_of_asker("search", {"query": "jam"}),
    _within("search", {"query": "jam"}),
    *_of_asker("v1/embeddings", {"model": embedding_model().name, "input": "jam"}),
    *_of_asker("v1/rerank", {"query": "jam", "documents": ["jam", "tea"]}),
    _within("v1/models"),
    _within("mcp", JSON_RPC | {"params": {"name": "list_documents", "arguments": {}}}),
    _of_mcp("fetch", "id", "chunk", str),
    _of_mcp("fetch", "id", "document", str),
    _of_mcp("list_documents", "workspace_id", "workspace", str),
    _of_mcp("rag_search", "document_ids", "document", lambda id: [id], query="jam"),
    _of_mcp("rag_search", "workspace_ids", "workspace", lambda id: [id], query="jam"),
    _of_mcp("rag_search", "workspace_id", "workspace", str, query="jam"),
    _of_mcp("rag_search", "session_id", "session", str, query="jam"),
    _of_mcp(
        "rag_search", "filters.collection_ids", "collection", lambda id: {"collection_ids": [id]}, query="jam"
    ),
    _of_mcp("ask_assistant", "assistant", "assistant", str, query="jam"),
    _of_mcp("add_document", "workspace_id", "workspace", str, text="jam", wait_secs=0),
    _of_mcp("add_document", "collection_id", "collection", str, text="jam", wait_secs=0),
    _of_mcp("add_document", "session_id", "session", str, text="jam", wait_secs=0),
    _of_resource("document"),
    _of_resource("chunk"),
    Place("document", "mcp", "cursor", _cursor_body),
    _of_mcp("web_search", "workspace_id", "workspace", str, query="jam"),
    _of_mcp("web_search", "session_id", "session", str, query="jam"),
    _of_mcp("web_fetch", "workspace_id", "workspace", str, url="https://example.org/"),
    _of_mcp("web_fetch", "session_id", "session", str, url="https://example.org/"),
    # At the end, because what an owner deletes is gone.
    Place("document", FILE, "id", None, "DELETE"),
    Place("collection", STORE, "id", None, "DELETE"),
]


BODIES: dict[type[BaseModel], list[str]] = {
    ResponsesRequest: ["v1/responses", "v1/agent"],
    CompletionsRequest: ["v1/chat/completions", "chat/completions"],
    PageSearch: ["search"],
    EmbeddingsRequest: ["v1/embeddings"],
    RerankRequest: ["v1/rerank"],
    NewFile: ["v1/files"],
    NewStore: ["v1/vector_stores"],
    StoreChange: [STORE],
    StoreSearch: [f"{STORE}/search"],
    FileInStore: [f"{STORE}/files"],
    FileChange: [f"{STORE}/files/<str:file_id>"],
    NewBatch: [f"{STORE}/file_batches"],
    ObjectsQuery: ["v1/vector_stores"],
    FilesQuery: ["v1/files"],
    StoreFilesQuery: [f"{STORE}/files", f"{STORE}/file_batches/<str:batch_id>/files"],
}
"""By what is read of a body or query: where it is sent."""
REFUSED = {"previous_response_id": "whatever it is"}
METHODS_WITHOUT_IDS = {"tools/list", "resources/templates/list", "initialize", "ping", "server/discover"}
"""Of the MCP: what they answer is the same for everybody."""


def test_every_address_has_a_case() -> None:
    assert {str(pattern.pattern) for pattern in gateway} == {place.route for place in PLACES}


def test_every_field_has_a_case() -> None:
    bases = (GatewayFields, AddressedBody, ObjectsQuery)
    read = {each for base in bases for each in (base, *subclasses(base))}
    assert {each for each in read if each.__name__[0] != "_"} - {GatewayFields, AddressedBody} == set(BODIES)
    tried = {(place.route, place.name) for place in PLACES}
    options = {f"tools.{name}" for model in (DocumentOptions, FileSearchTool) for name in ids_in(model)}
    for model, routes in BODIES.items():
        names = ids_in(model) - set(REFUSED)
        if "tools" in model.model_fields:
            names |= options
        assert {(route, name) for route in routes for name in names} <= tried


def test_every_tool_of_mcp_has_a_case() -> None:
    found = {(name, field) for name, tool in MCP_TOOLS.items() for field in ids_of(tool.input_schema)}
    found |= {(name, field) for name in MCP_TOOLS if name in TOOLS for field in ids_in(CallFields)}
    tried = [place.name.split() for place in PLACES if place.route == "mcp"]
    assert found <= {(words[0], words[1]) for words in tried if len(words) == 3}


def test_every_method_of_mcp_has_a_case() -> None:
    answered = set(server_for(principal_of_user(World().people["alice"]), "")._request_handlers)
    tried = {place.body("")["method"] for place in PLACES if place.route == "mcp" and place.body}
    assert tried < answered
    assert answered - tried <= METHODS_WITHOUT_IDS


def subclasses(model: type[Any]) -> Iterator[type[Any]]:
    for each in model.__subclasses__():
        yield each
        yield from subclasses(each)


def make_world() -> World:
    """Return a world whose collections hold the documents at their places."""
    world = World()
    for store in DocumentCollection.unscoped.all():
        place = {"workspace_id": store.workspace_id, "external_user_id": store.external_user_id}
        Document.unscoped.filter(**place, session=None).update(collection_ids=[store.pk])
    return world


def place_of(thing: Thing) -> tuple[Any, str | None] | None:
    """Return the workspace and external user of a document or collection."""
    return (thing.rule.workspace, thing.rule.external) if isinstance(thing.rule, Paper) else None


def is_in_session(thing: Thing) -> bool:
    return isinstance(thing.rule, Paper) and thing.rule.session is not None


def seen_by(world: World, attacker: Attacker, kind: str, at: Thing | None) -> str:
    """Return one that the asker sees, at the place of a thing if possible; else one that is unknown."""
    seen = [one for one in world.things if one.kind == kind and attacker.sees(one) and not is_in_session(one)]
    if at is not None:
        seen.sort(key=lambda one: place_of(one) != place_of(at))
    return seen[0].id if seen else unknown(kind)


def address_of(place: Place, id: str, store: str, document: str) -> str:
    """Return the address of a place with an id there, and where other ids have to stand, these."""
    sent, address = place.sent(id), "/" + place.route
    if f":{place.name}>" in address:
        address = re.sub(rf"<\w+:{place.name}>", sent, address)
    elif sent.startswith("?"):
        address += sent
    return address.replace("<str:id>", store).replace("<str:batch_id>", batch_of(document))


def content_of(place: Place, id: str) -> tuple[str | bytes, str]:
    """Return what is sent there, and its type."""
    body = place.body(id) if place.body else {}
    if place.route != "v1/files" or place.body is None:
        return json.dumps(body), "application/json"
    form = body | {"file": SimpleUploadedFile("jam.txt", b"Jam."), "purpose": "assistants"}
    return encode_multipart(BOUNDARY, form), MULTIPART_CONTENT


async def ask(world: World, attacker: Attacker, place: Place, id: str, thing: Thing | None = None) -> Answer:
    """Send the request of a place with an id there, which is the thing's or unknown."""
    others = [seen_by(world, attacker, kind, thing) for kind in ("collection", "document")]
    address = address_of(place, id, *others)
    if attacker.asker.session is not None and place.kind != "session":
        address += f"{'&' if '?' in address else '?'}session_id={attacker.asker.session}"
    headers = attacker.headers | (MCP_HEADERS if place.route == "mcp" else {})
    content, content_type = content_of(place, id)
    response = await attacker.client().generic(place.method, address, content, content_type, headers=headers)
    return await Answer.of(response, id, place.sent(id))


def _is_refusal(place: Place, answer: Answer) -> bool:
    if place.route == "mcp" and answer.status == 200:
        reply = json.loads(answer.body)
        return "error" in reply or bool(reply["result"].get("isError"))
    return answer.status in (400, 401, 403, 404)


async def test_each_place_is_one(subtests: Subtests) -> None:
    """The owner's own id must be answered otherwise than an unknown one, or the walk below proves nothing."""
    world = await sync_to_async(make_world)()
    owner = world.owner()
    for place in PLACES:
        seen = (thing for thing in world.things if thing.kind == place.kind and owner.sees(thing))
        thing = next(thing for thing in seen if not is_in_session(thing))
        nothing = await ask(world, owner, place, unknown(place.kind))
        mine = await ask(world, owner, place, thing.id, thing)
        with subtests.test(place=str(place)):
            assert _is_refusal(place, nothing), nothing
            assert mine.status < 500 and mine != nothing, mine


@pytest.mark.parametrize("name", ATTACKERS)
async def test_nobody_reaches_what_is_not_theirs(name: str, subtests: Subtests) -> None:
    world = await sync_to_async(make_world)()
    attacker = await sync_to_async(world.attacker)(name)
    before = await sync_to_async(rows)()
    tried = 0
    for place in PLACES:
        expected = await ask(world, attacker, place, unknown(place.kind))
        for thing in world.things:
            if thing.kind == place.kind and not attacker.sees(thing):
                tried += 1
                answer = await ask(world, attacker, place, thing.id, thing)
                with subtests.test(place=str(place), thing=f"{thing.kind} {thing.about}"):
                    assert _is_refusal(place, answer), answer
                    assert answer == expected
                    assert SECRET not in answer.body
    assert tried
    after = await sync_to_async(rows)()
    assert not lost_rows(before, after)
    assert not rows_for_others(before, after, attacker)


async def test_a_login_opens_nothing(subtests: Subtests) -> None:
    """A page of another site could send the cookie along: only a key or token counts here."""
    world = await sync_to_async(make_world)()
    alice = await sync_to_async(world.attacker)("alice logged in")
    for place in PLACES:
        thing = next(thing for thing in world.things if thing.kind == place.kind)
        with subtests.test(place=str(place)):
            assert (await ask(world, alice, place, thing.id)).status == 401


STORES_AND_FILES = ("v1/files", "v1/vector_stores")
CHANGING = [
    place
    for place in PLACES
    if place.name.startswith("add_document")
    or (place.route.startswith(STORES_AND_FILES) and place.method != "GET" and "search" not in place.route)
]


async def test_a_key_that_may_only_read_changes_nothing(subtests: Subtests) -> None:
    world = await sync_to_async(make_world)()
    owner, alice = world.owner(), world.people["alice"]
    _, secret = await sync_to_async(create_key)(alice, "reader", scopes=["read"])
    reader = Attacker("reader", owner.asker, {"X-API-KEY": secret})
    before = await sync_to_async(rows)()
    for place in CHANGING:
        thing = next(one for one in world.things if one.kind == place.kind and owner.sees(one))
        with subtests.test(place=str(place)):
            answer = await ask(world, reader, place, thing.id, thing)
            assert _is_refusal(place, answer)
            assert "scope" in answer.body
    assert len(CHANGING) > 15
    after = await sync_to_async(rows)()
    assert not lost_rows(before, after)
    assert before["kb_document"] == after["kb_document"]


async def test_what_has_ended_opens_nothing(subtests: Subtests) -> None:
    """Without a key, and with a key or token that has ended: 401 alone."""
    world = await sync_to_async(make_world)()
    nobody = Attacker("anonymous", world.owner().asker)
    for attacker in (nobody, *await sync_to_async(world.ended)()):
        for place in PLACES:
            thing = next(thing for thing in world.things if thing.kind == place.kind)
            answer = await ask(world, attacker, place, thing.id, thing)
            with subtests.test(place=str(place), who=attacker.name):
                # Whoever sends unknown keys for a while is told to wait.
                assert answer.status in ((401, 429) if attacker.headers else (401,))
                assert SECRET not in answer.body
