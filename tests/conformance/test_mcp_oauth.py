"""The official client connects itself to `/mcp` by OAuth, and what it opened ends with its connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.test import Client as Browser
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)

from accounts.models import ApiKey, AuditEntry, Program, ProgramToken
from accounts.oauth.connections import disconnect
from kb.models import Document
from tests.conformance.gateway import QUESTION, Gateway
from tests.conftest import Cast

pytestmark = pytest.mark.django_db(transaction=True)
REDIRECT = "http://127.0.0.1:3333/callback"
SECRET = "s" * 32


class Storage:
    """What the client remembers."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Person:
    """Somebody logged in at the server, who answers the question of the page."""

    def __init__(self, cookie: str, *workspaces: str) -> None:
        self._cookie, self._workspaces = cookie, workspaces
        self.asked = 0

    async def open(self, address: str) -> None:
        """Choose the workspaces, and allow; `tests/accounts/oauth` looks at the page itself."""
        self.asked += 1
        # What a browser sends with the form: the secret of its cookie.
        cookies = {settings.SESSION_COOKIE_NAME: self._cookie, settings.CSRF_COOKIE_NAME: SECRET}
        headers = {"X-CSRFToken": SECRET, "Origin": "{0.scheme}://{0.netloc}".format(urlsplit(address))}
        form = {"answer": "allow", "write": "on", "workspaces": list(self._workspaces)}
        async with httpx.AsyncClient(cookies=cookies, headers=headers, timeout=60) as http:
            reply = await http.post(address, data=form)
        assert reply.status_code == 302, reply.text
        assert reply.headers["location"].startswith(REDIRECT)
        self._back = parse_qs(urlsplit(reply.headers["location"]).query)

    async def come_back(self) -> AuthorizationCodeResult:
        """Return what the page sends the program."""
        code, state, iss = (self._back[name][0] for name in ("code", "state", "iss"))
        return AuthorizationCodeResult(code=code, state=state, iss=iss)


def provider_of(gateway: Gateway, person: Person, storage: Storage) -> OAuthClientProvider:
    """Return what registers the official client, asks the person and gets its tokens."""
    metadata = OAuthClientMetadata(client_name="Official client", redirect_uris=[REDIRECT])
    return OAuthClientProvider(
        f"{gateway.url}/mcp",
        metadata,
        storage,
        redirect_handler=person.open,
        callback_handler=person.come_back,
    )


@asynccontextmanager
async def connected(gateway: Gateway, provider: OAuthClientProvider) -> AsyncIterator[Client]:
    """Connect the official client, which does all this by itself."""
    async with httpx2.AsyncClient(auth=provider, timeout=60) as http:
        transport = streamable_http_client(f"{gateway.url}/mcp", http_client=http)
        async with Client(transport) as client:
            yield client


@pytest.fixture
def person(cast: Cast) -> Person:
    browser = Browser()
    browser.force_login(cast.alice)
    return Person(browser.cookies[settings.SESSION_COOKIE_NAME].value, str(cast.team.pk))


async def test_the_official_client_connects_itself(
    gateway: Gateway, cast: Cast, document: Document, person: Person
) -> None:
    storage = Storage()
    provider = provider_of(gateway, person, storage)
    async with connected(gateway, provider) as client:
        listed = (await client.call_tool("list_documents", {})).structured_content
        assert [each["id"] for each in listed["documents"]] == [str(document.pk)]
        answer = (await client.call_tool("rag_search", {"query": QUESTION})).structured_content
        assert "42 gigawatt hours in 2023. [1]" in answer["answer"]
        first = storage.tokens
        assert first is not None and first.scope == "read write"
        # Later its access token has expired: it refreshes by itself, and asks nobody.
        await ProgramToken.objects.filter(kind="access").adelete()
        provider.context.token_expiry_time = 1.0
        assert not (await client.call_tool("list_documents", {})).is_error
    assert (await Program.objects.aget()).name == "Official client"
    assert person.asked == 1
    assert storage.tokens is not None and storage.tokens.refresh_token != first.refresh_token
    # Once it is disconnected it has to ask again.
    await ApiKey.objects.filter(program__isnull=False).adelete()
    async with connected(gateway, provider_of(gateway, person, storage)) as client:
        assert not (await client.call_tool("list_documents", {})).is_error
    assert person.asked == 2


async def test_an_open_stream_ends_with_the_connection(gateway: Gateway, cast: Cast, person: Person) -> None:
    storage = Storage()
    async with connected(gateway, provider_of(gateway, person, storage)) as client:
        assert not (await client.call_tool("list_documents", {})).is_error
    key = await ApiKey.objects.select_related("user").aget(program__isnull=False)
    assert storage.tokens is not None
    # Nothing works on it: the tool waits until its patience, or the right to wait, ends.
    call = {
        "name": "add_document",
        "arguments": {"text": "Nobody reads this.", "wait_secs": 300},
        "_meta": {"progressToken": 1},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {
        "Authorization": f"Bearer {storage.tokens.access_token}",
        "Accept": "application/json, text/event-stream",
    }
    ended: list[Any] = []
    async with (
        httpx.AsyncClient(timeout=httpx.Timeout(60, read=120)) as http,
        http.stream("POST", f"{gateway.url}/mcp", json=message, headers=headers) as stream,
    ):
        assert stream.status_code == 200
        async with asyncio.timeout(60):
            async for line in stream.aiter_lines():
                ended.append(line)
                if line.startswith("data: ") and len(ended) < 5:
                    await sync_to_async(disconnect)(key, None, why="a test")
    assert "unauthenticated" in "".join(ended)
    assert await AuditEntry.unscoped.filter(action="program.disconnected").acount() == 1
