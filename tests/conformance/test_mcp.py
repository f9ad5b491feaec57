"""`/mcp` and `manage.py mcp` through the official client."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import httpx2
import pytest
from asgiref.sync import sync_to_async
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from accounts.access.identity import principal_of_user
from accounts.access.keys import create_key
from assistants.gateway.mcp import resources
from assistants.gateway.mcp.adding import MOST_WAIT_SECS
from assistants.models import Assistant, AssistantVersion, Visibility
from kb.models import Document
from tests.conformance.gateway import PAGE, QUESTION, SOLAR, Gateway
from tests.conftest import Cast
from tests.factories import stored_document
from tests.testing.live import environment, live_worker
from tests.testing.paths import ROOT

pytestmark = pytest.mark.django_db(transaction=True)
TOOLS = ["search", "fetch", "rag_search", "list_documents", "add_document", "web_search", "web_fetch"]


@asynccontextmanager
async def client_of(gateway: Gateway, key: str, mode: str = "auto") -> AsyncIterator[Client]:
    """Connect the official client with a key; its mode “legacy” shakes hands as clients did before 2026."""
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{gateway.url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


async def called(client: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool, and check that the text says what the structure does."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_tools(gateway: Gateway, document: Document, mode: str) -> None:
    async with client_of(gateway, gateway.key, mode) as client:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == TOOLS
        found = (await called(client, "search", query=QUESTION))["results"]
        assert found[0]["title"] == "solar.pdf, page 1"
        passage = await called(client, "fetch", id=found[0]["id"])
        assert passage["text"] == found[0]["text"]
        assert passage["url"] == found[0]["url"] != ""
        whole = await called(client, "fetch", id=str(document.pk))
        assert (whole["title"], whole["text"]) == ("solar.pdf", passage["text"])
        documents = await called(client, "list_documents", search="solar")
        assert [each["id"] for each in documents["documents"]] == [str(document.pk)]
        answer = await called(client, "rag_search", query=QUESTION)
        assert "42 gigawatt hours in 2023. [1]" in answer["answer"]
        assert [source["id"] for source in answer["sources"]] == [1]
        pages = (await called(client, "web_search", query=QUESTION))["results"]
        assert pages[0] == {
            "title": PAGE.title,
            "url": PAGE.url,
            "snippet": PAGE.snippet,
            "published_date": pages[0]["published_date"],
        }
        from_web = await called(client, "web_search", query=QUESTION, mode="answer")
        assert "[1]" in from_web["answer"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_assistants_are_asked(gateway: Gateway, cast: Cast, document: Document, mode: str) -> None:
    @sync_to_async
    def make(name: str, visibility: Visibility, **settings: Any) -> str:
        made = Assistant.unscoped.create(
            workspace=cast.team, user=cast.alice, name=name, description="Energy.", visibility=visibility
        )
        AssistantVersion.objects.create(assistant=made, number=1, name=name, settings=settings)
        return str(made.pk)

    guide = await make("Guide", Visibility.WORKSPACE, tools=["rag_search"])
    await make("Alice's own", Visibility.MINE, tools=["rag_search"])
    async with client_of(gateway, gateway.key, mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert [*listed] == [*TOOLS, "ask_assistant"]
        described = listed["ask_assistant"].description or ""
        assert "Guide: Energy." in described and "Alice's own: Energy." in described
        for name in ("Guide", guide, "Alice's own"):
            answer = await called(client, "ask_assistant", assistant=name, query=QUESTION)
            assert "42 gigawatt hours in 2023. [1]" in answer["answer"]
            assert [source["id"] for source in answer["sources"]] == [1]
    async with client_of(gateway, cast.keys["bob"], mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        described = listed["ask_assistant"].description or ""
        assert "Guide" in described and "Alice" not in described
        refused = await client.call_tool("ask_assistant", {"assistant": "Alice's own", "query": QUESTION})
        assert json.loads(refused.content[0].text)["error"]["code"] == "not_found"
    async with client_of(gateway, cast.keys["charlie"], mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
        # Nobody learns whether it exists.
        for name in (guide, "Guide"):
            refused = await client.call_tool("ask_assistant", {"assistant": name, "query": QUESTION})
            assert json.loads(refused.content[0].text)["error"]["code"] == "not_found"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_resources(gateway: Gateway, cast: Cast, document: Document, mode: str) -> None:
    await sync_to_async(stored_document)(cast.team, "other.txt", b"Other.")
    async with client_of(gateway, gateway.key, mode) as client:
        listed = await client.list_resources()
        assert [each.name for each in listed.resources] == ["other.txt", "solar.pdf"]
        uri = listed.resources[1].uri
        assert uri == f"locus://documents/{document.pk}"
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == ["locus://documents/{id}", "locus://chunks/{id}"]
        [whole] = (await client.read_resource(uri)).contents
        assert " ".join(whole.text.split()) == SOLAR
        found = (await called(client, "search", query=QUESTION))["results"]
        text, place = (await client.read_resource(f"locus://chunks/{found[0]['id']}")).contents
        shown = json.loads(place.text)
        assert (text.text, shown["text"]) == (found[0]["text"], found[0]["text"])
        assert (shown["page_number"], shown["bbox"][0]["page_number"]) == (1, 1)
        assert shown["url"] == found[0]["url"]
        for unknown in (f"locus://documents/{cast.team.pk}", "locus://documents/x", "file:///etc/passwd"):
            with pytest.raises(MCPError, match="no such resource"):
                await client.read_resource(unknown)
    async with client_of(gateway, cast.keys["charlie"], mode) as client:
        assert (await client.list_resources()).resources == []
        with pytest.raises(MCPError, match="no such resource"):
            await client.read_resource(uri)


async def test_resources_in_pages(
    gateway: Gateway, cast: Cast, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "PAGE", 2)
    names = [f"{number}.txt" for number in range(4)]
    for name in names:
        await sync_to_async(stored_document)(cast.team, name, name.encode())
    principal = await sync_to_async(principal_of_user)(cast.alice)
    read, cursor = [], None
    for _ in range(3):
        page = await sync_to_async(resources.listed_resources)(principal, cursor)
        read += [each.name for each in page.resources]
        cursor = page.next_cursor
    assert (read, cursor) == ([*reversed(names), "solar.pdf"], None)
    with pytest.raises(MCPError, match="cursor"):
        await sync_to_async(resources.listed_resources)(principal, "x")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_document_is_added_and_its_progress_told(gateway: Gateway, cast: Cast, mode: str) -> None:
    told: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    arguments = {"text": "The bridge was built in 1893.", "name": "bridge.txt", "tags": ["bridges"]}
    with live_worker():
        async with client_of(gateway, gateway.key, mode) as client:
            # As long as may be waited: on a busy machine a worker starts late.
            patient = arguments | {"wait_secs": MOST_WAIT_SECS}
            result = await client.call_tool("add_document", patient, progress_callback=note)
            added = result.structured_content
            assert (added["name"], added["status"], added["duplicate"]) == ("bridge.txt", "ready", False)
            assert told and "done 100%" in {message for _, message in told}
            assert [progress for progress, _ in told] == sorted(progress for progress, _ in told)
            again = await called(client, "add_document", **arguments | {"wait_secs": 0})
            assert (again["id"], again["status"], again["duplicate"]) == (added["id"], "ready", True)
            told.clear()
            answer = await client.call_tool("rag_search", {"query": QUESTION}, progress_callback=note)
            assert "[1]" in answer.structured_content["answer"]
            assert "RETRIEVAL completed" in [message for _, message in told]


async def test_who_may_not_add_adds_nothing(gateway: Gateway, cast: Cast) -> None:
    made = await sync_to_async(create_key)(cast.alice, "reads", scopes=["read"])
    team = {"workspace_id": str(cast.team.pk)}
    for key, more in ((made[1], {}), (cast.keys["bob"], team)):
        async with client_of(gateway, key) as client:
            refused = await client.call_tool("add_document", {"text": "x"} | more)
            assert refused.is_error
            assert json.loads(refused.content[0].text)["error"]["code"] == "forbidden"
    assert await Document.unscoped.acount() == 1


async def test_an_error_is_for_the_model(gateway: Gateway, cast: Cast) -> None:
    async with client_of(gateway, gateway.key) as client:
        for tool, arguments, code in (
            ("rag_search", {"query": " "}, "validation_error"),
            ("rag_search", {"query": "x", "document_id": "y"}, "unknown_field"),
            ("web_fetch", {"url": "http://127.0.0.1/"}, "validation_error"),
            ("fetch", {"id": str(cast.team.pk)}, "not_found"),
            ("nothing", {}, "not_found"),
            ("add_document", {}, "validation_error"),
            ("add_document", {"text": "x", "workspace_id": str(cast.charlie.pk)}, "validation_error"),
        ):
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert json.loads(result.content[0].text)["error"]["code"] == code


async def test_it_is_scoped_by_the_key(gateway: Gateway, cast: Cast, document: Document) -> None:
    async with client_of(gateway, cast.keys["charlie"]) as client:
        assert (await called(client, "search", query=QUESTION))["results"] == []
        assert (await called(client, "list_documents"))["documents"] == []
        assert (await client.call_tool("fetch", {"id": str(document.pk)})).is_error
        assert (await client.call_tool("web_search", {"query": "x"})).is_error


def test_without_a_key_there_is_nothing(gateway: Gateway) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert httpx.post(f"{gateway.url}/mcp", json=body).status_code == 401
    with gateway.http() as http:
        assert http.get("/mcp").status_code == 405
        assert http.delete("/mcp").status_code == 405
        answer = http.post("/mcp", content=b"{", headers={"Accept": "application/json, text/event-stream"})
        assert answer.status_code == 400


async def test_over_standard_input(cast: Cast, document: Document) -> None:
    command = [str(ROOT / "manage.py"), "mcp", "--user", "alice@example.org"]
    variables = await sync_to_async(environment)()
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(variables))
    async with Client(stdio_client(server)) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
        answer = await called(client, "rag_search", query=QUESTION)
        assert "42 gigawatt hours in 2023. [1]" in answer["answer"]
        assert (await client.call_tool("web_search", {"query": "x"})).is_error
