"""Preferences and workspace settings: what counts, where it comes from, and how it is changed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.models import Membership, Preferences, User, Workspace
from accounts.roles import Role
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.test_accessibility import violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def open_from_menu(page: Page, link: str) -> None:
    page.goto("/")
    page.get_by_label("Account").click()
    page.get_by_role("link", name=link).click()
    title = "Answers" if link == "Workspace settings" else link
    expect(page).to_have_title(re.compile(f"^{title} ·"))
    expect(page.get_by_label("Contexts", exact=True)).to_be_enabled()
    expect(page.get_by_label("Contexts", exact=True)).to_be_hidden()
    unfold(page)


def unfold(page: Page) -> None:
    """Show the settings for those who know the engine."""
    for section in page.get_by_text("Advanced", exact=True).all():
        section.click()


def source_of(page: Page, label: str) -> Locator:
    return page.locator(".setting", has=page.get_by_label(label, exact=True)).locator(
        ".setting-source > span"
    )


def save(page: Page) -> None:
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".toast")).to_have_text("Saved.")


def test_a_preference_is_made_kept_and_taken_back(logged_in: Page, reader: User) -> None:
    page = logged_in
    open_from_menu(page, "Preferences")
    contexts = page.get_by_label("Contexts", exact=True)
    expect(contexts).to_have_attribute("placeholder", "5")
    expect(source_of(page, "Contexts")).to_have_text("Default")
    contexts.fill("8")
    page.get_by_label("Reranker", exact=True).select_option("None")
    expect(source_of(page, "Contexts")).to_have_text("Your choice. The default is: 5.")
    expect(page.get_by_text("2 changes")).to_be_visible()
    save(page)
    expect(page.get_by_text("2 changes")).to_be_hidden()
    assert Preferences.objects.get(pk=reader.pk).values == {"rag": {"contexts": 8, "reranker": "none"}}
    page.reload()
    expect(contexts).to_have_value("8")
    # Not folded away: somebody has chosen it.
    expect(contexts).to_be_visible()
    page.get_by_role("button", name="Use the default: Contexts").click()
    expect(contexts).to_be_focused()
    page.get_by_label("Reranker", exact=True).select_option("Automatic")
    page.get_by_role("button", name="Discard").click()
    expect(contexts).to_have_value("8")
    contexts.fill("")
    save(page)
    assert Preferences.objects.get(pk=reader.pk).values == {"rag": {"reranker": "none"}}


def test_the_keyboard_suffices(logged_in: Page, reader: User) -> None:
    page = logged_in
    page.goto("/preferences")
    expect(page.get_by_label("Reflection", exact=True)).to_be_enabled()
    page.get_by_text("Advanced", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_label("Reflection", exact=True).focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("switch", name="Reflection")).to_be_checked()
    for name in ("Use the default: Reflection", "Discard"):
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name=name)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Save")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_have_text("Saved.")
    expect(page.get_by_role("button", name="Save")).to_be_focused()
    assert Preferences.objects.get(pk=reader.pk).values == {"rag": {"reflection": True}}


def test_what_is_inherited_depends_on_the_workspace(logged_in: Page, reader: User) -> None:
    page = logged_in
    other = Workspace.create_for(User.objects.create_user("owner@example.org"), name="Harbour")
    other.settings = {"rag": {"contexts": 12}}
    other.save()
    Membership.objects.create(workspace=other, user=reader, role=Role.VIEWER)
    open_from_menu(page, "Preferences")
    page.get_by_label("Reflection", exact=True).check()
    page.get_by_label("When you ask in").select_option("Harbour")
    expect(page.get_by_label("Contexts", exact=True)).to_have_attribute("placeholder", "12")
    expect(source_of(page, "Contexts")).to_have_text("Default of the workspace Harbour")
    expect(page.get_by_label("Reflection", exact=True)).to_be_checked()


def test_an_admin_sets_what_a_workspace_answers_with(logged_in: Page, reader: User) -> None:
    page = logged_in
    other = Workspace.create_for(reader, name="Harbour")
    open_from_menu(page, "Workspace settings")
    page.get_by_label("Workspace", exact=True).select_option("Harbour")
    page.wait_for_url(f"**/workspaces/{other.pk}/settings")
    expect(page.get_by_label("Reflection", exact=True)).to_be_enabled()
    unfold(page)
    page.get_by_label("Reflection", exact=True).check()
    expect(source_of(page, "Reflection")).to_have_text("Set here. The default is: Off.")
    save(page)
    other.refresh_from_db()
    assert other.settings == {"rag": {"reflection": True}}


def test_pictures_are_for_a_workspace_to_want(logged_in: Page, reader: User) -> None:
    page = logged_in
    open_from_menu(page, "Preferences")
    expect(page.get_by_label("Pictures", exact=True)).to_have_count(0)
    open_from_menu(page, "Workspace settings")
    expect(page.get_by_label("Pictures", exact=True)).not_to_be_checked()
    page.get_by_label("Pictures", exact=True).check()
    save(page)
    workspace = Workspace.objects.get(memberships__user=reader)
    assert workspace.settings == {"rag": {"multimodal": True}}


def test_an_admin_lets_a_workspace_search_the_web_for_some_money(logged_in: Page, reader: User) -> None:
    page = logged_in
    workspace = Workspace.objects.get(memberships__user=reader)
    page.goto(f"/workspaces/{workspace.pk}/settings")
    cost = page.get_by_label("Most to spend (US dollars)", exact=True)
    expect(cost).to_be_enabled()
    unfold(page)
    expect(cost).to_have_attribute("placeholder", "None")
    page.get_by_label("Search the web", exact=True).check()
    cost.fill("12.50")
    kept = page.get_by_label("Keep results (minutes)", exact=True)
    kept.fill("2")
    expect(source_of(page, "Keep results (minutes)")).to_have_text("Set here. The default is: 10.")
    save(page)
    workspace.refresh_from_db()
    assert workspace.settings == {"web_search": {"enabled": True, "max_cost": 12.5, "cache_ttl_secs": 120}}
    page.reload()
    expect(cost).to_have_value("12.5")
    expect(kept).to_have_value("2")
    cost.fill("")
    save(page)
    workspace.refresh_from_db()
    assert workspace.settings == {"web_search": {"enabled": True, "cache_ttl_secs": 120}}


def test_a_mistake_is_told_beside_what_is_wrong(logged_in: Page, reader: User) -> None:
    page = logged_in
    # Not from the server: a page of these tests may get no error from there.
    page.add_init_script(
        """const real = window.fetch;
        const error = {code: "validation_error", message: "Too many.", param: "rag.contexts"};
        const refuse = async () => new Response(JSON.stringify({error}), {status: 400});
        window.fetch = (path, how) => (how?.method === "PATCH" ? refuse() : real(path, how));"""
    )
    page.goto("/preferences")
    expect(page.get_by_label("Contexts", exact=True)).to_be_enabled()
    unfold(page)
    page.get_by_label("Contexts", exact=True).fill("20")
    page.get_by_role("button", name="Save").click()
    wrong = page.locator(".setting", has=page.get_by_label("Contexts", exact=True))
    expect(wrong.get_by_role("alert")).to_have_text("Too many.")
    expect(page.get_by_role("alert")).to_have_count(1)
    expect(page.get_by_label("Contexts", exact=True)).to_have_value("20")
    # A link that is half scrolled away would count as too small.
    page.evaluate("scrollTo(0, 0)")
    assert violations(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
def test_they_suit_every_screen(logged_in: Page, reader: User, theme: Any, viewport: Any) -> None:
    page = logged_in
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    Workspace.create_for(reader, name="Harbour")
    for name in ("Preferences", "Workspace settings"):
        open_from_menu(page, name)
        page.get_by_label("Contexts", exact=True).fill("8")
        # What the top bar half covers would count as too small.
        page.evaluate("scrollTo(0, 0)")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
