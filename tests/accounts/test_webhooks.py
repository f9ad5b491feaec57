"""Webhooks: who is told of what, signed by whom, tried how often, and never an address inside."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import (
    AuditEntry,
    Membership,
    Notification,
    NotificationKind,
    Session,
    Webhook,
    WebhookDelivery,
    WebhookEvent,
    Workspace,
)
from accounts.roles import Role
from accounts.webhooks.delivering import MOST_FAILURES, PAUSES, delete_old_deliveries, deliver_webhook
from core.errors import Cancelled
from core.row_access import NOTHING, with_access
from extract.errors import Corrupted
from ingestion.pipeline import fail
from kb.deletion import delete_document
from kb.models import Document, Status
from kb.notifications.outcomes import emit_events
from runs.events import Failure, ToolError
from runs.journal import EventBatch, store_all
from runs.models import Execution
from tests.conftest import Cast
from tests.factories import indexed_document

pytestmark = pytest.mark.django_db(transaction=True)
ALL = ["document.indexed", "document.failed", "document.deleted", "execution.completed", "execution.failed"]


@dataclass
class Receiver:
    """A server on loopback that takes messages, and answers with `status`."""

    url: str = ""
    status: int = 204
    received: list[tuple[dict[str, str], str]] = field(default_factory=list)

    @property
    def types(self) -> list[str]:
        return [json.loads(body)["type"] for _, body in self.received]


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            receiver.received.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(receiver.status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
        settings.WEB_FETCH_ALLOW = [f"127.0.0.1:{server.server_port}"]
        yield receiver
        server.shutdown()


def call(cast: Cast, who: str, method: str, address: str, body: Any = None, status: int = 200) -> Any:
    send = getattr(Client(), method)
    response = send(f"/api/v1/{address}", body, content_type="application/json", headers=cast.headers(who))
    assert response.status_code == status, response.content
    return response.json() if response.content else None


def make(cast: Cast, url: str, events: list[str] = ALL, who: str = "alice") -> Any:
    body = {"url": url, "events": events}
    return call(cast, who, "post", f"workspaces/{cast.team.pk}/webhooks", body, status=201)


def work() -> None:
    """Make the attempt of every delivery that waits, as the worker would."""
    waiting = WebhookDelivery.objects.filter(status="waiting").order_by("created_at")
    for delivery in waiting:
        deliver_webhook(str(delivery.pk))


def verify(secret: str, headers: dict[str, str], body: str) -> bool:
    """Check a message as docs/reference/webhooks.md shows it."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    is_fresh = abs(time.time() - int(headers["webhook-timestamp"])) < 300
    return is_fresh and any(
        hmac.compare_digest(each, expected) for each in headers["webhook-signature"].split()
    )


def failing(cast: Cast, **fields: Any) -> Document:
    document = indexed_document(cast.team, name="secret-name.pdf", **fields)
    Document.unscoped.filter(pk=document.pk).update(status=Status.EXTRACTING)
    fail(document.pk, Corrupted())
    return document


def test_a_message_is_signed_and_holds_ids_but_no_words(cast: Cast, receiver: Receiver) -> None:
    made = make(cast, receiver.url, ["document.failed"])
    document = failing(cast)
    work()
    [(headers, body)] = receiver.received
    assert verify(made["secret"], headers, body)
    assert not verify(made["secret"], headers, body.replace("failed", "indexed"))
    message = json.loads(body)
    assert message["type"] == "document.failed"
    assert message["data"] == {
        "id": str(document.pk),
        "workspace_id": str(cast.team.pk),
        "external_user_id": None,
        "external_id": None,
        "session_id": None,
        "status": "failed",
        "error_code": "corrupted",
    }
    assert "secret-name" not in body
    [delivery] = call(cast, "alice", "get", f"webhooks/{made['id']}/deliveries")["results"]
    assert (delivery["status"], delivery["response_code"], delivery["attempts"]) == ("delivered", 204, 1)
    assert delivery["id"] == headers["webhook-id"]
    # The secret is stored encrypted, and nobody is shown it again.
    assert made["secret"] not in str(Webhook.unscoped.values()[0])
    assert "secret" not in call(cast, "alice", "get", f"webhooks/{made['id']}")
    assert made["secret"] not in str(list(AuditEntry.unscoped.values()))


def test_each_webhook_gets_what_it_wants_of_its_own_workspace(cast: Cast, receiver: Receiver) -> None:
    make(cast, receiver.url, ["document.deleted"])
    elsewhere = Workspace.create_for(cast.charlie, name="elsewhere")
    delete_document(indexed_document(elsewhere))
    delete_document(indexed_document(cast.team))
    delete_document(indexed_document(cast.team, external_user_id="x"))
    failing(cast)
    work()
    assert receiver.types == ["document.deleted"] * 2
    assert json.loads(receiver.received[1][1])["data"]["external_user_id"] == "x"


def test_of_executions_and_conversations_only_those_of_its_maker(cast: Cast, receiver: Receiver) -> None:
    make(cast, receiver.url)
    with_key = {"tool": "rag_search", "workspace": cast.team, "inputs": {"query": "What is private?"}}
    for user in (cast.alice, cast.bob):
        for code in ("internal", Cancelled.code):
            run = Execution.unscoped.create(user=user, **with_key)
            assert store_all([EventBatch(run.pk, [ToolError(data=Failure(code=code, message="No."))])])
        session = Session.unscoped.create(user=user, workspace=cast.team)
        delete_document(indexed_document(cast.team, session=session))
    work()
    assert sorted(receiver.types) == ["document.deleted", "execution.failed"]
    mine = str(list(Execution.unscoped.filter(user=cast.alice).values_list("pk", flat=True)))
    assert all(json.loads(body)["data"]["id"] in mine for _, body in receiver.received if "tool" in body)
    assert "private" not in str(receiver.received)


def test_of_a_conversation_that_is_out_of_sight_nobody_is_told(cast: Cast, receiver: Receiver) -> None:
    make(cast, receiver.url)
    session = Session.unscoped.create(user=cast.bob, workspace=cast.team)
    document = indexed_document(cast.team, session=session)
    with with_access(NOTHING):
        emit_events(WebhookEvent.DOCUMENT_DELETED, [document])
    assert not WebhookDelivery.objects.exists()


def test_a_failed_attempt_is_repeated_with_growing_pauses(cast: Cast, receiver: Receiver) -> None:
    make(cast, receiver.url, ["document.failed"])
    receiver.status = 500
    failing(cast)
    for attempt, pause in enumerate([*PAUSES, None], start=1):
        work()
        delivery = WebhookDelivery.objects.get()
        assert (delivery.attempts, delivery.response_code) == (attempt, 500)
        begun, due = delivery.attempted_at, delivery.next_attempt_at
        assert begun and (due - begun if due else None) == pause
    assert delivery.status == "failed"
    assert len({headers["webhook-id"] for headers, _ in receiver.received}) == 1
    assert queued() == len(PAUSES) + 1


def queued() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'deliver_webhook'")
        return int(cursor.fetchone()[0])


def test_a_redirect_is_no_success_and_is_not_followed(cast: Cast, receiver: Receiver) -> None:
    make(cast, receiver.url, ["document.failed"])
    receiver.status = 307
    failing(cast)
    work()
    assert len(receiver.received) == 1
    assert WebhookDelivery.objects.get().status == "waiting"


@pytest.mark.parametrize("host", ["127.0.0.1", "169.254.169.254", "[::1]", "printer.local", "0x7f.1"])
def test_no_address_inside_is_reached(cast: Cast, settings: Settings, host: str) -> None:
    settings.WEB_FETCH_ALLOW = []
    made = make(cast, f"https://{host}/", ["document.failed"])
    failing(cast)
    work()
    [delivery] = call(cast, "alice", "get", f"webhooks/{made['id']}/deliveries")["results"]
    assert delivery["response_code"] is None
    assert "public web" in delivery["error"]


@pytest.mark.parametrize(
    "url", ["http://example.org/", "https://a:b@example.org/", "https://example.org:8443/", "ftp://x/", "x"]
)
def test_addresses_that_are_refused_at_once(cast: Cast, url: str) -> None:
    body = {"url": url, "events": ["document.failed"]}
    address = f"workspaces/{cast.team.pk}/webhooks"
    assert call(cast, "alice", "post", address, body, status=400)["error"]["param"] == "url"


def test_rotation_overlaps(cast: Cast, receiver: Receiver) -> None:
    made = make(cast, receiver.url, ["document.failed"])
    address = f"webhooks/{made['id']}/rotate"
    new = call(cast, "alice", "post", address, {"overlap_secs": 3600})
    assert new["secret"] != made["secret"] and new["old_secret_until"]
    failing(cast)
    work()
    assert all(verify(secret, *receiver.received[0]) for secret in (made["secret"], new["secret"]))
    newest = call(cast, "alice", "post", address, {"overlap_secs": 0})
    failing(cast)
    work()
    assert verify(newest["secret"], *receiver.received[1])
    assert not verify(new["secret"], *receiver.received[1])


def test_one_that_fails_for_long_is_switched_off_and_its_admins_are_told(
    cast: Cast, receiver: Receiver
) -> None:
    made = make(cast, receiver.url, ["document.failed"])
    Membership.objects.create(workspace=cast.team, user=cast.charlie, role=Role.ADMIN)
    receiver.status = 500
    Webhook.unscoped.update(failures=MOST_FAILURES, failing_since=timezone.now())
    failing(cast)
    work()
    assert Webhook.unscoped.get().is_enabled, "many failures within a day are no reason"
    Webhook.unscoped.update(failing_since=timezone.now() - timedelta(days=2))
    failing(cast)
    work()
    assert call(cast, "alice", "get", f"webhooks/{made['id']}")["disabled_because"] == "failures"
    told = Notification.unscoped.filter(kind=NotificationKind.WEBHOOK_DISABLED)
    assert {each.user_id for each in told} == {cast.alice.pk, cast.charlie.pk}
    count = len(receiver.received)
    failing(cast)
    work()
    assert len(receiver.received) == count
    patched = call(cast, "alice", "patch", f"webhooks/{made['id']}", {"is_enabled": True})
    assert patched["is_enabled"] and patched["failing_since"] is None


def test_one_that_is_gone_is_switched_off_at_once(cast: Cast, receiver: Receiver) -> None:
    make(cast, receiver.url, ["document.failed"])
    receiver.status = 410
    failing(cast)
    work()
    assert Webhook.unscoped.get().disabled_because == "gone"
    assert WebhookDelivery.objects.get().status == "failed"


def test_a_test_message_has_one_attempt_and_counts_nothing(cast: Cast, receiver: Receiver) -> None:
    made = make(cast, receiver.url, ["document.failed"])
    call(cast, "alice", "patch", f"webhooks/{made['id']}", {"is_enabled": False})
    receiver.status = 500
    sent = call(cast, "alice", "post", f"webhooks/{made['id']}/test", status=202)
    work()
    assert receiver.types == ["webhook.test"]
    delivery = WebhookDelivery.objects.get(pk=sent["id"])
    assert (delivery.status, delivery.attempts) == ("failed", 1)
    assert Webhook.unscoped.get().failures == 0


def test_only_admins_manage_them(cast: Cast, receiver: Receiver) -> None:
    made = make(cast, receiver.url)
    list_address, one = f"workspaces/{cast.team.pk}/webhooks", f"webhooks/{made['id']}"
    new = {"url": receiver.url, "events": ["document.failed"]}
    for who, of_workspace in (("bob", 403), ("charlie", 404)):
        call(cast, who, "get", list_address, status=of_workspace)
        call(cast, who, "post", list_address, new, status=of_workspace)
        for method, address in (
            ("get", one),
            ("patch", one),
            ("delete", one),
            ("post", f"{one}/rotate"),
            ("post", f"{one}/test"),
            ("get", f"{one}/deliveries"),
        ):
            call(cast, who, method, address, {} if method in ("patch", "post") else None, status=404)
    as_customer = cast.headers("alice", **{"X-External-User-Id": "x"})
    assert Client().get(f"/api/v1/{one}", headers=as_customer).status_code == 404
    assert Client().get(f"/api/v1/{list_address}", headers=as_customer).status_code == 403
    call(cast, "alice", "delete", one, status=204)
    actions = AuditEntry.unscoped.order_by("pk").values_list("action", flat=True)
    assert [each for each in actions if each.startswith("webhook")] == ["webhook.created", "webhook.deleted"]


def test_the_record_is_kept_for_some_days(cast: Cast, receiver: Receiver) -> None:
    make(cast, receiver.url)
    failing(cast)
    work()
    delete_old_deliveries(0)
    assert WebhookDelivery.objects.count() == 1
    WebhookDelivery.objects.update(created_at=timezone.now() - timedelta(days=8))
    delete_old_deliveries(0)
    assert not WebhookDelivery.objects.exists()
