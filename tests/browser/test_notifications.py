"""The bell: what it counts and lists, and the browser's notifications, which nobody gets unasked."""

from __future__ import annotations

import os
from typing import Literal

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from accounts.models import NotificationKind, User
from accounts.notifications.creating import notify
from kb.models import Document, Searchable, Status
from tests.browser.conftest import DESKTOP, PATIENCE_MS, PHONE
from tests.browser.test_accessibility import violations
from tests.factories import indexed_document, stored_document

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# Playwright's Chromium draws no notifications: the page's own calls are looked at.
STAND_IN = """
    window.made = [];
    window.asked = 0;
    window.Notification = class {
        static permission = "default";
        static async requestPermission() { window.asked += 1; return (this.permission = "granted"); }
        constructor(title, options) { window.made.push([title, options.body]); }
    };
"""
HIDE = "Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })"


def failed_document(reader: User) -> Document:
    message = "The file is encrypted. Remove its password and upload it again."
    states = {"status": Status.FAILED, "error_code": "encrypted", "error_message": message}
    return stored_document(
        reader.personal_workspace, "Contract.pdf", b"x", **states, searchable=Searchable.NONE
    )


def tell(reader: User, document: Document, kind: NotificationKind) -> None:
    notify([reader.pk], document.workspace_id, kind, document.pk)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_bell(logged_in: Page, reader: User, size: ViewportSize, theme: Literal["light", "dark"]) -> None:
    page = logged_in
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=theme)
    failed = failed_document(reader)
    tell(reader, failed, NotificationKind.DOCUMENT_FAILED)
    page.goto("/")
    bell = page.locator("[data-notifications] > summary")
    expect(bell).to_have_accessible_name("Notifications, 1 unread one")
    for number in range(5):
        document = indexed_document(reader.personal_workspace, f"Page {number}", name=f"Report {number}.pdf")
        tell(reader, document, NotificationKind.DOCUMENT_INDEXED)
    expect(bell.locator("span")).to_have_text("6")
    bell.click()
    rows = page.locator(".notifications-list li")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("5 documents are ready")
    expect(rows.last).to_contain_text("Contract.pdf could not be read")
    expect(bell.locator("span")).to_be_hidden()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/bell-{theme}-{size['width']}.png")
    rows.last.get_by_role("link").click()
    page.wait_for_url(f"**/documents/{failed.pk}")


def test_browser_notifications_are_asked_for_and_shown_only_to_hidden_tabs(
    logged_in: Page, reader: User
) -> None:
    page = logged_in
    page.add_init_script(STAND_IN)
    document = indexed_document(reader.personal_workspace, name="Report.pdf")
    page.goto("/")
    bell = page.locator("[data-notifications] > summary")
    bell.click()
    button = page.get_by_role("button", name="Show browser notifications too")
    expect(button).to_be_visible()
    assert page.evaluate("asked") == 0
    button.click()
    expect(page.get_by_role("button", name="Stop browser notifications")).to_be_visible()
    assert page.evaluate("asked") == 1
    page.keyboard.press("Escape")
    tell(reader, document, NotificationKind.DOCUMENT_INDEXED)
    expect(bell.locator("span")).to_have_text("1")
    assert page.evaluate("made") == []
    page.evaluate(HIDE)
    failed = failed_document(reader)
    tell(reader, failed, NotificationKind.DOCUMENT_FAILED)
    for _ in range(PATIENCE_MS // 200):
        if page.evaluate("made.length"):
            break
        page.wait_for_timeout(200)
    titles = [title for title, _ in page.evaluate("made")]
    assert "Contract.pdf could not be read" in titles
