"""The admin panel in front of a browser: its pages in both themes and sizes, and what is done on them."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core.cache import cache
from playwright.sync_api import Page, expect

from accounts.access.identity import principal_of_user
from accounts.access.keys import create_key
from accounts.models import User, Workspace
from accounts.people.workspaces import delete_workspace
from kb.models import Document, Status
from tests.browser.conftest import DESKTOP, PASSWORD, PHONE
from tests.browser.test_accessibility import AXE, RULES
from tests.factories import indexed_document

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def reader(transactional_db: None) -> User:
    """An administrator sits in front of the browser."""
    cache.clear()
    return User.objects.create_superuser("root@example.org", PASSWORD)


@pytest.fixture
def team(reader: User) -> Workspace:
    """A workspace with documents, one of which has failed."""
    team = Workspace.create_for(reader, name="Finance team")
    for status in (Status.READY, Status.FAILED):
        Document.unscoped.filter(pk=indexed_document(team).pk).update(status=status)
    return team


def violations(page: Page) -> list[str]:
    """Return what axe-core finds in the content; the side bar and the select boxes are the theme's."""
    page.evaluate(AXE.read_text())
    where = {"include": [["#content"]], "exclude": [[".select2"]]}
    found = page.evaluate("([where, rules]) => axe.run(where, rules)", [where, RULES])["violations"]
    return [f"{page.url}: {one['help']} {[node['target'] for node in one['nodes']]}" for one in found]


@pytest.mark.parametrize(
    ("theme", "viewport"),
    [
        pytest.param("light", DESKTOP, id="light desk"),
        pytest.param("dark", PHONE, id="dark phone"),
        pytest.param("dark", DESKTOP, id="dark desk", marks=pytest.mark.slow("pages")),
        pytest.param("light", PHONE, id="light phone", marks=pytest.mark.slow("pages")),
    ],
)
def test_every_page(logged_in: Page, reader: User, team: Workspace, theme: Any, viewport: Any) -> None:
    page = logged_in
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    key, _ = create_key(reader, "Night import")
    found = []
    for address in (
        *("", "search/?s=finance", "components/", "health/", "health/repair/"),
        *("accounts/user/", "accounts/user/add/", f"accounts/user/{reader.pk}/change/"),
        *(
            "accounts/workspace/",
            f"accounts/workspace/{team.pk}/change/",
            f"accounts/workspace/{team.pk}/delete/",
        ),
        *("accounts/apikey/", f"accounts/apikey/{key.pk}/change/"),
    ):
        page.goto(f"/admin/{address}")
        expect(page.locator("#content")).to_be_visible()
        # Where the bar with the buttons covers nothing.
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        found += violations(page)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{address} is wider than the screen")
    assert found == []


def test_from_a_number_to_its_documents(logged_in: Page, team: Workspace) -> None:
    page = logged_in
    page.goto("/")
    page.get_by_label("Account").click()
    page.get_by_role("link", name="Administration").click()
    expect(page.get_by_role("heading", name="Dashboard")).to_be_visible()
    failed = page.get_by_role("region", name="Documents").locator("dt:text-is('Failed') + dd a")
    expect(failed).to_have_text("1")
    failed.click()
    expect(page.locator("#result_list tbody tr")).to_have_count(1)


def test_the_panel_and_the_product_have_one_theme(logged_in: Page, reader: User) -> None:
    page = logged_in
    page.emulate_media(color_scheme="light")
    page.goto("/")
    page.get_by_label("Dark theme").click()
    page.goto("/admin/")
    expect(page.locator("html.dark")).to_have_count(1)
    page.get_by_text("root@example.org").first.click()
    with page.expect_response("**/api/v1/me"):
        page.get_by_text("Light", exact=True).click()
    page.goto("/")
    expect(page.locator("html[data-theme=light]")).to_have_count(1)
    reader.refresh_from_db()
    assert reader.theme == "light"


def test_a_workspace_is_found_and_deleted_by_its_name(logged_in: Page, team: Workspace) -> None:
    page = logged_in
    page.goto("/admin/")
    page.get_by_role("searchbox", name="Search users").fill("finance")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Finance team").click()
    expect(page.get_by_role("region", name="Documents")).to_contain_text("Failed")
    page.get_by_role("link", name="Delete workspace …").click()
    page.get_by_label("Type “Finance team” to confirm").fill("Finance")
    page.get_by_role("button", name="Yes, I’m sure").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was deleted")
    page.get_by_label("Type “Finance team” to confirm").fill("Finance team")
    page.get_by_role("button", name="Yes, I’m sure").click()
    expect(page.get_by_text("Deleted with it: 2 documents")).to_be_visible()
    assert not Workspace.objects.filter(pk=team.pk).exists()


def test_what_its_owner_deleted_is_restored(logged_in: Page, reader: User, team: Workspace) -> None:
    delete_workspace(principal_of_user(reader), team.pk)
    page = logged_in
    page.goto(f"/admin/accounts/workspace/{team.pk}/change/")
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("“Finance team” is restored.")).to_be_visible()
    assert Workspace.objects.get(pk=team.pk).deleted_at is None


def test_a_user_is_added_and_deactivated(logged_in: Page) -> None:
    page = logged_in
    page.goto("/admin/accounts/user/add/")
    page.get_by_label("E-mail address").fill("dora@example.org")
    page.get_by_label("Password", exact=True).fill("a fine pass phrase")
    page.get_by_label("Password confirmation").fill("a fine pass phrase")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="dora@example.org")).to_be_visible()
    dora = User.objects.get(email="dora@example.org")
    Authenticator.objects.create(user=dora, type=Authenticator.Type.TOTP, data={})
    page.reload()
    page.get_by_role("button", name="Remove the second factor").click()
    expect(page.get_by_text("The second factor is removed.")).to_be_visible()
    page.get_by_role("button", name="Deactivate").click()
    expect(page.get_by_text("Deactivated and logged out.")).to_be_visible()
    expect(page.get_by_role("button", name="Activate", exact=True)).to_be_visible()


def test_a_component_is_tested(logged_in: Page) -> None:
    page = logged_in
    page.goto("/admin/components/")
    card = page.get_by_role("region", name="Embedding")
    card.get_by_role("button", name="Test").click()
    expect(card.get_by_role("status")).to_contain_text("It works. It returned a vector of")
    expect(card.get_by_role("status")).to_contain_text("at no cost")


def test_the_worker_examines_and_repairs(logged_in: Page, team: Workspace) -> None:
    page = logged_in
    Document.unscoped.filter(workspace=team, status=Status.READY).update(chunk_count=7)
    page.goto("/admin/health/")
    page.get_by_role("button", name="Examine now").click()
    # The page looks again by itself until the worker is ready.
    expect(page.get_by_role("row", name="Documents with a wrong number of chunks")).to_be_visible()
    page.get_by_role("link", name="Repair …").click()
    page.get_by_role("button", name="Repair").click()
    expect(page.get_by_text("with repairs")).to_be_visible()
    row = page.get_by_role("row", name="Documents with a wrong number of chunks")
    expect(row.get_by_role("cell").last).to_have_text("0")
    assert Document.unscoped.get(workspace=team, status=Status.READY).chunk_count == 1


def test_others_see_why_they_are_refused(logged_in: Page, reader: User) -> None:
    User.objects.filter(pk=reader.pk).update(is_staff=False, is_superuser=False)
    page = logged_in
    reply = page.request.get("/admin/components/")
    assert reply.status == 403 and "administrators" in reply.text()
