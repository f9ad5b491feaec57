"""API keys over HTTP: shown once, never wider than their maker, revoked at once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from accounts.keys import create_key
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
