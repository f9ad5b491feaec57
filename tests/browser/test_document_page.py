"""One document on its page: how well it was read, its place in any kind of file, and what may be changed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Membership, User, Workspace
from accounts.roles import Role
from ingestion.progress import ProgressWriter
from kb.models import Chunk, Document, Stage
from tests.browser import kinds
from tests.browser.conftest import DESKTOP, PHONE, show_details
from tests.browser.places import drawn
from tests.browser.test_accessibility import violations
from tests.factories import indexed_document

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def open_document(page: Page, document: Document, ordinal: int | None = None) -> None:
    """Open a document's page, perhaps at one of its chunks."""
    query = ""
    if ordinal is not None:
        query = f"?chunk={Chunk.unscoped.get(document=document, ordinal=ordinal).pk}"
    page.goto(f"/documents/{document.pk}{query}")
    expect(page.locator(".details-facts")).to_be_attached()


def open_details(page: Page, document: Document) -> None:
    """Open a document's page and what is known about it, wherever the window has that."""
    open_document(page, document)
    show_details(page)


# --- How well it was read --------------------------------------------------------------------------------


def test_the_quality_strip_shows_every_page_and_leads_to_the_doubtful_ones(
    logged_in: Page, reader: User
) -> None:
    page = logged_in
    document = kinds.scanned(reader.personal_workspace)
    open_details(page, document)
    strip = page.get_by_role(
        "img",
        name="Of 40 pages: 19 pages with text, 18 pages recognised, 87% sure, "
        "2 pages without text, and 1 page unreadable.",
    )
    expect(strip.locator(".unit")).to_have_count(40)
    expect(strip.locator(".unit-unreadable")).to_have_attribute("title", "page 40: unreadable")
    quality = page.locator(".details-quality")
    expect(quality).to_contain_text("3 tables · 7 pictures · English")
    expect(quality).to_contain_text("1 of 40 pages could not be read: 40.")
    expect(page.locator(".details-status .status")).to_have_text("Ready, with warnings")
    # The file behind the report has one page only; what matters is which one is asked for.
    page.route("**/pages/*", lambda route: route.fulfill(body=b"", status=200, content_type="image/png"))
    page.get_by_role("button", name="Show page 31").click()
    expect(page.locator("[data-part=where]")).to_have_text("Page 31 of 40")
    show_details(page)
    strip.locator("[data-number='13']").click()
    expect(page.locator("[data-part=where]")).to_have_text("Page 13 of 40")


def test_a_long_document_is_drawn_as_runs(logged_in: Page, reader: User) -> None:
    document = kinds.scanned(reader.personal_workspace, pages=2000)
    open_details(logged_in, document)
    expect(logged_in.locator(".strip .unit")).to_have_count(8)
    [strip, *units] = drawn(logged_in, ".strip, .strip .unit")
    assert strip.x2 - strip.x1 - sum(unit.x2 - unit.x1 for unit in units) < 1


def test_a_recording_says_how_much_of_it_is_speech(logged_in: Page, reader: User) -> None:
    open_details(logged_in, kinds.recording(reader.personal_workspace))
    expect(logged_in.locator(".details-quality")).to_contain_text("Speech in 0:10 of 0:12 minutes")


# --- Places ----------------------------------------------------------------------------------------------


def test_a_text_shows_its_lines_headings_and_quote(logged_in: Page, reader: User) -> None:
    page = logged_in
    open_document(page, kinds.notes(reader.personal_workspace), ordinal=1)
    expect(page.locator("mark.place-text")).to_have_text("The ferry leaves at noon. It is blue.")
    expect(page.locator("[data-part=where]")).to_have_text("Lines 10–34")
    # The whole document is there, not only the cited chunk.
    expect(page.locator(".reading p")).to_have_text(
        ["The harbour master keeps a book of arrivals.", "The ferry leaves at noon. It is blue."]
    )
    page.get_by_role("button", name="Outline").click()
    expect(page.locator(".contents button")).to_have_text(["Harbour", "Ferries"])


def test_a_sheet_is_shown_as_a_table_with_its_cells(logged_in: Page, reader: User) -> None:
    page = logged_in
    open_document(page, kinds.workbook(reader.personal_workspace), ordinal=0)
    expect(page.locator("[data-part=where]")).to_have_text("Sheet “Sales”, A1:C7")
    expect(page.get_by_role("columnheader")).to_have_text(["Town", "Ships"])
    expect(page.get_by_role("cell")).to_have_text(["Almería", "42", "Punta Brava", "17"])


def test_a_picture_shows_the_box_of_its_words(logged_in: Page, reader: User) -> None:
    page = logged_in
    open_document(page, kinds.photo(reader.personal_workspace), ordinal=0)
    expect(page.locator("[data-drawn]").first).to_be_visible()
    [image, mark] = drawn(page, ".sheet-image, [data-place=quote]")
    scale = (image.x2 - image.x1) / 640
    assert [round((mark.x1 - image.x1) / scale), round((mark.y1 - image.y1) / scale)] == [80, 150]
    assert [round((mark.x2 - image.x1) / scale), round((mark.y2 - image.y1) / scale)] == [560, 250]
    assert abs((image.y2 - image.y1) - 400 * scale) < 2


def test_a_recording_is_played_from_the_cited_second(logged_in: Page, reader: User) -> None:
    page = logged_in
    open_document(page, kinds.recording(reader.personal_workspace), ordinal=1)
    player = page.locator("audio")
    current = page.locator(".segment[aria-current]")
    expect(current.locator("mark")).to_have_text(kinds.SPOKEN[1])
    expect(player).to_have_js_property("currentTime", 4)
    expect(page.locator("[data-part=where]")).to_have_text("0:04 – 0:08")
    page.get_by_role("button", name="Next sentence").click()
    expect(player).to_have_js_property("currentTime", 8)
    expect(current).to_contain_text(kinds.SPOKEN[2])
    page.get_by_role("button", name="Back to the place").click()
    expect(player).to_have_js_property("currentTime", 4)
    player.evaluate("player => player.currentTime = 1")
    expect(current).to_contain_text(kinds.SPOKEN[0])
    page.get_by_role("button", name="Play from 0:04").click()
    expect(current).to_contain_text(kinds.SPOKEN[1])
    expect(player).to_have_js_property("paused", False)


def test_a_citation_of_a_recording_opens_at_its_second(logged_in: Page, reader: User) -> None:
    page = logged_in
    page.set_viewport_size(PHONE)
    kinds.recording(reader.personal_workspace)
    page.goto("/")
    page.get_by_label("Your question").fill("When was the lighthouse lit for the first time?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed", timeout=60_000)
    citation = page.locator(".answer :is(p, li)", has_text="4 August 1868").locator(".cite").first
    expect(citation).to_have_accessible_name(re.compile("council.wav, 0:04"))
    citation.click()
    expect(page.locator("audio")).to_have_js_property("currentTime", 4)
    expect(page.locator(".segment[aria-current] mark")).to_contain_text("4 August 1868")
    page.keyboard.press("Escape")
    expect(page.locator(".viewer")).to_be_hidden()
    expect(citation).to_be_focused()


# --- Changing it -----------------------------------------------------------------------------------------


def test_a_document_is_renamed_and_tagged(logged_in: Page, reader: User) -> None:
    page = logged_in
    document = indexed_document(reader.personal_workspace)
    open_details(page, document)
    page.get_by_role("button", name="Rename").click()
    name = page.get_by_label("Name", exact=True)
    expect(name).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Rename")).to_be_focused()
    page.keyboard.press("Enter")
    name.fill("Solar report 2023")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Solar report 2023", level=2)).to_be_visible()
    expect(page).to_have_title("Solar report 2023 · Locus")
    tag = page.get_by_label("Add a tag")
    for word in ("energy", "town"):
        tag.fill(word)
        page.keyboard.press("Enter")
        expect(page.get_by_role("listitem").filter(has_text=word)).to_be_visible()
        expect(tag).to_be_focused()
    page.get_by_role("button", name="Remove the tag energy").click()
    expect(page.locator(".tag")).to_have_text(["town"])
    document.refresh_from_db()
    assert (document.name, document.tags) == ("Solar report 2023", ["town"])


def test_what_is_being_typed_survives_the_news(logged_in: Page, reader: User) -> None:
    page = logged_in
    document = kinds.being_recognised(reader.personal_workspace)
    open_details(page, document)
    tag = page.get_by_label("Add a tag")
    tag.fill("half a wo")
    ProgressWriter(document.pk, lambda: False).progress_or_stop(Stage.EXTRACTING, 20, 40, "page")
    expect(page.locator(".details-status .status-count")).to_contain_text("20 of 40 pages")
    expect(tag).to_be_focused()
    page.keyboard.type("rd")
    expect(tag).to_have_value("half a word")


def test_a_running_document_is_followed_cancelled_and_tried_again(logged_in: Page, reader: User) -> None:
    page = logged_in
    document = kinds.being_recognised(reader.personal_workspace)
    open_details(page, document)
    status = page.locator(".details-status")
    expect(status.locator(".status")).to_have_text("Recognising text")
    expect(status.locator(".badge")).to_have_text("Findable by words")
    expect(status.get_by_role("progressbar")).to_have_attribute(
        "aria-valuetext", "Recognising text: 12 of 40 pages, about 1 min left"
    )
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(status.locator(".status")).to_have_text("Cancelled")
    page.get_by_role("button", name="Try again").click()
    expect(status.locator(".status")).to_have_text("Ready", timeout=120_000)
    expect(page.locator(".strip .unit-text")).to_have_count(1)


def test_a_document_is_moved(logged_in: Page, reader: User) -> None:
    page = logged_in
    Workspace.create_for(reader, name="Council")
    document = indexed_document(reader.personal_workspace)
    open_details(page, document)
    page.get_by_role("button", name="Move to…").click()
    expect(page.get_by_label("To the workspace").locator("option")).to_have_text(["Council"])
    page.get_by_role("button", name="Move", exact=True).click()
    expect(page.get_by_text("The document is in Council now.")).to_be_visible()
    document.refresh_from_db()
    assert document.workspace.name == "Council"


def test_a_viewer_sees_all_and_changes_nothing(logged_in: Page, reader: User) -> None:
    team = Workspace.create_for(User.objects.create_user("owner@example.org"), name="Team")
    Membership.objects.create(workspace=team, user=reader, role=Role.VIEWER)
    open_details(logged_in, kinds.scanned(team))
    expect(logged_in.locator(".strip")).to_be_visible()
    changing = re.compile("Rename|Process again|Delete|Move|Add$")
    expect(logged_in.get_by_text("ask an admin of it for the role editor")).to_be_visible()
    expect(logged_in.get_by_role("button", name=changing)).to_have_count(0)


def test_attachments_and_their_mail_lead_to_each_other(logged_in: Page, reader: User) -> None:
    page = logged_in
    message, _ = kinds.mail(reader.personal_workspace)
    open_details(page, message)
    page.get_by_role("link", name="plan.pdf").click()
    expect(page).to_have_title("plan.pdf · Locus")
    show_details(page)
    expect(page.get_by_role("heading", name="plan.pdf", level=2)).to_be_visible()
    page.get_by_role("link", name="Fwd: harbour plans").click()
    expect(page).to_have_title("Fwd: harbour plans · Locus")
    show_details(page)
    expect(page.get_by_role("heading", name="Fwd: harbour plans", level=2)).to_be_visible()


# --- On every screen -------------------------------------------------------------------------------------


def test_on_a_phone_the_details_are_a_sheet(logged_in: Page, reader: User) -> None:
    page = logged_in
    page.set_viewport_size(PHONE)
    open_document(page, kinds.scanned(reader.personal_workspace))
    expect(page.locator(".details")).to_be_hidden()
    page.get_by_role("button", name="About this document").click()
    expect(page.get_by_role("button", name="Close the details")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.keyboard.press("Escape")
    expect(page.locator(".details")).to_be_hidden()
    expect(page.get_by_role("button", name="About this document")).to_be_focused()


@pytest.mark.parametrize(
    ("theme", "viewport"),
    [
        pytest.param("light", DESKTOP, id="light desk", marks=pytest.mark.slow("pages")),
        pytest.param("dark", PHONE, id="dark phone"),
    ],
)
def test_axe_finds_nothing(logged_in: Page, reader: User, theme: str, viewport: dict[str, int]) -> None:
    page = logged_in
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    workspace = reader.personal_workspace
    Workspace.create_for(reader, name="Council")
    made = [kinds.notes, kinds.workbook, kinds.photo, kinds.recording, kinds.scanned, kinds.being_recognised]
    found = []
    for make in made:
        open_document(page, make(workspace), ordinal=0)
        found += violations(page)
        if viewport == PHONE:
            page.get_by_role("button", name="About this document").click()
            found += violations(page)
    kinds.mail(workspace)
    page.goto("/documents/")
    page.locator("tbody tr").first.wait_for()
    found += violations(page)
    assert found == []
