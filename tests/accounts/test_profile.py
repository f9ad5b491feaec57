"""The profile: what people choose for themselves, and a new address that counts once it is confirmed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail, signing
from django.template import Context, Template
from django.test import Client
from django.utils import timezone
from pytest import Subtests

from accounts.access.keys import create_key
from accounts.models import AuditEntry, User
from accounts.people.address_change import SALT
from tests.accounts.account_pages import link_in, log_in, reauthenticate, sent_mail
from tests.conftest import Cast

PROFILE = "/accounts/profile/"
ADDRESS = "/accounts/profile/address/"

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]


def bearer(cast: Cast, name: str = "alice") -> dict[str, str]:
    return {"Authorization": f"Bearer {cast.keys[name]}"}


def patch(headers: dict[str, str], body: Any) -> Any:
    return Client().patch("/api/v1/me", body, content_type="application/json", headers=headers)


def test_the_profile_is_changed_on_its_page(own: Client, grace: User) -> None:
    form = {"name": "Grace", "language": "en", "formats": "de-DE", "time_zone": "Asia/Tokyo", "theme": "dark"}
    assert own.post(PROFILE, form)["Location"] == PROFILE
    grace.refresh_from_db()
    assert {name: getattr(grace, name) for name in form} == form
    page = own.get(PROFILE).content.decode()
    for mark in ('data-user-theme="dark"', 'data-formats="de-DE"', 'data-time-zone="Asia/Tokyo"'):
        assert mark in page
    entry = AuditEntry.unscoped.filter(action="user.changed").get()
    assert (entry.user, entry.details) == (
        grace,
        {"fields": ["name", "language", "formats", "time_zone", "theme"]},
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [("language", "tlh"), ("formats", "xx"), ("time_zone", "Mars/Base"), ("theme", "pink")],
)
def test_only_what_there_is_can_be_chosen(own: Client, grace: User, field: str, value: str) -> None:
    form = {"name": "", "language": "en", "formats": "", "time_zone": "", "theme": "system", field: value}
    assert own.post(PROFILE, form).status_code == 200
    grace.refresh_from_db()
    assert getattr(grace, field) != value


def test_times_are_rendered_in_the_users_zone(own: Client, grace: User) -> None:
    grace.time_zone = "Asia/Tokyo"
    grace.save()
    page = own.get("/accounts/sessions/").content.decode()
    assert "+09:00" in page
    assert timezone.get_current_timezone_name() == "UTC", "the zone ends with the request"
    assert "+00:00" in Template("{{ now|date:'c' }}").render(Context({"now": timezone.now()}))


def test_the_api_reads_and_changes_the_profile(cast: Cast, subtests: Subtests) -> None:
    before = Client().get("/api/v1/me", headers=bearer(cast)).json()
    assert (before["name"], before["time_zone"], before["theme"]) == ("", None, "system")
    changed = patch(bearer(cast), {"name": " Alice ", "time_zone": "Europe/Paris", "formats": "fr-FR"}).json()
    assert (changed["name"], changed["time_zone"], changed["formats"]) == ("Alice", "Europe/Paris", "fr-FR")
    assert patch(bearer(cast), {"formats": None}).json()["time_zone"] == "Europe/Paris"
    for body, param in [
        ({"language": "tlh"}, "language"),
        ({"time_zone": "Mars/Base"}, "time_zone"),
        ({"theme": "pink"}, "theme"),
        ({"name": "x" * 151}, "name"),
        ({"email": "new@example.org"}, "email"),
        ({"name": None}, "name"),
    ]:
        with subtests.test(param):
            reply = patch(bearer(cast), body)
            assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)
    assert patch(bearer(cast) | {"X-External-User-Id": "x"}, {"name": "x"}).status_code == 403
    _, weak = create_key(cast.alice, "weak", scopes=["read", "write"])
    assert patch({"X-API-KEY": weak}, {"name": "x"}).status_code == 403


# --- The address -----------------------------------------------------------------------------------------


def test_without_a_mail_server_the_page_says_who_changes_the_address(own: Client) -> None:
    assert "only an administrator can change it" in own.get(PROFILE).content.decode()
    assert own.get(ADDRESS).status_code == 404


@pytest.mark.usefixtures("mail_server")
class TestAddress:
    """With a mail server."""

    def ask(self, own: Client, address: str) -> PageText:
        reauthenticate(own)
        reply = own.post(ADDRESS, {"email": address})
        assert reply.status_code == 200
        return PageText(reply.content.decode())

    def test_the_password_is_asked_for_first(self, own: Client) -> None:
        assert own.get(ADDRESS)["Location"] == f"/accounts/reauthenticate/?next={ADDRESS}".replace(
            "next=/accounts/profile/address/", "next=%2Faccounts%2Fprofile%2Faddress%2F"
        )
        own.post(ADDRESS, {"email": "new@example.org"})
        assert mail.outbox == []

    def test_a_change_counts_once_it_is_confirmed_and_the_old_address_is_told(
        self, own: Client, grace: User
    ) -> None:
        self.ask(own, "New@Example.org")
        message = sent_mail()
        assert message.to == ["new@example.org"]
        link = link_in(message)
        assert own.get(link).status_code == 200
        grace.refresh_from_db()
        assert grace.email == "grace@example.org", "looking at the page changes nothing"
        own.post(link)
        grace.refresh_from_db()
        assert grace.email == "new@example.org"
        rows = list(EmailAddress.objects.filter(user=grace).values_list("email", "verified", "primary"))
        assert rows == [("new@example.org", True, True)]
        told = sent_mail(2)
        assert (told.to, told.subject) == (["grace@example.org"], "[Locus] Your address was changed")
        assert own.get(link).status_code == 404, "a link works once"
        assert log_in(Client(), "new@example.org").status_code == 302

    def test_a_taken_address_looks_like_a_free_one(self, own: Client, grace: User) -> None:
        User.objects.create_user("taken@example.org")
        replies = [self.ask(own, f"{name}@example.org").text for name in ("taken", "frees")]
        assert replies[0].replace("taken", "frees") == replies[1]
        sent_mail(2)
        subjects = {each.to[0]: each.subject for each in mail.outbox}
        assert subjects["taken@example.org"] == "[Locus] You have an account already"
        assert EmailAddress.objects.filter(user=grace).count() == 1

    def test_nobody_is_made_to_confirm_for_another_account(self, own: Client) -> None:
        """A stranger's account must not get an address because its owner clicks a link."""
        self.ask(own, "victim@example.org")
        link = link_in(sent_mail())
        assert Client().get(link)["Location"].startswith("/accounts/login/")
        victim = Client()
        victim.force_login(User.objects.create_user("somebody.else@example.org"))
        assert victim.post(link).status_code == 404
        assert not User.objects.filter(email="victim@example.org").exists()

    def test_an_address_taken_meanwhile_stays_with_its_owner(self, own: Client, grace: User) -> None:
        self.ask(own, "late@example.org")
        link = link_in(sent_mail())
        User.objects.create_user("late@example.org")
        assert "Another account has this address." in own.post(link).content.decode()
        grace.refresh_from_db()
        assert grace.email == "grace@example.org"

    def test_old_and_forged_links_do_nothing(
        self, own: Client, grace: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        token = signing.dumps([grace.pk, grace.email, "new@example.org"], salt=SALT)
        assert own.get(f"{ADDRESS}{token}/").status_code == 200
        assert own.get(f"{ADDRESS}{token[:-2]}xx/").status_code == 404
        monkeypatch.setattr("accounts.people.address_change.VALID", timedelta(seconds=-1))
        assert own.post(f"{ADDRESS}{token}/").status_code == 404


class PageText:
    """A page without its tokens, which differ each time."""

    def __init__(self, page: str) -> None:
        self.text = "\n".join(line for line in page.splitlines() if "csrfmiddlewaretoken" not in line)
