"""The list of sessions: where somebody is logged in, and how that is ended."""

from __future__ import annotations

import re

import pytest
from allauth.usersessions.models import UserSession
from django.test import Client
from pytest import Subtests

from accounts.models import AuditEntry, User
from accounts.people import middleware
from accounts.people.browsers import browser_in
from tests.accounts.account_pages import log_in

SESSIONS = "/accounts/sessions/"
CHROME = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Safari/537.36"
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]


def elsewhere(user: User, address: str = "198.51.100.7") -> Client:
    client = Client(headers={"User-Agent": CHROME}, REMOTE_ADDR=address)
    assert log_in(client, user.email).status_code == 302
    return client


def is_logged_in(client: Client) -> bool:
    return bool(client.get("/accounts/profile/").status_code == 200)


def test_sessions_are_listed_with_browser_and_address(own: Client, grace: User) -> None:
    elsewhere(grace)
    stranger = User.objects.create_user("stranger@example.org", "a long enough password")
    elsewhere(stranger, "203.0.113.5")
    page = own.get(SESSIONS).content.decode()
    assert re.findall("<strong>(.*?)</strong>", page) == ["Firefox on Linux", "Chrome on Windows"]
    assert "198.51.100.7" in page and "203.0.113.5" not in page
    assert page.index("This browser") < page.index("Chrome on Windows")


def test_one_is_ended_and_the_others_stay(own: Client, grace: User) -> None:
    first, second = elsewhere(grace), elsewhere(grace, "198.51.100.8")
    [row] = UserSession.objects.filter(ip="198.51.100.7")
    own.post(SESSIONS, {"id": row.pk})
    assert [is_logged_in(each) for each in (own, first, second)] == [True, False, True]
    entry = AuditEntry.unscoped.get(action="login.ended")
    assert (entry.user, entry.details) == (grace, {"sessions": 1})


def test_all_others_are_ended(own: Client, grace: User) -> None:
    others = [elsewhere(grace, f"198.51.100.{n}") for n in range(3)]
    own.post(SESSIONS)
    assert is_logged_in(own) and not any(map(is_logged_in, others))


def test_nobody_ends_the_sessions_of_others(own: Client, grace: User) -> None:
    stranger = User.objects.create_user("stranger@example.org", "a long enough password")
    theirs = elsewhere(stranger)
    row = UserSession.objects.get(user=stranger)
    own.post(SESSIONS, {"id": row.pk})
    assert is_logged_in(theirs)
    for garbage in ("x", "٣", "9" * 30, "-1"):
        assert own.post(SESSIONS, {"id": garbage}).status_code == 404


def test_the_last_visit_is_written_now_and_then(
    own: Client, grace: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = elsewhere(grace)
    other.get("/accounts/profile/")
    seen = UserSession.objects.get(ip="198.51.100.7").last_seen_at
    other.get("/accounts/profile/")
    assert UserSession.objects.get(ip="198.51.100.7").last_seen_at == seen
    monkeypatch.setattr(middleware, "SEEN_SECS", 0)
    other.get("/accounts/profile/", REMOTE_ADDR="192.0.2.99")
    assert UserSession.objects.get(ip="192.0.2.99").last_seen_at > seen


def test_a_changed_password_ends_the_others(own: Client, grace: User) -> None:
    other = elsewhere(grace)
    new = "another fine password"
    form = {"oldpassword": "a long enough password", "password1": new, "password2": new}
    own.post("/accounts/password/change/", form)
    assert is_logged_in(own) and not is_logged_in(other)
    assert own.get(SESSIONS).content.decode().count("<strong>") == 1
    assert AuditEntry.unscoped.filter(action="password.changed", user=grace).count() == 1


def test_browsers_in_words(subtests: Subtests) -> None:
    for user_agent, words in [
        (CHROME, "Chrome on Windows"),
        (CHROME + " Edg/140.0", "Edge on Windows"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1",
            "Safari on iPhone",
        ),
        ("curl/8.5.0", "curl"),
        ("", "Unknown program"),
    ]:
        with subtests.test(words):
            assert browser_in(user_agent) == words


def test_logins_are_in_the_audit_log(own: Client, grace: User) -> None:
    log_in(Client(), grace.email, "wrong")
    log_in(Client(), "my-password@example.org", "wrong")
    own.post("/accounts/logout/")
    entries = AuditEntry.unscoped.order_by("pk").values_list("action", "user", "target_id", "details")
    assert list(entries) == [
        ("login.succeeded", grace.pk, str(grace.pk), {"methods": ["password"]}),
        ("login.failed", None, str(grace.pk), {}),
        ("login.failed", None, "", {}),
        ("login.ended", grace.pk, str(grace.pk), {}),
    ]
