"""Pages that ask the web: import `brave` and `live`, and the web server searches with doubles."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.models import Workspace
from tests.browser.conftest import Engines
from tests.testing.live import LiveServer
from tests.testing.search_engines import ProviderDouble, WebPage

QUESTION = "When was the harbour lighthouse built?"
BUILT = WebPage(
    "The harbour lighthouse | A history",
    "https://www.light.example/history?page=1&lang=en",
    "The light stands on the old mole. The harbour lighthouse was built in 1893. It is closed in winter.",
)
PAGES = [
    WebPage("Tea & cakes", "https://tea.example/menu", "Tea is served from noon until six."),
    BUILT,
    WebPage("Ferries", "https://ferry.example/", "Ferries leave the harbour every hour."),
]


@pytest.fixture
def live(searching_server: LiveServer) -> LiveServer:
    """Let the pages of this module search the web."""
    return searching_server


@pytest.fixture(autouse=True)
def brave(engines: Engines) -> ProviderDouble:
    """The engine that `auto` asks first, with some pages."""
    for each in engines.values():
        each.pages = list(PAGES)
        each.delay_secs = 0.0
    return engines["brave"]


def let_search(workspace: Workspace, **settings: Any) -> Workspace:
    """Switch the web on in a workspace."""
    workspace.settings = {"web_search": {"enabled": True} | settings}
    workspace.save()
    return workspace


def choose_web(page: Page) -> None:
    """Open the question page and choose the web."""
    page.goto("/")
    choose(page, "Web")


def choose(page: Page, where: str) -> None:
    """Choose what alone to ask as a mouse does: by its words, for the switches themselves are not drawn."""
    other = {"Web": "Documents", "Documents": "Web"}[where]
    for name, is_on in ((where, True), (other, False)):
        if page.get_by_role("checkbox", name=name).is_checked() != is_on:
            page.locator(".where").get_by_text(name).click()
    expect(page.get_by_role("checkbox", name=where)).to_be_checked()
    expect(page.get_by_role("checkbox", name=other)).not_to_be_checked()


def ask_web(page: Page, question: str = QUESTION, status: str = "completed") -> Locator:
    """Ask the web as a person does, and return the turn once it is over."""
    choose_web(page)
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    turn = page.locator(".turn")
    expect(turn).to_have_attribute("data-status", status, timeout=60_000)
    return turn
