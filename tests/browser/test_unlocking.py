"""Protected files in a browser: their password is asked for where they failed."""

from __future__ import annotations

import subprocess
from pathlib import Path

from playwright.sync_api import Page, expect

from kb.models import Document
from tests.browser.conftest import PHONE
from tests.testing.paths import SAMPLES


def locked(page: Page) -> None:
    """Upload a protected PDF, and wait until it has failed."""
    page.goto("/documents/")
    page.get_by_label("Upload", exact=True).set_input_files(SAMPLES / "encrypted.pdf")
    expect(page.get_by_role("row", name="encrypted.pdf").locator(".status")).to_have_text(
        "Failed", timeout=60_000
    )


def test_the_password_is_asked_for_at_the_row(logged_in: Page) -> None:
    page = logged_in
    locked(page)
    row = page.get_by_role("row", name="encrypted.pdf")
    row.get_by_role("button", name="Enter password… encrypted.pdf").press("Enter")
    dialog = page.get_by_role("dialog", name="Unlock “encrypted.pdf”")
    expect(dialog.get_by_label("Password")).to_be_focused()
    dialog.get_by_label("Password").press_sequentially("secret")
    dialog.get_by_label("Password").press("Enter")
    expect(dialog).to_be_hidden()
    expect(row.locator(".status")).to_have_text("Ready", timeout=60_000)
    assert Document.unscoped.get().page_count == 4


def test_on_a_phone_from_the_document(logged_in: Page) -> None:
    page = logged_in
    locked(page)
    page.set_viewport_size(PHONE)
    page.get_by_role("link", name="encrypted.pdf").click()
    page.get_by_role("button", name="About this document").click()
    page.get_by_role("button", name="Enter password… encrypted.pdf").click()
    dialog = page.get_by_role("dialog", name="Unlock “encrypted.pdf”")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Enter password… encrypted.pdf").click()
    dialog.get_by_label("Password").fill("secret")
    dialog.get_by_role("button", name="Unlock").click()
    page.get_by_role("button", name="Close the details").click()
    # The viewer draws the pages, with their text, as of any PDF.
    expect(page.locator(".textLayer").first).to_contain_text("lighthouse", timeout=60_000)


def test_a_wrong_password_can_be_corrected(logged_in: Page) -> None:
    page = logged_in.context.new_page()  # where a refusal is no fault
    locked(page)
    page.get_by_role("button", name="Enter password… encrypted.pdf").click()
    dialog = page.get_by_role("dialog", name="Unlock “encrypted.pdf”")
    dialog.get_by_label("Password").fill("wrong")
    dialog.get_by_label("Password").press("Enter")
    expect(dialog.get_by_role("alert")).to_have_text("This password does not open the file. Try again.")
    # What was typed is selected: the next word takes its place.
    page.keyboard.type("secret")
    expect(dialog.get_by_role("alert")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.get_by_role("row", name="encrypted.pdf").locator(".status")).to_have_text("Ready")


def test_a_protected_archive_asks_too(logged_in: Page, tmp_path: Path) -> None:
    page = logged_in.context.new_page()  # where a refusal is no fault
    (tmp_path / "note.txt").write_text("The saffron is in the vault.")
    made = ["zip", "-q", "-P", "secret", "vault.zip", "note.txt"]
    subprocess.run(made, cwd=tmp_path, check=True)
    page.goto("/documents/")
    page.get_by_label("Upload", exact=True).set_input_files(tmp_path / "vault.zip")
    page.get_by_role("alert").get_by_role("button", name="Enter password…").click()
    page.get_by_label("Password").fill("secret")
    page.get_by_role("button", name="Unlock").click()
    expect(page.get_by_role("row", name="note.txt").locator(".status")).to_have_text("Ready", timeout=60_000)
    expect(page.get_by_role("alert")).to_have_count(0)
