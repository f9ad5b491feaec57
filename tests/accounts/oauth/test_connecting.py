"""Connecting a program: metadata, registration, consent, tokens, and their end."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest import Subtests
from pytest_django import Settings

from accounts.models import (
    ApiKey,
    AuditAction,
    AuditEntry,
    AuthorizationCode,
    Membership,
    Program,
    ProgramToken,
)
from accounts.oauth import registering
from accounts.oauth.sweeping import delete_expired
from accounts.people.export import members_of
from kb.models import Document
from tests.conftest import Cast
from tests.factories import stored_document
from tests.testing.connecting import (
    REDIRECT,
    RESOURCE,
    TestProgram,
    call_mcp,
    post_form,
    register,
    result_of,
    sent_back,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("plain_static_files")]


@pytest.fixture
def browser(cast: Cast) -> Client:
    """Alice's browser."""
    client = Client()
    client.force_login(cast.alice)
    return client


@pytest.fixture
def program(db: None) -> TestProgram:
    return TestProgram.registered()


def names(token: str) -> set[str]:
    return {each["name"] for each in result_of(call_mcp(token))["documents"]}


# --- Discovery and registration -----------------------------------------------------------------------------


def test_a_401_says_where_to_begin(db: None) -> None:
    refused = Client().post("/mcp", "{}", content_type="application/json")
    assert refused.status_code == 401
    where = "http://testserver/.well-known/oauth-protected-resource/mcp"
    assert refused["WWW-Authenticate"] == f'Bearer resource_metadata="{where}"'
    described = Client().get(where).json()
    assert described["resource"] == RESOURCE
    [issuer] = described["authorization_servers"]
    server = Client().get(f"{issuer}/.well-known/oauth-authorization-server").json()
    assert server["issuer"] == issuer
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["registration_endpoint"] == f"{issuer}/oauth/register"
    wrong = call_mcp("locus_access_nothing")
    assert 'error="invalid_token"' in wrong["WWW-Authenticate"]
    # Elsewhere nothing is said of it.
    assert Client().get("/api/v1/me")["WWW-Authenticate"] == "Bearer"


def test_a_registration_is_bounded(db: None, subtests: Subtests) -> None:
    refused: list[tuple[Any, str]] = [
        ({}, "invalid_client_metadata"),
        ([], "invalid_client_metadata"),
        ({"redirect_uris": []}, "invalid_client_metadata"),
        ({"redirect_uris": [REDIRECT] * 11}, "invalid_client_metadata"),
        ({"redirect_uris": [REDIRECT], "grant_types": ["client_credentials"]}, "invalid_client_metadata"),
        ({"redirect_uris": [REDIRECT], "client_name": "x" * 20_000}, "invalid_client_metadata"),
        *(
            ({"redirect_uris": [uri]}, "invalid_redirect_uri")
            for uri in (
                "http://example.org/callback",
                "javascript:alert(1)",
                "app://callback",
                "https://example.org/#fragment",
                "https://user@example.org/",
                "https://",
                "https://example.org\\@evil.example/",
                "https://example.org/ ",
                "http://127.0.0.1.example.org/",
                "https://example.org/" + "x" * 500,
                "//example.org/",
            )
        ),
    ]
    for body, code in refused:
        with subtests.test(body=str(body)[:80]):
            Program.objects.all().delete()
            reply = register(body)
            assert (reply.status_code, reply.json()["error"]) == (400, code)
    assert not Program.objects.exists()
    taken = register(
        {
            "redirect_uris": ["https://app.example.org/cb", "http://localhost:1/", "http://[::1]:9/x"],
            "client_name": "Desk\u202e\n assistant",
            "token_endpoint_auth_method": "client_secret_post",
            "logo_uri": "https://app.example.org/logo.png",
        }
    ).json()
    assert (taken["client_name"], taken["token_endpoint_auth_method"]) == ("Desk assistant", "none")
    assert "client_secret" not in taken


def test_registrations_are_limited_in_rate_and_number(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    replies = [register({"redirect_uris": [REDIRECT]}) for _ in range(25)]
    assert replies[-1].status_code == 429
    assert int(replies[-1]["Retry-After"]) > 0
    monkeypatch.setattr(registering, "MOST_UNUSED", 3)
    monkeypatch.setattr("accounts.oauth.views.take", lambda *_: None)
    assert register({"redirect_uris": [REDIRECT]}).status_code == 503
    Program.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert register({"redirect_uris": [REDIRECT]}).status_code == 201
    assert Program.objects.count() == 1


def test_a_closed_registration(db: None, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    settings.OAUTH_REGISTRATION_OPEN = False
    assert register({"redirect_uris": [REDIRECT]}).status_code == 404
    server = Client().get("/.well-known/oauth-authorization-server").json()
    assert "registration_endpoint" not in server
    call_command("create_oauth_client", "--name", "Desk", "--redirect-uri", REDIRECT)
    assert Program.objects.get().client_id == capsys.readouterr().out.strip()


# --- Consent -----------------------------------------------------------------------------------------------


def test_the_question_names_program_rights_and_workspaces(
    browser: Client, cast: Cast, program: TestProgram
) -> None:
    page = browser.get(program.address())
    text = page.content.decode()
    assert "Desk assistant" in text and cast.team.name in text and cast.alice.email in text
    assert f'value="{cast.charlie.personal_workspace.pk}"' not in text
    assert "form-action 'self' http://127.0.0.1:3333" in page["Content-Security-Policy"]
    assert "no-store" in page["Cache-Control"]
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    hostile = TestProgram.registered("<script>alert(1)</script>", "https://evil.example/cb")
    text = browser.get(hostile.address()).content.decode()
    assert "<script>alert" not in text and "evil.example" in text
    # Nobody is asked who is not logged in, or decides without the page's own form.
    assert Client().get(program.address())["Location"].startswith("/accounts/login/?next=/oauth/authorize")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(cast.alice)
    assert program.answer(strict, cast.team.pk).status_code == 403
    assert not AuthorizationCode.objects.exists()


def test_a_faulty_request_is_never_sent_back(
    browser: Client, program: TestProgram, cast: Cast, subtests: Subtests
) -> None:
    other = TestProgram.registered("Other", "https://other.example/cb")
    faulty: list[dict[str, str | None]] = [
        {"client_id": "x"},
        {"client_id": None},
        {"client_id": str(cast.team.pk)},
        {"redirect_uri": other.redirect_uri},
        {"redirect_uri": REDIRECT + "/"},
        {"redirect_uri": REDIRECT + "?x=1"},
        {"response_type": "token"},
        {"response_type": None},
        {"response_mode": "fragment"},
        {"code_challenge": None},
        {"code_challenge": "short"},
        {"code_challenge_method": "plain"},
        {"code_challenge_method": None},
        {"scope": "admin"},
        {"resource": "https://elsewhere.example/mcp"},
    ]
    for changed in faulty:
        with subtests.test(**changed):
            assert browser.get(program.address(**changed)).status_code == 400
            assert program.answer(browser, cast.team.pk, **changed).status_code == 400
    two = program.address() + "&resource=https%3A%2F%2Felsewhere.example%2Fmcp"
    assert browser.get(two).status_code == 400
    assert not AuthorizationCode.objects.exists()


def test_who_refuses_gives_nothing(browser: Client, program: TestProgram, cast: Cast) -> None:
    refused = browser.post(program.address(), {"answer": "deny", "workspaces": [str(cast.team.pk)]})
    assert sent_back(refused) == {"error": "access_denied", "state": "s", "iss": "http://testserver"}
    for chosen in ([], [cast.charlie.personal_workspace.pk], ["x"]):
        assert program.answer(browser, *chosen).status_code == 400
    assert not AuthorizationCode.objects.exists()


# --- Tokens ------------------------------------------------------------------------------------------------


def test_a_program_reads_what_it_was_allowed(browser: Client, program: TestProgram, cast: Cast) -> None:
    stored_document(cast.team, "team.txt", b"Team.")
    stored_document(cast.alice.personal_workspace, "own.txt", b"Own.")
    foreign = cast.charlie.personal_workspace
    back = sent_back(program.answer(browser, cast.team.pk, foreign.pk))
    assert (back["state"], back["iss"]) == ("s", "http://testserver")
    reply = program.exchange(back["code"])
    tokens = reply.json()
    assert reply["Cache-Control"] == "no-store"
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("Bearer", 3600, "read write")
    assert names(tokens["access_token"]) == {"team.txt"}
    added = result_of(call_mcp(tokens["access_token"], "add_document", text="New.", wait_secs=0))
    assert Document.unscoped.get(pk=added["id"]).workspace == cast.team
    # Only digests are stored.
    for value in (back["code"], tokens["access_token"], tokens["refresh_token"]):
        rows = [*AuthorizationCode.objects.values(), *ProgramToken.objects.values(), *ApiKey.objects.values()]
        assert value not in str(rows)
    entry = AuditEntry.unscoped.get(action=AuditAction.PROGRAM_CONNECTED)
    assert (entry.user, entry.details["workspaces"]) == (cast.alice, 1)


def test_a_program_that_may_only_read(browser: Client, program: TestProgram, cast: Cast) -> None:
    tokens = program.connect(browser, cast.team.pk, write=False)
    assert tokens["scope"] == "read"
    refused = result_of(call_mcp(tokens["access_token"], "add_document", text="x"))
    assert refused["error"]["code"] == "forbidden"
    # Asking for more later gives no more.
    assert program.refresh(tokens["refresh_token"], scope="read write").json()["error"] == "invalid_scope"
    less = program.exchange(program.code(browser, cast.team.pk, scope="read offline_access")).json()
    assert less["scope"] == "read"


def test_a_code_is_good_once_for_who_asked(
    browser: Client, program: TestProgram, cast: Cast, subtests: Subtests
) -> None:
    other = TestProgram.registered("Other", "https://other.example/cb")
    code = program.code(browser, cast.team.pk)
    for changed in (
        {"code_verifier": "w" * 64},
        {"code_verifier": ""},
        {"redirect_uri": "http://127.0.0.1:3333/"},
        {"client_id": other.client_id},
        {"client_id": ""},
        {"resource": "http://testserver/other"},
        {"code": "x"},
        {"grant_type": "password"},
    ):
        with subtests.test(**changed):
            assert program.exchange(code, **changed).status_code in (400, 401)
    tokens = program.exchange(code).json()
    assert names(tokens["access_token"]) == set()
    again = program.exchange(code)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    # Who has the code twice may be a thief: what it gave has ended.
    assert call_mcp(tokens["access_token"]).status_code == 401
    late = program.code(browser, cast.team.pk)
    AuthorizationCode.objects.update(expires_at=timezone.now())
    assert program.exchange(late).json()["error"] == "invalid_grant"


def test_refresh_tokens_rotate(browser: Client, program: TestProgram, cast: Cast) -> None:
    first = program.connect(browser, cast.team.pk)
    other = TestProgram.registered("Other", "https://other.example/cb")
    assert other.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    second = program.refresh(first["refresh_token"]).json()
    assert second["scope"] == "read write"
    assert second["refresh_token"] != first["refresh_token"]
    assert names(second["access_token"]) == names(first["access_token"]) == set()
    # The first one a second time: it was stolen, or its thief was quicker.
    assert program.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    for token in (first["access_token"], second["access_token"]):
        assert call_mcp(token).status_code == 401
    assert program.refresh(second["refresh_token"]).json()["error"] == "invalid_grant"
    why = AuditEntry.unscoped.get(action=AuditAction.PROGRAM_DISCONNECTED).details["why"]
    assert why == "its refresh token was used twice"


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_a_program_ends_its_connection(browser: Client, program: TestProgram, cast: Cast, kind: str) -> None:
    tokens = program.connect(browser, cast.team.pk)
    other = TestProgram.registered("Other", "https://other.example/cb")
    for client_id, expected in ((other.client_id, 200), ("x", 401)):
        form = {"token": tokens[kind], "client_id": client_id}
        assert post_form("/oauth/revoke", form).status_code == expected
    assert call_mcp(tokens["access_token"]).status_code == 200
    ended = post_form("/oauth/revoke", {"token": tokens[kind], "client_id": program.client_id})
    assert (ended.status_code, ended.content) == (200, b"")
    assert call_mcp(tokens["access_token"]).status_code == 401
    assert program.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


def test_strange_forms_are_refused(db: None, subtests: Subtests) -> None:
    for body, content_type in (
        (b"{}", "application/json"),
        (b"\xff=\xff", "application/x-www-form-urlencoded"),
        (b"%ff=%ff", "application/x-www-form-urlencoded"),
        (b"a b", "application/x-www-form-urlencoded"),
        (b"", "application/x-www-form-urlencoded"),
        (b"grant_type=refresh_token&refresh_token=%00&client_id=%00", "application/x-www-form-urlencoded"),
        (b"x=" + b"y" * 20_000, "application/x-www-form-urlencoded"),
    ):
        with subtests.test(body=str(body[:20])):
            for address in ("/oauth/token", "/oauth/revoke"):
                assert Client().post(address, body, content_type=content_type).status_code in (400, 401)


# --- Its end -----------------------------------------------------------------------------------------------


def test_the_person_sees_and_disconnects_it(browser: Client, program: TestProgram, cast: Cast) -> None:
    tokens = program.connect(browser, cast.team.pk)
    page = browser.get("/accounts/programs/").content.decode()
    assert "Desk assistant" in page and cast.team.name in page
    key = ApiKey.objects.get(program__pk=program.client_id)
    charlie = Client()
    charlie.force_login(cast.charlie)
    assert charlie.post("/accounts/programs/", {"id": key.pk}).status_code == 404
    assert charlie.post("/accounts/programs/", {"id": "x"}).status_code == 404
    assert call_mcp(tokens["access_token"]).status_code == 200
    assert browser.post("/accounts/programs/", {"id": key.pk}).status_code == 302
    assert call_mcp(tokens["access_token"]).status_code == 401
    assert str(key.pk) not in browser.get("/accounts/programs/").content.decode()
    entry = AuditEntry.unscoped.get(action=AuditAction.PROGRAM_DISCONNECTED)
    assert entry.details["why"] == "its user has ended it"


def test_connecting_again_ends_the_earlier_connection(
    browser: Client, program: TestProgram, cast: Cast
) -> None:
    first, second = program.connect(browser, cast.team.pk), program.connect(browser, cast.team.pk)
    assert call_mcp(first["access_token"]).status_code == 401
    assert call_mcp(second["access_token"]).status_code == 200
    assert ApiKey.objects.filter(program__isnull=False).count() == 1


def test_it_never_has_more_than_its_person(browser: Client, program: TestProgram, cast: Cast) -> None:
    bob = Client()
    bob.force_login(cast.bob)
    stored_document(cast.team, "team.txt", b"Team.")
    token = program.connect(bob, cast.team.pk)["access_token"]
    # A viewer's program does not write, whatever it was allowed.
    assert result_of(call_mcp(token, "add_document", text="x"))["error"]["code"] == "forbidden"
    assert names(token) == {"team.txt"}
    Membership.objects.filter(user=cast.bob, workspace=cast.team).delete()
    assert names(token) == set()
    cast.bob.is_active = False
    cast.bob.save()
    assert call_mcp(token).status_code == 401


def test_it_speaks_for_no_external_user(browser: Client, program: TestProgram, cast: Cast) -> None:
    token = program.connect(browser, cast.team.pk)["access_token"]
    headers = {"Authorization": f"Bearer {token}", "X-External-User-Id": "x"}
    refused = Client().post("/mcp", "{}", content_type="application/json", headers=headers)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "external_user_id")


def test_a_token_is_for_one_address(browser: Client, program: TestProgram, cast: Cast) -> None:
    tokens = program.connect(browser, cast.team.pk)
    ProgramToken.objects.update(resource="https://other.example/mcp")
    assert call_mcp(tokens["access_token"]).status_code == 401
    assert program.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


def test_what_has_expired_goes(browser: Client, program: TestProgram, cast: Cast) -> None:
    tokens = program.connect(browser, cast.team.pk)
    program.code(browser, cast.team.pk)
    unused = TestProgram.registered("Unused")
    now = timezone.now()
    delete_expired()
    assert Program.objects.count() == 2 and AuthorizationCode.objects.count() == 2
    ProgramToken.objects.filter(kind="access").update(expires_at=now)
    assert call_mcp(tokens["access_token"]).status_code == 401
    AuthorizationCode.objects.update(expires_at=now)
    Program.objects.filter(pk=unused.client_id).update(created_at=now - timedelta(days=2))
    delete_expired()
    assert [str(each.pk) for each in Program.objects.all()] == [program.client_id]
    assert AuthorizationCode.objects.count() == 1
    # A program that was silent for a month is connected no more.
    ProgramToken.objects.update(expires_at=now)
    delete_expired()
    assert not ApiKey.objects.filter(program__isnull=False).exists()
    Program.objects.update(last_used_at=now - timedelta(days=100))
    delete_expired()
    assert not Program.objects.exists()


def test_requests_count_against_the_rate(
    browser: Client, program: TestProgram, cast: Cast, settings: Settings
) -> None:
    token = program.connect(browser, cast.team.pk)["access_token"]
    settings.REQUESTS_PER_MINUTE = 3
    assert [call_mcp(token).status_code for _ in range(5)].count(429) >= 1


def test_account_and_export(browser: Client, program: TestProgram, cast: Cast) -> None:
    program.connect(browser, cast.team.pk)
    program.code(browser, cast.team.pk)
    archive = {name: b"".join(parts) for name, parts in members_of(cast.alice)}
    [exported] = json.loads(archive["programs.json"])
    assert (exported["name"], exported["workspace_ids"]) == ("Desk assistant", [str(cast.team.pk)])
    assert "Desk assistant" not in archive["api_keys.json"].decode()
    cast.alice.delete()
    assert not ProgramToken.objects.exists() and not AuthorizationCode.objects.exists()
