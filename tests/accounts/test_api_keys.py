"""API keys over HTTP: shown once, never wider than their maker, revoked at once."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from accounts.access.keys import bound_made_keys, create_key
from accounts.models import ApiKey, User
from tests.conftest import Cast

API = "/api/v1/api-keys"


def create(headers: dict[str, str], **body: Any) -> Any:
    return Client().post(API, json.dumps(body), content_type="application/json", headers=headers)


def test_a_new_key_works_and_is_shown_once(cast: Cast) -> None:
    response = create(cast.headers("alice"), name="ci")
    secret = response.json()["key"]
    assert response.status_code == 201
    assert Client().get("/api/v1/me", headers={"X-API-KEY": secret}).json()["email"] == "alice@example.org"
    assert secret not in Client().get(API, headers=cast.headers("alice")).content.decode()


def test_a_revoked_key_is_unknown_at_once(cast: Cast) -> None:
    made = create(cast.headers("alice"), name="ci").json()
    assert Client().delete(f"{API}/{made['id']}", headers=cast.headers("alice")).status_code == 204
    assert Client().get("/api/v1/me", headers={"X-API-KEY": made["key"]}).status_code == 401


def test_a_key_can_not_make_a_wider_one(cast: Cast) -> None:
    _, narrow = create_key(cast.alice, "narrow", scopes=["admin", "read"], workspaces=[cast.team])
    headers = {"X-API-KEY": narrow}
    assert create(headers, name="more", scopes=["write"]).status_code == 403
    personal = str(cast.alice.personal_workspace.pk)
    assert create(headers, name="more", scopes=["read"], workspace_ids=[personal]).status_code == 404
    made = create(headers, name="same", scopes=["read"]).json()
    assert made["workspace_ids"] == [str(cast.team.pk)]


def test_a_key_without_admin_handles_no_keys(cast: Cast) -> None:
    _, secret = create_key(cast.alice, "plain")
    assert Client().get(API, headers={"X-API-KEY": secret}).status_code == 403


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "a", "scopes": ["fly"]}, "scopes[0]"),
        ({"name": "a", "expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"name": "a", "expire": 1}, "expire"),
    ],
    ids=str,
)
def test_bad_requests(cast: Cast, body: dict[str, Any], param: str) -> None:
    response = create(cast.headers("alice"), **body)
    assert (response.status_code, response.json()["error"]["param"]) == (400, param)


def test_an_expired_or_inactive_owner_is_nobody(cast: Cast) -> None:
    cast.alice.is_active = False
    cast.alice.save()
    assert Client().get("/api/v1/me", headers=cast.headers("alice")).status_code == 401


def test_the_command_prints_a_working_key(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("create_api_key", user="new@example.org", create=True)
    secret = capsys.readouterr().out.strip()
    assert Client().get("/api/v1/me", headers={"X-API-KEY": secret}).json()["email"] == "new@example.org"
    assert ApiKey.objects.get().user == User.objects.get(email="new@example.org")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"X-External-User-Id": "x", "X-End-User-ID": "x"}, 200),
        ({"X-External-User-Id": "x", "X-End-User-ID": "y"}, 400),
        ({"X-External-User-Id": " "}, 400),
        ({"X-External-User-Id": "x" * 256}, 400),
        ({"Authorization": "Basic abc"}, 401),
    ],
    ids=str,
)
def test_headers(cast: Cast, headers: dict[str, str], status: int) -> None:
    response = Client().get("/api/v1/me", headers=cast.headers("alice") | headers)
    assert response.status_code == status


# --- What a key makes is no freer than the key -----------------------------------------------------------


def in_days(days: float) -> datetime:
    return timezone.now() + timedelta(days=days)


def test_a_key_ends_with_the_one_that_made_it(cast: Cast) -> None:
    """A key that expired in 20 s made one without end."""
    soon = in_days(1)
    maker, secret = create_key(cast.alice, "maker", scopes=["admin", "read"], expires_at=soon)
    headers = {"X-API-KEY": secret}
    assert (
        create(headers, name="longer", scopes=["read"], expires_at=in_days(2).isoformat()).status_code == 403
    )
    shorter = create(headers, name="shorter", scopes=["read"], expires_at=in_days(0.5).isoformat())
    inherited = create(headers, name="as long", scopes=["admin", "read"]).json()
    assert shorter.status_code == 201
    assert ApiKey.objects.get(pk=inherited["id"]).expires_at == soon
    grandchild = create({"X-API-KEY": inherited["key"]}, name="its own", scopes=["read"]).json()
    assert ApiKey.objects.get(pk=grandchild["id"]).expires_at == soon
    assert Client().delete(f"{API}/{maker.pk}", headers=cast.headers("alice")).status_code == 204
    for key in (shorter.json(), inherited, grandchild):
        assert Client().get("/api/v1/me", headers={"X-API-KEY": key["key"]}).status_code == 401


def test_a_person_makes_keys_that_outlive_the_login(cast: Cast) -> None:
    client = Client()
    client.force_login(cast.alice)
    made = client.post(
        API, json.dumps({"name": "mine", "scopes": ["admin"]}), content_type="application/json"
    )
    assert (made.status_code, made.json()["expires_at"], made.json()["workspace_ids"]) == (201, None, None)
    assert ApiKey.objects.get(pk=made.json()["id"]).made_by is None


def test_a_narrowed_key_handles_only_keys_within_its_narrowing(cast: Cast) -> None:
    """It listed and revoked all keys of its user."""
    personal = cast.alice.personal_workspace
    narrow, secret = create_key(cast.alice, "narrow", scopes=["admin"], workspaces=[cast.team])
    same, _ = create_key(cast.alice, "same", workspaces=[cast.team])
    nothing, _ = create_key(cast.alice, "nothing", workspaces=[])
    others = [
        create_key(cast.alice, "wide")[0],
        create_key(cast.alice, "other", workspaces=[personal])[0],
        create_key(cast.alice, "both", workspaces=[personal, cast.team])[0],
        create_key(cast.bob, "bob's", workspaces=[cast.team])[0],
    ]
    headers = {"X-API-KEY": secret}
    listed = Client().get(API, headers=headers).json()["results"]
    assert {key["id"] for key in listed} == {str(key.pk) for key in (narrow, same, nothing)}
    for key in others:
        assert Client().delete(f"{API}/{key.pk}", headers=headers).status_code == 404, key.name
    assert Client().delete(f"{API}/{same.pk}", headers=headers).status_code == 204
    wide = Client().get(API, headers=cast.headers("alice")).json()["results"]
    assert {str(key.pk) for key in others[:3]} <= {key["id"] for key in wide}


def test_what_staff_take_from_a_key_is_taken_from_those_it_made(cast: Cast) -> None:
    maker, secret = create_key(cast.alice, "maker", scopes=["admin", "read", "write"])
    made = create({"X-API-KEY": secret}, name="made", scopes=["admin", "read", "write"]).json()
    create({"X-API-KEY": made["key"]}, name="made by it", scopes=["read", "write"])
    maker.scopes, maker.expires_at, maker.narrowed = ["admin", "read"], in_days(1), True
    maker.save()
    maker.workspaces.set([cast.team])
    bound_made_keys(maker)
    for key in ApiKey.objects.filter(made_by__isnull=False):
        assert "write" not in key.scopes
        assert key.expires_at == maker.expires_at
        assert (key.narrowed, list(key.workspaces.all())) == (True, [cast.team])
