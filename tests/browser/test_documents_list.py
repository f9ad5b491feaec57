"""The list of documents: adding to it, watching it, and stopping what takes too long."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from accounts.models import User
from ingestion.progress import ProgressWriter
from kb.models import Document, Stage, Status
from tests.browser import kinds
from tests.browser.conftest import DESKTOP, PHONE, is_narrow
from tests.factories import indexed_document
from tests.testing.paths import SAMPLES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_row_of_a_running_document_says_what_is_done_and_left(logged_in: Page, reader: User) -> None:
    page = logged_in
    document = kinds.being_recognised(reader.personal_workspace)
    page.goto("/documents/")
    row = page.get_by_role("row", name="minutes.pdf")
    expect(row.locator(".status")).to_have_text("Recognising text")
    expect(row.get_by_role("progressbar")).to_be_visible()
    expect(row.locator(".status-count")).to_have_text("12 of 40 pages, about 1 min left")
    expect(row.locator(".badge")).to_have_text("Findable by words")
    page.wait_for_load_state("networkidle")
    cancel = row.get_by_role("button", name="Cancel minutes.pdf")
    cancel.focus()
    ProgressWriter(document.pk, lambda: False).progress_or_stop(Stage.EXTRACTING, 30, 40, "page")
    expect(row.locator(".status-count")).to_contain_text("30 of 40 pages")
    expect(cancel).to_be_focused()


def test_cancelling_keeps_the_file_and_offers_another_try(logged_in: Page, reader: User) -> None:
    page = logged_in
    document = kinds.being_recognised(reader.personal_workspace)
    page.goto("/documents/")
    row = page.get_by_role("row", name="minutes.pdf")
    row.get_by_role("button", name="Cancel minutes.pdf").click()
    expect(row.locator(".status")).to_have_text("Cancelled")
    expect(row.get_by_role("progressbar")).to_have_count(0)
    document.refresh_from_db()
    assert (document.status, document.searchable, document.chunk_count) == (Status.CANCELLED, "none", 0)
    assert document.file.storage.exists(document.file.name)
    row.get_by_role("button", name="Try again: minutes.pdf").click()
    expect(row.locator(".status")).to_have_text("Ready", timeout=120_000)


def test_web_pages_are_added_by_their_addresses(logged_in: Page) -> None:
    page = logged_in
    page.goto("/documents/")
    addresses = page.get_by_label("Addresses of web pages")
    # Nothing answers at these names: what counts here is that each becomes a document which says so.
    addresses.fill("https://one.invalid/page\ntwo.invalid")
    addresses.press("Enter")
    for name in ("https://one.invalid/page", "https://two.invalid"):
        row = page.get_by_role("row", name=name)
        expect(row.locator(".status")).to_have_text("Failed", timeout=60_000)
        expect(row.locator(".status-note")).not_to_be_empty()
    expect(addresses).to_have_value("")
    assert set(Document.unscoped.values_list("error_code", flat=True)) == {"unreachable_url"}


def test_words_are_not_taken_for_addresses(logged_in: Page) -> None:
    """What is no address is refused where it was typed; no document is made of it, and nothing is lost."""
    page = logged_in
    page.goto("/documents/")
    addresses = page.get_by_label("Addresses of web pages")
    addresses.fill("not a url")
    addresses.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("“not a url” is not the address of a web page")
    expect(addresses).to_have_value("not a url")
    addresses.fill("https://one.invalid/")
    expect(page.locator("#address-error")).to_be_hidden()
    assert not Document.unscoped.exists()


def test_names_are_the_darkest_text_of_their_rows(logged_in: Page, reader: User) -> None:
    page = logged_in
    indexed_document(reader.personal_workspace)
    page.goto("/documents/")
    name = page.get_by_role("row", name="solar.pdf").locator(".cell-name")
    assert name.evaluate("(cell) => getComputedStyle(cell).color === getComputedStyle(document.body).color")


def test_attachments_stand_under_their_mail(logged_in: Page, reader: User) -> None:
    page = logged_in
    kinds.mail(reader.personal_workspace)
    indexed_document(reader.personal_workspace, name="newer.pdf")
    page.goto("/documents/")
    names = page.locator("tbody .named [data-action=open]")
    expect(names).to_have_text(["newer.pdf", "Fwd: harbour plans", "plan.pdf"])
    expect(page.locator("tr.is-attachment")).to_contain_text("Attached")


def test_warnings_and_failures_say_what_they_mean(logged_in: Page, reader: User) -> None:
    page = logged_in
    kinds.scanned(reader.personal_workspace)
    failed = indexed_document(reader.personal_workspace, name="locked.pdf")
    failed.status, failed.error_code = Status.FAILED, "encrypted"
    failed.error_message = "The file is protected by a password. Enter it, or upload another file."
    failed.save()
    page.goto("/documents/")
    expect(page.get_by_role("row", name="town archive")).to_contain_text(
        "1 of 40 pages could not be read: 40."
    )
    expect(page.get_by_role("row", name="locked.pdf")).to_contain_text("Enter it")
    expect(page.get_by_role("row", name="locked.pdf").get_by_label("Replace the file")).to_be_attached()
    expect(page.get_by_role("row", name="locked.pdf").get_by_text("Try again")).to_have_count(0)


def test_the_file_of_a_failed_document_is_replaced(logged_in: Page, reader: User) -> None:
    """The same bytes can only fail again: another file takes their place, in the same document."""
    page = logged_in
    page.goto("/documents/")
    page.get_by_label("Upload", exact=True).set_input_files(SAMPLES / "encrypted.pdf")
    expect(page.get_by_role("row", name="encrypted.pdf").locator(".status")).to_have_text("Failed")
    replacement = page.get_by_label("Replace the file of encrypted.pdf")
    replacement.set_input_files(SAMPLES / "report.pdf")
    expect(page.get_by_role("row", name="report.pdf").locator(".status")).to_have_text("Ready")
    assert Document.unscoped.count() == 1


def _five(reader: User) -> None:
    for number in range(5):
        indexed_document(reader.personal_workspace, f"Text {number}.", name=f"note {number}.pdf")


def test_a_range_is_tagged_and_deleted_and_comes_back(logged_in: Page, reader: User) -> None:
    page = logged_in
    _five(reader)
    page.goto("/documents/?sort=name")
    page.get_by_label("Choose note 1.pdf").click()
    page.get_by_label("Choose note 3.pdf").click(modifiers=["Shift"])
    bar = page.get_by_role("region", name="Chosen documents")
    expect(bar).to_contain_text("3 documents chosen")
    bar.get_by_role("button", name="Tag…").click()
    page.get_by_role("combobox", name="Tags").fill("minutes, 2026")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("row", name="note 2.pdf").locator(".tag")).to_have_text(["minutes", "2026"])
    expect(bar).to_be_hidden()
    page.get_by_label("Choose all that are shown").click()
    expect(bar).to_contain_text("5 documents chosen")
    bar.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="No documents yet")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-document]")).to_have_count(5)
    assert Document.unscoped.filter(delete_at=None).count() == 5


def sort_by_name(page: Page) -> None:
    """Sort by the head of the column, or by the filters where rows are not columns."""
    if is_narrow(page):
        page.get_by_label("Sort by").select_option("Name, A to Z")
    else:
        page.get_by_role("button", name="Name", exact=True).click()


def test_a_link_leads_to_the_same_view(logged_in: Page, reader: User) -> None:
    page = logged_in
    _five(reader)
    Document.unscoped.filter(name="note 2.pdf").update(tags=["minutes"])
    page.goto("/documents/")
    page.get_by_role("button", name="Only documents tagged minutes").click()
    sort_by_name(page)
    expect(page.locator("[data-document]")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/documents/\?tag=minutes&sort=name$"))
    page.reload()
    expect(page.locator("[data-document]")).to_have_count(1)
    expect(page.get_by_label("Tag", exact=True)).to_have_value("minutes")
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "ascending")
    page.go_back()
    page.go_back()
    expect(page.locator("[data-document]")).to_have_count(5)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_what_sorts_is_seen_when_the_keyboard_is_on_it(
    logged_in: Page, reader: User, viewport: ViewportSize
) -> None:
    page = logged_in
    page.set_viewport_size(viewport)
    _five(reader)
    page.goto("/documents/")
    expect(page.locator("[data-document]")).to_have_count(5)
    page.get_by_label("Choose all that are shown").focus()
    heads = page.locator("thead [data-sort]").all()
    assert len(heads) == 4
    for head in heads:
        page.keyboard.press("Tab")
        expect(head).to_be_focused()
        assert head.evaluate(IS_ON_TOP)


IS_ON_TOP = """(element) => {
  const { x, y, width, height } = element.getBoundingClientRect();
  return document.elementFromPoint(x + width / 2, y + height / 2) === element;
}"""


def test_failures_are_counted_and_shown(logged_in: Page, reader: User) -> None:
    page = logged_in
    _five(reader)
    Document.unscoped.filter(name__in=["note 1.pdf", "note 4.pdf"]).update(
        status=Status.FAILED, error_code="corrupted", error_message="The file is damaged. Get it again."
    )
    page.goto("/documents/")
    expect(page.get_by_text("2 of 5 documents failed.")).to_be_visible()
    page.get_by_role("button", name="Show them").click()
    expect(page.locator("[data-document]")).to_have_count(2)
    note = page.get_by_role("row", name="note 1.pdf").locator("details.notes")
    note.locator("summary").click()
    expect(note).to_have_attribute("open", "")


def test_columns_are_a_readers_choice(logged_in: Page, reader: User) -> None:
    page = logged_in
    # Narrow windows have no columns: each row is a few lines with all there is to say.
    page.set_viewport_size(DESKTOP)
    indexed_document(reader.personal_workspace)
    page.goto("/documents/")
    page.get_by_label("Columns").click()
    page.get_by_role("checkbox", name="Size").uncheck()
    expect(page.get_by_role("columnheader", name="Size")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("columnheader", name="Added")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Size")).to_have_count(0)


def test_cards_are_a_readers_choice(logged_in: Page, reader: User) -> None:
    page = logged_in
    indexed_document(reader.personal_workspace)
    page.goto("/documents/")
    page.get_by_role("button", name="As pictures").click()
    card = page.get_by_role("article", name="solar.pdf")
    expect(card.locator("img")).to_have_js_property("complete", True)
    expect(page).to_have_url(re.compile("view=grid"))
