"""Logging in: one limit for every form, which neither strangers nor proxies turn against people."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher, check_password, make_password
from django.db import connection
from django.test import Client
from pytest_django import Settings

from accounts.access import auth, hashers, logins, throttling
from accounts.access.throttling import AttemptLimit, Bucket, take
from accounts.models import AttemptBucket, User
from core.errors import RateLimited
from tests.conftest import Cast

PASSWORD = "a long enough password"
LOGIN = "/accounts/login/"

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada@example.org", PASSWORD)


def log_in(
    client: Client,
    password: str,
    address: str = "192.0.2.1",
    account: str = "ada@example.org",
    **headers: str,
) -> Any:
    form = {"login": account, "password": password}
    return client.post(LOGIN, form, REMOTE_ADDR=address, headers=headers)


def tries_until_refused(client: Client, most: int = 30, **options: Any) -> int:
    """Return how many wrong passwords are looked at before one is refused."""
    for number in range(most):
        if log_in(client, "wrong", **options).status_code == 429:
            return number
    return most


def test_who_guesses_is_refused_and_told_when_to_come_back(ada: User) -> None:
    assert tries_until_refused(Client()) == 5
    refused = log_in(Client(), PASSWORD)
    assert refused.status_code == 429
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert "Too many attempts. Try again in" in refused.content.decode()


def test_guesses_from_elsewhere_do_not_lock_the_owner_out(ada: User) -> None:
    """Five bad passwords locked the account for everybody."""
    for address in ("192.0.2.1", "192.0.2.2", "2001:db8::1"):
        assert tries_until_refused(Client(), address=address) == 5
    assert log_in(Client(), PASSWORD, address="198.51.100.7").status_code == 302


def test_a_browser_that_was_logged_in_before_gets_in_from_the_guessers_address(ada: User) -> None:
    """Behind a proxy that is not trusted, everybody has one address."""
    own = Client()
    assert log_in(own, PASSWORD).status_code == 302
    own.post("/accounts/logout/")
    assert tries_until_refused(Client()) == 5
    assert log_in(own, PASSWORD).status_code == 302
    own.post("/accounts/logout/")
    # The cookie is no free pass either, and no pass to another account.
    assert tries_until_refused(own) == 5
    User.objects.create_user("eve@example.org", PASSWORD)
    stolen = Client()
    stolen.cookies[logins.BROWSER_COOKIE] = own.cookies[logins.BROWSER_COOKIE].value
    assert tries_until_refused(stolen, account="eve@example.org") == 5


def test_the_cookie_of_a_browser_names_nobody_and_scripts_do_not_see_it(ada: User) -> None:
    own = Client()
    log_in(own, PASSWORD)
    cookie = own.cookies[logins.BROWSER_COOKIE]
    assert "ada" not in cookie.value
    assert cookie["httponly"] and cookie["samesite"] == "Lax" and cookie["path"] == LOGIN


def test_the_right_password_does_not_count(ada: User) -> None:
    for _ in range(8):
        assert log_in(Client(), PASSWORD).status_code == 302


def test_a_written_address_counts_only_from_a_trusted_proxy(ada: User, settings: Settings) -> None:
    """With a new `X-Forwarded-For` each time, a local peer could try for ever."""
    settings.TRUSTED_PROXIES = []
    for number in range(5):
        assert log_in(Client(), "wrong", **{"X-Forwarded-For": f"203.0.113.{number}"}).status_code == 200
    assert log_in(Client(), "wrong", **{"X-Forwarded-For": "203.0.113.99"}).status_code == 429
    settings.TRUSTED_PROXIES = ["192.0.2.0/24"]
    assert log_in(Client(), PASSWORD, **{"X-Forwarded-For": "203.0.113.99"}).status_code == 302


def test_one_address_can_not_try_everybody(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logins, "LOGIN_OF_ADDRESS", AttemptLimit("few of an address", 7, 60))
    replies = [log_in(Client(), "wrong", account=f"user{n}@example.org").status_code for n in range(9)]
    assert replies == [200] * 7 + [429] * 2
    assert log_in(Client(), PASSWORD, address="198.51.100.7").status_code == 302


def test_many_addresses_can_not_try_one_account_for_ever(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logins, "LOGIN_OF_ACCOUNT", AttemptLimit("few of an account", 7, 60))
    replies = [log_in(Client(), "wrong", address=f"192.0.2.{n}").status_code for n in range(9)]
    assert replies == [200] * 7 + [429] * 2


def test_an_ipv6_network_counts_as_one_address(ada: User) -> None:
    for number in range(5):
        log_in(Client(), "wrong", address=f"2001:db8::{number:x}")
    assert log_in(Client(), "wrong", address="2001:db8::ffff:1").status_code == 429


def test_the_table_of_attempts_names_nobody(ada: User) -> None:
    log_in(Client(), "wrong")
    assert AttemptBucket.objects.count() == 3
    assert all(
        len(key) == 64 and "ada" not in key for key in AttemptBucket.objects.values_list("key", flat=True)
    )


@pytest.mark.parametrize("account", ["ada@example.org", "nobody@example.org", "off@example.org"])
def test_a_refusal_does_not_tell_whether_there_is_an_account(ada: User, account: str) -> None:
    User.objects.create_user("off@example.org", PASSWORD, is_active=False)
    password = PASSWORD if account.startswith("off") else "wrong"
    reply = log_in(Client(), password, account=account)
    assert (reply.status_code, "not correct" in reply.content.decode()) == (200, True)
    assert tries_until_refused(Client(), account=account) == 4


# --- The admin panel -------------------------------------------------------------------------------------


def test_the_admin_panel_has_no_login_of_its_own(ada: User) -> None:
    """Forty wrong passwords at /admin/login/ were all looked at."""
    root = User.objects.create_superuser("root@example.org", PASSWORD)
    client = Client()
    for address in ("/admin/", "/admin/accounts/user/"):
        sent_on = client.get(address, follow=True)
        assert sent_on.redirect_chain[-1][0] == f"{LOGIN}?next={address}"
    for number in range(8):
        form = {"username": root.email, "password": "wrong", "login": root.email}
        reply = client.post("/admin/login/?next=/admin/", form)
        assert (reply.status_code, reply["Location"]) == (302, f"{LOGIN}?next=/admin/"), number
    assert client.post("/admin/login/", {"username": root.email, "password": PASSWORD}).status_code == 302
    assert client.get("/admin/").status_code == 302
    assert log_in(client, PASSWORD, account=root.email).status_code == 302
    assert client.get("/admin/").status_code == 200
    assert client.get("/admin/login/")["Location"] == "/admin/"


@pytest.mark.parametrize("address", ["/admin/", "/admin/login/", "/admin/kb/document/"])
def test_who_is_no_administrator_is_told_so(cast: Cast, address: str) -> None:
    """A logged-in user got a second login without a word."""
    client = Client()
    client.force_login(cast.bob)
    reply = client.get(address)
    assert reply.status_code == 403
    assert "This is for administrators" in reply.content.decode()


def test_the_next_page_is_never_another_site(ada: User) -> None:
    User.objects.create_superuser("root@example.org", PASSWORD)
    sent_on = Client().get("/admin/login/?next=https://evil.example/", follow=True)
    client = Client()
    form = {"login": "root@example.org", "password": PASSWORD}
    assert client.post(sent_on.redirect_chain[-1][0], form)["Location"] == "/"


# --- Work ------------------------------------------------------------------------------------------------


def test_passwords_are_hashed_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs most of a second of a core: a crowd of logins kept all of them busy."""
    running, most, lock = 0, 0, threading.Lock()
    real = PBKDF2PasswordHasher.encode

    def counted(*arguments: Any, **named: Any) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        try:
            return real(*arguments, **named)
        finally:
            with lock:
                running -= 1

    monkeypatch.setattr(PBKDF2PasswordHasher, "encode", counted)
    with ThreadPoolExecutor(8) as pool:
        encoded = list(pool.map(make_password, ["secret"] * 8))
    assert most == hashers.AT_ONCE
    assert check_password("secret", encoded[0])


@pytest.mark.parametrize(("limit", "status"), [("WAITING_OF_ADDRESS", 429), ("WAITING_IN_ALL", 503)])
def test_a_crowd_of_logins_is_sent_away_at_once(
    ada: User, monkeypatch: pytest.MonkeyPatch, limit: str, status: int
) -> None:
    monkeypatch.setattr(logins, limit, 0)
    reply = log_in(Client(), PASSWORD)
    assert reply.status_code == status
    assert int(reply["Retry-After"]) > 0
    assert "in a few seconds" in reply.content.decode()
    monkeypatch.undo()
    assert log_in(Client(), PASSWORD).status_code == 302


def test_hashes_of_earlier_versions_are_known(ada: User) -> None:
    ada.password = PBKDF2PasswordHasher().encode(PASSWORD, "salt", 1000)
    ada.save()
    assert log_in(Client(), PASSWORD).status_code == 302


# --- Buckets ---------------------------------------------------------------------------------------------


def test_a_bucket_drains_with_time_and_refusals_do_not_fill_it() -> None:
    bucket = Bucket.of(AttemptLimit("two", 2, 100), "somebody")
    take(bucket)
    take(bucket)
    for _ in range(3):
        with pytest.raises(RateLimited) as refused:
            take(bucket)
        assert 90 <= refused.value.retry_after <= 100
    with connection.cursor() as cursor:
        cursor.execute("UPDATE accounts_attemptbucket SET empty_at = empty_at - interval '100 seconds'")
    take(bucket)
    with pytest.raises(RateLimited):
        take(bucket)


def test_a_refused_attempt_leaves_the_other_buckets_as_they_were() -> None:
    wide, narrow = (
        Bucket.of(AttemptLimit("wide", 2, 100), "a"),
        Bucket.of(AttemptLimit("narrow", 1, 100), "a"),
    )
    take(wide, narrow)
    for _ in range(3):
        with pytest.raises(RateLimited):
            take(wide, narrow)
    take(wide)


@pytest.mark.django_db(transaction=True)
def test_attempts_at_the_same_moment_do_not_share_a_place() -> None:
    bucket = Bucket.of(AttemptLimit("five", 5, 100), "somebody")

    def attempt(_: int) -> bool:
        try:
            take(bucket)
        except RateLimited:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(24))) == 5


def test_empty_buckets_are_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttling, "SWEEP_SHARE", 1.1)
    take(Bucket.of(AttemptLimit("gone at once", 1, 0.0), "a"))
    take(Bucket.of(AttemptLimit("stays", 1, 100), "a"))
    AttemptBucket.sweep()
    assert AttemptBucket.objects.count() == 1


# --- API keys --------------------------------------------------------------------------------------------


def test_unknown_keys_are_limited_by_address_and_known_ones_are_not(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "UNKNOWN_KEYS", AttemptLimit("few unknown keys", 5, 60))

    def ask(key: str, address: str) -> Any:
        return Client().get("/api/v1/me", headers={"Authorization": f"Bearer {key}"}, REMOTE_ADDR=address)

    replies = [ask(f"locus_{n:010x}_nothing", "192.0.2.1") for n in range(6)]
    assert replies[0].status_code == 401
    assert replies[-1].status_code == 429
    assert replies[-1].json()["error"]["code"] == "rate_limited"
    assert int(replies[-1]["Retry-After"]) >= 1
    assert ask("locus_0123456789_nothing", "192.0.2.2").status_code == 401
    assert ask(cast.keys["alice"], "192.0.2.1").status_code == 200
