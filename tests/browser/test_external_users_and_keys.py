"""Rotating a key, and deleting an external user, as people do it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.access.keys import authenticate, create_key
from accounts.models import ApiKey, Session, User, Workspace
from kb.models import Document
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.test_accessibility import violations
from tests.factories import indexed_document

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SCREENS = [("light", DESKTOP), ("dark", PHONE), ("dark", DESKTOP), ("light", PHONE)]
NAMES = ["light desk", "dark phone", "dark desk", "light phone"]


def suits(page: Page) -> None:
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.parametrize(("theme", "viewport"), SCREENS, ids=NAMES)
def test_a_key_is_rotated(logged_in: Page, reader: User, theme: Any, viewport: Any) -> None:
    page = logged_in
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    key, old = create_key(reader, "Nightly import", expires_at=timezone.now() + timedelta(days=2))
    create_key(reader, "Old robot", expires_at=timezone.now() - timedelta(days=2))
    page.goto("/keys/")
    expect(page.get_by_text("soon:")).to_be_visible()
    expect(page.get_by_role("button", name="Rotate the key Old robot")).to_have_count(0)
    page.get_by_role("button", name="Rotate the key Nightly import").click()
    expect(page.get_by_role("heading", name="Rotate the key “Nightly import”?")).to_be_visible()
    page.get_by_label("The old secret works").select_option("for 7 days")
    suits(page)
    page.get_by_role("button", name="Rotate key").click()
    expect(page.get_by_role("heading", name="Copy your key now")).to_be_visible()
    new = page.locator("[data-part=secretValue]").inner_text()
    assert authenticate(new)[0] == authenticate(old)[0] == key
    page.reload()
    expect(page.get_by_text("Old secret works until")).to_be_visible()
    expect(page.get_by_text("It was last used just now.")).to_be_visible()
    suits(page)
    page.get_by_role("button", name="End it now: the old secret of Nightly import").click()
    page.get_by_role("button", name="End it now", exact=True).last.click()
    expect(page.get_by_text("Old secret works until")).to_have_count(0)
    assert not ApiKey.objects.get(pk=key.pk).old_secret_works()


@pytest.mark.parametrize(("theme", "viewport"), SCREENS, ids=NAMES)
def test_an_external_user_is_deleted(logged_in: Page, reader: User, theme: Any, viewport: Any) -> None:
    page = logged_in
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    workspace = Workspace.create_for(reader, name="Harbour")
    page.goto(f"/workspaces/{workspace.pk}/external-users")
    expect(page.get_by_role("heading", name="No external users yet")).to_be_visible()
    suits(page)
    indexed_document(workspace, external_user_id="customer/17")
    for id in ("customer/18", "اسم ‮ طويل", "x" * 200):
        Session.unscoped.create(user=reader, workspace=workspace, external_user_id=id)
    page.reload()
    expect(page.get_by_role("row")).to_have_count(5)
    suits(page)
    page.get_by_label("Find an external user by its id").fill("CUSTOMER")
    expect(page.get_by_role("row")).to_have_count(3)
    page.get_by_role("button", name="Delete the external user customer/17").click()
    confirm = page.get_by_role("button", name="Delete", exact=True)
    expect(confirm).to_be_disabled()
    page.get_by_label("Type customer/17 to confirm").fill("customer/1")
    expect(confirm).to_be_disabled()
    suits(page)
    page.keyboard.type("7")
    expect(confirm).to_be_enabled()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="External user deleted")).to_be_visible()
    expect(page.get_by_text("Gone: 1 document,")).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(2)
    suits(page)
    assert not Document.unscoped.exists()
    page.get_by_label("Find an external user by its id").fill("طويل")
    expect(page.locator("tbody")).to_contain_text("طويل")
    expect(page.get_by_role("row")).to_have_count(2)
    page.locator("tbody").get_by_role("button").click()
    page.get_by_label("Type delete to confirm").fill("delete")
    confirm.click()
    expect(page.get_by_text("Gone: 1 conversation.")).to_be_visible()
    assert Session.unscoped.count() == 2
