"""Users in the admin panel: adding, inviting, deactivating, second factors, sessions, and who may do it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.test import Client
from django.urls import reverse

from accounts.models import AuditEntry, User
from accounts.user_admin import panel_permissions
from tests.accounts.account_pages import sent_mail
from tests.conftest import Cast
from tests.locus.test_dashboard import root as root
from tests.locus.test_dashboard import staff_with

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain_static_files")]
PASSWORDS = {"usable_password": "true", "password1": "a fine pass phrase", "password2": "a fine pass phrase"}


def at(page: str, *args: Any) -> str:
    return reverse(f"admin:accounts_user_{page}", args=args)


def recorded() -> list[str]:
    return list(AuditEntry.unscoped.order_by("pk").values_list("action", flat=True))


@pytest.fixture
def mail_server(settings: Any) -> None:
    settings.EMAIL_HOST = "mail.example.org"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"


def test_the_list_says_what_an_administrator_looks_for(root: Client, cast: Cast) -> None:
    Authenticator.objects.create(user=cast.alice, type=Authenticator.Type.TOTP, data={})
    Authenticator.objects.create(user=cast.bob, type=Authenticator.Type.RECOVERY_CODES, data={})
    page = root.get(at("changelist")).content.decode()
    for column in ("Second factor", "Address verified", "Last login"):
        assert column in page
    assert "alice@example.org" in page and "Alice@example.org" not in page
    # No is a dash, not a red cross.
    assert "close_small" not in page[page.index('id="result_list"') :].partition("</table>")[0]
    found = root.get(at("changelist"), {"second_factor": "on"}).context["cl"].result_list
    assert [user.email for user in found] == ["alice@example.org"]


def test_a_user_is_added_with_a_password(root: Client) -> None:
    reply = root.post(at("add"), {"email": "dora@example.org", "name": "Dora"} | PASSWORDS)
    assert reply.status_code == 302
    dora = User.objects.get(email="dora@example.org")
    assert dora.check_password(PASSWORDS["password1"]) and dora.name == "Dora"
    entry = AuditEntry.unscoped.get(action="user.created")
    assert (entry.target_id, entry.user) == (str(dora.pk), User.objects.get(email="root@example.org"))


@pytest.mark.usefixtures("mail_server")
def test_an_invited_user_chooses_a_password(root: Client) -> None:
    reply = root.post(at("add"), {"email": "dora@example.org", "name": "", "invite": "on"}, follow=True)
    assert "is mailed to dora@example.org" in reply.content.decode()
    dora = User.objects.get(email="dora@example.org")
    assert not dora.has_usable_password()
    message = sent_mail()
    assert message.to == ["dora@example.org"] and "choose a password" in str(message.body)
    [address] = re.findall(r"http://testserver(/\S+)", str(message.body))
    browser = Client()
    page = browser.get(address, follow=True)
    chosen = {"password1": "a fine pass phrase", "password2": "a fine pass phrase"}
    assert browser.post(page.redirect_chain[-1][0], chosen).status_code == 302
    dora.refresh_from_db()
    assert dora.check_password("a fine pass phrase")


def test_without_a_mail_server_nobody_is_invited(root: Client, cast: Cast) -> None:
    page = root.get(at("add")).content.decode()
    assert "Needs a mail server: EMAIL_HOST." in page
    form = {"email": "dora@example.org", "name": "", "invite": "on"}
    assert root.post(at("add"), form | {"usable_password": "true"}).status_code == 200
    assert not User.objects.filter(email="dora@example.org").exists()
    assert "Mail a link" not in root.get(at("change", cast.alice.pk)).content.decode()
    assert root.post(at("invite", cast.alice.pk)).status_code == 404


def test_deactivation_ends_logins_and_keys(root: Client, cast: Cast) -> None:
    browser = Client()
    browser.force_login(cast.alice)
    assert browser.get("/documents/").status_code == 200
    page = root.get(at("change", cast.alice.pk)).content.decode()
    assert "Deactivate</button>" in page and "Log out everywhere</button>" in page
    reply = root.post(at("activity", cast.alice.pk), {"active": "no"}, follow=True)
    assert "Deactivated and logged out." in reply.content.decode()
    assert browser.get("/documents/").status_code == 302
    assert Client().get("/api/v1/me", headers=cast.headers("alice")).status_code == 401
    root.post(at("activity", cast.alice.pk), {"active": "yes"})
    assert Client().get("/api/v1/me", headers=cast.headers("alice")).status_code == 200
    assert browser.get("/documents/").status_code == 302
    assert recorded()[-2:] == ["user.changed", "user.changed"]


def test_sessions_end_at_once(root: Client, cast: Cast) -> None:
    browsers = [Client(), Client()]
    for browser in browsers:
        browser.force_login(cast.alice)
        browser.get("/documents/")
    assert UserSession.objects.filter(user=cast.alice).count() == 2
    reply = root.post(at("end_sessions", cast.alice.pk), follow=True)
    assert "Logged out of 2 browsers." in reply.content.decode()
    assert [browser.get("/documents/").status_code for browser in browsers] == [302, 302]
    assert "login.ended" in recorded()


def test_a_lost_second_factor_is_removed(root: Client, cast: Cast) -> None:
    for kind in (Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES):
        Authenticator.objects.create(user=cast.alice, type=kind, data={})
    assert "Remove the second factor" in root.get(at("change", cast.alice.pk)).content.decode()
    root.post(at("reset_second_factor", cast.alice.pk))
    assert not Authenticator.objects.filter(user=cast.alice).exists()
    assert "Remove the second factor" not in root.get(at("change", cast.alice.pk)).content.decode()
    assert recorded()[-1] == "second_factor.removed"


def test_a_changed_password_is_recorded(root: Client, cast: Cast) -> None:
    address = reverse("admin:auth_user_password_change", args=[cast.alice.pk])
    assert root.post(address, PASSWORDS).status_code == 302
    cast.alice.refresh_from_db()
    assert cast.alice.check_password(PASSWORDS["password1"])
    assert recorded()[-1] == "password.changed"
    assert PASSWORDS["password1"] not in str(AuditEntry.unscoped.values_list("details"))


def test_buttons_are_for_posts(root: Client, cast: Cast) -> None:
    for name in ("activity", "end_sessions", "reset_second_factor", "invite"):
        assert root.get(at(name, cast.alice.pk)).status_code == 403
        assert root.post(at(name, 10**6)).status_code in (403, 404)
    me = User.objects.get(email="root@example.org")
    assert root.post(at("activity", me.pk), {"active": "no"}).status_code == 403


BUTTONS = ("activity", "end_sessions", "reset_second_factor", "invite")


def test_who_may_only_look_sees_no_button(cast: Cast) -> None:
    client = staff_with("accounts.view_user")
    page = client.get(at("change", cast.alice.pk)).content.decode()
    assert "alice@example.org" in page
    for word in ("Deactivate", "Log out everywhere", "Remove the second factor", "Delete"):
        assert word not in page
    for name in BUTTONS:
        assert client.post(at(name, cast.alice.pk)).status_code == 403
    assert client.get(at("add")).status_code == 403
    assert client.post(at("delete", cast.alice.pk), {"name": cast.alice.email}).status_code == 403
    assert User.objects.filter(pk=cast.alice.pk, is_active=True).exists()


def test_staff_do_not_change_staff_nor_give_rights(cast: Cast) -> None:
    """Who may change users could make themselves superuser, or reset a superuser's password."""
    boss = User.objects.create_superuser("boss@example.org")
    client = staff_with("accounts.view_user", "accounts.change_user", "accounts.delete_user")
    form = {"email": cast.alice.email, "name": "Alice", "is_staff": "on", "is_superuser": "on"}
    inline = {"memberships-TOTAL_FORMS": 0, "memberships-INITIAL_FORMS": 0}
    assert client.post(at("change", cast.alice.pk), form | inline).status_code == 302
    cast.alice.refresh_from_db()
    assert (cast.alice.name, cast.alice.is_staff, cast.alice.is_superuser) == ("Alice", False, False)
    clerk = User.objects.get(email="clerk@example.org")
    for staff in (boss, clerk):
        assert client.post(at("change", staff.pk), form | inline).status_code == 403
        assert client.post(at("delete", staff.pk), {"name": staff.email}).status_code == 403
        password = reverse("admin:auth_user_password_change", args=[staff.pk])
        assert client.post(password, PASSWORDS).status_code == 403
        for name in BUTTONS:
            assert client.post(at(name, staff.pk)).status_code == 403


def test_a_user_page_says_what_is_known(root: Client, cast: Cast) -> None:
    page = root.get(at("change", cast.alice.pk)).content.decode()
    for word in ("Use in 30 days", "API keys", "Kept executions", "Browsers that are logged in"):
        assert word in page


def test_a_superuser_gives_the_permissions_that_mean_something(root: Client, cast: Cast) -> None:
    page = root.get(at("change", cast.alice.pk)).content.decode()
    for name in ("Can view document", "Can test providers and models", "Can repair the knowledge base"):
        assert name in page
    for name in ("Can add document", "Can change audit entry", "Can delete charge", "Can view session"):
        assert name not in page
    allowed = panel_permissions().get(codename="view_document")
    form = {"email": cast.alice.email, "is_staff": "on", "user_permissions": [allowed.pk]}
    inline = {"memberships-TOTAL_FORMS": 0, "memberships-INITIAL_FORMS": 0}
    assert root.post(at("change", cast.alice.pk), form | inline).status_code == 302
    alice = User.objects.get(pk=cast.alice.pk)
    assert alice.is_staff and alice.get_all_permissions() == {"kb.view_document"}
    assert AuditEntry.unscoped.get(action="user.changed").details == {
        "fields": ["is_staff", "user_permissions"]
    }
