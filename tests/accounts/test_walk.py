"""Nobody gets in where they do not belong: every API address and every websocket, with the wrong people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.urls import URLPattern
from pytest import Subtests

from accounts.access.identity import principal_of_user
from accounts.models import ApiKey, ExternalUserDeletion, Invitation, Session, User, Webhook, Workspace
from accounts.people.invitations import invite
from accounts.roles import Role
from assistants.gateway.file_search.batches import FileBatch
from assistants.gateway.response import response_id
from assistants.models import (
    Assistant,
    AssistantVersion,
    Binding,
    BindingKind,
    ChatMessage,
    ToolServer,
    Visibility,
)
from kb.models import Document, DocumentCollection
from locus.urls import api, urlpatterns
from runs.lifecycle import begin
from runs.models import Execution
from runs.registry import tool_named
from tests.conftest import Cast, make_cast
from tests.factories import chunk_id, indexed_document
from tests.testing.sockets import socket

METHODS = ("get", "post", "put", "patch", "delete")
PUBLIC = {"api/schema", "api/docs", "health", "healthz", "readyz"}


@dataclass(frozen=True)
class Owned:
    """Things of alice's, for external user “x”."""

    document: Document
    execution: Execution
    key: ApiKey
    workspace: Workspace
    invitation: Invitation
    member: User
    deletion: ExternalUserDeletion
    message: ChatMessage
    collection: DocumentCollection
    webhook: Webhook
    assistant: Assistant
    binding: Binding
    tool_server: ToolServer

    def address(self, route: str) -> str:
        """Fill a route's parameters with alice's ids."""
        kind = re.match(r"(?:(?:api/)?v1/)?([a-z-]+)", route)
        assert kind is not None
        ids = {
            "documents": self.document.pk,
            "chunks": chunk_id(self.document),
            "executions": self.execution.pk,
            "responses": response_id(self.execution.pk),
            "api-keys": self.key.pk,
            "workspaces": self.workspace.pk,
            "invitations": self.invitation.pk,
            "external-users": self.document.external_user_id,
            "external-user-deletions": self.deletion.pk,
            "sessions": self.message.session_id,
            "collections": self.collection.pk,
            "files": self.document.pk,
            "vector": self.collection.pk,
            "webhooks": self.webhook.pk,
            "tool-servers": self.tool_server.pk,
            "assistants": self.assistant.pk,
            "bindings": self.binding.pk,
        }
        filled = re.sub(r"<\w+:id>", str(ids.get(kind[1])), route)
        filled = filled.replace("<uuid:message_id>", str(self.message.pk))
        filled = filled.replace("<uuid:binding_id>", str(self.binding.pk))
        filled = filled.replace("<int:user_id>", str(self.member.pk))
        filled = filled.replace("<str:file_id>", str(self.document.pk))
        filled = filled.replace("<str:batch_id>", FileBatch(0, [self.document.pk]).id)
        # Exports and imports are shown in tests/runs/test_archives.py.
        filled = filled.replace("<uuid:transfer_id>", str(self.workspace.pk))
        return "/" + filled.replace("<str:number>", "1").replace("<str:name>", "rag_search")


def own(cast: Cast) -> Owned:
    principal = principal_of_user(cast.alice, "x")
    tool = tool_named("rag_search")
    inputs = tool.parse(principal, {"query": "Who owns the solar farm?"})
    owner = {"user": cast.alice, "workspace": cast.team, "external_user_id": "x"}
    session = Session.unscoped.create(**owner)
    assistant = Assistant.unscoped.create(
        user=cast.alice, workspace=cast.team, name="Guide", visibility=Visibility.WORKSPACE
    )
    AssistantVersion.objects.create(assistant=assistant, number=1, name="Guide", settings={})
    document = indexed_document(cast.team, external_user_id="x")
    collection = DocumentCollection.unscoped.create(workspace=cast.team, external_user_id="x", name="Harbour")
    document.collection_ids = [collection.pk]
    document.save()
    return Owned(
        assistant=assistant,
        binding=Binding.objects.create(assistant=assistant, kind=BindingKind.PAGE),
        message=ChatMessage.unscoped.create(session=session, content="Whose farm?", **owner),
        document=document,
        collection=collection,
        execution=begin(principal, tool, inputs, None),
        key=ApiKey.objects.get(user=cast.alice),
        workspace=cast.team,
        invitation=invite(principal_of_user(cast.alice), cast.team.pk, Role.VIEWER)[0],
        member=cast.bob,
        tool_server=ToolServer.unscoped.create(
            workspace=cast.team, name="tickets", url="https://example.org/mcp"
        ),
        webhook=Webhook.unscoped.create(
            workspace=cast.team, made_by=cast.alice, url="https://example.org/", events=[], secret=""
        ),
        deletion=ExternalUserDeletion.unscoped.create(
            user=cast.alice, workspace_ids=[cast.team.pk], external_user_id="y"
        ),
    )


@pytest.fixture
def owned(cast: Cast) -> Owned:
    return own(cast)


def routes() -> Iterator[tuple[str, str]]:
    """Every method of every API address, as the URL configuration has them today."""
    patterns = [("api/v1/" + str(p.pattern), p) for p in api]
    patterns += [
        (str(p.pattern), p) for p in urlpatterns if isinstance(p, URLPattern) and str(p.pattern) not in PUBLIC
    ]
    for route, pattern in patterns:
        for method in METHODS:
            if hasattr(pattern.callback.view_class, method):  # type: ignore[attr-defined]
                yield method, route


ROUTES = list(routes())
OF_AN_OBJECT = [(method, route) for method, route in ROUTES if ":id>" in route]
# Keys, workspaces, assistants and invitations belong to users, whichever external user they speak for.
# External users are for admins who speak for none.
OF_USERS = re.compile("api-keys|workspaces|invitations|external-user|webhooks|tool-servers|assistants")
OF_ADMINS = re.compile("/workspaces/|/external-user|/webhooks|/tool-servers|/assistants/")
OF_AN_EXTERNAL_USER = [(m, r) for m, r in OF_AN_OBJECT if not OF_USERS.search(r)]


def call(method: str, address: str, headers: dict[str, str]) -> int:
    response = getattr(Client(), method)(address, headers=headers)
    return int(response.status_code)


def test_the_walk_covers_the_api() -> None:
    assert len(ROUTES) >= 20
    assert ("post", "api/v1/search") in ROUTES
    assert {route for _, route in OF_AN_OBJECT} >= {"api/v1/documents/<str:id>/file", "chunks/<str:id>"}


def test_an_anonymous_caller_gets_401(owned: Owned, subtests: Subtests) -> None:
    for method, route in ROUTES:
        with subtests.test(method=method, route=route):
            assert call(method, owned.address(route), {}) == 401


def test_an_unknown_key_gets_401(owned: Owned, subtests: Subtests, monkeypatch: pytest.MonkeyPatch) -> None:
    # There are more addresses than an address may send unknown keys at once.
    monkeypatch.setattr("accounts.access.auth.take", lambda *_: None)
    for method, route in ROUTES:
        with subtests.test(method=method, route=route):
            # Whoever sends unknown keys for a while is told to wait.
            assert call(method, owned.address(route), {"X-API-KEY": "locus_0000000000_nonsense"}) in (
                401,
                429,
            )


def test_another_user_gets_404(cast: Cast, owned: Owned, subtests: Subtests) -> None:
    headers = cast.headers("charlie", **{"X-External-User-Id": "x"})
    for method, route in OF_AN_OBJECT:
        with subtests.test(method=method, route=route):
            assert call(method, owned.address(route), headers) == 404


@pytest.mark.parametrize("external_user", [None, "y"], ids=["no external user", "another external user"])
def test_another_external_user_gets_404(
    cast: Cast, owned: Owned, subtests: Subtests, external_user: str | None
) -> None:
    extra = {"X-External-User-Id": external_user} if external_user else {}
    for method, route in OF_AN_EXTERNAL_USER:
        with subtests.test(method=method, route=route):
            assert call(method, owned.address(route), cast.headers("alice", **extra)) == 404


def test_a_member_does_not_see_another_members_execution(cast: Cast, owned: Owned) -> None:
    headers = cast.headers("bob", **{"X-External-User-Id": "x"})
    assert call("get", f"/api/v1/executions/{owned.execution.pk}", headers) == 404
    assert call("get", f"/api/v1/documents/{owned.document.pk}", headers) == 200


@pytest.mark.parametrize("name", ["bob", "charlie"])
def test_lists_do_not_mention_what_the_caller_may_not_see(cast: Cast, owned: Owned, name: str) -> None:
    for method, route in ROUTES:
        if method == "get" and "<" not in route:
            body = Client().get("/" + route, headers=cast.headers(name)).content.decode()
            assert str(owned.document.pk) not in body
            assert owned.execution.pk not in body
            assert str(owned.key.pk) not in body


def test_the_owner_does_see_them(cast: Cast, owned: Owned) -> None:
    """The walk would also pass if nothing worked at all."""
    as_x, as_herself = cast.headers("alice", **{"X-External-User-Id": "x"}), cast.headers("alice")
    # The document is no recording: tests/kb/test_waveforms.py.
    routes = [r for m, r in OF_AN_OBJECT if m == "get" and not r.endswith(("events", "/waveform"))]
    reading = [owned.address(route) for route in routes if "transfer_id" not in route]
    statuses = {
        # Audit log, quotas and the list of external users are not for external users.
        address: call("get", address, as_herself if OF_ADMINS.search(address) else as_x)
        for address in reading
    }
    assert statuses == dict.fromkeys(reading, 200)


def test_a_viewer_may_read_but_not_change(cast: Cast) -> None:
    document = indexed_document(cast.team)
    assert call("get", f"/api/v1/documents/{document.pk}", cast.headers("bob")) == 200
    assert call("delete", f"/api/v1/documents/{document.pk}", cast.headers("bob")) == 403
    assert call("post", f"/api/v1/documents/{document.pk}/reprocess", cast.headers("bob")) == 403


# --- Websockets ------------------------------------------------------------------------------------------

SOCKETS = [
    "/ws/documents",
    "/ws/notifications",
    f"/ws/sessions/{UUID(int=0)}",
    "/ws/tools/rag_search",
    "/ws/elsewhere",
]


async def close_code(path: str, headers: list[tuple[bytes, bytes]]) -> int:
    """Connect and return the code the server closes with; the server accepts first."""
    opened = socket(path, headers)
    connected, _ = await opened.connect(timeout=20)
    assert connected
    closing = await opened.receive_output(timeout=20)
    assert closing["type"] == "websocket.close", closing
    return int(closing["code"])


def bearer(cast: Cast, name: str) -> list[tuple[bytes, bytes]]:
    return [(b"authorization", f"Bearer {cast.keys[name]}".encode()), (b"host", b"testserver")]


def test_the_walk_covers_the_sockets() -> None:
    from locus.asgi import websocket

    application: Any = websocket
    while not hasattr(application, "routes"):
        application = application.inner
    routed = [str(route.pattern) for route in application.routes]
    assert routed == ["ws/documents", "ws/notifications", "ws/sessions/<uuid:id>", "ws/tools/<str:name>", ""]
    assert len(SOCKETS) == len(routed)


@pytest.mark.django_db(transaction=True)
class TestSockets:
    @pytest.mark.parametrize("path", SOCKETS)
    async def test_an_anonymous_caller_is_closed_with_4401(self, path: str) -> None:
        assert await close_code(path, [(b"host", b"testserver")]) == 4401

    @pytest.mark.parametrize("path", SOCKETS)
    async def test_a_foreign_page_is_closed_with_4403(self, path: str) -> None:
        cast = await sync_to_async(make_cast)()
        headers = [*bearer(cast, "alice"), (b"origin", b"https://evil.example")]
        assert await close_code(path, headers) == 4403

    async def test_a_stranger_to_the_workspace_is_closed_with_4404(self) -> None:
        cast = await sync_to_async(make_cast)()
        path = f"/ws/documents?workspace={cast.team.pk}"
        assert await close_code(path, bearer(cast, "charlie")) == 4404
        assert await close_code("/ws/tools/no_such_tool", bearer(cast, "alice")) == 4404

    @pytest.mark.parametrize("name", ["charlie", "bob", "alice"])
    async def test_nobody_else_can_resume_or_cancel_an_execution(self, name: str) -> None:
        cast = await sync_to_async(make_cast)()
        owned = await sync_to_async(own)(cast)
        opened = socket("/ws/tools/rag_search", bearer(cast, name))
        await opened.connect(timeout=20)
        for message in (
            {"type": "resume", "execution_id": owned.execution.pk, "after": 0},
            {"type": "cancel", "execution_id": owned.execution.pk},
            {"type": "run", "inputs": {"query": "solar", "document_ids": [str(owned.document.pk)]}},
        ):
            await opened.send_json_to(message)
            answer = await opened.receive_json_from(timeout=20)
            assert (answer["event"], answer["data"]["code"]) == ("error", "not_found")
            assert "execution_id" not in answer
        await opened.disconnect()

    async def test_news_of_documents_reaches_only_those_who_see_them(self) -> None:
        from core.pubsub import document_topic, publish

        cast = await sync_to_async(make_cast)()
        path = f"/ws/documents?workspace={cast.team.pk}"
        hidden = await sync_to_async(indexed_document)(cast.team, external_user_id="x")
        visible = await sync_to_async(indexed_document)(cast.team)
        opened = socket(path, bearer(cast, "bob"))
        await opened.connect(timeout=20)
        assert await opened.receive_nothing(timeout=1)
        for document in (hidden, visible):
            await sync_to_async(publish)(document_topic(cast.team.pk), str(document.pk))
        message = await opened.receive_json_from(timeout=20)
        assert (message["event"], message["data"]["id"]) == ("document_update", str(visible.pk))
        assert await opened.receive_nothing(timeout=0.5)
        await opened.disconnect()
