"""The page on which admins see what the web costs and how the search engines do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User, Workspace
from accounts.models.ledger import Purpose
from search.models import Breaker
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.test_accessibility import violations
from tests.browser.web import ask_web, brave, let_search, live
from tests.search.test_web_use import charge

__all__ = ["brave", "live"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def spending(reader: User) -> Workspace:
    """The reader's own workspace after some days of searching, with two engines in trouble."""
    workspace, now = let_search(reader.personal_workspace, max_cost=2), timezone.now()
    for days in (0, 1, 2, 9, 40):
        charge(workspace, "0.25", at=now - timedelta(days=days))
        charge(workspace, "0.01", provider="a-model", purpose=Purpose.MODEL, at=now - timedelta(days=days))
    soon = now + timedelta(minutes=30, seconds=30)
    Breaker.objects.create(name="web_search:tavily", failures=7, is_tripped=True, open_until=soon)
    Breaker.objects.create(name="web_search:duckduckgo", failures=2)
    return workspace


def test_what_a_search_has_cost_is_on_the_page(logged_in: Page, reader: User) -> None:
    page = logged_in
    let_search(reader.personal_workspace)
    ask_web(page)
    page.get_by_label("Account").click()
    page.get_by_role("link", name="Workspace settings").click()
    page.get_by_role("link", name="What was spent, and how the search engines do").click()
    expect(page.get_by_role("link", name="Web", exact=True)).to_have_attribute("aria-current", "page")
    expect(page.get_by_text("$0.005 for 1 call in 30 days")).to_be_visible()
    cells = page.get_by_role("table", name="By provider").get_by_role("cell")
    expect(cells).to_have_text(["Brave", "search", "1", "$0.005", "100.0%"])
    expect(cells.first).to_be_visible()
    expect(page.locator(".plot-searches[height]")).to_have_count(1)


def test_day_by_day_and_engine_by_engine(logged_in: Page, spending: Workspace) -> None:
    page = logged_in
    page.goto(f"/workspaces/{spending.pk}/web")
    expect(page.get_by_role("img", name="65.0% of the limit is used")).to_be_visible()
    expect(page.get_by_text("$1.04 for 8 calls in 30 days")).to_be_visible()
    expect(page.locator(".plot-models[height]")).to_have_count(4)
    page.get_by_role("link", name="90 days").click()
    expect(page.get_by_text("$1.30 for 10 calls in 90 days")).to_be_visible()
    page.get_by_text("All days as a table").click()
    expect(page.locator(".spent-days tbody tr")).to_have_count(5)
    tavily = page.get_by_role("row", name="Tavily")
    expect(tavily).to_contain_text("Not asked for now")
    expect(tavily).to_contain_text("It is asked again in 30 minutes, after 7 failures in a row.")
    expect(page.get_by_role("row", name="Brave").last).to_contain_text("No trouble known")


def test_another_workspace_is_chosen(logged_in: Page, reader: User, spending: Workspace) -> None:
    page = logged_in
    team = Workspace.create_for(reader, name="Team")
    page.goto(f"/workspaces/{spending.pk}/web?days=7")
    page.get_by_label("Workspace").select_option("Team")
    page.wait_for_url(f"**/workspaces/{team.pk}/web?days=7")
    expect(page.get_by_text("Nothing was spent in this time.")).to_be_visible()
    expect(page.get_by_text("Web search is off in this workspace.")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
def test_it_suits_every_screen(logged_in: Page, spending: Workspace, theme: Any, viewport: Any) -> None:
    page = logged_in
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    let_search(spending, max_cost=1)
    page.goto(f"/workspaces/{spending.pk}/web")
    page.get_by_text("All days as a table").click()
    expect(page.get_by_role("alert")).to_contain_text("The limit is reached")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
