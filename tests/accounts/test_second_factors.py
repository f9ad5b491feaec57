"""Second factors: codes of an app, recovery codes, who must have one, and how often one may guess."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from asgiref.sync import sync_to_async
from django.core import mail
from django.test import AsyncClient, Client
from pytest_django import Settings

from accounts.models import AuditEntry, User
from tests.accounts.account_pages import SECURITY, add_app, code_of, log_in, reauthenticate, sent_mail
from tests.conftest import Cast, make_cast
from tests.testing.sockets import socket

SECOND = "/accounts/login/second-factor/"
CODES = f"{SECURITY}recovery-codes/"

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]


@pytest.fixture
def secret(own: Client, django_capture_on_commit_callbacks: Any) -> str:
    """The key of grace's app."""
    reauthenticate(own)
    # allauth tells others after the commit.
    with django_capture_on_commit_callbacks(execute=True):
        return add_app(own)


def recovery_codes(own: Client) -> list[str]:
    return re.findall(r"<code>([0-9]{8})</code>", own.get(CODES).content.decode())


def at_second_factor(grace: User) -> Client:
    client = Client()
    assert log_in(client, grace.email)["Location"] == SECOND
    return client


def is_logged_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


@pytest.mark.parametrize(
    "address",
    [
        *(f"{SECURITY}app/add/", f"{SECURITY}passkeys/add/", CODES, f"{CODES}new/"),
        *("/accounts/data/export/", "/accounts/data/delete/"),
    ],
)
def test_changes_ask_for_the_password_first(own: Client, grace: User, address: str) -> None:
    Authenticator.objects.create(user=grace, type="recovery_codes", data={"seed": "x", "used_mask": 0})
    for send in (own.get, own.post) if address != CODES else (own.get,):
        assert send(address)["Location"].startswith("/accounts/reauthenticate/?next=")


def test_an_app_is_added_by_its_code_and_asked_for_at_the_login(
    own: Client, grace: User, secret: str
) -> None:
    client = at_second_factor(grace)
    assert not is_logged_in(client)
    assert client.post(SECOND, {"code": "000000"}).status_code == 200
    assert client.post(SECOND, {"code": code_of(secret)})["Location"] == "/"
    assert is_logged_in(client)
    actions = list(AuditEntry.unscoped.order_by("pk").values_list("action", "details"))
    assert actions == [
        ("login.succeeded", {"methods": ["password"]}),
        ("second_factor.added", {"type": "totp"}),
        ("second_factor.added", {"type": "recovery_codes"}),
        ("login.failed", {"second_factor": "totp"}),
        ("login.succeeded", {"methods": ["password", "totp"]}),
    ]


def test_the_picture_is_one_that_the_content_policy_allows(own: Client) -> None:
    reauthenticate(own)
    page = own.get(f"{SECURITY}app/add/")
    assert 'src="data:image/svg+xml;base64,' in page.content.decode()
    assert "data:" in page["Content-Security-Policy"]


def test_a_wrong_first_code_adds_nothing(own: Client) -> None:
    reauthenticate(own)
    own.get(f"{SECURITY}app/add/")
    assert "This code is not right" in own.post(f"{SECURITY}app/add/", {"code": "000000"}).content.decode()
    assert not Authenticator.objects.exists()


def test_a_code_works_once_however_long_it_is_valid(grace: User, secret: str) -> None:
    code = code_of(secret, 1)
    assert at_second_factor(grace).post(SECOND, {"code": code}).status_code == 302
    assert at_second_factor(grace).post(SECOND, {"code": code}).status_code == 200


def test_codes_are_limited(grace: User, secret: str) -> None:
    client = at_second_factor(grace)
    replies = [client.post(SECOND, {"code": f"{n:06}"}) for n in range(6)]
    assert [reply.status_code for reply in replies] == [200] * 5 + [429]
    assert int(replies[-1]["Retry-After"]) > 60
    # Neither another browser, nor a recovery code, nor the right code helps.
    assert at_second_factor(grace).post(SECOND, {"code": code_of(secret)}).status_code == 429
    assert at_second_factor(grace).post(SECOND, {"code": "12345678"}).status_code == 429


def test_reauthentication_is_limited_as_well(own: Client, grace: User, secret: str) -> None:
    replies = [own.post("/accounts/reauthenticate/code/", {"code": f"{n:06}"}) for n in range(6)]
    assert [reply.status_code for reply in replies] == [200] * 5 + [429]
    by_password = [reauthenticate(own, "wrong").status_code for _ in range(6)]
    assert by_password == [200] * 5 + [429]


def test_recovery_codes_are_shown_once_and_each_works_once(own: Client, grace: User, secret: str) -> None:
    codes = recovery_codes(own)
    assert len(set(codes)) == 10
    assert recovery_codes(own) == []
    assert at_second_factor(grace).post(SECOND, {"code": codes[0]}).status_code == 302
    assert at_second_factor(grace).post(SECOND, {"code": codes[0]}).status_code == 200
    assert "9 left" in own.get(SECURITY).content.decode()
    own.post(f"{CODES}new/")
    renewed = recovery_codes(own)
    assert len(renewed) == 10 and not set(renewed) & set(codes)
    assert at_second_factor(grace).post(SECOND, {"code": codes[1]}).status_code == 200


def test_secrets_are_stored_encrypted_and_a_lost_key_opens_nothing(
    own: Client, grace: User, secret: str, settings: Settings
) -> None:
    codes = recovery_codes(own)
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in stored and codes[0] not in stored
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another key, at least as long as the first one"
    # An empty secret would have codes that anybody can compute.
    for code in (code_of(secret), code_of(""), codes[0]):
        assert at_second_factor(grace).post(SECOND, {"code": code}).status_code == 200
    settings.SECRET_KEY_FALLBACKS = [old]
    assert at_second_factor(grace).post(SECOND, {"code": code_of(secret)}).status_code == 302


def test_removing_the_app_removes_the_recovery_codes(own: Client, grace: User, secret: str) -> None:
    assert own.get(f"{SECURITY}app/remove/").status_code == 200
    own.post(f"{SECURITY}app/remove/")
    assert not Authenticator.objects.exists()
    assert is_logged_in_at_once(grace)
    removed = AuditEntry.unscoped.filter(action="second_factor.removed").order_by("pk")
    assert [entry.details["type"] for entry in removed] == ["totp", "recovery_codes"]


def is_logged_in_at_once(grace: User) -> bool:
    client = Client()
    log_in(client, grace.email)
    return is_logged_in(client)


def test_the_admin_panel_asks_for_the_second_factor(own: Client, grace: User, secret: str) -> None:
    User.objects.filter(pk=grace.pk).update(is_staff=True, is_superuser=True)
    client = Client()
    login = client.get("/admin/", follow=True).redirect_chain[-1][0]
    assert (
        client.post(login, {"login": grace.email, "password": "a long enough password"})["Location"] == SECOND
    )
    assert client.get("/admin/").status_code == 302
    assert client.post(SECOND, {"code": code_of(secret)})["Location"] == "/admin/"
    assert client.get("/admin/").status_code == 200


@pytest.mark.usefixtures("mail_server")
def test_changes_are_mailed(own: Client, secret: str) -> None:
    message = sent_mail()
    assert (message.to, message.subject) == (["grace@example.org"], "[Locus] An app for codes was added")
    assert "Firefox/140" in str(message.body) and secret not in str(message.body)
    assert len(mail.outbox) == 1


# --- Who must have one -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("required", "is_staff", "must"),
    [("off", True, False), ("staff", False, False), ("staff", True, True), ("all", False, True)],
)
def test_who_needs_a_second_factor_sets_it_up_first(
    own: Client, grace: User, settings: Settings, required: str, is_staff: bool, must: bool
) -> None:
    settings.REQUIRE_SECOND_FACTOR = required
    User.objects.filter(pk=grace.pk).update(is_staff=is_staff, is_superuser=is_staff)
    for address in ("/", "/documents/", "/accounts/profile/", "/accounts/data/export/", "/admin/"):
        reply = own.get(address)
        assert (reply.headers.get("Location") == SECURITY) is must, address
    assert own.get("/api/v1/documents").status_code == (403 if must else 200)
    assert own.get(SECURITY).status_code == 200
    reauthenticate(own)
    add_app(own)
    assert own.get("/").status_code == 200
    assert own.get("/api/v1/documents").status_code == 200


@pytest.mark.django_db(transaction=True)
async def test_sockets_need_a_second_factor_too(settings: Settings) -> None:
    settings.REQUIRE_SECOND_FACTOR = "all"
    cast = await sync_to_async(make_cast)()
    client = AsyncClient()
    await sync_to_async(client.force_login)(cast.alice)
    cookie = f"sessionid={client.cookies['sessionid'].value}".encode()
    headers = [(b"cookie", cookie), (b"host", b"testserver"), (b"origin", b"http://testserver")]
    opened = socket(f"/ws/documents?workspace={cast.team.pk}", headers)
    assert (await opened.connect(timeout=20))[0]
    closing = await opened.receive_output(timeout=20)
    assert (closing["type"], closing["code"]) == ("websocket.close", 4401)


def test_a_key_needs_no_second_factor(cast: Cast, settings: Settings) -> None:
    settings.REQUIRE_SECOND_FACTOR = "all"
    headers: Any = {"Authorization": f"Bearer {cast.keys['alice']}"}
    assert Client().get("/api/v1/documents", headers=headers).status_code == 200
