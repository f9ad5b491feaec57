"""What somebody does before a page's script is there is carried out once it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.urls import reverse
from playwright.sync_api import Page, Route, expect

from accounts.models import User
from tests.factories import indexed_document

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@contextmanager
def late_script(page: Page, name: str, address: str) -> Iterator[None]:
    """Open an address, and let the page's script come only after what is done in the meantime."""
    held: list[Route] = []
    page.route(re.compile(rf"/{name}\."), lambda route: held.append(route))
    page.goto(address, wait_until="commit")
    yield
    assert held, "the script was there before"
    for route in held:
        route.continue_()
    page.wait_for_load_state()


@pytest.mark.parametrize("way", ["button", "Enter"])
def test_a_question_is_asked(logged_in: Page, reader: User, way: str) -> None:
    page = logged_in
    indexed_document(reader.personal_workspace, "The ferry leaves at noon.", name="ferry.pdf")
    with late_script(page, "page-ask", "/"):
        page.get_by_label("Your question").fill("When does the ferry leave?")
        # Impatient people do it three times.
        for _ in range(3):
            if way == "Enter":
                page.get_by_label("Your question").press("Enter")
            else:
                page.get_by_role("button", name="Ask", exact=True).click()
        expect(page.locator("html[data-waiting]")).to_have_count(1)
    expect(page.locator(".turn")).to_have_count(1)
    expect(page.locator(".turn")).to_contain_text("noon")
    expect(page.locator("html[data-waiting]")).to_have_count(0)


def test_a_button_does_what_it_is_for(logged_in: Page) -> None:
    page = logged_in
    with late_script(page, "page-documents", "/documents/"):
        page.get_by_role("button", name="As pictures").click()
    expect(page.get_by_role("button", name="As pictures")).to_have_attribute("aria-pressed", "true")


def test_a_theme_is_shown(logged_in: Page) -> None:
    page = logged_in
    is_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    chosen = "light" if is_dark else "dark"
    with late_script(page, "page-profile", reverse("account_profile")):
        page.get_by_label("Theme", exact=True).select_option(chosen)
    expect(page.locator("html")).to_have_attribute("data-theme", chosen)


def test_a_word_in_a_filter_counts(logged_in: Page, reader: User) -> None:
    page = logged_in
    for name in ("ferry.pdf", "roses.pdf"):
        indexed_document(reader.personal_workspace, f"About {name}.", name=name)
    with late_script(page, "page-documents", "/documents/"):
        page.get_by_label("Find by name").fill("roses")
    expect(page.get_by_role("link", name="roses.pdf")).to_be_visible()
    expect(page.get_by_role("link", name="ferry.pdf")).to_have_count(0)


def test_a_page_is_left_as_ever(logged_in: Page) -> None:
    page = logged_in
    with late_script(page, "page-ask", "/"):
        page.get_by_role("navigation", name="Pages").get_by_role("link", name="Documents").click()
        page.wait_for_url("**/documents/")
    expect(page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
