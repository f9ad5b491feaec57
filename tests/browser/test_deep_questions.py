"""A question in depth: the switch beside the question, and a report whose parts are cited."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from tests.browser.conftest import PHONE
from tests.browser.test_accessibility import violations
from tests.factories import indexed_document

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BUILT = "The harbour lighthouse was built in 1893. It stands on the old mole."
KEPT = "The keeper of the island windmill is Ada Kerrigan. She grinds wheat on Mondays."
HEADINGS = ["When was the harbour lighthouse built?", "Who is the keeper of the island windmill?", "Evidence"]
QUESTION = "When was the harbour lighthouse built, and who is the keeper of the island windmill?"


@pytest.fixture
def page(logged_in: Page, reader: User) -> Page:
    """A new conversation about two documents."""
    for name, text in (("lighthouse.txt", BUILT), ("windmill.txt", KEPT)):
        indexed_document(reader.personal_workspace, text, name=name)
    logged_in.goto("/")
    return logged_in


def ask(page: Page) -> None:
    page.get_by_role("button", name="In depth").click()
    expect(page.get_by_role("button", name="In depth")).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed", timeout=60_000)


def require_report(page: Page) -> None:
    answer = page.locator(".answer")
    expect(answer).to_contain_text("1893")
    expect(answer).to_contain_text("Ada Kerrigan")
    expect(answer.get_by_role("heading")).to_have_text(HEADINGS)
    # Each is cited by its part and in the table below.
    expect(answer.locator("button.cite")).to_have_text(["1", "2", "1", "2"])


def test_a_report_answers_each_part_and_cites_it(page: Page) -> None:
    ask(page)
    require_report(page)
    assert violations(page) == []
    page.locator(".answer button.cite").last.click()
    expect(page.locator(".passage, .viewer, [data-part=passage]").first).to_be_visible()
    page.reload()
    require_report(page)


def test_the_switch_and_the_report_fit_a_phone(page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.get_by_label("Your question").focus()
    ask(page)
    require_report(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
