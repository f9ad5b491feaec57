"""A right that ends ends what is open by it: streams and sockets, of executions and of documents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from django.contrib.sessions.models import Session as Login
from django.db import connection
from django.db.models.deletion import Collector
from django.test import AsyncClient
from django.utils import timezone

from accounts.access import right_watch as rights
from accounts.access.identity import principal_of_key, principal_of_user
from accounts.access.keys import end_old_secret, rotate
from accounts.access.rights import still_hold
from accounts.access.tokens import make_token
from accounts.models import ApiKey, Membership, Session, User, Workspace
from accounts.people import workspaces
from core.errors import Unauthenticated
from kb.models import Document, Stage, Status
from runs.events import Yielded
from runs.lifecycle import begin
from runs.models import Execution
from runs.registry import TOOLS
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document
from tests.runs.test_executions import endless
from tests.testing.sockets import Socket, socket

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE_SECS = 30
QUESTION = "Who kept the light?"
ACCEPTED = "application/json, text/event-stream"
OTHER_PROTOCOLS: dict[str, dict[str, Any]] = {
    "/v1/responses": {"model": "locus", "input": QUESTION, "stream": True},
    "/v1/chat/completions": {
        "model": "locus",
        "messages": [{"role": "user", "content": QUESTION}],
        "stream": True,
    },
    "/mcp": {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "rag_search",
            "arguments": {"query": QUESTION},
            "_meta": {"progressToken": 1},
        },
    },
}
"""What is asked there for an answer as a stream."""
HOST = [(b"host", b"testserver"), (b"origin", b"http://testserver")]


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rights, "LOOK_SECS", 0.1)


@pytest.fixture(autouse=True)
def _endless(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(execution_id: str) -> AsyncIterator[Yielded]:
        async for item in endless(execution_id):
            yield item

    tool = replace(TOOLS["rag_search"], run=lambda _, __, run_: run(run_.execution_id))
    monkeypatch.setitem(TOOLS, "rag_search", tool)


@dataclass
class Opened:
    """All that bob has open: two streams of events, and each kind of socket, of which one runs a tool."""

    cast: Cast
    document: Document
    execution: Execution
    session: Session
    client: AsyncClient = field(default_factory=AsyncClient)
    headers: dict[str, str] = field(default_factory=dict)
    socket_headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    address_token: str = ""
    external_user_id: str | None = None

    @classmethod
    def of(cls, external_user_id: str | None = None) -> Opened:
        cast = make_cast()
        # The document belongs to no external user.
        Workspace.objects.update(share_with_external_users=external_user_id is not None)
        document = indexed_document(cast.team)
        Document.unscoped.update(status=Status.EXTRACTING, stage=Stage.EXTRACTING)
        tool = TOOLS["rag_search"]
        principal = principal_of_user(cast.bob, external_user_id)
        execution = begin(principal, tool, tool.parse(principal, {"query": QUESTION}), None)
        Execution.unscoped.update(lease_until=timezone.now() + timedelta(hours=1))
        session = Session.unscoped.create(
            user=cast.bob, workspace=cast.team, external_user_id=external_user_id
        )
        return cls(cast, document, execution, session, external_user_id=external_user_id)

    async def log_in(self) -> None:
        await sync_to_async(self.client.force_login)(self.cast.bob)
        cookie = self.client.cookies["sessionid"].value
        self.socket_headers = [(b"cookie", f"sessionid={cookie}".encode()), *HOST]

    def use_key(self) -> None:
        self.headers = self.cast.headers("bob")
        self.socket_headers = [(b"authorization", self.headers["Authorization"].encode()), HOST[0]]
        if self.external_user_id is not None:
            self.headers["X-External-User-Id"] = self.external_user_id
            self.socket_headers.append((b"x-external-user-id", self.external_user_id.encode()))

    def use_token(self, how: str) -> None:
        """Have a token of bob's key: in the header, or in the address."""
        key = ApiKey.objects.get(user=self.cast.bob)
        token = make_token(principal_of_key(key), timezone.now() + timedelta(minutes=10))
        self.socket_headers = [HOST[0]]
        if how == "token":
            self.headers = {"Authorization": f"Bearer {token}"}
            self.socket_headers.append((b"authorization", f"Bearer {token}".encode()))
        else:
            self.address_token = token

    async def open_by(self, by: str) -> tuple[list[AsyncIterator[bytes]], list[Socket]]:
        """Open all by the login, the key, or a token."""
        match by:
            case "login":
                await self.log_in()
            case "key":
                self.use_key()
            case _:
                await sync_to_async(self.use_token)(by)
        return await self.streams(), await self.sockets()

    def _address(self, path: str) -> str:
        if not self.address_token:
            return path
        return f"{path}{'&' if '?' in path else '?'}token={self.address_token}"

    async def streams(self) -> list[AsyncIterator[bytes]]:
        paths = (f"executions/{self.execution.pk}/events", f"documents/{self.document.pk}/events")
        replies: list[Any] = [
            await self.client.get(
                self._address(f"/api/v1/{path}"), headers={**self.headers, "Accept": "text/event-stream"}
            )
            for path in paths
        ]
        assert [reply.status_code for reply in replies] == [200, 200]
        return [aiter(reply.streaming_content) for reply in replies]

    async def sockets(self) -> list[Socket]:
        paths = (
            f"/ws/documents?workspace={self.cast.team.pk}",
            "/ws/tools/rag_search",
            f"/ws/sessions/{self.session.pk}",
            "/ws/notifications",
        )
        opened = [socket(self._address(path), self.socket_headers) for path in paths]
        for each in opened:
            before = len(rights.watch()._rights)
            assert (await each.connect(timeout=PATIENCE_SECS))[0]
            # It accepts first, and then looks at who is there: until that is known, no right can end.
            async with asyncio.timeout(PATIENCE_SECS):
                while len(rights.watch()._rights) == before:
                    await asyncio.sleep(0.01)
        await opened[1].send_json_to({"query": QUESTION})
        assert (await opened[1].receive_json_from(PATIENCE_SECS))["event"] == "tool_partial_update"
        assert (await opened[3].receive_json_from(PATIENCE_SECS))["event"] == "notifications"
        return opened

    async def streams_of_other_protocols(self) -> list[AsyncIterator[bytes]]:
        replies: list[Any] = [
            await self.client.post(
                path, body, "application/json", headers={**self.headers, "Accept": ACCEPTED}
            )
            for path, body in OTHER_PROTOCOLS.items()
        ]
        assert [reply.status_code for reply in replies] == [200] * len(replies)
        return [aiter(reply.streaming_content) for reply in replies]


def revoke_key(opened: Opened) -> None:
    ApiKey.objects.get(user=opened.cast.bob).delete()


def let_key_expire(opened: Opened) -> None:
    past = timezone.now() - timedelta(seconds=1)
    ApiKey.objects.filter(user=opened.cast.bob).update(expires_at=past)


def narrow_key(opened: Opened) -> None:
    key = ApiKey.objects.get(user=opened.cast.bob)
    key.narrowed = True
    key.save()
    key.workspaces.set([opened.cast.bob.personal_workspace])


def take_scope_away(opened: Opened) -> None:
    ApiKey.objects.filter(user=opened.cast.bob).update(scopes=["write"])


def remove_member(opened: Opened) -> None:
    Membership.objects.filter(user=opened.cast.bob, workspace=opened.cast.team).delete()


def delete_workspace(opened: Opened) -> None:
    workspaces.delete_workspace(principal_of_user(opened.cast.alice), opened.cast.team.pk)


def deactivate(opened: Opened) -> None:
    User.objects.filter(pk=opened.cast.bob.pk).update(is_active=False)


def log_out(opened: Opened) -> None:
    opened.client.logout()


def end_session(opened: Opened) -> None:
    """As somebody does on the page Sessions, in another browser."""
    UserSession.objects.get(user=opened.cast.bob).end()


def change_password(opened: Opened) -> None:
    opened.cast.bob.set_password("another one for bob")
    opened.cast.bob.save()


def let_login_expire(opened: Opened) -> None:
    Login.objects.update(expire_date=timezone.now() - timedelta(seconds=1))


def rotate_key(opened: Opened) -> None:
    rotate(ApiKey.objects.get(user=opened.cast.bob), timedelta(0))


def let_overlap_end(opened: Opened) -> None:
    key = ApiKey.objects.get(user=opened.cast.bob)
    rotate(key, timedelta(hours=1))
    ApiKey.objects.filter(pk=key.pk).update(old_secret_until=timezone.now())


Happening = Callable[[Opened], None]
BY_KEY: list[Happening] = [
    *(revoke_key, let_key_expire, narrow_key, take_scope_away, remove_member, delete_workspace, deactivate),
    *(rotate_key, let_overlap_end),
]
BY_LOGIN: list[Happening] = [
    *(log_out, end_session, change_password, let_login_expire, remove_member, deactivate, delete_workspace),
]
BY_TOKEN: list[Happening] = [revoke_key, narrow_key, let_overlap_end]
WAYS = [
    (by, each)
    for by, endings in (("key", BY_KEY), ("login", BY_LOGIN), ("token", BY_KEY), ("address", BY_TOKEN))
    for each in endings
]


@pytest.mark.parametrize(("by", "happening"), WAYS)
async def test_a_right_that_ends_ends_streams_and_sockets(by: str, happening: Happening) -> None:
    """Streams of executions went on to their end, and sockets for ever, after the right to them was gone."""
    opened = await sync_to_async(Opened.of)()
    streams, sockets = await opened.open_by(by)
    await database_sync_to_async(happening)(opened)
    await all_end(streams, sockets)


@pytest.mark.parametrize("happening", BY_KEY)
async def test_a_right_that_ends_ends_streams_of_other_protocols(happening: Happening) -> None:
    opened = await sync_to_async(Opened.of)()
    opened.use_key()
    streams = await opened.streams_of_other_protocols()
    await database_sync_to_async(happening)(opened)
    async with asyncio.timeout(PATIENCE_SECS):
        for stream in streams:
            assert "unauthenticated" in b"".join([block async for block in stream]).decode()


def test_a_key_that_was_revoked_meanwhile_begins_nothing() -> None:
    """The request was let in, and its stream open: it ended with an error of the server."""
    cast = make_cast()
    key = ApiKey.objects.get(user=cast.bob)
    principal, tool = principal_of_key(key), TOOLS["rag_search"]
    inputs = tool.parse(principal, {"query": QUESTION})
    key.delete()
    with pytest.raises(Unauthenticated):
        begin(principal, tool, inputs, cast.team.pk)


def test_a_run_that_begins_while_its_key_is_revoked_does_not_keep_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row named the key after the deletion had looked for such rows: the key could not go."""
    cast = make_cast()
    key = ApiKey.objects.get(user=cast.bob)
    principal, tool = principal_of_key(key), TOOLS["rag_search"]
    inputs = tool.parse(principal, {"query": QUESTION})
    runs: list[Future[Execution]] = []

    def run() -> Execution:
        try:
            return begin(principal, tool, inputs, cast.team.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as other:

        def delete(self: Collector) -> tuple[int, dict[str, int]]:
            runs.append(other.submit(run))
            wait(runs, timeout=1)
            return really_delete(self)

        really_delete = Collector.delete
        monkeypatch.setattr(Collector, "delete", delete)
        key.delete()
        with pytest.raises(Unauthenticated):
            runs[0].result()
    assert not ApiKey.objects.filter(user=cast.bob).exists()


@pytest.mark.parametrize("how", ["token", "address"])
async def test_a_token_that_expires_ends_what_it_opened(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = await sync_to_async(Opened.of)()
    streams, sockets = await opened.open_by(how)
    later = timezone.now() + timedelta(hours=1)
    monkeypatch.setattr("accounts.access.rights.timezone.now", lambda: later)
    await all_end(streams, sockets)


async def test_sharing_that_ends_ends_what_external_users_have_open() -> None:
    opened = await sync_to_async(Opened.of)("x")
    streams, sockets = await opened.open_by("key")
    await database_sync_to_async(Workspace.objects.update)(share_with_external_users=False)
    await all_end(streams, sockets)


async def test_the_new_secret_of_a_key_is_a_right_of_its_own() -> None:
    """The overlap that ends ends what the old secret opened, and nothing else."""
    opened = await sync_to_async(Opened.of)()
    key = await sync_to_async(ApiKey.objects.get)(user=opened.cast.bob)
    opened.cast.keys["bob"] = await sync_to_async(rotate)(key, timedelta(hours=1))
    opened.use_key()
    streams, sockets = await opened.streams(), await opened.sockets()
    await sync_to_async(end_old_secret)(key)
    await asyncio.sleep(0.5)
    await all_are_open(streams, sockets)


async def all_end(streams: list[AsyncIterator[bytes]], sockets: list[Socket]) -> None:
    """Expect that every stream and socket ends as one without a right does."""
    async with asyncio.timeout(PATIENCE_SECS):
        for stream in streams:
            frames = [frame async for frame in stream]
            event, data = frames[-1].decode().strip().split("\n")
            assert event == "event: error"
            assert json.loads(data.removeprefix("data: "))["data"]["code"] == "unauthenticated"
        for each in sockets:
            message = await each.receive_json_from(PATIENCE_SECS)
            while message["event"] == "notifications":
                # A key that is rotated is one itself.
                message = await each.receive_json_from(PATIENCE_SECS)
            assert (message["event"], message["data"]["code"]) == ("error", "unauthenticated")
            closing = await each.receive_output(PATIENCE_SECS)
            assert (closing["type"], closing["code"]) == ("websocket.close", 4401)


async def test_what_leaves_a_right_as_it_is_ends_nothing() -> None:
    opened = await sync_to_async(Opened.of)()
    opened.use_key()
    streams, sockets = await opened.streams(), await opened.sockets()
    await database_sync_to_async(_change_other_things)(opened)
    await asyncio.sleep(0.5)
    await all_are_open(streams, sockets)


async def all_are_open(streams: list[AsyncIterator[bytes]], sockets: list[Socket]) -> None:
    """Expect that no stream and no socket has ended, and close them."""
    for each in sockets:
        assert await each.receive_nothing(timeout=0.05)
        await each.disconnect()
    assert b"document_update" in await anext(streams[1])
    for stream in streams:
        await stream.aclose()  # type: ignore[attr-defined]


def _change_other_things(opened: Opened) -> None:
    ApiKey.objects.exclude(user=opened.cast.bob).delete()
    Membership.objects.create(workspace=opened.cast.charlie.personal_workspace, user=opened.cast.bob)
    Membership.objects.filter(user=opened.cast.alice).update(role="viewer")


def test_one_look_at_many_rights_takes_few_queries(django_assert_max_num_queries: Any) -> None:
    cast = make_cast()
    session = Session.unscoped.create(user=cast.bob, workspace=cast.team)
    people = [replace(principal_of_user(user), session_id=None) for user in (cast.alice, cast.bob)] * 250
    inside = replace(principal_of_user(cast.bob), session_id=session.pk)
    with django_assert_max_num_queries(4):
        assert all(still_hold([*people, inside]))
    session.delete()
    assert still_hold([people[1], inside]) == [True, False]
