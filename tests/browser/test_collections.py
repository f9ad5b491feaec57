"""Collections on the page of documents: made, filled, chosen in the address, renamed and deleted."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from accounts.models import User
from kb.models import Document, DocumentCollection
from tests.browser.conftest import PHONE
from tests.factories import indexed_document
from tests.testing.paths import SAMPLES


def notes(reader: User, *names: str) -> None:
    """Add a document of each name."""
    for name in names:
        indexed_document(reader.personal_workspace, f"{name}.", name=name)


def test_chosen_documents_join_a_new_collection(logged_in: Page, reader: User) -> None:
    page = logged_in
    notes(reader, "quay.pdf", "crane.pdf", "hill.pdf")
    page.goto("/documents/?sort=name")
    page.get_by_label("Choose crane.pdf").click()
    page.get_by_label("Choose quay.pdf").click()
    page.get_by_role("button", name="Collection…").click()
    dialog = page.get_by_role("dialog", name="Collection of the chosen documents")
    dialog.get_by_label("Name of the new collection").fill("Harbour")
    dialog.get_by_role("button", name="Add").click()
    expect(page.get_by_text("2 documents added to “Harbour”.")).to_be_visible()
    collection = page.get_by_role("button", name="Harbour 2")
    collection.click()
    expect(page.locator("[data-document]")).to_have_count(2)
    expect(collection).to_have_attribute("aria-pressed", "true")
    made = DocumentCollection.unscoped.get()
    assert f"collection={made.pk}" in page.url
    # The address leads there, and an upload goes into it.
    page.reload()
    expect(page.locator("[data-document]")).to_have_count(2)
    page.get_by_label("Upload", exact=True).set_input_files(SAMPLES / "notes.md")
    expect(page.get_by_role("button", name="Harbour 3")).to_be_visible()
    assert Document.unscoped.filter(collection_ids=[made.pk]).count() == 3


def test_it_is_renamed_emptied_and_deleted(logged_in: Page, reader: User) -> None:
    page = logged_in
    notes(reader, "quay.pdf", "crane.pdf")
    made = DocumentCollection.unscoped.create(workspace=reader.personal_workspace, name="Port")
    Document.unscoped.update(collection_ids=[made.pk])
    page.goto(f"/documents/?collection={made.pk}")
    page.get_by_role("button", name="Rename this collection").click()
    dialog = page.get_by_role("dialog", name="Rename “Port”")
    dialog.get_by_label("Name").fill("Harbour")
    dialog.get_by_label("Name").press("Enter")
    expect(page.get_by_role("button", name="Harbour 2")).to_be_visible()
    page.get_by_label("Choose quay.pdf").click()
    page.get_by_role("button", name="Collection…").click()
    page.get_by_role("button", name="Take out").click()
    expect(page.locator("[data-document]")).to_have_count(1)
    expect(page.get_by_role("button", name="Harbour 1")).to_be_visible()
    page.get_by_role("button", name="Delete this collection").click()
    page.get_by_role("button", name="Delete collection", exact=True).click()
    expect(page.locator("[data-document]")).to_have_count(2)
    expect(page.get_by_role("button", name="Harbour")).to_have_count(0)
    assert Document.unscoped.filter(collection_ids=[]).count() == 2


def test_many_on_a_phone(logged_in: Page, reader: User) -> None:
    page = logged_in
    notes(reader, "quay.pdf")
    for number in range(12):
        DocumentCollection.unscoped.create(workspace=reader.personal_workspace, name=f"Project {number:02}")
    page.set_viewport_size(PHONE)
    page.goto("/documents/")
    page.get_by_role("button", name="Project 11 0").click()
    expect(page.get_by_role("heading", name="No document of “Project 11” matches")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="New collection").click()
    dialog = page.get_by_role("dialog", name="New collection")
    dialog.get_by_label("Name").fill("Harbour")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Harbour 0")).to_have_attribute("aria-pressed", "true")


def test_a_link_to_one_that_is_gone_shows_all(logged_in: Page, reader: User) -> None:
    page = logged_in.context.new_page()  # where a refusal is no fault
    notes(reader, "quay.pdf")
    page.goto("/documents/?collection=7b251747-48af-4e1f-9d60-36771d06ebfb")
    expect(page.locator("[data-document]")).to_have_count(1)
    assert "collection" not in page.url


def test_questions_are_put_to_a_collection(logged_in: Page, reader: User) -> None:
    page = logged_in
    notes(reader, "The quay is 40 m long", "The crane is 30 m long")
    made = DocumentCollection.unscoped.create(workspace=reader.personal_workspace, name="Harbour")
    Document.unscoped.filter(name__contains="quay").update(collection_ids=[made.pk])
    page.goto(f"/documents/?collection={made.pk}")
    page.get_by_role("link", name="Ask about this collection").click()
    scope = page.get_by_role("button", name="Harbour", exact=True)
    expect(scope).to_be_visible()
    page.get_by_label("Your question").fill("How long is the crane?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed", timeout=60_000)
    assert set(page.locator(".source-name").all_text_contents()) == {"The quay is 40 m long"}
    # The conversation keeps it, and there it is taken back.
    page.reload()
    # In a narrow window the box is one row until it is tapped.
    page.get_by_label("Your question").click()
    scope.click()
    page.get_by_role("dialog", name="Where to look").get_by_label("Harbour").uncheck()
    page.get_by_role("button", name="Use this choice").click()
    expect(page.get_by_role("button", name="All documents", exact=True)).to_be_visible()
