"""axe-core looks at every page, light on a desk and dark on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from accounts.models import User
from tests.browser.conftest import DESKTOP, PHONE
from tests.factories import indexed_document
from tests.testing.paths import ROOT

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def violations(page: Page) -> list[str]:
    """Return what axe-core finds wrong with the page as it is now."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("rules => axe.run(rules)", RULES)["violations"]
    return [f"{page.url}: {one['help']} {[node['target'] for node in one['nodes']]}" for one in found]


@pytest.mark.parametrize(
    ("theme", "viewport"),
    [
        pytest.param("light", DESKTOP, id="light desk", marks=pytest.mark.slow("pages")),
        pytest.param("dark", PHONE, id="dark phone"),
    ],
)
def test_every_page(logged_in: Page, reader: User, theme: str, viewport: dict[str, int]) -> None:
    page = logged_in
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    document = indexed_document(reader.personal_workspace)
    found = []
    for address in ("/", "/documents/", "/keys/", "/accounts/password/change/"):
        page.goto(address)
        page.wait_for_load_state("networkidle")
        found += violations(page)
    # Where nothing to press stands under the open menu.
    page.goto("/keys/")
    page.get_by_label("Account").click()
    found += violations(page)
    page.goto(f"/documents/{document.pk}")
    page.locator("[data-drawn]").first.wait_for()
    found += violations(page)
    page.goto("/keys/")
    page.get_by_role("button", name="New key").click()
    found += violations(page)
    page.goto("/")
    page.get_by_label("Your question").fill("How much did the solar farm in Almería produce?")
    page.keyboard.press("Enter")
    page.locator(".turn[data-status=completed]").wait_for()
    found += violations(page)
    page.locator(".cite").first.click()
    page.locator("[data-drawn]").first.wait_for()
    found += violations(page)
    assert found == []


def test_the_entrance(page: Page) -> None:
    page.goto("/accounts/login/")
    assert violations(page) == []
