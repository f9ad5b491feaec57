"""Tokens: never wider than their key, ended with it, and in addresses only where browsers need that."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.core import signing
from django.test import Client
from django.utils import timezone
from pytest import Subtests
from pytest_django import Settings

from accounts.access import throttling, tokens
from accounts.access.keys import create_key, end_old_secret, rotate
from accounts.models import ApiKey, AuditAction, AuditEntry, Membership, Session, User, Workspace
from core.api.address_token import AddressTokenFilter
from kb.models import Document
from tests.accounts.test_walk import ROUTES, Owned, close_code, own
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document

API = "/api/v1/auth/token"
WITH_ADDRESS_TOKEN = {
    "api/v1/documents/<str:id>/events",
    "api/v1/documents/<str:id>/file",
    "api/v1/documents/<str:id>/pages/<str:number>",
    "api/v1/executions/<str:id>/events",
}
EXTERNAL = "X-External-User-Id"


def ask(headers: dict[str, str], **body: Any) -> Any:
    return Client().post(API, json.dumps(body), "application/json", headers=headers)


def token_of(key: str, **body: Any) -> str:
    reply = ask({"X-API-KEY": key}, **body)
    assert reply.status_code == 200, reply.content
    return str(reply.json()["token"])


def bearer(token: str, **more: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", **more}


def get(path: str, token: str, **headers: str) -> Any:
    return Client().get(f"/api/v1/{path}", headers=bearer(token, **headers))


def ids(reply: Any) -> set[str]:
    assert reply.status_code == 200, reply.content
    return {each["id"] for each in reply.json()["results"]}


class TestMaking:
    def test_a_token_works_where_its_key_does(self, cast: Cast) -> None:
        reply = ask(cast.headers("alice"), ttl_secs=60)
        body = reply.json()
        assert (reply.status_code, body["token_type"], set(body)) == (
            200,
            "Bearer",
            {"token", "token_type", "expires_at"},
        )
        left = datetime.fromisoformat(body["expires_at"]) - timezone.now()
        assert timedelta(seconds=50) < left <= timedelta(seconds=60)
        assert get("me", body["token"]).json()["email"] == "alice@example.org"
        assert Client().get("/api/v1/me", headers={"X-API-KEY": body["token"]}).status_code == 200
        key = ApiKey.objects.get(user=cast.alice)
        assert key.last_used_at is not None

    def test_an_empty_body_gives_a_quarter_of_an_hour(self, cast: Cast) -> None:
        left = datetime.fromisoformat(ask(cast.headers("alice")).json()["expires_at"]) - timezone.now()
        assert timedelta(minutes=14) < left <= timedelta(minutes=15)

    @pytest.mark.parametrize(
        ("body", "status", "param"),
        [
            ({"ttl_secs": 3601}, 400, "ttl_secs"),
            ({"ttl_secs": 0}, 400, "ttl_secs"),
            ({"ttl_secs": "60"}, 400, "ttl_secs"),
            ({"scopes": []}, 400, "scopes"),
            ({"scopes": ["fly"]}, 400, "scopes[0]"),
            ({"scopes": ["write"]}, 403, "scopes"),
            ({"workspace_ids": ["00000000-0000-4000-8000-000000000000"]}, 404, "workspace_ids[0]"),
            ({"session_id": "00000000-0000-4000-8000-000000000000"}, 404, "session_id"),
            ({"external_user_id": " "}, 400, "external_user_id"),
            ({"external_user_id": "x" * 256}, 400, "external_user_id"),
            ({"external_user": "x"}, 400, "external_user"),
        ],
        ids=str,
    )
    def test_bad_requests(self, cast: Cast, body: dict[str, Any], status: int, param: str) -> None:
        _, secret = create_key(cast.alice, "reader", scopes=["read"])
        reply = ask({"X-API-KEY": secret}, **body)
        assert (reply.status_code, reply.json()["error"].get("param")) == (status, param)

    def test_only_a_key_makes_tokens(self, cast: Cast) -> None:
        token = token_of(cast.keys["alice"])
        assert ask(bearer(token)).status_code == 403
        client = Client()
        client.force_login(cast.alice)
        assert client.post(API, "{}", content_type="application/json").status_code == 403
        assert Client().post(API, "{}", content_type="application/json").status_code == 401

    def test_a_token_ends_no_later_than_what_made_it(self, cast: Cast) -> None:
        soon = timezone.now() + timedelta(seconds=30)
        _, secret = create_key(cast.alice, "short", expires_at=soon)
        ends = datetime.fromisoformat(ask({"X-API-KEY": secret}, ttl_secs=600).json()["expires_at"])
        assert ends == soon
        lasting, old = create_key(cast.alice, "lasting")
        rotate(lasting, timedelta(seconds=20))
        lasting.refresh_from_db()
        ends = datetime.fromisoformat(ask({"X-API-KEY": old}, ttl_secs=600).json()["expires_at"])
        assert ends == lasting.old_secret_until

    def test_it_is_in_the_audit_log(self, cast: Cast) -> None:
        token = token_of(cast.keys["alice"], external_user_id="x", scopes=["read"])
        entry = AuditEntry.unscoped.get()
        key = ApiKey.objects.get(user=cast.alice)
        assert (entry.action, entry.external_user_id) == (AuditAction.TOKEN_CREATED, "x")
        assert (entry.target_id, entry.details["scopes"]) == (str(key.pk), ["read"])
        assert token not in json.dumps(entry.details)


class TestNarrowness:
    def test_scopes(self, cast: Cast) -> None:
        token = token_of(cast.keys["alice"], scopes=["read"])
        assert get("documents", token).status_code == 200
        body = json.dumps({"text": "x", "name": "x.txt"})
        reply = Client().post("/api/v1/documents", body, "application/json", headers=bearer(token))
        assert reply.status_code == 403
        assert get("api-keys", token).status_code == 403

    def test_workspaces(self, cast: Cast) -> None:
        personal = cast.alice.personal_workspace
        inside, outside = indexed_document(cast.team), indexed_document(personal, "Elsewhere.")
        token = token_of(cast.keys["alice"], workspace_ids=[str(cast.team.pk)])
        assert ids(get("documents", token)) == {str(inside.pk)}
        assert get(f"documents/{outside.pk}", token).status_code == 404
        assert ids(get("workspaces", token)) == {str(cast.team.pk)}
        _, narrow = create_key(cast.alice, "narrow", workspaces=[cast.team])
        assert ask({"X-API-KEY": narrow}, workspace_ids=[str(personal.pk)]).status_code == 404
        assert ids(get("workspaces", token_of(narrow))) == {str(cast.team.pk)}
        nothing = token_of(cast.keys["alice"], workspace_ids=[])
        assert ids(get("workspaces", nothing)) == set()

    def test_the_external_user_is_pinned(self, cast: Cast) -> None:
        own, other = (
            indexed_document(cast.team, f"Of {name}.", external_user_id=name) for name in ("x", "y")
        )
        token = token_of(cast.keys["alice"], external_user_id="x")
        assert ids(get("documents", token)) == {str(own.pk)}
        assert get(f"documents/{other.pk}", token).status_code == 404
        assert get("documents", token, **{EXTERNAL: "x"}).status_code == 200
        refused = get("documents", token, **{EXTERNAL: "y"})
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "external_user_id")
        body = {"query": "Of y?", "external_user_id": "y"}
        address = "/api/v1/tools/rag_search"
        reply = Client().post(address, json.dumps(body), "application/json", headers=bearer(token))
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, "external_user_id")

    def test_a_token_for_nobody_speaks_for_nobody(self, cast: Cast) -> None:
        token = token_of(cast.keys["alice"])
        assert get("documents", token, **{EXTERNAL: "x"}).status_code == 400

    def test_the_header_of_the_key_counts_too(self, cast: Cast) -> None:
        headers = cast.headers("alice", **{EXTERNAL: "x"})
        token = ask(headers).json()["token"]
        assert get("documents", token, **{EXTERNAL: "y"}).status_code == 400
        assert ask(headers, external_user_id="y").status_code == 400

    def test_the_session_is_pinned(self, cast: Cast) -> None:
        session, other = (Session.unscoped.create(user=cast.alice, workspace=cast.team) for _ in range(2))
        attached = indexed_document(cast.team, session=session)
        token = token_of(cast.keys["alice"], session_id=str(session.pk))
        assert ids(get("documents", token)) == {str(attached.pk)}
        assert get(f"documents?session_id={session.pk}", token).status_code == 200
        refused = get(f"documents?session_id={other.pk}", token)
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "session_id")
        body = {"query": "x", "session_id": str(other.pk)}
        reply = Client().post(
            "/api/v1/tools/rag_search", json.dumps(body), "application/json", headers=bearer(token)
        )
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, "session_id")
        session.delete()
        assert get("documents", token).status_code == 401

    def test_a_token_handles_no_keys(self, cast: Cast) -> None:
        """A key would outlast the token."""
        token = token_of(cast.keys["alice"])
        key = ApiKey.objects.get(user=cast.alice)
        new = json.dumps({"name": "outlasts"})
        for method, path, body in (
            ("get", "", None),
            ("post", "", new),
            ("delete", f"/{key.pk}", None),
            ("post", f"/{key.pk}/rotate", "{}"),
        ):
            client: Any = Client()
            sent = {"data": body, "content_type": "application/json"} if body else {}
            reply = getattr(client, method)(f"/api/v1/api-keys{path}", headers=bearer(token), **sent)
            assert reply.status_code == 403, (method, path)

    def test_another_tenant_sees_nothing_by_it(self, cast: Cast) -> None:
        """The same string of another tenant is another person."""
        document = indexed_document(cast.team, external_user_id="x")
        token = token_of(cast.keys["charlie"], external_user_id="x")
        assert ids(get("documents", token)) == set()
        assert get(f"documents/{document.pk}", token).status_code == 404
        assert ask(cast.headers("charlie"), workspace_ids=[str(cast.team.pk)]).status_code == 404


@dataclass
class Made:
    """A narrowed key of alice's, its secret, and a token of it."""

    cast: Cast
    key: ApiKey
    secret: str
    token: str

    @classmethod
    def of(cls, cast: Cast) -> Made:
        key, secret = create_key(cast.alice, "ci", workspaces=[cast.team, cast.alice.personal_workspace])
        return cls(cast, key, secret, token_of(secret))


def revoke(made: Made) -> None:
    made.key.delete()


def expire(made: Made) -> None:
    ApiKey.objects.filter(pk=made.key.pk).update(expires_at=timezone.now())


def take_scope(made: Made) -> None:
    ApiKey.objects.filter(pk=made.key.pk).update(scopes=["read"])


def narrow(made: Made) -> None:
    made.key.workspaces.set([made.cast.team])


def rotate_out(made: Made) -> None:
    rotate(made.key, timedelta(0))


def rotate_twice(made: Made) -> None:
    rotate(made.key, timedelta(days=1))
    rotate(made.key, timedelta(days=1))


def end_overlap(made: Made) -> None:
    rotate(made.key, timedelta(days=1))
    assert get("me", made.token).status_code == 200
    end_old_secret(made.key)


def deactivate(made: Made) -> None:
    User.objects.filter(pk=made.cast.alice.pk).update(is_active=False)


ENDINGS = [revoke, expire, take_scope, narrow, rotate_out, rotate_twice, end_overlap, deactivate]


class TestEnds:
    @pytest.mark.parametrize("ending", ENDINGS)
    def test_what_ends_a_key_ends_its_tokens(self, cast: Cast, ending: Callable[[Made], None]) -> None:
        made = Made.of(cast)
        assert get("me", made.token).status_code == 200
        ending(made)
        assert get("me", made.token).status_code == 401

    def test_a_key_that_becomes_narrowed_ends_its_tokens(self, cast: Cast) -> None:
        key, secret = create_key(cast.alice, "wide")
        token = token_of(secret)
        ApiKey.objects.filter(pk=key.pk).update(narrowed=True)
        key.workspaces.set([cast.team])
        assert get("me", token).status_code == 401

    def test_a_membership_that_ends_takes_its_workspace_along(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        token = token_of(cast.keys["bob"])
        assert get(f"documents/{document.pk}", token).status_code == 200
        Membership.objects.filter(user=cast.bob, workspace=cast.team).delete()
        assert get(f"documents/{document.pk}", token).status_code == 404

    def test_a_token_expires(self, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
        token = token_of(cast.keys["alice"], ttl_secs=60)
        later = timezone.now() + timedelta(seconds=60)
        monkeypatch.setattr("accounts.access.tokens.timezone.now", lambda: later)
        assert get("me", token).status_code == 401

    def test_a_new_secret_key_ends_them_unless_it_is_kept(self, cast: Cast, settings: Settings) -> None:
        token = token_of(cast.keys["alice"])
        earlier, settings.SECRET_KEY = settings.SECRET_KEY, "another"
        assert get("me", token).status_code == 401
        settings.SECRET_KEY_FALLBACKS = [earlier]
        assert get("me", token).status_code == 200


def forgeries(token: str) -> dict[str, str]:
    """Return what is no token of ours, by what is wrong with it."""
    signer, mark = signing.Signer(salt="accounts.access.tokens", sep="."), tokens.TOKEN_MARK
    claims = signer.unsign_object(token.removeprefix(mark))
    payload, signature = token.removeprefix(mark).split(".")

    def signed(value: Any, **options: Any) -> str:
        signer = signing.Signer(**({"salt": "accounts.access.tokens", "sep": "."} | options))
        return mark + signer.sign_object(value)

    return {
        "tampered claims": f"{mark}{payload[:-2]}AA.{signature}",
        "tampered signature": f"{mark}{payload}.{signature[:-1]}{'A' if signature[-1] != 'A' else 'B'}",
        "no signature": f"{mark}{payload}",
        "empty signature": f"{mark}{payload}.",
        "empty": mark,
        "foreign key": signed(claims, key="another"),
        "other purpose": signed(claims, salt="django.core.signing.Signer"),
        "a list": signed([1]),
        "text": signed("x"),
        "null": signed(None),
        "missing claim": signed({name: claims[name] for name in claims if name != "secret"}),
        "more claims": signed(claims | {"admin": True}),
        "scopes as text": signed(claims | {"scopes": "read"}),
        "no expiry": signed(claims | {"expires": None}),
        "naive expiry": signed(claims | {"expires": "2999-01-01T00:00:00"}),
        "unknown key": signed(claims | {"key": str(UUID(int=0))}),
        "other secret": signed(claims | {"secret": 2}),
        "secret zero": signed(claims | {"secret": 0}),
        "wider": signed(claims | {"scopes": ["read", "fly"]}),
        "expired": signed(claims | {"expires": "2001-01-01T00:00:00Z"}),
        "not ascii": mark + "é.é",
        "a cursor": mark + signing.dumps([1], salt="cursor -created_at id"),
        "a JWT": "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.",
    }


def test_what_is_no_token_of_ours_is_an_unknown_key(
    cast: Cast, subtests: Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accounts.access.auth.take", lambda *_: None)
    document = indexed_document(cast.team)
    unknown = get("me", "locus_0000000000_nonsense")
    assert unknown.status_code == 401
    token = token_of(cast.keys["alice"])
    assert get("me", token).status_code == 200
    for name, forged in forgeries(token).items():
        with subtests.test(name):
            reply = Client().get("/api/v1/me", headers={"X-API-KEY": forged.encode().decode("latin-1")})
            assert (reply.status_code, reply.content) == (401, unknown.content)
            reply = Client().get(f"/api/v1/documents/{document.pk}/file", {"token": forged})
            assert (reply.status_code, reply.content) == (401, unknown.content)


def test_unknown_tokens_are_counted_as_unknown_keys(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    few = throttling.AttemptLimit("unknown API keys from an address", 3, 60)
    monkeypatch.setattr("accounts.access.auth.UNKNOWN_KEYS", few)
    document = indexed_document(cast.team)
    file, forged = f"/api/v1/documents/{document.pk}/file", tokens.TOKEN_MARK + "x.y"
    assert get("me", forged).status_code == 401
    assert Client().get(file, {"token": forged}).status_code == 401
    assert Client().get("/metrics", headers={"Authorization": "Bearer guess"}).status_code == 401
    for path in ("/api/v1/me", "/metrics"):
        refused = Client().get(path, headers=bearer(forged))
        assert (refused.status_code, "Retry-After" in refused) == (429, True)
    assert Client().get(file, {"token": forged}).status_code == 429
    assert get("me", token_of(cast.keys["alice"])).status_code == 200, "who has a good one is not refused"


# --- In addresses ----------------------------------------------------------------------------------------


@pytest.fixture
def owned(cast: Cast) -> Owned:
    return own(cast)


@pytest.mark.django_db(transaction=True)
def test_an_address_takes_a_token_in_four_places_only(cast: Cast, owned: Owned, subtests: Subtests) -> None:
    token = token_of(cast.keys["alice"], external_user_id="x")
    taken = set()
    for method, route in ROUTES:
        with subtests.test(method=method, route=route):
            address = f"{owned.address(route)}?token={token}"
            send = getattr(Client(), method)
            status = send(address).status_code
            if status == 200:
                taken.add(route)
                assert method == "get"
            else:
                assert status == 401, "elsewhere it proves nothing"
    assert taken == WITH_ADDRESS_TOKEN


def test_elsewhere_it_is_an_unknown_parameter(cast: Cast, owned: Owned, subtests: Subtests) -> None:
    token = token_of(cast.keys["alice"], external_user_id="x")
    for method, route in ROUTES:
        if route in WITH_ADDRESS_TOKEN or not route.startswith("api/v1/") or method != "get":
            continue
        with subtests.test(method=method, route=route):
            reply = Client().get(f"{owned.address(route)}?token={token}", headers=bearer(token))
            error = reply.json()["error"]
            assert (reply.status_code, error["code"], error["param"]) == (400, "unknown_field", "token")
            assert token not in reply.content.decode()


@pytest.mark.django_db(transaction=True)
def test_who_may_not_see_it_does_not_by_a_token(cast: Cast, owned: Owned, subtests: Subtests) -> None:
    wrong = {
        "stranger": token_of(cast.keys["charlie"], external_user_id="x"),
        "other external user": token_of(cast.keys["alice"], external_user_id="y"),
        "no external user": token_of(cast.keys["alice"]),
        "no workspace": token_of(cast.keys["alice"], external_user_id="x", workspace_ids=[]),
    }
    for name, token in wrong.items():
        for route in WITH_ADDRESS_TOKEN:
            with subtests.test(name, route=route):
                assert Client().get(f"{owned.address(route)}?token={token}").status_code == 404


def test_a_key_is_refused_in_an_address(cast: Cast) -> None:
    document = indexed_document(cast.team)
    reply = Client().get(f"/api/v1/documents/{document.pk}/file", {"token": cast.keys["alice"]})
    assert reply.status_code == 401
    assert "auth/token" in reply.json()["error"]["message"]
    assert cast.keys["alice"] not in reply.content.decode()


def test_a_request_has_one_credential(cast: Cast) -> None:
    file = f"/api/v1/documents/{indexed_document(cast.team).pk}/file"
    one, other = token_of(cast.keys["alice"]), token_of(cast.keys["bob"])
    assert Client().get(file, {"token": one}, headers=bearer(one)).status_code == 400
    assert Client().get(f"{file}?token={one}&token={other}").status_code == 400
    assert Client().get(f"{file}?token=").status_code == 401
    client = Client()
    client.force_login(cast.alice)
    nobody = token_of(cast.keys["charlie"])
    assert client.get(file, {"token": nobody}).status_code == 404, "the token goes before the cookie"
    assert client.get(file, {"token": "locus_token_x.y"}).status_code == 401


def test_logs_hold_no_token(caplog: pytest.LogCaptureFixture) -> None:
    record = logging.LogRecord(
        "uvicorn.error",
        logging.INFO,
        "",
        0,
        '%s - "WebSocket %s" [accepted]',
        ("127.0.0.1", "/ws/documents?workspace=1&token=locus_token_a.b-c&x=1"),
        None,
    )
    assert AddressTokenFilter().filter(record)
    assert record.getMessage() == '127.0.0.1 - "WebSocket /ws/documents?workspace=1&token=…&x=1" [accepted]'
    other = logging.LogRecord("x", logging.INFO, "", 0, "%s tokens", (3,), None)
    assert AddressTokenFilter().filter(other)
    assert other.getMessage() == "3 tokens"


@pytest.mark.django_db(transaction=True)
class TestSockets:
    HOST = (b"host", b"testserver")

    async def open(self, token: str, *headers: tuple[bytes, bytes]) -> int | None:
        """Return the code with which a socket closes, None if it stays open."""
        from tests.testing.sockets import socket

        opened = socket(f"/ws/documents?token={token}", [self.HOST, *headers])
        assert (await opened.connect(timeout=20))[0]
        if await opened.receive_nothing(timeout=1):
            await opened.disconnect()
            return None
        message = await opened.receive_output(timeout=20)
        if message["type"] == "websocket.send":
            assert json.loads(message["text"])["data"]["code"] == "rate_limited"
            message = await opened.receive_output(timeout=20)
        return int(message["code"])

    async def test_a_token_opens_them(self, settings: Settings) -> None:
        cast = await sync_to_async(make_cast)()
        token = await sync_to_async(token_of)(cast.keys["alice"])
        listed, foreign = (b"origin", b"https://app.example"), (b"origin", b"https://evil.example")
        settings.CORS_ORIGINS = ["https://app.example"]
        assert await self.open(token) is None, "programs have no origin"
        assert await self.open(token, listed) is None
        assert await self.open(token, foreign) == 4403
        assert await self.open(cast.keys["alice"]) == 4401, "no keys in addresses"
        assert await self.open("locus_token_x.y") == 4401
        workspace = await sync_to_async(lambda: cast.charlie.personal_workspace.pk)()
        path = f"/ws/documents?workspace={workspace}&token={token}"
        assert await close_code(path, [self.HOST]) == 4404

    async def test_a_listed_page_needs_a_token(self, settings: Settings) -> None:
        """A browser sends the cookie whichever page opens the socket."""
        from django.test import AsyncClient

        cast = await sync_to_async(make_cast)()
        settings.CORS_ORIGINS = ["https://app.example"]
        client = AsyncClient()
        await sync_to_async(client.force_login)(cast.alice)
        cookie = (b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode())
        listed = (b"origin", b"https://app.example")
        assert await close_code("/ws/documents", [self.HOST, cookie, listed]) == 4401

    async def test_unknown_ones_are_counted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        few = throttling.AttemptLimit("unknown API keys from an address", 2, 60)
        monkeypatch.setattr("accounts.access.auth.UNKNOWN_KEYS", few)
        codes = [await self.open("locus_token_x.y") for _ in range(3)]
        assert codes == [4401, 4401, 1013]


def test_documents_of_a_token_are_those_of_its_key(cast: Cast) -> None:
    """What is added by a token belongs to its user, workspace and external user."""
    token = token_of(cast.keys["alice"], external_user_id="x", workspace_ids=[str(cast.team.pk)])
    body = json.dumps({"text": "Hello there.", "name": "hello.txt"})
    reply = Client().post("/api/v1/documents", body, "application/json", headers=bearer(token))
    assert reply.status_code == 202, reply.content
    document = Document.unscoped.get()
    assert (document.workspace_id, document.external_user_id) == (cast.team.pk, "x")
    assert Workspace.objects.filter(pk=document.workspace_id, members=cast.alice).exists()
