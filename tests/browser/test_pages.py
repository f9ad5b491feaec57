"""Every page of the product: no errors, no jumps, little script, nothing that axe-core finds."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Error, Page

from tests.browser.test_accessibility import AXE, RULES
from tests.testing.live import LiveServer, live_server
from tests.testing.pages.catalogue import PAGES, PageCase
from tests.testing.pages.content import make_content
from tests.testing.pages.visiting import LOOKS, Look, PageFigures, Visitors, visitors

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

OF_TABLE = re.compile(r"admin/\w+/\w+/")
CONTRAST = {"runOnly": ["color-contrast"]}
MOST_SHIFT = 0.1
MOST_SCRIPT = 150_000
# Uncompressed. The viewers have more, and the theme of the admin panel.
MORE_SCRIPT = {"document-", "ask-citation", "conversation-citation", "admin-"}
# One test with all pages of a size came near the time that a test may take.
PARTS = 6
SETTINGS = {"EMAIL_HOST": "127.0.0.1", "SIGNUP_OPEN": "true"}
"""With these, every page exists."""


@pytest.fixture(scope="module")
def open_server(built: None) -> Iterator[LiveServer]:
    """A web server with mail and open to all."""
    with live_server(**SETTINGS) as server:
        yield server


def quick_cases() -> list[PageCase]:
    """Return one page of each address, those of the admin panel's tables aside: `test_admin.py` has some."""
    first = {case.pattern: case for case in reversed(PAGES)}
    return [case for case in PAGES if case is first[case.pattern] and not OF_TABLE.match(case.pattern)]


def problems_of(opened: Visitors, case: PageCase, look: Look) -> list[str]:
    """Open a page in one look, and return what is wrong with it."""
    try:
        tab = opened.open(case)
        wrong = [*opened.take_problems(), *what_is_wrong(case, tab), *axe_findings(case, tab, RULES)]
    except Error as error:
        wrong = [*opened.take_problems(), str(error)]
    return [f"{case.name}, {look.name}: {one}" for one in wrong]


def test_each_page_in_one_look(chromium: Browser, open_server: LiveServer, transactional_db: None) -> None:
    content = make_content(open_server.url, files=False)
    found = []
    for number, look in enumerate(LOOKS):
        with visitors(chromium, open_server.url, content, look) as opened:
            for case in quick_cases()[number :: len(LOOKS)]:
                found += problems_of(opened, case, look)
    assert not found, "\n".join(found)


@pytest.mark.slow("pages")
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("size", sorted({look.width for look in LOOKS}))
def test_each_page_in_every_look(
    chromium: Browser, open_server: LiveServer, transactional_db: None, size: int, part: int
) -> None:
    """The theme is switched on the open page: only its colours can then be wrong."""
    content = make_content(open_server.url)
    light, dark = (look for look in LOOKS if look.width == size)
    found = []
    with visitors(chromium, open_server.url, content, light) as opened:
        for case in PAGES[part::PARTS]:
            found += problems_of(opened, case, light)
            tab = opened.tabs[case.visitor]
            tab.emulate_media(color_scheme="dark")
            if case.is_admin:
                # Its theme lets colours fade, also where the visitor wants no motion.
                opened.open(case)
            wrong = [*axe_findings(case, tab, CONTRAST), *opened.take_problems()]
            found += [f"{case.name}, {dark.name}: {one}" for one in wrong]
            tab.emulate_media(color_scheme="light")
    assert not found, "\n".join(found)


def what_is_wrong(case: PageCase, tab: Page) -> Iterator[str]:
    """Measure a page that is complete."""
    figures = PageFigures.of(tab)
    if figures.shift >= MOST_SHIFT:
        yield f"its layout shifts by {figures.shift:.3f}"
    if figures.raw > MOST_SCRIPT and not any(case.name.startswith(name) for name in MORE_SCRIPT):
        yield f"it loads {figures.raw} bytes of script"
    if tab.evaluate("document.documentElement.scrollWidth > innerWidth"):
        yield "it is wider than the screen"


def axe_findings(case: PageCase, tab: Page, rules: dict[str, list[str]]) -> list[str]:
    """Return what axe-core finds. The side bar of the admin panel, and its select boxes, are the theme's."""
    if not tab.evaluate("typeof axe === 'object'"):
        tab.evaluate(AXE.read_text())
    where = (
        {"include": [["#content"]], "exclude": [[".select2"]]} if case.is_admin else {"include": [["html"]]}
    )
    found = tab.evaluate("([where, rules]) => axe.run(where, rules)", [where, rules])["violations"]
    return [f"{one['help']} {[node['target'] for node in one['nodes']]}" for one in found]
