"""No way round a limit: who may ask no more may not ask by another protocol, nor add documents by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient
from pytest import Subtests
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from accounts.models import Session, Workspace, WorkspaceQuota
from assistants.gateway.mcp.tools import TOOLS as MCP_TOOLS
from kb.embedding import embedding_model
from kb.models import Document, DocumentCollection
from runs.models import Execution
from runs.registry import TOOLS
from search.api import SearchInput, run_search
from tests.adversary import test_gateway
from tests.adversary.requests import SAMPLES
from tests.adversary.requests import TOOLS as TOOLS_OF_MODELS
from tests.adversary.test_gateway import INPUT, JSON_RPC, MCP_HEADERS, MESSAGES, STORE
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document
from tests.testing.sockets import socket

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE_SECS = 20
Body = dict[str, Any]

ASKING: dict[str, Body] = {
    "v1/responses": INPUT,
    "v1/agent": INPUT,
    "v1/chat/completions": MESSAGES,
    "chat/completions": MESSAGES,
    "v1/embeddings": {"model": embedding_model().name, "input": "jam"},
    "v1/rerank": {"query": "jam", "documents": ["jam", "tea"]},
    f"{STORE}/search": {"query": "jam"},
    "search": {"query": "jam"},
}
"""By address of other people's protocols: a question."""
ASKING_TOOLS: dict[str, Body] = {
    "search": {"query": "jam"},
    "rag_search": {"query": "jam"},
    "web_search": {"query": "jam"},
    "web_fetch": {"url": "https://example.org/"},
}
"""By tool of the MCP: a question."""
ADDING = {"v1/files", "mcp"}
"""Addresses by which documents are added."""
NEITHER = {
    "v1/responses/<str:id>/cancel": "ends a run",
    "v1/vector_stores": "a collection holds no words of its own",
    STORE: "changes a name",
    f"{STORE}/files": "names a document that is there",
    f"{STORE}/files/<str:file_id>": "changes attributes",
    f"{STORE}/file_batches": "names documents that are there",
}
NEITHER_TOOLS = {"fetch": "reads", "list_documents": "reads", "add_document": "adds"}


def test_every_address_and_tool_has_a_case() -> None:
    posted = {place.route for place in test_gateway.PLACES if place.method == "POST"}
    assert posted == {*ASKING, *ADDING, *NEITHER}
    assert set(MCP_TOOLS) == {*ASKING_TOOLS, *NEITHER_TOOLS}


@pytest.fixture
def team(settings: Settings) -> Cast:
    """alice's team with a document, a collection of her own, and the web switched on."""
    settings.REQUESTS_PER_MINUTE, settings.BRAVE_API_KEY = 0, "a key"
    cast = make_cast()
    indexed_document(cast.team, "Jam.")
    DocumentCollection.unscoped.create(workspace=cast.alice.personal_workspace, name="Jars")
    Workspace.objects.update(settings={"web_search": {"enabled": True}})
    return cast


def use_up_rate(cast: Cast, settings: Settings) -> str:
    settings.RUNS_PER_MINUTE = 1
    run_search(principal_of_user(cast.alice), SearchInput(query="jam"))
    return "rate_limited"


def use_up_quota(cast: Cast, _: Settings) -> str:
    for workspace in (cast.team, cast.alice.personal_workspace):
        WorkspaceQuota.unscoped.create(workspace=workspace, runs_per_minute=0)
    return "quota_exceeded"


@pytest.mark.parametrize("use_up", [use_up_rate, use_up_quota])
async def test_no_way_to_ask_more(
    team: Cast, settings: Settings, use_up: Callable[[Cast, Settings], str], subtests: Subtests
) -> None:
    code = await sync_to_async(use_up)(team, settings)
    session, store = await sync_to_async(_things)(team)
    before = await sync_to_async(Execution.unscoped.count)()
    for path, body in _questions(session, store).items():
        with subtests.test(path=path):
            reply = await _post(team, path, body)
            assert reply.status_code == 429, reply.content
            # Other protocols say `rate_limit_exceeded`.
            assert code.removesuffix("ed") in reply.content.decode()
    for tool, arguments in ASKING_TOOLS.items():
        with subtests.test(tool=tool):
            assert code in await _called(team, tool, arguments)
    for path, message in _messages(session).items():
        with subtests.test(socket=path):
            assert (await _said(team, path, message))["data"]["code"] == code
    assert await sync_to_async(Execution.unscoped.count)() == before


def _things(cast: Cast) -> tuple[str, str]:
    session = Session.unscoped.create(user=cast.alice, workspace=cast.team)
    return str(session.pk), str(DocumentCollection.unscoped.get().pk)


def _inputs(session: str) -> dict[str, Body]:
    """Return by tool the inputs of a question."""
    found = {}
    for model, sample in SAMPLES.items():
        if model.endswith("Call"):
            tool = next((tool for part, tool in TOOLS_OF_MODELS.items() if part in model), "rag_search")
            found[tool] = sample | ({"session_id": session} if tool == "chat" else {})
    assert set(found) == set(TOOLS)
    return found


def _questions(session: str, store: str) -> dict[str, Body]:
    others = {path.replace("<str:id>", store): body for path, body in ASKING.items()}
    own: dict[str, Body] = {"api/v1/search": {"query": "jam"}}
    for tool, inputs in _inputs(session).items():
        own[f"api/v1/tools/{tool}"] = inputs
        fields = {name: value for name, value in inputs.items() if name == "session_id"}
        inner = {name: value for name, value in inputs.items() if name != "session_id"}
        own[f"api/v1/tools/{tool}/execute"] = {"inputs": inner} | fields
    own[f"api/v1/sessions/{session}/messages"] = {"content": "jam"}
    return own | others


def _messages(session: str) -> dict[str, Body]:
    return {f"tools/{tool}": inputs for tool, inputs in _inputs(session).items()} | {
        f"sessions/{session}": {"type": "message", "content": "jam"}
    }


async def _post(cast: Cast, path: str, body: Body, name: str = "alice") -> Any:
    headers = cast.headers(name) | (MCP_HEADERS if path == "mcp" else {})
    return await AsyncClient().post(f"/{path}", body, "application/json", headers=headers)


async def _called(cast: Cast, tool: str, arguments: Body, name: str = "alice") -> str:
    """Return what a model is told that calls a tool."""
    body = JSON_RPC | {"params": {"name": tool, "arguments": arguments}}
    reply = await _post(cast, "mcp", body, name)
    result = reply.json()["result"]
    assert result["isError"], result
    return str(result["content"][0]["text"])


async def _said(cast: Cast, path: str, message: Body) -> Any:
    """Return what a socket answers a message with."""
    key = cast.headers("alice")["Authorization"].encode()
    opened = socket(f"/ws/{path}", [(b"authorization", key), (b"host", b"testserver")])
    assert (await opened.connect(timeout=PATIENCE_SECS))[0]
    await opened.send_json_to(message)
    answer = await opened.receive_json_from(PATIENCE_SECS)
    await opened.disconnect()
    return answer


async def test_no_way_to_add_more_documents(team: Cast, subtests: Subtests) -> None:
    full, document = await sync_to_async(_fill)(team)
    replies = await _added(team, "alice", full)
    patch = {"workspace_id": full}
    replies["moved"] = await AsyncClient().patch(
        f"/api/v1/documents/{document}", patch, "application/json", headers=team.headers("alice")
    )
    for how, reply in replies.items():
        with subtests.test(how=how):
            assert reply.status_code == 429, reply.content
            assert "quota_exceeded" in reply.content.decode()
    for given in ({"text": "Tea."}, {"url": "https://example.org/"}):
        with subtests.test(added=str(given)):
            told = await _called(team, "add_document", given | {"workspace_id": full, "wait_secs": 0})
            assert "quota_exceeded" in told
    bulk = {"action": "move", "ids": [document], "workspace_id": full}
    await _post(team, "api/v1/documents/bulk", bulk)
    assert await sync_to_async(Document.unscoped.filter(workspace_id=full).count)() == 0


async def test_what_is_full_tells_a_stranger_nothing(
    team: Cast, settings: Settings, subtests: Subtests
) -> None:
    """Neither that it holds no more, nor that no more may wait there."""
    settings.MAX_WAITING_DOCUMENTS = 0
    full, _ = await sync_to_async(_fill)(team)
    for how, reply in (await _added(team, "charlie", full)).items():
        with subtests.test(how=how):
            assert reply.status_code == 404, reply.content
    given = {"text": "Tea.", "workspace_id": full, "wait_secs": 0}
    assert "not_found" in await _called(team, "add_document", given, "charlie")


async def _added(cast: Cast, name: str, workspace: str) -> dict[str, Any]:
    """Return the replies to somebody who adds a document by each address."""
    client, headers = AsyncClient(), cast.headers(name)
    place = {"workspace_id": workspace}

    async def form(path: str, **fields: Any) -> Any:
        return await client.post(path, fields | place, headers=headers)

    def file() -> SimpleUploadedFile:
        return SimpleUploadedFile("tea.txt", b"Tea.")

    text = place | {"text": "Tea.", "name": "a.txt"}
    return {
        "file": await form("/api/v1/documents", files=file()),
        "url": await form("/api/v1/documents", urls="https://example.org/"),
        "text": await client.post("/api/v1/documents", text, "application/json", headers=headers),
        "v1/files": await form("/v1/files", file=file(), purpose="assistants"),
    }


def _fill(cast: Cast) -> tuple[str, str]:
    """Let alice's own workspace take no documents; return it, and a document of hers that is elsewhere."""
    full = cast.alice.personal_workspace
    WorkspaceQuota.unscoped.create(workspace=full, documents=0)
    other = Workspace.create_for(cast.alice, name="Elsewhere")
    return str(full.pk), str(indexed_document(other, "Tea.").pk)
