"""A sound document is replaced by a new version, and a citation of the old one says so."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from accounts.models import User
from kb.models import Chunk, Document
from tests.factories import chunk_id, indexed_document, pdf_of


def test_an_old_citation_tells_that_its_version_is_gone(
    logged_in: Page, reader: User, tmp_path: Path
) -> None:
    page = logged_in
    document = indexed_document(reader.personal_workspace, "The harbour has two quays.", name="harbour.pdf")
    cited = chunk_id(document)
    (tmp_path / "harbour 2.pdf").write_bytes(pdf_of("The harbour has three quays."))
    page.goto("/documents/")
    with page.expect_file_chooser() as choosing:
        page.get_by_role("button", name="Replace the file of harbour.pdf").click()
    choosing.value.set_files(tmp_path / "harbour 2.pdf")
    dialog = page.get_by_role("dialog", name="Replace “harbour.pdf”?")
    expect(dialog).to_contain_text("“harbour 2.pdf” takes its place")
    dialog.get_by_role("button", name="Replace").click()
    row = page.get_by_role("row", name="harbour 2.pdf")
    expect(row.locator(".status")).to_have_text("Ready", timeout=60_000)
    live = Chunk.unscoped.get(document=document, replaced_by=None)
    assert (live.text, Document.unscoped.count()) == ("The harbour has three quays.", 1)

    page.goto(f"/documents/{document.pk}?chunk={cited}")
    note = page.get_by_role("note")
    expect(note).to_contain_text(re.compile(r"From an earlier version of this document, replaced on .*\d{4}"))
    expect(note).to_contain_text("The harbour has two quays.")
    # The new file is shown, without marks of the old one.
    expect(page.locator(".textLayer").first).to_contain_text("three quays", timeout=60_000)
    expect(page.locator(".place")).to_have_count(0)

    page.goto(f"/documents/{document.pk}?chunk={live.pk}")
    expect(page.locator(".place").first).to_be_visible(timeout=60_000)
    expect(page.get_by_role("note")).to_have_count(0)
