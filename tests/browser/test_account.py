"""A person's own pages: profile, second factors, passkeys of a virtual authenticator, sessions, own data."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.test import Client
from playwright.sync_api import Page, expect

from accounts.models import Membership, User, Workspace
from accounts.roles import Role
from tests.accounts.account_pages import code_of
from tests.browser.conftest import DESKTOP, PASSWORD, PHONE, theme_switch
from tests.browser.test_accessibility import violations
from tests.factories import indexed_document
from tests.testing.live import LiveServer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def log_in(page: Page, reader: User, root: str = "") -> None:
    page.goto(f"{root}/accounts/login/")
    page.get_by_label("Email address").fill(reader.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()


def log_out(page: Page) -> None:
    page.get_by_label("Account", exact=True).click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Email address")).to_be_visible()


def say_password(page: Page) -> None:
    expect(page.get_by_role("heading", name="Is it you?")).to_be_visible()
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()


def test_the_profile_follows_its_user(logged_in: Page, reader: User) -> None:
    page = logged_in
    page.goto("/")
    page.get_by_label("Account", exact=True).click()
    page.get_by_role("link", name="Account settings").click()
    page.get_by_label("Name", exact=True).fill("Ada Reader")
    page.get_by_label("Dates and numbers").select_option("de-DE")
    page.get_by_label("Time zone").select_option("Asia/Tokyo")
    page.get_by_label("Theme", exact=True).select_option("dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".toast")).to_have_text("Saved.")
    reader.refresh_from_db()
    chosen = (reader.name, reader.formats, reader.time_zone, reader.theme)
    assert chosen == ("Ada Reader", "de-DE", "Asia/Tokyo", "dark")
    page.evaluate("localStorage.clear()")
    page.goto("/accounts/sessions/")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert "." in page.locator("time[data-moment]").first.inner_text(), "a date as Germans write it"
    # The switch of every page changes what the account keeps.
    switch = theme_switch(page)
    with page.expect_response("**/api/v1/me"):
        switch.click()
    reader.refresh_from_db()
    assert reader.theme == "light"


def test_an_app_for_codes_and_recovery_codes(page: Page, reader: User) -> None:
    log_in(page, reader)
    page.wait_for_url("**/")
    page.goto("/accounts/security/")
    page.get_by_role("link", name="Add an app").click()
    say_password(page)
    expect(page.get_by_alt_text("QR code with the key below")).to_be_visible()
    secret = page.locator("[data-part=secret]").inner_text()
    page.get_by_label("Code that the app shows now").fill(code_of(secret, -1))
    page.get_by_role("button", name="Add the app").click()
    codes = page.locator(".codes li")
    expect(codes).to_have_count(10)
    assert violations(page) == []
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.path().read_text().split() == codes.all_inner_texts()
    recovery = codes.first.inner_text()
    page.get_by_role("link", name="I have saved them").click()
    expect(page.get_by_text("10 left")).to_be_visible()
    log_out(page)
    for code in (code_of(secret), recovery):
        log_in(page, reader)
        expect(page.get_by_role("heading", name="One more step")).to_be_visible()
        assert violations(page) == []
        page.get_by_label("Code of your app, or a recovery code").fill(code)
        page.get_by_role("button", name="Log in", exact=True).click()
        page.wait_for_url("**/")
        log_out(page)


@pytest.fixture
def authenticator(page: Page) -> Iterator[Any]:
    """A device that keeps passkeys, and says that its user was verified."""
    cdp = page.context.new_cdp_session(page)
    cdp.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    added = cdp.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    yield lambda: cdp.send("WebAuthn.getCredentials", {"authenticatorId": added["authenticatorId"]})
    cdp.send("WebAuthn.disable")


def test_a_passkey_is_added_used_named_and_removed(
    page: Page, live: LiveServer, reader: User, authenticator: Any
) -> None:
    # Browsers know no passkeys of IP addresses.
    root = live.url.replace("127.0.0.1", "localhost")
    log_in(page, reader, root)
    page.wait_for_url(f"{root}/")
    page.goto(f"{root}/accounts/security/")
    page.get_by_role("link", name="Add a passkey").click()
    say_password(page)
    assert violations(page) == []
    page.get_by_label("Name").fill("Work laptop")
    page.get_by_role("button", name="Add the passkey").click()
    expect(page.locator(".codes li")).to_have_count(10)
    assert len(authenticator()["credentials"]) == 1
    log_out(page)

    page.get_by_role("button", name="Log in with a passkey").click()
    page.wait_for_url(f"{root}/")
    log_out(page)

    log_in(page, reader, root)
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url(f"{root}/")

    page.goto(f"{root}/accounts/security/")
    expect(page.get_by_text("Work laptop")).to_be_visible()
    page.get_by_role("link", name="Rename Work laptop").click()
    page.get_by_role("link", name="Use a passkey").click()
    page.get_by_role("button", name="Use a passkey").click()
    page.get_by_label("Name").fill("Old laptop")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Remove Old laptop").click()
    page.get_by_role("button", name="Remove the passkey").click()
    expect(page.get_by_text("Old laptop")).to_have_count(0)
    assert not Authenticator.objects.exists()


def test_without_a_passkey_the_login_says_what_to_do(
    page: Page, live: LiveServer, authenticator: Any
) -> None:
    page.goto(live.url.replace("127.0.0.1", "localhost") + "/accounts/login/")
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page.locator("[data-passkey-error]")).to_contain_text("The passkey was not used")


def test_where_passkeys_do_not_work_nothing_offers_them(logged_in: Page) -> None:
    page = logged_in
    page.add_init_script("delete window.PublicKeyCredential")
    page.goto("/accounts/security/")
    expect(page.get_by_role("link", name="Add a passkey")).to_be_hidden()
    expect(page.get_by_text("Passkeys can’t be added here")).to_be_visible()
    page.context.clear_cookies()
    page.goto("/accounts/login/")
    expect(page.get_by_role("button", name="Log in with a passkey")).to_be_hidden()


def test_another_browser_is_logged_out(page: Page, reader: User) -> None:
    log_in(page, reader)
    page.wait_for_url("**/")
    other = Client()
    # The login has made its hash anew, with more rounds than tests use.
    reader.refresh_from_db()
    other.force_login(reader)
    address, program = "198.51.100.7", "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"
    key = other.session.session_key
    UserSession.objects.create(user=reader, ip=address, user_agent=program, session_key=key)
    page.goto("/accounts/sessions/")
    page.get_by_role("button", name="Log out Firefox on Linux, 198.51.100.7").click()
    expect(page.locator(".toast")).to_have_text("Logged out in 1 other browser.")
    expect(page.get_by_text("198.51.100.7")).to_have_count(0)
    assert not other.session.exists(key)


def test_data_is_exported_and_the_account_deleted(page: Page, reader: User) -> None:
    indexed_document(reader.personal_workspace)
    log_in(page, reader)
    page.wait_for_url("**/")
    page.goto("/accounts/data/")
    page.get_by_role("link", name="Export my data").click()
    say_password(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the archive").click()
    archive = ZipFile(io.BytesIO(download.value.path().read_bytes()))
    assert archive.testzip() is None and "documents.jsonl" in archive.namelist()
    page.goto("/accounts/data/delete/")
    page.get_by_label("Type your email address to confirm").fill(reader.email)
    page.get_by_role("button", name="Delete my account for good").click()
    expect(page.get_by_role("heading", name="Your account is deleted")).to_be_visible()
    expect(page.locator("[data-receipt]")).to_contain_text("1 document")
    assert violations(page) == []
    assert not User.objects.filter(pk=reader.pk).exists()


@pytest.mark.parametrize(
    ("theme", "viewport"),
    [
        pytest.param("dark", PHONE, id="dark phone"),
        *(
            pytest.param(theme, size, id=name, marks=pytest.mark.slow("pages"))
            for theme, size, name in [
                ("light", PHONE, "light phone"),
                ("light", DESKTOP, "light desk"),
                ("dark", DESKTOP, "dark desk"),
            ]
        ),
    ],
)
def test_they_suit_every_screen(page: Page, reader: User, theme: Any, viewport: Any) -> None:
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    shared = Workspace.create_for(reader, name="Harbour")
    Membership.objects.create(
        workspace=shared, user=User.objects.create_user("friend@example.org"), role=Role.VIEWER
    )
    log_in(page, reader)
    page.wait_for_url("**/")
    found = []
    for address in ("profile", "security", "sessions", "data", "reauthenticate", "password/change"):
        page.goto(f"/accounts/{address}/")
        page.wait_for_load_state("networkidle")
        found += violations(page)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, address
    page.goto("/accounts/security/app/add/")
    say_password(page)
    for address in ("security/app/add", "security/passkeys/add", "data/export", "data/delete"):
        page.goto(f"/accounts/{address}/")
        found += violations(page)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, address
    assert found == []
