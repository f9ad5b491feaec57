"""One answer from documents and from the web, with both kinds of citation."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from tests.browser.conftest import PHONE, Engines
from tests.browser.test_accessibility import violations
from tests.browser.web import BUILT, brave, let_search
from tests.factories import indexed_document
from tests.testing.live import LiveServer, live_server
from tests.testing.search_engines import Failure

__all__ = ["brave"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAINTED = "The harbour lighthouse was painted red in 1950. The keeper lived in the harbour lighthouse."
QUESTION = "When was the harbour lighthouse built, and when was it painted red?"


@pytest.fixture(scope="module")
def live(built: None, engines: Engines) -> Iterator[LiveServer]:
    """A web server whose answers have a statement from each source."""
    known = {name: value for engine in engines.values() for name, value in engine.settings.items()}
    with live_server(GENERATION_PROVIDER="scripted", **known) as server:
        yield server


@pytest.fixture
def asking(logged_in: Page, reader: User) -> Page:
    """A new conversation that asks the documents and the web."""
    let_search(reader.personal_workspace)
    indexed_document(reader.personal_workspace, PAINTED, name="lighthouse.txt")
    logged_in.goto("/")
    logged_in.locator(".where").get_by_text("Web").click()
    expect(logged_in.get_by_role("checkbox", name="Documents")).to_be_checked()
    expect(logged_in.get_by_role("heading", name="Ask your documents and the web")).to_be_visible()
    return logged_in


def ask(page: Page) -> None:
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed", timeout=60_000)


def test_both_kinds_of_citation_stand_in_one_answer(asking: Page) -> None:
    page = asking
    ask(page)
    expect(page.locator(".answer")).to_contain_text("The light stands on the old mole.")
    expect(page.locator(".answer")).to_contain_text("1950")
    numbers = [re.compile(f"^{number}") for number in (1, 2, 3, 4)]
    expect(page.locator(".answer .cite")).to_have_text(numbers)
    expect(page.locator(".answer button.cite")).to_have_text(["1"])
    expect(page.locator(".progress")).to_contain_text("1 passage in 1 document and 3 web results")
    expect(page.get_by_text("Searched with Brave.")).to_be_visible()
    expect(page.locator(f".answer a.cite[href='{BUILT.url}']")).to_have_count(1)
    page.locator(".answer button.cite").hover()
    expect(page.locator(".citation-card")).to_contain_text("lighthouse.txt")
    assert violations(page) == []
    page.reload()
    expect(page.locator(".answer .cite")).to_have_text(numbers)
    # In a narrow window the box is one row until it is tapped.
    page.get_by_label("Your question").click()
    expect(page.get_by_role("checkbox", name="Documents")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Web")).to_be_checked()


def test_what_fails_is_said_and_the_other_answers(asking: Page, engines: Engines) -> None:
    page = asking
    page.set_viewport_size(PHONE)
    for engine in engines.values():
        engine.fail(Failure.SERVER_ERROR)
    ask(page)
    expect(page.locator(".answer")).to_contain_text("1950")
    expect(page.get_by_text("The web could not be searched: ")).to_be_visible()
    expect(page.locator(".answer a.cite")).to_have_count(0)
