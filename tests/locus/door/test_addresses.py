"""What stands in addresses, through the whole server: ids that others chose, and tokens for no log."""

from __future__ import annotations

import json
from urllib.parse import quote

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from accounts.models import Session
from tests.accounts.test_external_users import API, AWKWARD
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document
from tests.locus.door import raw
from tests.locus.door.conftest import Limited

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    return make_cast()


def delete(limited: Limited, cast: Cast, path: str) -> tuple[int, bytes]:
    """Send a path that no client has tidied up."""
    reply = raw.ask(limited.port, raw.head("DELETE", path, X_API_KEY=cast.keys["alice"]))
    assert reply is not None
    return reply.status, reply.body


def test_ids_of_external_users_arrive_byte_for_byte(limited: Limited, cast: Cast) -> None:
    for id in AWKWARD:
        Session.unscoped.create(user=cast.alice, workspace=cast.team, external_user_id=id)
    Session.unscoped.create(user=cast.alice, workspace=cast.team, external_user_id="\ufffd")
    for broken in ("%FF", "%C3", "%ED%A0%80", "%C0%AE%C0%AE"):
        assert delete(limited, cast, f"{API}/{broken}")[0] == 404, broken
    for id in AWKWARD:
        encoded = "".join(f"%{byte:02X}" for byte in id.encode())
        status, body = delete(limited, cast, f"{API}/{encoded}")
        assert (status, json.loads(body).get("deleted")) == (200, {"sessions": 1}), id
    assert [each.external_user_id for each in Session.unscoped.all()] == ["\ufffd"]
    assert delete(limited, cast, f"{API}/%EF%BF%BD")[0] == 200


def test_a_token_in_an_address_is_in_no_log_and_no_reply(limited: Limited, cast: Cast) -> None:
    document = indexed_document(cast.team)
    key = {"X-API-KEY": cast.keys["alice"]}
    made = httpx2.post(f"{limited.url}/api/v1/auth/token", json={}, headers=key)
    token = made.json()["token"]
    replies = []
    for path in (
        f"documents/{document.pk}/events",
        f"documents/{document.pk}/file",
        f"documents/{document.pk}/pages/1",
        f"documents/{document.pk}",
        "documents",
        "executions/call_nothing/events",
    ):
        reply = httpx2.get(f"{limited.url}/api/v1/{path}?token={token}", timeout=60)
        replies.append(reply.status_code)
        assert token not in str(reply.headers)
        assert token.encode() not in reply.content
        assert reply.headers["Referrer-Policy"] == "same-origin"
    assert replies == [200, 200, 200, 401, 401, 404]
    address = f"ws://127.0.0.1:{limited.port}/ws/documents?workspace={cast.team.pk}&token={quote(token)}"
    with connect(address) as socket:
        socket.ping().wait(20)
    with pytest.raises(ConnectionClosed), connect(address, origin="https://evil.example") as socket:
        socket.recv(20)
    with connect(address, origin="https://app.example.org") as socket:
        assert socket.ping().wait(20)
    assert token not in limited.log
    assert cast.keys["alice"] not in limited.log
