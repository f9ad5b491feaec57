"""Pages in another language: the texts of scripts come with them, also of those that come on demand."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from core.languages.catalogs import key_of_text

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_what_comes_on_demand_is_in_the_language_of_the_page(logged_in: Page, reader: User) -> None:
    page = logged_in
    reader.language = "de"
    reader.save()
    page.goto("/")
    assert page.evaluate("key => key in locusTexts", key_of_text("Keyboard shortcuts")) is False
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option", name="Tastenkürzel")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("[data-notifications] summary").click()
    expect(page.get_by_role("link", name="E-Mails über Dokumente")).to_be_visible()
