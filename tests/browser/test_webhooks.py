"""Webhooks in the workspace settings: made, tested through the worker, rotated, switched off, deleted."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User, Webhook
from tests.browser.conftest import PHONE
from tests.browser.test_accessibility import violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_life_of_a_webhook(logged_in: Page, reader: User) -> None:
    page = logged_in
    page.goto(f"/workspaces/{reader.personal_workspace.pk}/webhooks")
    expect(page.get_by_role("heading", name="No webhooks yet")).to_be_visible()
    page.get_by_role("button", name="New webhook").click()
    # Of this machine: the guard refuses it when it is sent to.
    page.get_by_label("Address").fill("https://127.0.0.1/hook")
    page.get_by_label("Description").fill("The intranet")
    assert violations(page) == []
    page.get_by_role("button", name="Create webhook").click()
    expect(page.locator("[data-part=secretValue]")).to_contain_text("whsec_")
    page.get_by_role("button", name="I have copied it").click()
    page.get_by_role("button", name="Send a test").click()
    delivery = page.locator(".webhook-deliveries li")
    expect(delivery).to_contain_text("Failed · test")
    expect(delivery).to_contain_text("public web")
    assert violations(page) == []
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/webhooks-1280.png")
        page.set_viewport_size(PHONE)
        page.emulate_media(color_scheme="dark")
        page.screenshot(path=f"{folder}/webhooks-390.png")
    page.get_by_role("button", name="Change").click()
    page.get_by_label("a document was deleted").check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".webhook-facts").first).to_contain_text("document deleted")
    page.get_by_role("button", name="Rotate secret").click()
    page.locator("dialog[open]").get_by_role("button", name="Rotate secret").click()
    expect(page.locator("[data-part=secretValue]")).to_contain_text("whsec_")
    page.get_by_role("button", name="Switch off").click()
    expect(page.get_by_text("Switched off", exact=True)).to_be_visible()
    page.locator(".webhook").get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete webhook").click()
    expect(page.get_by_role("heading", name="No webhooks yet")).to_be_visible()
    assert not Webhook.unscoped.exists()
