"""Workspaces by people: create, rename, invite and accept, roles, leave, hand over, delete, restore, move."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from accounts.models import Invitation, Membership, User, Workspace
from accounts.roles import Role
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.test_accessibility import violations
from tests.factories import indexed_document
from tests.testing.live import LiveServer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def friend(transactional_db: None) -> User:
    return User.objects.create_user("friend@example.org")


@pytest.fixture
def harbour(reader: User) -> Workspace:
    """A workspace of the reader's own."""
    return Workspace.create_for(reader, name="Harbour")


def tab_of(chromium: Browser, live: LiveServer, user: User | None) -> Page:
    """Return a tab of another person; its context closes with the browser."""
    context = chromium.new_context(base_url=live.url, viewport=DESKTOP, reduced_motion="reduce")
    context.set_default_timeout(20_000)
    if user is not None:
        client = Client()
        client.force_login(user)
        cookie = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live.url}
        context.add_cookies([cookie])  # type: ignore[list-item]
    return context.new_page()


def role_of(workspace: Workspace, user: User) -> str | None:
    return Membership.objects.filter(workspace=workspace, user=user).values_list("role", flat=True).first()


def agree(page: Page, action: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=action, exact=True).click()


def test_a_workspace_is_created_and_renamed(logged_in: Page, reader: User) -> None:
    page = logged_in
    page.goto("/")
    page.get_by_label("Account", exact=True).click()
    page.get_by_role("link", name="Workspaces", exact=True).click()
    # With its script: a button can be seen, and clicked in vain, before.
    page.wait_for_url("**/workspaces")
    expect(page.get_by_role("link", name="Personal")).to_be_visible()
    page.get_by_role("button", name="New workspace").click()
    page.get_by_role("textbox", name="Name", exact=True).fill("Harbour")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Harbour", level=1)).to_be_visible()
    page.get_by_label("Name of the workspace").fill("Quay")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="Quay", level=1)).to_be_visible()
    assert Workspace.objects.filter(name="Quay", memberships__user=reader).exists()


def test_somebody_is_invited_by_link_and_joins(
    logged_in: Page, harbour: Workspace, friend: User, chromium: Browser, live: LiveServer
) -> None:
    page = logged_in
    page.goto(f"/workspaces/{harbour.pk}/members")
    page.get_by_role("button", name="Invite").click()
    page.get_by_label("Role", exact=True).select_option("editor")
    page.get_by_role("button", name="Create invitation").click()
    expect(page.get_by_role("heading", name="Copy the link now")).to_be_visible()
    link = page.locator("[data-part=secretValue]").text_content() or ""
    invitations = page.get_by_role("table", name="Invitations")
    expect(invitations.get_by_role("row", name="Whoever has the link")).to_contain_text("0 of 1")

    nobody = tab_of(chromium, live, None)
    nobody.goto(link)
    expect(nobody.get_by_role("heading", name="Join Harbour")).to_be_visible()
    expect(nobody.get_by_text("reader@example.org")).to_be_visible()
    assert violations(nobody) == []
    expect(nobody.get_by_role("link", name="Create an account")).to_have_count(0)
    nobody.get_by_role("link", name="Log in to accept").click()
    nobody.wait_for_url("**/accounts/login/?next=/invitations/**")

    theirs = tab_of(chromium, live, friend)
    theirs.goto(link)
    assert violations(theirs) == []
    theirs.get_by_role("button", name="Join as friend@example.org").click()
    theirs.wait_for_url(f"**/workspaces/{harbour.pk}")
    expect(theirs.get_by_text("Your role: Editor")).to_be_visible()
    expect(theirs.get_by_role("link", name="Answers")).to_have_count(0)
    assert role_of(harbour, friend) == "editor"
    theirs.goto(link)
    expect(theirs.get_by_text("This invitation is not valid.")).to_be_visible()


def test_a_new_person_signs_up_by_an_invitation(
    logged_in: Page, harbour: Workspace, chromium: Browser, live: LiveServer
) -> None:
    page = logged_in
    page.goto(f"/workspaces/{harbour.pk}/members")
    page.get_by_role("button", name="Invite").click()
    page.get_by_label("one e-mail address").check()
    page.get_by_label("E-mail address", exact=True).fill("new@example.org")
    expect(page.get_by_text("This server sends no e-mail")).to_be_visible()
    page.get_by_role("button", name="Create invitation").click()
    expect(page.get_by_role("heading", name="Copy the link now")).to_be_visible()
    link = page.locator("[data-part=secretValue]").text_content() or ""
    theirs = tab_of(chromium, live, None)
    theirs.goto("/accounts/signup/")
    expect(theirs.get_by_role("heading", name="Sign up")).to_have_count(0)
    theirs.goto(link)
    theirs.get_by_role("link", name="Create an account").click()
    expect(theirs.get_by_label("Email address")).to_have_value("new@example.org")
    theirs.get_by_label("Email address").fill("other@example.org")
    for label in ("Password", "Password, again"):
        theirs.get_by_label(label, exact=True).fill("a harbour full of boats")
    theirs.locator("main").get_by_role("button").last.click()
    expect(theirs.get_by_text("The invitation is for new@example.org")).to_be_visible()
    theirs.get_by_label("Email address").fill("new@example.org")
    for label in ("Password", "Password, again"):
        theirs.get_by_label(label, exact=True).fill("a harbour full of boats")
    theirs.locator("main").get_by_role("button").last.click()
    theirs.get_by_role("button", name="Join as new@example.org").click()
    expect(theirs.get_by_text("Your role: Viewer")).to_be_visible()


def test_an_invitation_is_withdrawn(logged_in: Page, harbour: Workspace) -> None:
    page = logged_in
    page.goto(f"/workspaces/{harbour.pk}/members")
    page.get_by_role("button", name="Invite").click()
    page.get_by_role("button", name="Create invitation").click()
    page.get_by_role("button", name="I have copied it").click()
    page.get_by_role("button", name="Withdraw the invitation").click()
    expect(page.get_by_role("table", name="Invitations")).to_have_count(0)
    assert not Invitation.unscoped.exists()


def test_roles_are_changed_and_members_removed(logged_in: Page, harbour: Workspace, friend: User) -> None:
    page = logged_in
    Membership.objects.create(workspace=harbour, user=friend, role=Role.VIEWER)
    page.goto(f"/workspaces/{harbour.pk}/members")
    page.get_by_label("Role of friend@example.org").select_option("admin")
    expect(page.locator(".toast")).to_have_text("friend@example.org: Admin")
    assert role_of(harbour, friend) == "admin"
    page.get_by_role("button", name="Remove friend@example.org").click()
    agree(page, "Remove")
    expect(page.get_by_text("friend@example.org is removed.")).to_be_visible()
    assert role_of(harbour, friend) is None


def test_a_member_sees_what_a_member_may_and_leaves(logged_in: Page, reader: User, friend: User) -> None:
    page = logged_in
    quay = Workspace.create_for(friend, name="Quay")
    Membership.objects.create(workspace=quay, user=reader, role=Role.VIEWER)
    page.goto(f"/workspaces/{quay.pk}/members")
    expect(page.get_by_role("row", name="friend@example.org")).to_contain_text("Owner")
    expect(page.get_by_role("button", name="Invite")).to_have_count(0)
    expect(page.get_by_role("combobox", name=re.compile("^Role of"))).to_have_count(0)
    tabs = page.get_by_role("navigation", name="Tabs").get_by_role("link")
    expect(tabs).to_have_text(["General", "Members", "Usage"])
    page.get_by_role("link", name="General").click()
    expect(page.get_by_label("Name of the workspace")).to_have_count(0)
    page.get_by_role("button", name="Leave").click()
    agree(page, "Leave")
    page.wait_for_url("**/workspaces")
    expect(page.get_by_role("link", name="Quay")).to_have_count(0)
    assert role_of(quay, reader) is None


def test_it_is_handed_over(logged_in: Page, reader: User, harbour: Workspace, friend: User) -> None:
    page = logged_in
    page.goto(f"/workspaces/{harbour.pk}")
    expect(page.get_by_text("You are its only owner.")).to_be_visible()
    expect(page.get_by_role("button", name="Leave")).to_be_disabled()
    expect(page.get_by_role("button", name="Hand over…")).to_be_disabled()
    Membership.objects.create(workspace=harbour, user=friend, role=Role.VIEWER)
    page.reload()
    page.get_by_role("button", name="Hand over…").click()
    agree(page, "Hand over")
    expect(page.get_by_text("Your role: Admin")).to_be_visible()
    assert (role_of(harbour, friend), role_of(harbour, reader)) == ("owner", "admin")


def test_it_is_deleted_and_restored(logged_in: Page, harbour: Workspace) -> None:
    page = logged_in
    indexed_document(harbour)
    page.goto(f"/workspaces/{harbour.pk}")
    expect(page.get_by_text("It holds 1 document, 1 chunk")).to_be_visible()
    page.get_by_role("button", name="Delete…").click()
    page.get_by_label("Type the name to confirm").fill("Harbor")
    agree(page, "Delete workspace")
    expect(page.get_by_text("That is not the name of this workspace.")).to_be_visible()
    page.get_by_label("Type the name to confirm").fill("Harbour")
    agree(page, "Delete workspace")
    page.wait_for_url("**/workspaces")
    expect(page.get_by_role("heading", name="Deleted workspaces")).to_be_visible()
    expect(page.get_by_role("link", name="Harbour")).to_have_count(0)
    assert violations(page) == []
    page.get_by_role("button", name="Restore Harbour").click()
    expect(page.get_by_role("heading", name="Harbour", level=1)).to_be_visible()
    harbour.refresh_from_db()
    assert harbour.deleted_at is None


def test_a_viewer_is_offered_no_upload(
    logged_in: Page, reader: User, friend: User, harbour: Workspace
) -> None:
    page = logged_in
    quay = Workspace.create_for(friend, name="Quay")
    Membership.objects.create(workspace=quay, user=reader, role=Role.VIEWER)
    indexed_document(quay)
    page.goto("/documents/")
    expect(page.get_by_label("Goes to").locator("option")).to_have_text(["Harbour", "Personal"])
    expect(page.get_by_label("Goes to").locator("option:checked")).to_have_text("Personal")
    page.get_by_role("combobox", name="Workspace", exact=True).select_option("Quay")
    expect(page.get_by_text("You can read and ask in “Quay”.")).to_be_visible()
    expect(page.locator("[data-part=adding]")).to_be_hidden()
    expect(page.get_by_role("button", name=re.compile("Delete|Move"))).to_have_count(0)
    page.get_by_role("combobox", name="Workspace", exact=True).select_option("Harbour")
    expect(page.get_by_label("Goes to")).to_have_value(str(harbour.pk))
    expect(page.get_by_text("You can read and ask in “Quay”.")).to_be_hidden()


def test_an_upload_goes_where_the_button_says(logged_in: Page, reader: User, harbour: Workspace) -> None:
    page = logged_in
    page.goto("/documents/")
    page.get_by_label("Goes to").select_option("Harbour")
    file: Any = {"name": "tide.txt", "mimeType": "text/plain", "buffer": b"The tide is high at noon."}
    page.get_by_label("Upload").set_input_files(file)
    expect(page.get_by_role("row", name="tide.txt")).to_contain_text("Harbour")


def test_a_document_moves_from_the_list(logged_in: Page, reader: User, harbour: Workspace) -> None:
    page = logged_in
    document = indexed_document(reader.personal_workspace)
    page.goto("/documents/")
    page.get_by_role("button", name="Move solar.pdf to another workspace").click()
    expect(page.get_by_label("To the workspace").locator("option")).to_have_text(["Harbour"])
    agree(page, "Move")
    expect(page.get_by_role("row", name="solar.pdf")).to_contain_text("Harbour")
    document.refresh_from_db()
    assert document.workspace == harbour


@pytest.mark.parametrize(
    ("theme", "viewport"),
    [
        pytest.param("light", DESKTOP, id="light desk"),
        pytest.param("dark", PHONE, id="dark phone"),
        pytest.param("dark", DESKTOP, id="dark desk", marks=pytest.mark.slow("pages")),
        pytest.param("light", PHONE, id="light phone", marks=pytest.mark.slow("pages")),
    ],
)
def test_they_suit_every_screen(
    logged_in: Page, harbour: Workspace, friend: User, theme: Any, viewport: Any
) -> None:
    page = logged_in
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    Membership.objects.create(workspace=harbour, user=friend, role=Role.VIEWER)

    def looks_right() -> None:
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0

    page.goto("/workspaces")
    looks_right()
    page.get_by_role("button", name="New workspace").click()
    looks_right()
    page.goto(f"/workspaces/{harbour.pk}")
    looks_right()
    for opener in ("Hand over…", "Delete…"):
        page.get_by_role("button", name=opener).click()
        looks_right()
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    page.goto(f"/workspaces/{harbour.pk}/members")
    expect(page.get_by_role("row", name="friend@example.org")).to_be_visible()
    looks_right()
    page.get_by_role("button", name="Invite").click()
    looks_right()
    page.get_by_role("button", name="Create invitation").click()
    expect(page.get_by_role("heading", name="Copy the link now")).to_be_visible()
    looks_right()
