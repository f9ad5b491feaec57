"""The pages on which people see what was used, what is left, and what happened."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.access.identity import principal_of_user
from accounts.access.keys import create_key
from accounts.audit.recording import record
from accounts.audit.retrievals import Retrieval, record_retrievals
from accounts.ledger.balances import book
from accounts.ledger.base import Order, Payer, Reservation
from accounts.models import (
    AuditAction,
    AuditEntry,
    Charge,
    DailyUsage,
    Membership,
    User,
    Workspace,
    WorkspaceQuota,
)
from accounts.models.ledger import Purpose
from accounts.principal import UsageOwner
from accounts.roles import Role
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.test_accessibility import violations
from tests.factories import chunk_id, indexed_document

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def team(reader: User) -> Workspace:
    """A team of the reader's and of bob's, after a month of questions."""
    team = Workspace.create_for(reader, name="Lighthouses")
    bob = User.objects.create_user("bob.with.a.long.name@lighthouses.example.org")
    Membership.objects.create(workspace=team, user=bob, role=Role.EDITOR)
    key, _ = create_key(bob, "Chat bot of the museum")
    today, owners = (
        datetime.now(UTC).date(),
        [
            UsageOwner(reader.pk),
            UsageOwner(bob.pk),
            UsageOwner(bob.pk, key.pk, "visitor-0042"),
        ],
    )
    for days in range(0, 30, 2):
        for number, owner in enumerate(owners):
            DailyUsage.unscoped.create(
                day=today - timedelta(days=days),
                workspace_id=team.pk,
                user_id=owner.user_id,
                key_id=owner.key_id,
                external_user_id=owner.external_user_id,
                questions=(days * 7 + number * 5) % 40,
                input_tokens=1000 * days,
                output_tokens=90 * number,
                pages=days // 5,
                documents=number,
            )
        order = Order(Payer(team.pk, owner=owners[days % 3]), Purpose.MODEL, "m", Decimal("0.031"))
        book(Reservation(order), Decimal("0.031"), is_spent=True)
    Charge.unscoped.update(created_at=timezone.now() - timedelta(days=3))
    WorkspaceQuota.unscoped.create(
        workspace=team, documents=1, storage_bytes=2**30, tokens_per_day=1_000, max_cost=Decimal(5)
    )
    document = indexed_document(team)
    record(AuditAction.MEMBER_ADDED, reader, workspace_id=team.pk, target=("user", bob.pk), role="editor")
    record(AuditAction.DOCUMENT_ADDED, bob, workspace_id=team.pk, target=("document", document.pk), bytes=17)
    asked = Retrieval(
        "rag_search",
        owners[2],
        team.pk,
        [team.pk],
        None,
        {team.pk: [chunk_id(document)] * 5},
        "call_x",
        "192.0.2.7",
    )
    record_retrievals([asked])
    return team


def photograph(page: Page, name: str) -> None:
    """Keep a picture of the page where `SCREENSHOTS` names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def test_an_admin_sees_what_is_used_and_left(logged_in: Page, team: Workspace) -> None:
    page = logged_in
    page.goto(f"/workspaces/{team.pk}")
    page.get_by_role("link", name="Usage", exact=True).click()
    expect(page.get_by_role("img", name="Documents: 100.0% is used")).to_be_visible()
    expect(
        page.get_by_role("img", name="Questions a day; the figures are in the table below")
    ).to_be_visible()
    expect(page.get_by_text("0 left. Deleting documents makes room at once.")).to_be_visible()
    bob = page.get_by_role("table", name="By user").get_by_role("row", name="bob")
    assert bob.locator("[data-label=Questions]").inner_text().isdigit()
    expect(page.get_by_role("table", name="By external user")).to_contain_text("visitor-0042")
    page.get_by_text("All days as a table").click()
    expect(page.get_by_role("table", name="All days").get_by_role("row")).to_have_count(17)
    page.get_by_role("link", name="7 days").click()
    page.get_by_text("All days as a table").click()
    expect(page.get_by_role("table", name="All days").get_by_role("row")).to_have_count(6)


def test_a_member_sees_its_own(logged_in: Page, reader: User, team: Workspace) -> None:
    Membership.objects.filter(workspace=team).exclude(user=reader).update(role=Role.OWNER)
    Membership.objects.filter(workspace=team, user=reader).update(role=Role.VIEWER)
    page = logged_in
    page.goto(f"/workspaces/{team.pk}/usage")
    expect(page.get_by_text("What you have used here.")).to_be_visible()
    expect(page.get_by_text("bob")).to_have_count(0)
    expect(page.get_by_role("heading", name="Limits of this workspace")).to_have_count(0)
    expect(page.get_by_role("link", name="Activity")).to_have_count(0)


def test_what_happened_is_listed_and_filtered(logged_in: Page, team: Workspace) -> None:
    page = logged_in
    page.goto(f"/workspaces/{team.pk}/activity")
    rows = page.get_by_role("table", name="Activity, newest first").locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("for visitor-0042")
    expect(rows.first).to_contain_text("192.0.2.7")
    rows.first.get_by_text("Details").click()
    expect(rows.first).to_contain_text("rag_search")
    page.get_by_label("Action", exact=True).select_option("Member added")
    page.get_by_role("button", name="Show").click()
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("reader@example.org")
    page.get_by_label("Day (UTC)").fill("2020-01-01")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("Nothing happened that fits the filter.")).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    expect(rows).to_have_count(3)


def test_older_entries_are_on_other_pages(logged_in: Page, team: Workspace, reader: User) -> None:
    for _ in range(60):
        record(AuditAction.SETTINGS_CHANGED, principal_of_user(reader), workspace_id=team.pk)
    page = logged_in
    page.goto(f"/workspaces/{team.pk}/activity")
    page.get_by_role("link", name="Older").click()
    total = AuditEntry.unscoped.filter(workspace_id=team.pk).count()
    expect(page.locator(".activity-table tbody tr")).to_have_count(total - 50)
    page.get_by_role("link", name="Newer").click()
    expect(page.locator(".activity-table tbody tr")).to_have_count(50)


def test_my_usage(logged_in: Page, team: Workspace) -> None:
    page = logged_in
    page.goto("/preferences")
    page.get_by_role("link", name="Usage", exact=True).click()
    expect(page.get_by_role("table", name="By workspace")).to_contain_text("Lighthouses")
    expect(page.get_by_text("bob")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
def test_they_suit_every_screen(logged_in: Page, team: Workspace, theme: Any, viewport: Any) -> None:
    page = logged_in
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    found = []
    for name, address in [
        ("usage", f"/workspaces/{team.pk}/usage"),
        ("activity", f"/workspaces/{team.pk}/activity"),
        ("own", "/usage"),
    ]:
        page.goto(address)
        for summary in page.locator("main details summary").all()[:1]:
            summary.click()
        found += violations(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        photograph(page, f"{name}-{theme}-{viewport['width']}")
    assert found == []
