"""Replies of the whole product, with everything in front: ids, caching, policies, schema, hosts."""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
from datetime import timedelta

import httpx
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from pytest_django import Settings

from accounts.models import User
from locus import schema
from runs.models import Execution, ExecutionStatus
from tests.conftest import Cast
from tests.factories import stored_document
from tests.locus.door import raw
from tests.locus.door.conftest import Limited
from tests.testing.paths import ROOT


@pytest.mark.django_db(transaction=True)
def test_replies_carry_an_id_and_are_kept_by_nobody(limited: Limited, cast: Cast) -> None:
    """No reply had an id, and replies and pages could be kept by browsers."""
    with httpx.Client(base_url=limited.url) as http:
        for path in (
            "/health",
            "/nope",
            "/api/nope",
            "/api/v1/me",
            "/accounts/login/",
            "/documents/",
            "/metrics",
        ):
            reply = http.get(path, headers={"X-Request-Id": "mine.1"})
            assert reply.headers["X-Request-Id"] == "mine.1", path
            assert "no-store" in reply.headers["Cache-Control"], path
            assert http.get(path).headers["X-Request-Id"] != "mine.1"
        me = http.get("/api/v1/me", headers=cast.headers("alice"))
        assert (me.status_code, me.headers["Cache-Control"]) == (200, "no-store")
        script = re.findall(r'src="(/static/[^"]+\.js)"', http.get("/accounts/login/").text)[0]
        assert "max-age" in http.get(script).headers["Cache-Control"]
    assert "[mine.1]" in limited.log


@pytest.mark.django_db(transaction=True)
def test_cors_before_and_behind_the_login(limited: Limited, cast: Cast) -> None:
    origin = {"Origin": "https://app.example.org"}
    with httpx.Client(base_url=limited.url) as http:
        preflight = http.options("/api/v1/me", headers=origin | {"Access-Control-Request-Method": "GET"})
        assert preflight.status_code == 204
        for headers, status in [({}, 401), (cast.headers("alice"), 200)]:
            reply = http.get("/api/v1/me", headers=origin | headers)
            assert reply.status_code == status
            assert reply.headers["Access-Control-Allow-Origin"] == origin["Origin"]


@pytest.mark.django_db(transaction=True)
def test_bad_hosts_do_not_fill_the_log(limited: Limited) -> None:
    before = len(limited.log)
    for number in range(100):
        reply = raw.ask(limited.port, raw.head("GET", "/health", Host=f"evil{number}.example"))
        assert reply is not None
        assert reply.status == 400
    written = limited.log[before:]
    assert "Traceback" not in written
    assert len(written.splitlines()) <= 20


def test_the_schema_is_made_once_and_prints_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It took a third of a second for each request of anybody, and printed warnings each time."""
    schema._render_schema.cache_clear()
    schema.built_schema.cache_clear()
    made: list[object] = []
    make = SchemaGenerator.get_schema

    def counted(self: SchemaGenerator, *args: object, **options: object) -> object:
        made.append(self)
        return make(self, *args, **options)

    monkeypatch.setattr(SchemaGenerator, "get_schema", counted)
    replies = [client.get("/api/schema", HTTP_ACCEPT="application/json") for _ in range(3)]
    assert {reply.json()["openapi"] for reply in replies} == {"3.1.0"}
    assert "/api/v1/documents" in replies[0].json()["paths"]
    assert len(made) == 1
    for _ in range(2):
        assert client.get("/api/schema").content.startswith(b"openapi: 3.1.0")
    assert len(made) == 1
    printed = capfd.readouterr()
    assert "Warning" not in printed.err + printed.out


def test_the_admin_panel_runs_no_script_of_a_document(client: Client, cast: Cast, static_files: None) -> None:
    """The admin panel shows titles and metadata of documents, and had no content security policy."""
    client.force_login(User.objects.create_superuser("root@example.org"))
    for path in ("/admin/", "/admin/kb/document/"):
        policy = client.get(path)["Content-Security-Policy"]
        directives = dict(part.split(" ", 1) for part in policy.split("; "))
        assert directives["default-src"] == "'self'"
        assert not {"script-src", "style-src"} & set(directives)
        assert directives["object-src"] == directives["frame-ancestors"] == "'none'"
        assert "unsafe" not in policy
    for path in ("/", "/api/docs"):
        assert "unsafe" not in client.get(path)["Content-Security-Policy"]


def test_behind_tls_browsers_are_told_to_stay_there() -> None:
    """With TLS on, `check --deploy` named HSTS and the redirect as missing."""
    environment = os.environ | {"BEHIND_TLS": "true", "SECRET_KEY": secrets.token_urlsafe(48)}
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level=WARNING"]
    checked = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_hsts_and_the_redirect(settings: Settings) -> None:
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 3600
    # The middleware has read the settings when it was made.
    fresh = Client()
    assert fresh.get("/accounts/login/", secure=True)["Strict-Transport-Security"] == "max-age=3600"
    assert fresh.get("/accounts/login/").status_code == 301


# --- What requests say -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "X_External_User_Id",
        "external-user-id",
        "X-ExternalUserId",
        "End-User-Id",
        "x_end_user_id",
        "X-External-User",
    ],
)
@pytest.mark.django_db(transaction=True)
def test_a_header_that_is_nearly_right_is_refused(limited: Limited, cast: Cast, name: str) -> None:
    """It was ignored, which means: no external user, and so all that the key's user sees."""
    key = cast.keys["alice"]
    request = f"GET /api/v1/documents HTTP/1.1\r\nHost: localhost\r\nX-API-KEY: {key}\r\n{name}: e1\r\n\r\n"
    reply = raw.ask(limited.port, request.encode())
    assert reply is not None
    assert (reply.status, reply.error()["param"]) == (400, "external_user_id")


@pytest.mark.parametrize("depth", [65, 960, 970, 100_000])
def test_deep_json_is_an_error_of_the_client(client: Client, cast: Cast, depth: int) -> None:
    """JSON nested 960 deep, in a body or in the field `metadata` of an upload, was a 500."""
    deep = "[" * depth + "]" * depth
    document = stored_document(cast.team, "deep.txt", b"words")
    headers = cast.headers("alice")
    for body in (f'{{"metadata": {{"a": {deep}}}}}', '{"a":' * depth + "1" + "}" * depth):
        reply = client.patch(
            f"/api/v1/documents/{document.pk}", body, content_type="application/json", headers=headers
        )
        assert reply.status_code == 400
        assert reply.json()["error"]["code"] in ("invalid_json", "validation_error")
    for metadata in (f'{{"a": {deep}}}', deep):
        reply = client.post(
            "/api/v1/documents",
            {"files": SimpleUploadedFile("a.txt", b"words"), "metadata": metadata},
            headers=headers,
        )
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, "validation_error")


def test_json_may_be_nested(client: Client, cast: Cast) -> None:
    document = stored_document(cast.team, "deep.txt", b"words")
    body = '{"metadata": {"a": ' + "[" * 15 + "1" + "]" * 15 + "}}"
    reply = client.patch(
        f"/api/v1/documents/{document.pk}",
        body,
        content_type="application/json",
        headers=cast.headers("alice"),
    )
    assert reply.status_code == 200


# What is run commits on connections of its own.
@pytest.mark.django_db(transaction=True)
def test_runs_of_one_user_are_limited(client: Client, cast: Cast, settings: Settings) -> None:
    """80 executions of one viewer were accepted in 6 s; nothing limited them."""
    settings.MAX_RUNS_PER_USER = 2

    def run_of(user: User, status: str, leased: bool = True) -> None:
        until = timezone.now() + timedelta(seconds=60 if leased else -60)
        Execution.unscoped.create(
            tool="rag_search", user=user, workspace=cast.team, inputs={}, status=status, lease_until=until
        )

    def ask() -> int:
        call = {"inputs": {"query": "anything"}}
        reply = client.post(
            "/api/v1/tools/rag_search/execute",
            call,
            content_type="application/json",
            headers=cast.headers("alice"),
        )
        if reply.status_code == 429:
            assert reply.json()["error"]["code"] == "rate_limited"
            assert int(reply["Retry-After"]) > 0
            assert reply["RateLimit-Limit"] == "2"
        return reply.status_code

    run_of(cast.bob, ExecutionStatus.RUNNING)
    run_of(cast.bob, ExecutionStatus.RUNNING)
    run_of(cast.alice, ExecutionStatus.COMPLETED)
    run_of(cast.alice, ExecutionStatus.RUNNING, leased=False)
    run_of(cast.alice, ExecutionStatus.QUEUED)
    run_of(cast.alice, ExecutionStatus.RUNNING)
    assert ask() == 429
    Execution.unscoped.filter(user=cast.alice, status=ExecutionStatus.QUEUED).delete()
    assert ask() == 202
