"""`GET documents/{id}/events`: the document now, after every change, and the end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from asgiref.sync import sync_to_async
from django.conf import LazySettings
from django.test import AsyncClient, Client

from accounts.models import ApiKey, Membership, Workspace
from ingestion.progress import ProgressWriter
from kb.changes import Changes, cancel, change
from kb.deletion import delete_document
from kb.models import Document, Stage, Status
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document
from tests.testing.live import live_server

API = "/api/v1/documents"
PATIENCE_SECS = 20
MORE_THAN_THE_POOL = 14

pytestmark = pytest.mark.django_db(transaction=True)


class Stream:
    """An open event stream, read frame by frame as EventSource does."""

    def __init__(self, response: Any) -> None:
        self.response = response
        self._blocks: AsyncIterator[bytes] = aiter(response.streaming_content)

    async def frame(self) -> bytes:
        """Return the next frame, pings included."""
        async with asyncio.timeout(PATIENCE_SECS):
            return await anext(self._blocks)

    async def event(self) -> tuple[int, str, dict[str, Any]]:
        """Return number, name and data of the next event."""
        while (frame := await self.frame()).startswith(b":"):
            pass
        fields = dict(line.split(": ", 1) for line in frame.decode().strip().split("\n"))
        body = json.loads(fields["data"])
        assert body["event"] == fields["event"]
        return int(fields["id"]), body["event"], body["data"]

    async def is_over(self) -> bool:
        """Return whether nothing more comes."""
        async with asyncio.timeout(PATIENCE_SECS):
            return await anext(self._blocks, None) is None


async def opened(cast: Cast, document: Document, name: str = "alice", query: str = "") -> Stream:
    """Follow a document."""
    headers = cast.headers(name, Accept="text/event-stream")
    response = await AsyncClient().get(f"{API}/{document.pk}/events{query}", headers=headers)
    assert response.status_code == 200
    return Stream(response)


@pytest.fixture
def people() -> Cast:
    """The cast, committed."""
    return make_cast()


@pytest.fixture
def busy(people: Cast) -> Document:
    """A document that is being read."""
    document = indexed_document(people.team)
    document.status, document.stage = Status.EXTRACTING, Stage.EXTRACTING
    document.save()
    return document


async def test_a_finished_document_is_told_once(people: Cast) -> None:
    document = await sync_to_async(indexed_document)(people.team)
    stream = await opened(people, document)
    assert stream.response["Content-Type"] == "text/event-stream"
    assert stream.response["Cache-Control"] == "no-cache"
    assert stream.response["X-Accel-Buffering"] == "no"
    headers = people.headers("alice")
    same = (await AsyncClient().get(f"{API}/{document.pk}", headers=headers)).json()
    assert await stream.event() == (1, "document_update", same)
    assert await stream.event() == (2, "document_end", {"id": str(document.pk), "status": "ready"})
    assert await stream.is_over()


async def test_every_change_is_told_until_the_end(people: Cast, busy: Document) -> None:
    stream = await opened(people, busy)
    assert (await stream.event())[2]["status"] == "extracting"
    writer = ProgressWriter(busy.pk, lambda: False)
    await sync_to_async(writer.progress_or_stop)(Stage.EXTRACTING, 12, 40, "page")
    number, name, data = await stream.event()
    assert (number, name) == (2, "document_update")
    assert (data["activity"]["done"], data["activity"]["total"]) == (12, 40)
    await sync_to_async(cancel)(busy)
    assert (await stream.event())[2]["status"] == "cancelled"
    assert (await stream.event())[:2] == (4, "document_end")
    assert await stream.is_over()


async def test_news_of_other_documents_are_not_told(people: Cast, busy: Document) -> None:
    stream = await opened(people, busy)
    await stream.event()
    other = await sync_to_async(indexed_document)(people.team, name="other.pdf")
    await sync_to_async(delete_document)(other)
    await sync_to_async(cancel)(busy)
    assert (await stream.event())[2]["status"] == "cancelled"


def take_membership_away(cast: Cast, document: Document) -> None:
    Membership.objects.filter(workspace=cast.team, user=cast.bob).delete()
    ProgressWriter(document.pk, lambda: False).write_or_stop(progress=0.5)


def revoke_key(cast: Cast, document: Document) -> None:
    ApiKey.objects.filter(user=cast.bob).delete()
    ProgressWriter(document.pk, lambda: False).write_or_stop(progress=0.5)


async def test_it_ends_when_the_document_goes(people: Cast, busy: Document) -> None:
    stream = await opened(people, busy, "bob")
    await stream.event()
    await sync_to_async(delete_document)(busy)
    assert await stream.event() == (2, "document_end", {"id": str(busy.pk), "status": None})
    assert await stream.is_over()


@pytest.mark.parametrize("happening", [take_membership_away, revoke_key])
async def test_it_ends_with_an_error_when_the_right_to_it_does(
    people: Cast, busy: Document, happening: Any
) -> None:
    stream = await opened(people, busy, "bob")
    await stream.event()
    await sync_to_async(happening)(people, busy)
    name, data = (await stream.frame()).decode().strip().split("\n")
    assert (name, json.loads(data.removeprefix("data: "))["data"]["code"]) == (
        "event: error",
        "unauthenticated",
    )
    assert await stream.is_over()


async def test_it_follows_a_document_to_another_workspace(people: Cast, busy: Document) -> None:
    def move() -> None:
        from accounts.access.identity import principal_of_user

        home = Workspace.objects.get(personal_of=people.alice)
        change(principal_of_user(people.alice), busy, Changes(workspace_id=home.pk))

    alice, bob = await opened(people, busy), await opened(people, busy, "bob")
    await alice.event(), await bob.event()
    await sync_to_async(move)()
    assert (await alice.event())[2]["workspace_id"] != str(people.team.pk)
    assert (await bob.event())[1] == "document_end"
    await sync_to_async(cancel)(busy)
    assert (await alice.event())[2]["status"] == "cancelled"


async def test_silence_is_filled_with_pings(people: Cast, busy: Document, settings: LazySettings) -> None:
    settings.SSE_PING_SECS = 0.1
    stream = await opened(people, busy)
    await stream.event()
    assert await stream.frame() == b": ping\n\n"


async def test_a_large_document_is_cut_into_frames(people: Cast, busy: Document) -> None:
    await Document.unscoped.aupdate(metadata={"text": "x" * 2000})
    stream = await opened(people, busy, query="?sse_max_bytes=512")
    frame = await stream.frame()
    assert frame.startswith(b"event: _delta_sse\n")
    assert len(frame) <= 512


def test_waiting_streams_hold_no_database_connection(people: Cast, busy: Document) -> None:
    """With more open streams than the pool has connections, others are answered and the streams go on."""
    with ExitStack() as stack:
        live = stack.enter_context(live_server())
        host = urlsplit(live.url).netloc
        replies = []
        for _ in range(MORE_THAN_THE_POOL):
            stream = stack.enter_context(closing(HTTPConnection(host, timeout=PATIENCE_SECS)))
            stream.request("GET", f"{API}/{busy.pk}/events", headers=people.headers("alice"))
            replies.append(stack.enter_context(stream.getresponse()))
        assert {reply.readline() for reply in replies} == {b"id: 1\n"}
        asking = Request(f"{live.url}{API}/{busy.pk}/cancel", method="POST", headers=people.headers("alice"))
        with urlopen(asking, timeout=PATIENCE_SECS) as answer:
            assert answer.status == 200
        for reply in replies:
            assert b"event: document_end\n" in list(reply)


def test_what_is_wrong_is_said_before_the_stream() -> None:
    cast = make_cast()
    document = indexed_document(cast.team)
    headers = cast.headers("charlie", Accept="text/event-stream")
    response = Client().get(f"{API}/{document.pk}/events", headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")
    own = cast.headers("alice", Accept="text/event-stream")
    response = Client().get(f"{API}/{document.pk}/events?sse_max_bytes=1", headers=own)
    assert (response.status_code, response.json()["error"]["param"]) == (400, "sse_max_bytes")
