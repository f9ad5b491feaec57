"""The pages of accounts: only those that Locus offers, and addresses that nobody can take from others."""

from __future__ import annotations

import logging
import re
from importlib import import_module
from typing import Any

import pytest
from allauth.account import views as allauth
from allauth.account.models import EmailAddress
from django.apps import apps
from django.core import mail
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.db import IntegrityError, transaction
from django.test import Client
from pytest_django import Settings

from accounts.access.throttling import AttemptLimit, limit_attempts
from accounts.models import User
from accounts.people import login_urls
from tests.accounts.account_pages import sent_mail
from tests.testing.live import wait_until

PASSWORD = "a long enough password"
NEW_PASSWORD = "another fine password"
RESET = "/accounts/password/reset/"
NOT_OFFERED = [
    *("/accounts/", "/accounts/email/", "/accounts/inactive/", "/accounts/3rdparty/", "/accounts/2fa/"),
    *("/accounts/password/set/", "/accounts/login/code/", "/accounts/login/code/confirm/"),
    *("/accounts/social/signup/", "/accounts/social/connections/", "/accounts/oidc/login/"),
    *("/accounts/oidc/callback/", "/accounts/signup/passkey/", "/accounts/2fa/recovery-codes/download/"),
]
WITH_MAIL = [
    *(RESET, f"{RESET}done/", f"{RESET}key/done/", f"{RESET}key/1-abc/"),
    *("/accounts/confirm-email/", "/accounts/confirm-email/abc/"),
]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]


@pytest.fixture
def with_mail(settings: Settings) -> None:
    """A mail server, whose mails stay here."""
    settings.EMAIL_HOST = "mail.example.org"
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada@example.org", PASSWORD)


def is_verified(user: User) -> bool:
    return bool(EmailAddress.objects.filter(user=user, email=user.email, verified=True).exists())


def link_in(message: EmailMessage) -> str:
    [link] = re.findall(r"http://testserver(/\S+)", str(message.body))
    return str(link)


def sign_up(email: str) -> Any:
    return Client().post("/accounts/signup/", {"email": email, "password1": PASSWORD, "password2": PASSWORD})


def log_in(email: str, password: str = PASSWORD) -> Any:
    return Client().post("/accounts/login/", {"login": email, "password": password})


# --- What is there ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_logged_in", [True, False])
def test_pages_that_are_not_offered_do_not_exist(ada: User, settings: Settings, is_logged_in: bool) -> None:
    """Nobody linked /accounts/email/, but it let anybody take any free address."""
    client = Client()
    if is_logged_in:
        client.force_login(ada)
    for mail_server in ("", "mail.example.org"):
        settings.EMAIL_HOST = mail_server
        for address in NOT_OFFERED:
            form = {"email": "nosuch@x.test", "action_add": "", "action_primary": ""}
            assert client.get(address).status_code == 404, address
            assert client.post(address, form).status_code == 404, address
    assert EmailAddress.objects.count() == 1


def test_without_a_mail_server_nothing_offers_to_mail(ada: User) -> None:
    """The form said “We have sent you an email”, and whoever read the log took the account over."""
    client = Client()
    for address in WITH_MAIL:
        assert (
            client.get(address).status_code == client.post(address, {"email": ada.email}).status_code == 404
        )
    login = client.get("/accounts/login/").content.decode()
    client.force_login(ada)
    change = client.get("/accounts/password/change/").content.decode()
    for page in (login, change):
        assert "Your administrator can set a new one." in page
        assert "/accounts/password/reset" not in page


def test_sign_up_is_there_and_linked_only_where_it_is_open(settings: Settings) -> None:
    """With open sign-up nothing led to it."""
    for is_open, status in ((False, 404), (True, 200)):
        settings.SIGNUP_OPEN = is_open
        assert Client().get("/accounts/signup/").status_code == status
        assert ("Create an account" in Client().get("/accounts/login/").content.decode()) is is_open
    page = Client().get("/accounts/login/?next=/keys/").content.decode()
    assert 'href="/accounts/signup/?next=%2Fkeys%2F"' in page
    settings.SIGNUP_OPEN = False
    assert sign_up("new@example.org").status_code == 404
    assert not User.objects.exists()


def test_forms_of_accounts_are_limited_by_address(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.SIGNUP_OPEN = True
    few = limit_attempts(AttemptLimit("few sign-ups", 2, 60))(allauth.signup)
    [sign_up_page] = [each for each in login_urls.entrance if each.name == "account_signup"]
    monkeypatch.setattr(sign_up_page, "callback", few)
    replies = [sign_up(f"user{number}@example.org") for number in range(3)]
    assert [reply.status_code for reply in replies] == [302, 302, 429]
    assert int(replies[2]["Retry-After"]) > 0
    assert "Too many attempts. Try again in" in replies[2].content.decode()


def test_a_password_is_changed_a_few_times_a_minute(ada: User) -> None:
    """Who finds a browser open must not find the password out as well."""
    client = Client()
    client.force_login(ada)
    form = {"oldpassword": "wrong", "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    replies = [client.post("/accounts/password/change/", form).status_code for _ in range(6)]
    assert replies == [200] * 5 + [429]


def test_somebody_without_a_password_has_none_to_change(ada: User) -> None:
    ada.set_unusable_password()
    ada.save()
    client = Client()
    client.force_login(ada)
    assert client.get("/accounts/password/change/").status_code == 404


# --- Mails -----------------------------------------------------------------------------------------------


def test_without_a_mail_server_no_mail_is_written_anywhere() -> None:
    """Links to set passwords stood in the log."""
    configured = import_module("locus.settings")
    assert configured.EMAIL_HOST == ""
    assert configured.EMAIL_BACKEND == "django.core.mail.backends.dummy.EmailBackend"


def test_a_password_is_reset_by_mail(with_mail: None, ada: User) -> None:
    reply = Client().post(RESET, {"email": "ADA@example.org"})
    assert reply["Location"] == f"{RESET}done/"
    message = sent_mail()
    assert (message.to, message.subject) == (["ada@example.org"], "[Locus] Set a new password")
    client = Client()
    form = client.get(link_in(message))["Location"]
    assert client.get(form).status_code == 200
    client.post(form, {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD})
    assert log_in(ada.email, NEW_PASSWORD).status_code == 302
    assert "no longer works" in Client().get(link_in(message), follow=True).content.decode()


def test_a_reset_does_not_tell_whether_there_is_an_account(with_mail: None, ada: User) -> None:
    known, unknown = (Client().post(RESET, {"email": f"{name}@example.org"}) for name in ("ada", "nobody"))
    assert (known.status_code, known["Location"]) == (unknown.status_code, unknown["Location"])
    assert known.content == unknown.content
    assert sent_mail().to == ["ada@example.org"]


def test_a_mail_that_can_not_be_sent_is_logged_without_its_words(
    with_mail: None, ada: User, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    with caplog.at_level(logging.DEBUG):
        assert Client().post(RESET, {"email": ada.email}).status_code == 302
        wait_until(lambda: "could not be sent" in caplog.text, "it is logged")
    assert "A mail could not be sent: ConnectionRefusedError" in caplog.text
    assert "/key/" not in caplog.text and "ada@" not in caplog.text


# --- Addresses -------------------------------------------------------------------------------------------


def test_who_signs_up_gets_in_once_the_address_is_confirmed(with_mail: None, settings: Settings) -> None:
    settings.SIGNUP_OPEN = True
    assert sign_up("New@Example.org")["Location"] == "/accounts/confirm-email/"
    user = User.objects.get(email="new@example.org")
    assert not is_verified(user)
    link = link_in(sent_mail())
    reply = log_in(user.email)
    assert reply["Location"] == "/accounts/confirm-email/"
    assert Client().get(link).status_code == 200
    assert not is_verified(user), "looking at the page confirms nothing"
    client = Client()
    client.post(link)
    assert client.get("/").status_code == 302, "confirming is not logging in"
    assert is_verified(user)
    assert log_in(user.email)["Location"] == "/"


def test_signing_up_with_a_taken_address_tells_its_owner_and_nobody_else(
    with_mail: None, settings: Settings, ada: User
) -> None:
    settings.SIGNUP_OPEN = True
    assert sign_up("ADA@example.org")["Location"] == sign_up("other@example.org")["Location"]
    sent_mail(2)
    assert {(m.to[0], m.subject) for m in mail.outbox} == {
        ("ada@example.org", "[Locus] You have an account already"),
        ("other@example.org", "[Locus] Confirm your address"),
    }
    assert User.objects.filter(email__iexact="ada@example.org").count() == 1


def test_who_an_administrator_creates_needs_no_confirmation(with_mail: None, ada: User) -> None:
    assert is_verified(ada)
    assert log_in(ada.email)["Location"] == "/"
    assert mail.outbox == []


def test_another_row_with_ones_address_leads_nowhere(ada: User) -> None:
    """Look-ups preferred a verified row, even one of another account."""
    stranger = User.objects.create_user("stranger@example.org", "the password of a stranger")
    EmailAddress.objects.filter(user=ada).delete()
    EmailAddress.objects.create(user=stranger, email=ada.email, verified=True)
    assert log_in(ada.email, "the password of a stranger").status_code == 200
    client = Client()
    client.post("/accounts/login/", {"login": ada.email, "password": PASSWORD})
    assert client.session["_auth_user_id"] == str(ada.pk)


def test_addresses_that_differ_in_case_only_are_one(ada: User) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user("ADA@Example.org")
    with pytest.raises(ValidationError):
        User(email="Ada@EXAMPLE.org", password="x").full_clean()


def test_the_migration_keeps_one_address_for_each_user(ada: User) -> None:
    migration = import_module("accounts.migrations.0003_attempts_made_keys_and_verified_addresses")
    boss = User.objects.create_superuser("boss@example.org")
    signed_up = User.objects.create_user("signed.up@example.org")
    EmailAddress.objects.filter(user=boss).delete()
    EmailAddress.objects.filter(user=signed_up).update(verified=False)
    EmailAddress.objects.create(user=signed_up, email=ada.email, verified=False)
    User.objects.filter(pk=ada.pk).update(email="Ada@example.org")
    migration.write_addresses_small(apps, None)
    migration.keep_one_address_each(apps, None)
    rows = set(EmailAddress.objects.values_list("user__email", "email", "verified"))
    assert rows == {
        (ada.email, ada.email, True),
        (boss.email, boss.email, True),
        (signed_up.email, signed_up.email, False),
    }
