"""Files come in by drop, as folders, from the clipboard and in archives; many documents change at once."""

from __future__ import annotations

import base64
import io
import zipfile
from pathlib import Path
from typing import Any

from playwright.sync_api import JSHandle, Page, expect

from accounts.models import User, Workspace
from kb.models import Document, Status
from tests.browser.conftest import DESKTOP, PHONE
from tests.factories import indexed_document
from tests.testing.paths import SAMPLES

TRANSFER = """(files) => {
    const transfer = new DataTransfer();
    for (const [name, content] of files)
        transfer.items.add(new File([Uint8Array.from(atob(content), (c) => c.charCodeAt(0))], name));
    return transfer;
}"""
# What a browser makes of a folder that is dropped: entries that are read in parts.
FOLDER = """() => {
    const file = (name, text) => ({ name, isFile: true, file: (done) => done(new File([text], name)) });
    const folder = (name, inside) => ({ name, isDirectory: true, createReader: () => {
        let parts = [inside, []];
        return { readEntries: (done) => done(parts.shift()) };
    } });
    const tree = folder("Harbour", [file("quay.txt", "The quay."), file(".hidden", "x"),
        folder("Cranes", [file("crane.txt", "The crane.")])]);
    const event = new Event("drop", { bubbles: true, cancelable: true });
    const item = { kind: "file", webkitGetAsEntry: () => tree };
    event.dataTransfer = { types: ["Files"], items: [item], files: [new File([], "Harbour")] };
    document.querySelector("main").dispatchEvent(event);
}"""
PASTE = """(transfer) => document.querySelector("main").dispatchEvent(
    new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: transfer }))"""


def transfer(page: Page, *files: tuple[str, bytes]) -> JSHandle:
    """Return a `DataTransfer` with files."""
    given = [[name, base64.b64encode(content).decode()] for name, content in files]
    return page.evaluate_handle(TRANSFER, given)


def drop(page: Page, dropped: JSHandle) -> None:
    """Drag files over the page, and let them go."""
    for kind in ("dragenter", "dragover"):
        page.dispatch_event("main", kind, {"dataTransfer": dropped})
    expect(page.get_by_text("Drop to upload")).to_be_visible()
    page.dispatch_event("main", "drop", {"dataTransfer": dropped})
    expect(page.get_by_text("Drop to upload")).to_be_hidden()


def row(page: Page, name: str) -> Any:
    """Return the row of a document."""
    return page.get_by_role("row", name=name)


def archive() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("Harbour/quay.txt", "The quay.")
        file.writestr("crane.txt", "The crane.")
    return packed.getvalue()


def test_a_phone_takes_a_photo(logged_in: Page) -> None:
    page = logged_in
    page.set_viewport_size(PHONE)
    page.goto("/documents/")
    with page.expect_file_chooser() as chooser:
        page.get_by_text("Take a photo").click()
    assert chooser.value.element.get_attribute("capture") == "environment"
    chooser.value.set_files(SAMPLES / "scan.png")
    expect(row(page, "scan.png")).to_be_visible()
    page.set_viewport_size(DESKTOP)
    expect(page.get_by_text("Take a photo")).to_be_hidden()


def test_files_are_dropped(logged_in: Page) -> None:
    page = logged_in
    page.goto("/documents/")
    expect(page.get_by_role("heading", name="No documents yet")).to_be_visible()
    report = (SAMPLES / "report.pdf").read_bytes()
    drop(page, transfer(page, ("report.pdf", report), ("note.txt", b"The quay is long.")))
    for name in ("report.pdf", "note.txt"):
        expect(row(page, name).locator(".status")).to_have_text("Ready", timeout=60_000)
    expect(page.locator("[data-part=usage]")).to_contain_text("2 documents")
    drop(page, transfer(page, ("again.pdf", report)))
    expect(page.get_by_text("“report.pdf” was here already.")).to_be_visible()
    assert Document.unscoped.count() == 2


def test_a_folder_is_dropped(logged_in: Page) -> None:
    """Its files are tagged with where they were."""
    page = logged_in
    page.goto("/documents/")
    expect(page.get_by_role("heading", name="No documents yet")).to_be_visible()
    page.evaluate(FOLDER)
    expect(row(page, "quay.txt").locator(".tag")).to_have_text("Harbour")
    expect(row(page, "crane.txt").locator(".tag")).to_have_text("Harbour/Cranes")
    assert Document.unscoped.count() == 2


def test_a_picture_is_pasted(logged_in: Page) -> None:
    page = logged_in
    page.goto("/documents/")
    expect(page.get_by_role("heading", name="No documents yet")).to_be_visible()
    page.evaluate(PASTE, transfer(page, ("image.png", (SAMPLES / "scan.png").read_bytes())))
    expect(row(page, "image.png").locator(".status")).to_have_text("Ready", timeout=60_000)
    assert Document.unscoped.get().file_type == "png"


def test_an_archive_is_unpacked(logged_in: Page, tmp_path: Path) -> None:
    page = logged_in
    (tmp_path / "all.zip").write_bytes(archive())
    page.goto("/documents/")
    with page.expect_file_chooser() as choosing:
        page.get_by_text("Upload", exact=True).click()
    choosing.value.set_files(tmp_path / "all.zip")
    expect(row(page, "quay.txt").locator(".tag")).to_have_text("Harbour")
    expect(row(page, "crane.txt")).to_be_visible()
    expect(row(page, "all.zip")).to_have_count(0)


def test_many_are_moved_and_processed_again(logged_in: Page, reader: User) -> None:
    page = logged_in
    other = Workspace.create_for(reader, name="Archive")
    for number in range(4):
        indexed_document(reader.personal_workspace, f"Text {number}.", name=f"note {number}.txt")
    page.goto("/documents/?sort=name")
    page.get_by_label("Choose note 0.txt").click()
    page.get_by_label("Choose note 1.txt").click()
    bar = page.get_by_role("region", name="Chosen documents")
    bar.get_by_role("button", name="Move…").click()
    page.get_by_role("dialog", name="Move 2 documents").get_by_role("button", name="Move").click()
    expect(page.get_by_text("2 documents moved to Archive.")).to_be_visible()
    assert Document.unscoped.filter(workspace=other).count() == 2
    page.get_by_label("Choose all that are shown").click()
    bar.get_by_role("button", name="Process again").click()
    expect(page.get_by_text("4 documents will be processed again.")).to_be_visible()
    expect(page.locator("[data-document] .status", has_text="Ready")).to_have_count(4, timeout=60_000)
    assert not Document.unscoped.exclude(status=Status.READY).exists()


def test_cards_show_first_pages(logged_in: Page) -> None:
    page = logged_in
    page.goto("/documents/")
    page.get_by_label("Upload", exact=True).set_input_files([SAMPLES / "report.pdf", SAMPLES / "notes.md"])
    for name in ("report.pdf", "notes.md"):
        expect(row(page, name).locator(".status")).to_have_text("Ready", timeout=60_000)
    page.get_by_role("button", name="As pictures").click()
    card = page.get_by_role("article", name="report.pdf")
    drawn = "(image) => image.complete && image.naturalWidth === 320"
    expect(card.locator("img")).to_be_visible()
    page.wait_for_function(drawn, arg=card.locator("img").element_handle())
    expect(page.get_by_role("article", name="notes.md").locator("img")).to_have_count(0)
    card.get_by_label("Choose report.pdf").click()
    expect(page.get_by_role("region", name="Chosen documents")).to_contain_text("1 document chosen")
