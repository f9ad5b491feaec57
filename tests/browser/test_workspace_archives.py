"""A workspace by people: exported, downloaded, and imported as another."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User, Workspace
from runs.models import TransferKind, TransferStatus, WorkspaceTransfer
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.test_accessibility import violations
from tests.factories import indexed_document

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def harbour(reader: User) -> Workspace:
    """A workspace of the reader's own, with a document."""
    workspace = Workspace.create_for(reader, name="Harbour")
    indexed_document(workspace)
    return workspace


def exports(workspace: Workspace, user: User, **values: Any) -> WorkspaceTransfer:
    """Return an export of the user's that nobody works on."""
    return WorkspaceTransfer.unscoped.create(
        kind=TransferKind.EXPORT, workspace=workspace, user=user, **values
    )


def looks_right(page: Page) -> None:
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.parametrize(
    ("theme", "viewport"),
    [
        pytest.param("light", DESKTOP, id="light desk", marks=pytest.mark.slow("pages")),
        pytest.param("dark", PHONE, id="dark phone"),
        pytest.param("dark", DESKTOP, id="dark desk", marks=pytest.mark.slow("pages")),
        pytest.param("light", PHONE, id="light phone", marks=pytest.mark.slow("pages")),
    ],
)
def test_it_is_exported_downloaded_and_imported(
    logged_in: Page, reader: User, harbour: Workspace, tmp_path: Path, theme: Any, viewport: Any
) -> None:
    page = logged_in
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    page.goto(f"/workspaces/{harbour.pk}")
    page.get_by_role("button", name="Export", exact=True).click()
    link = page.get_by_role("link", name="Download the export")
    expect(link).to_be_visible()
    page.reload()
    expect(page.get_by_text("is ready")).to_be_visible()
    looks_right(page)
    with page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename.startswith("Harbour ")
    archive = tmp_path / "harbour.zip"
    download.value.save_as(archive)
    page.get_by_role("link", name="Workspaces", exact=True).last.click()
    page.get_by_role("button", name="Import…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("File that an export has made").set_input_files(archive)
    dialog.get_by_label("Name (optional)").fill("Quay")
    looks_right(page)
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="Quay", level=1)).to_be_visible()
    page.goto("/documents/")
    page.get_by_role("combobox", name="Workspace", exact=True).select_option("Quay")
    expect(page.get_by_role("row", name="solar.pdf")).to_have_count(1)
    looks_right(page)


@pytest.mark.parametrize(
    ("theme", "viewport"),
    [
        pytest.param("light", DESKTOP, id="light desk"),
        pytest.param("dark", PHONE, id="dark phone", marks=pytest.mark.slow("pages")),
        pytest.param("dark", DESKTOP, id="dark desk", marks=pytest.mark.slow("pages")),
        pytest.param("light", PHONE, id="light phone", marks=pytest.mark.slow("pages")),
    ],
)
def test_the_page_shows_the_newest_export(
    logged_in: Page, reader: User, harbour: Workspace, theme: Any, viewport: Any
) -> None:
    page = logged_in
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    export = exports(harbour, reader, status=TransferStatus.RUNNING, done=3, total=10)
    address, state = f"/workspaces/{harbour.pk}", page.locator("[data-part=exportState]")
    page.goto(address)
    expect(state).to_have_text("Exporting: 3 of 10 documents…")
    expect(page.get_by_role("progressbar", name="Exporting")).to_have_attribute("value", "3")
    expect(page.get_by_role("button", name="Export", exact=True)).to_be_disabled()
    looks_right(page)
    stored = WorkspaceTransfer.unscoped.filter(pk=export.pk)
    until = timezone.now() + timedelta(hours=1)
    stored.update(status=TransferStatus.COMPLETED, file="transfers/1.zip", size=1_200_000, expires_at=until)
    expect(page.get_by_role("link", name="Download the export")).to_be_visible()
    expect(state).to_contain_text("is ready, 1.2\u00a0MB. It is kept until")
    looks_right(page)
    stored.update(expires_at=timezone.now())
    page.reload()
    expect(page.get_by_role("button", name="Export", exact=True)).to_be_enabled()
    expect(state).to_have_text("")
    exports(harbour, reader, status=TransferStatus.FAILED, error="The disk is full.")
    page.reload()
    expect(state).to_contain_text("failed. The disk is full.")
    looks_right(page)
