"""A headless Chromium in front of the running product.

One worker and two web servers serve all modules: one server searches the web with doubles, the other has no
search engine. Each module has a Chromium of its own, so that one that hangs takes no other module along.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from django.test import Client
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect, sync_playwright

from accounts.models import User
from tests.testing.live import LiveServer, live_server, live_worker
from tests.testing.paths import ROOT
from tests.testing.search_engines import ProviderDouble, double

PASSWORD = "a password for the browser"
DESKTOP: ViewportSize = {"width": 1280, "height": 860}
PHONE: ViewportSize = {"width": 390, "height": 800}
# As in the style sheets (60rem): up to this width lists and details stand behind buttons.
NARROW_PX = 960
LOOK = os.environ.get("LOOK", "light-1280")
"""In which theme and size flows run, if a test does not choose: `LOOK=dark-390 pytest tests/browser/…`."""
# Of a busy machine: pages are drawn by a process of their own.
PATIENCE_MS = 20_000
NAMES = ["brave", "tavily", "duckduckgo"]
Engines = dict[str, ProviderDouble]
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    # Some containers give it 64 MB: tabs hang there, without an error.
    "--disable-dev-shm-usage",
]


@pytest.fixture(scope="package", autouse=True)
def _orm_beside_playwright() -> Iterator[None]:
    """Playwright keeps an event loop in this thread, which Django takes for asynchronous code."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    yield
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The browser of a module."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        # CI must not be green because its browser is missing.
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no Chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def worker(django_db_setup: None) -> Iterator[None]:
    """A worker for all web servers."""
    with live_worker():
        yield


@pytest.fixture(scope="package")
def built(worker: None, static_files: None) -> None:
    """What every web server needs before it starts."""
    if not (ROOT / "frontend" / "dist" / "app.js").exists():
        pytest.fail("The front end is not built: run “npm ci && npm run build” in frontend/.")


@pytest.fixture(scope="package")
def plain_server(built: None) -> Iterator[LiveServer]:
    """A web server that knows no search engine."""
    with live_server() as server:
        yield server


@pytest.fixture(scope="package")
def engines() -> Iterator[Engines]:
    """Search engines on loopback."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(double(name)) for name in NAMES}


@pytest.fixture(scope="package")
def searching_server(built: None, engines: Engines) -> Iterator[LiveServer]:
    """A web server that searches the web with these engines, and with no others."""
    known = {name: value for engine in engines.values() for name, value in engine.settings.items()}
    with live_server(**known) as server:
        yield server


@pytest.fixture
def live(plain_server: LiveServer) -> LiveServer:
    """The web server of a test; modules may choose another."""
    return plain_server


@pytest.fixture
def reader(transactional_db: None) -> User:
    """Who sits in front of the browser."""
    return User.objects.create_user("reader@example.org", PASSWORD)


@pytest.fixture
def problems() -> list[str]:
    """The errors that the page meets; a test that expects some looks at them, and clears the list."""
    return []


@pytest.fixture
def page(chromium: Browser, live: LiveServer, problems: list[str]) -> Iterator[Page]:
    """A tab of its own; the test fails if its page met an error or broke the content security policy."""
    theme, width = LOOK.split("-")
    context = chromium.new_context(
        base_url=live.url,
        viewport=PHONE if width == "390" else DESKTOP,
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    tab = context.new_page()
    # A violation of the policy is reported as a console error, too.
    tab.on("console", lambda m: problems.append(m.text) if m.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("response", lambda r: problems.append(f"{r.status} {r.url}") if r.status >= 400 else None)
    yield tab
    # Before its context: what a tab asks for while that goes away has lost its cookies, and is refused.
    tab.close()
    context.close()
    assert problems == []


@pytest.fixture
def logged_in(page: Page, live: LiveServer, reader: User) -> Page:
    """The tab of somebody who has logged in already."""
    client = Client()
    client.force_login(reader)
    cookie = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live.url}
    page.context.add_cookies([cookie])  # type: ignore[list-item]
    return page


# --- What stands behind a button in a narrow window --------------------------------------------------------


def is_narrow(page: Page) -> bool:
    """Tell whether a page is laid out as on a phone."""
    assert page.viewport_size is not None
    return page.viewport_size["width"] <= NARROW_PX


def show_conversations(page: Page) -> None:
    """Open the list of conversations where it is not at the side."""
    if page.locator(".history").is_hidden():
        page.get_by_role("button", name="Conversations", exact=True).click()
    expect(page.locator(".history")).to_be_visible()


def hide_conversations(page: Page) -> None:
    """Close the list of conversations where it covers the page."""
    if is_narrow(page):
        page.get_by_role("button", name="Close the conversations").click()
        expect(page.locator(".history")).to_be_hidden()


def show_details(page: Page) -> None:
    """Open what is known about a document where it is not at the side of its text."""
    if is_narrow(page) and page.locator(".details").is_hidden():
        page.get_by_role("button", name="About this document").click()
    expect(page.locator(".details")).to_be_visible()


def theme_switch(page: Page) -> Locator:
    """Return what switches the theme; the account's menu is opened where the bar has no room for it."""
    if page.locator(".top-end > .theme-toggle").is_hidden():
        page.get_by_label("Account", exact=True).click()
    return page.get_by_role("button", name="Dark theme")
