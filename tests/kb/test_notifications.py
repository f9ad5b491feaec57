"""Notifications of failures and of the end of long work: only to whoever added the document."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.utils import timezone

from accounts.models import Membership, Notification, NotificationKind, User
from accounts.notifications.creating import KEPT, delete_old_notifications, notify
from extract.errors import Corrupted
from ingestion.pipeline import fail, ingest
from kb.deletion import delete_document
from kb.models import Document, Status
from tests.conftest import Cast
from tests.factories import indexed_document, pdf_of, stored_document
from tests.testing.sockets import socket

pytestmark = pytest.mark.django_db(transaction=True)
HOUR = timedelta(hours=1)


def call(cast: Cast, who: str, method: str, address: str, body: Any = None, status: int = 200) -> Any:
    headers = cast.headers(who)
    response = getattr(Client(), method)(
        f"/api/v1/{address}", body, content_type="application/json", headers=headers
    )
    assert response.status_code == status, response.content
    return response.json()


def listed(cast: Cast, who: str = "alice", **query: str) -> list[Any]:
    return list(
        call(cast, who, "get", "notifications?" + "&".join(f"{k}={v}" for k, v in query.items()))["results"]
    )


def waiting(cast: Cast, name: str = "report.pdf", user: User | None = None, **fields: Any) -> Document:
    content = pdf_of(f"The lighthouse of {name} has stood at the harbour of the town since 1902.")
    states = {"status": Status.QUEUED, "uploaded_by": user or cast.alice, "file_type": "pdf"}
    return stored_document(cast.team, name, content, **(states | fields))


def test_long_work_is_told_to_whoever_added_it_and_to_nobody_else(cast: Cast) -> None:
    ingest(waiting(cast, "quick.pdf").pk)
    slow = waiting(cast, "slow.pdf", queued_at=timezone.now() - HOUR)
    ingest(slow.pk)
    [told] = listed(cast)
    assert (told["kind"], told["document_id"]) == ("document.indexed", str(slow.pk))
    assert told["document"] == {"name": "slow.pdf", "status": "ready", "error_message": None}
    assert (told["workspace_name"], told["is_read"]) == (cast.team.name, False)
    assert listed(cast, "bob") == [] == listed(cast, "charlie")


def test_a_failure_is_told_and_forgotten_once_it_is_mended(cast: Cast) -> None:
    document = waiting(cast)
    Document.unscoped.filter(pk=document.pk).update(status=Status.EXTRACTING)
    fail(document.pk, Corrupted())
    [told] = listed(cast)
    assert told["kind"] == "document.failed"
    assert told["document"]["error_message"] == Corrupted.default_message
    Document.unscoped.filter(pk=document.pk).update(status=Status.QUEUED)
    ingest(document.pk)
    assert listed(cast) == []


def test_documents_of_external_users_and_of_nobody_notify_nobody(cast: Cast) -> None:
    long_ago = timezone.now() - HOUR
    for fields in ({"external_user_id": "x"}, {"uploaded_by": None}):
        ingest(waiting(cast, queued_at=long_ago, **fields).pk)
    assert not Notification.unscoped.exists()
    headers = cast.headers("alice") | {"X-External-User-Id": "x"}
    assert Client().get("/api/v1/notifications", headers=headers).json()["results"] == []


def test_what_is_no_longer_seen_is_no_longer_told(cast: Cast) -> None:
    document = indexed_document(cast.team)
    notify([cast.bob.pk], cast.team.pk, NotificationKind.DOCUMENT_INDEXED, document.pk)
    assert len(listed(cast, "bob")) == 1
    Membership.objects.get(user=cast.bob, workspace=cast.team).delete()
    assert listed(cast, "bob") == []
    notify([cast.alice.pk], cast.team.pk, NotificationKind.DOCUMENT_INDEXED, document.pk)
    Document.unscoped.update(workspace=cast.charlie.personal_workspace)
    assert listed(cast) == []
    delete_document(document)
    assert not Notification.unscoped.exists()


def test_reading(cast: Cast) -> None:
    documents = [indexed_document(cast.team, f"Page {n}") for n in range(3)]
    for document in documents:
        notify([cast.alice.pk], cast.team.pk, NotificationKind.DOCUMENT_INDEXED, document.pk)
    notify([cast.bob.pk], cast.team.pk, NotificationKind.DOCUMENT_INDEXED, documents[0].pk)
    first = listed(cast)[0]
    assert call(cast, "alice", "post", "notifications/read", {"ids": [first["id"]]}) == {"unread": 2}
    assert len(listed(cast, unread="true")) == 2
    of_bob = listed(cast, "bob")[0]["id"]
    error = call(cast, "alice", "post", "notifications/read", {"ids": [of_bob]}, status=404)["error"]
    assert error["param"] == "ids[0]"
    assert call(cast, "alice", "post", "notifications/read", {}) == {"unread": 0}
    assert len(listed(cast, "bob", unread="true")) == 1


def test_old_ones_are_deleted(cast: Cast) -> None:
    notify([cast.alice.pk], cast.team.pk, NotificationKind.WEBHOOK_DISABLED)
    delete_old_notifications(0)
    assert Notification.unscoped.count() == 1
    Notification.unscoped.update(created_at=timezone.now() - KEPT)
    delete_old_notifications(0)
    assert not Notification.unscoped.exists()


async def test_the_count_is_live(cast: Cast) -> None:
    headers = [(b"authorization", f"Bearer {cast.keys['alice']}".encode()), (b"host", b"testserver")]
    opened = socket("/ws/notifications", headers)
    assert (await opened.connect(timeout=20))[0]
    assert await opened.receive_json_from(20) == message(unread=0, is_new=False)
    await sync_to_async(notify)([cast.bob.pk], cast.team.pk, NotificationKind.WEBHOOK_DISABLED)
    await sync_to_async(notify)([cast.alice.pk], cast.team.pk, NotificationKind.WEBHOOK_DISABLED)
    # The first connection to PostgreSQL counts as one that was lost: the count comes once more.
    seen = [await opened.receive_json_from(20)]
    while seen[-1] != message(unread=1, is_new=True):
        assert seen[-1]["data"]["is_new"] is False
        seen.append(await opened.receive_json_from(20))
    await sync_to_async(call)(cast, "alice", "post", "notifications/read", {})
    assert await opened.receive_json_from(20) == message(unread=0, is_new=False)
    await opened.disconnect()


def message(unread: int, *, is_new: bool) -> dict[str, Any]:
    return {"event": "notifications", "data": {"unread": unread, "is_new": is_new}}
