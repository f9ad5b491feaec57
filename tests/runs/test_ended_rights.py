"""A right that ends ends what is open by it: streams and sockets, of executions and of documents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from django.contrib.sessions.models import Session as Login
from django.test import AsyncClient
from django.utils import timezone

from accounts.access import right_watch as rights
from accounts.access.identity import principal_of_user
from accounts.access.rights import still_hold
from accounts.models import ApiKey, Membership, Session, User
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
    """All that bob has open: two streams of events, two sockets, one of which is running a tool."""

    cast: Cast
    document: Document
    execution: Execution
    client: AsyncClient = field(default_factory=AsyncClient)
    headers: dict[str, str] = field(default_factory=dict)
    socket_headers: list[tuple[bytes, bytes]] = field(default_factory=list)

    @classmethod
    def of(cls) -> Opened:
        cast = make_cast()
        document = indexed_document(cast.team)
        Document.unscoped.update(status=Status.EXTRACTING, stage=Stage.EXTRACTING)
        tool = TOOLS["rag_search"]
        principal = principal_of_user(cast.bob)
        execution = begin(principal, tool, tool.parse(principal, {"query": "Who kept the light?"}), None)
        Execution.unscoped.update(lease_until=timezone.now() + timedelta(hours=1))
        return cls(cast, document, execution)

    async def log_in(self) -> None:
        await sync_to_async(self.client.force_login)(self.cast.bob)
        cookie = self.client.cookies["sessionid"].value
        self.socket_headers = [(b"cookie", f"sessionid={cookie}".encode()), *HOST]

    def use_key(self) -> None:
        self.headers = self.cast.headers("bob")
        self.socket_headers = [(b"authorization", self.headers["Authorization"].encode()), HOST[0]]

    async def streams(self) -> list[AsyncIterator[bytes]]:
        paths = (f"executions/{self.execution.pk}/events", f"documents/{self.document.pk}/events")
        replies: list[Any] = [
            await self.client.get(f"/api/v1/{path}", headers={**self.headers, "Accept": "text/event-stream"})
            for path in paths
        ]
        assert [reply.status_code for reply in replies] == [200, 200]
        return [aiter(reply.streaming_content) for reply in replies]

    async def sockets(self) -> list[Socket]:
        paths = (f"/ws/documents?workspace={self.cast.team.pk}", "/ws/tools/rag_search")
        opened = [socket(path, self.socket_headers) for path in paths]
        for each in opened:
            assert (await each.connect(timeout=PATIENCE_SECS))[0]
        await opened[1].send_json_to({"query": "Who kept the light?"})
        assert (await opened[1].receive_json_from(PATIENCE_SECS))["event"] == "tool_partial_update"
        return opened


def revoke_key(opened: Opened) -> None:
    ApiKey.objects.filter(user=opened.cast.bob).delete()


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


def deactivate(opened: Opened) -> None:
    User.objects.filter(pk=opened.cast.bob.pk).update(is_active=False)


def log_out(opened: Opened) -> None:
    opened.client.logout()


def change_password(opened: Opened) -> None:
    opened.cast.bob.set_password("another one for bob")
    opened.cast.bob.save()


def let_login_expire(opened: Opened) -> None:
    Login.objects.update(expire_date=timezone.now() - timedelta(seconds=1))


Happening = Callable[[Opened], None]
BY_KEY: list[Happening] = [revoke_key, let_key_expire, narrow_key, take_scope_away, remove_member, deactivate]
BY_LOGIN: list[Happening] = [log_out, change_password, let_login_expire, remove_member, deactivate]
WAYS = [("key", each) for each in BY_KEY] + [("login", each) for each in BY_LOGIN]


@pytest.mark.parametrize(("by", "happening"), WAYS)
async def test_a_right_that_ends_ends_streams_and_sockets(by: str, happening: Happening) -> None:
    """Streams of executions went on to their end, and sockets for ever, after the right to them was gone."""
    opened = await sync_to_async(Opened.of)()
    await opened.log_in() if by == "login" else opened.use_key()
    streams, sockets = await opened.streams(), await opened.sockets()
    await database_sync_to_async(happening)(opened)
    async with asyncio.timeout(PATIENCE_SECS):
        for stream in streams:
            frames = [frame async for frame in stream]
            event, data = frames[-1].decode().strip().split("\n")
            assert event == "event: error"
            assert json.loads(data.removeprefix("data: "))["data"]["code"] == "unauthenticated"
        for each in sockets:
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
