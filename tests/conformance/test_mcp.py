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

from kb.models import Document
from tests.conformance.gateway import PAGE, QUESTION, Gateway
from tests.conftest import Cast
from tests.testing.live import environment
from tests.testing.paths import ROOT

pytestmark = pytest.mark.django_db(transaction=True)
TOOLS = ["search", "fetch", "rag_search", "list_documents", "web_search", "web_fetch"]


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


async def test_an_error_is_for_the_model(gateway: Gateway, cast: Cast) -> None:
    async with client_of(gateway, gateway.key) as client:
        for tool, arguments, code in (
            ("rag_search", {"query": " "}, "validation_error"),
            ("rag_search", {"query": "x", "document_id": "y"}, "unknown_field"),
            ("web_fetch", {"url": "http://127.0.0.1/"}, "validation_error"),
            ("fetch", {"id": str(cast.team.pk)}, "not_found"),
            ("nothing", {}, "not_found"),
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
