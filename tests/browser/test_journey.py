"""The way of a person through Locus: upload, watch, ask, and see the place of the answer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pymupdf
import pytest
from playwright.sync_api import Page, Route, WebSocketRoute, expect

from accounts.models import Membership, User, Workspace
from accounts.roles import Role
from kb.deletion import delete_document
from kb.models import Document, Status
from tests.browser import kinds
from tests.browser.conftest import LOOK, PASSWORD, PHONE, show_conversations, theme_switch
from tests.browser.places import assert_marked, drawn
from tests.factories import indexed_document
from tests.testing.live import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CITED = "The lighthouse of Punta Brava was lit for the first time on 4 August 1868."
QUESTION = "When was the lighthouse of Punta Brava lit for the first time?"
FILLER = (
    "The harbour master keeps a book of arrivals. Each ship is entered with its name, cargo and hour. "
    "In winter few ships come, and the book is closed at noon. The market sells fish on three days a week. "
)


def write_report(path: Path, rotation: int = 0) -> Path:
    """Write a PDF whose second page, perhaps turned, holds the sentence that the questions ask for."""
    with pymupdf.open() as pdf:
        for number, text in enumerate([FILLER * 3, f"{FILLER}\n\n{CITED} {FILLER}", FILLER * 2], start=1):
            sheet = pdf.new_page(width=420, height=595)
            sheet.insert_text((50, 60), f"Chapter {number}", fontsize=18)
            sheet.insert_textbox(pymupdf.Rect(50, 90, 370, 560), text, fontsize=11)
        pdf[1].set_rotation(rotation)
        pdf.save(path)
    return path


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A small PDF of three pages."""
    return write_report(tmp_path / "harbour.pdf")


def log_in(page: Page, reader: User) -> None:
    """Log in as a person does."""
    page.goto("/")
    page.get_by_label("Email").fill(reader.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.get_by_role("heading", name="Ask your documents")).to_be_visible()


def upload(page: Page, *files: Path) -> None:
    """Upload files on the documents page."""
    page.goto("/documents/")
    page.get_by_label("Upload").set_input_files(list(files))


def upload_and_wait(page: Page, file: Path, secs: float = 120) -> None:
    """Upload a file and watch its row until it is ready."""
    upload(page, file)
    row = page.get_by_role("row", name=file.name)
    expect(row.locator(".status")).to_have_text("Ready", timeout=secs * 1000)


def ask(page: Page, question: str) -> None:
    """Ask on the question page and wait for the whole answer."""
    page.goto("/")
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed", timeout=60_000)


def wait_for_page_image(page: Page) -> None:
    """Wait until the viewer has drawn the page."""
    expect(page.locator("[data-drawn]").first).to_be_visible()


# --- From an upload to the place ---------------------------------------------------------------------------


@pytest.mark.parametrize("rotation", [0, 90], ids=["upright", "turned page"])
def test_from_an_upload_to_the_cited_place(page: Page, reader: User, tmp_path: Path, rotation: int) -> None:
    report = write_report(tmp_path / "harbour.pdf", rotation)
    log_in(page, reader)
    upload(page, report)
    row = page.get_by_role("row", name="harbour.pdf")
    expect(row.locator(".status")).to_have_text("Ready", timeout=60_000)
    expect(row).to_contain_text("3")

    page.get_by_role("link", name="Ask", exact=True).click()
    page.get_by_label("Your question").fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    turn = page.locator(".turn")
    expect(turn).to_have_attribute("data-status", "completed", timeout=60_000)
    expect(turn).to_contain_text("4 August 1868")
    expect(turn.locator(".progress")).to_have_text(
        re.compile(r"Read \d passages? in 1 document.*Quoted, no model")
    )
    expect(turn.get_by_role("heading", name="Sources")).to_be_visible()

    citation = turn.locator("p, li", has_text="4 August 1868").locator(".cite").first
    expect(citation).to_have_accessible_name(re.compile(r"Source \d, harbour\.pdf, page 2"))
    citation.click()
    wait_for_page_image(page)
    expect(page.get_by_text("Page 2 of 3", exact=True)).to_be_visible()
    expect(page.locator("[data-place=quote]").first).to_be_in_viewport()
    assert_marked(page, report, 2, "4 August 1868")

    page.get_by_role("button", name="Zoom in").click()
    assert_marked(page, report, 2, "4 August 1868")
    page.get_by_role("button", name="Next page").click()
    wait_for_page_image(page)
    expect(page.locator("[data-place=quote]").first).not_to_be_in_viewport()
    page.get_by_role("button", name="Back to the place").click()
    wait_for_page_image(page)
    assert_marked(page, report, 2, "4 August 1868")


def test_a_real_report(logged_in: Page, shared_data: Path) -> None:
    report = shared_data / "pdf_qa" / "financebench" / "docs" / "ULTABEAUTY_2023Q4_EARNINGS.pdf"
    upload_and_wait(logged_in, report, secs=300)
    ask(logged_in, "What was the tax rate in the fourth quarter of fiscal 2021?")
    citation = logged_in.locator(".answer :is(p, li)", has_text="tax rate increased to 24.6%").locator(
        ".cite"
    )
    citation.first.click()
    wait_for_page_image(logged_in)
    shown = logged_in.locator("[data-part=number]").input_value()
    assert_marked(logged_in, report, int(shown), "tax rate increased to 24.6%")


def test_what_has_arrived_can_be_used_while_the_rest_is_on_its_way(logged_in: Page, report: Path) -> None:
    page = logged_in
    held: list[tuple[WebSocketRoute, str | bytes]] = []

    def hold_back_the_end(socket: WebSocketRoute) -> None:
        def forward(message: str | bytes) -> None:
            if '"tool_end"' in str(message):
                held.append((socket, message))
            else:
                socket.send(message)

        socket.connect_to_server().on_message(forward)

    upload_and_wait(page, report)
    page.route_web_socket("**/ws/sessions/*", hold_back_the_end)
    page.goto("/")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    turn = page.locator(".turn")
    expect(turn.locator(".answer")).to_contain_text("4 August 1868")
    expect(turn).to_have_attribute("data-status", "running")
    expect(turn.locator(".answer")).to_have_attribute("aria-busy", "true")
    expect(turn.locator(".progress")).to_have_text(re.compile("Writing the answer"))
    turn.locator(".cite").first.click()
    wait_for_page_image(page)
    expect(page.locator("[data-place=chunk]").first).to_be_visible()

    while not held:
        page.wait_for_timeout(50)
    [(socket, end)] = held
    socket.send(end)
    expect(turn).to_have_attribute("data-status", "completed")
    expect(turn.locator(".answer")).to_have_attribute("aria-busy", "false")


def test_stopping_keeps_what_was_written(logged_in: Page) -> None:
    page = logged_in
    page.route_web_socket("**/ws/sessions/*", only_forward_cancellations)
    page.goto("/")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Stop answering").click()
    expect(page.locator(".turn")).to_have_attribute("data-status", "cancelled")
    expect(page.locator(".answer-note")).to_contain_text("Stopped")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()


def only_forward_cancellations(socket: WebSocketRoute) -> None:
    """Hide from the page what a real execution says before it is cancelled, however quick it is."""

    def forward(message: str | bytes) -> None:
        if '"cancel"' in str(message):
            ended = {
                "event": "error",
                "data": {"code": "cancelled", "message": "The execution was cancelled."},
            }
            socket.send(json.dumps(ended | {"execution_id": "call_x", "seq": 2}))
        else:
            started = {"event": "tool_update", "data": {"phase": "SEARCH_PREPARATION", "status": "started"}}
            socket.send(json.dumps(started | {"execution_id": "call_x", "seq": 1}))

    socket.on_message(forward)


def test_a_dropped_connection_is_taken_up_where_it_broke(logged_in: Page, report: Path) -> None:
    upload_and_wait(logged_in, report)
    connections: list[WebSocketRoute] = []

    def drop_the_first(socket: WebSocketRoute) -> None:
        def forward(message: str | bytes) -> None:
            socket.send(message)
            # The client has seen one event when the connection breaks.
            if len(connections) == 1:
                socket.close(code=1012)

        connections.append(socket)
        socket.connect_to_server().on_message(forward)

    logged_in.route_web_socket("**/ws/sessions/*", drop_the_first)
    ask(logged_in, QUESTION)
    assert len(connections) == 2
    expect(logged_in.locator(".answer")).to_contain_text("4 August 1868")
    expect(logged_in.locator(".turn")).to_have_count(1)


def test_nothing_relevant_is_said_honestly(logged_in: Page, report: Path) -> None:
    upload_and_wait(logged_in, report)
    ask(logged_in, "Which enzyme unwinds the double helix during replication?")
    expect(logged_in.locator(".answer .cite")).to_have_count(0)
    expect(logged_in.locator(".answer")).not_to_be_empty()


def test_a_text_without_pages_shows_the_quote_in_its_chunk(logged_in: Page, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text(f"{FILLER}\n\n{CITED} {FILLER}")
    upload_and_wait(logged_in, notes)
    ask(logged_in, QUESTION)
    logged_in.locator(".answer :is(p, li)", has_text="4 August 1868").locator(".cite").first.click()
    expect(logged_in.locator("mark.place-text")).to_contain_text("4 August 1868")


# --- Without a mouse, on a phone ---------------------------------------------------------------------------


def test_by_keyboard_alone(logged_in: Page, report: Path) -> None:
    page = logged_in
    upload_and_wait(page, report)
    ask(page, QUESTION)
    for _ in range(60):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.matches('.answer .cite')"):
            break
    citation = page.locator(".cite:focus")
    expect(citation).to_have_css("outline-style", "solid")
    page.keyboard.press("Enter")
    wait_for_page_image(page)
    assert_marked(page, report, 2, "4 August 1868")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Page 3 of 3", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".viewer")).not_to_be_visible()
    expect(page.locator(".cite").first).to_be_focused()


def test_on_a_phone(logged_in: Page, report: Path) -> None:
    page = logged_in
    page.set_viewport_size(PHONE)
    upload_and_wait(page, report)
    for address in ("/documents/", "/keys/", "/", "/accounts/password/change/"):
        page.goto(address)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], address
    ask(page, QUESTION)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.locator(".cite").first.click()
    wait_for_page_image(page)
    [sheet] = drawn(page, ".viewer")
    assert (sheet.x1, sheet.y1, sheet.x2, sheet.y2) == (0, 0, PHONE["width"], PHONE["height"])
    expect(page.locator("[data-place=quote]").first).to_be_in_viewport()
    assert_marked(page, report, 2, "4 August 1868")
    page.get_by_role("button", name="Close the viewer").click()
    expect(page.locator(".viewer")).not_to_be_visible()


# --- Coming back ---------------------------------------------------------------------------------------


def test_earlier_questions_keep_their_answers_and_places(logged_in: Page, report: Path) -> None:
    page = logged_in
    upload_and_wait(page, report)
    ask(page, QUESTION)
    page.goto("/")
    show_conversations(page)
    page.get_by_role("link", name=QUESTION).click()
    expect(page.locator(".answer")).to_contain_text("4 August 1868")
    page.reload()
    page.locator(".cite").first.click()
    wait_for_page_image(page)
    assert_marked(page, report, 2, "4 August 1868")


def test_a_link_to_a_chunk_shows_its_place(logged_in: Page, report: Path) -> None:
    upload_and_wait(logged_in, report)
    document = Document.unscoped.get(name="harbour.pdf")
    chunks = logged_in.request.get(f"/api/v1/documents/{document.pk}/chunks").json()["results"]
    chunk_id = next(one["id"] for one in chunks if CITED in " ".join(one["text"].split()))
    logged_in.goto(f"/documents/{document.pk}?chunk={chunk_id}")
    wait_for_page_image(logged_in)
    expect(logged_in.get_by_text("Page 2 of 3", exact=True)).to_be_visible()
    expect(logged_in.locator("[data-place=quote]").first).to_be_in_viewport()


def test_the_theme_stays_chosen(logged_in: Page, reader: User) -> None:
    is_dark = LOOK.startswith("dark")
    chosen = "light" if is_dark else "dark"
    logged_in.goto("/")
    switch = theme_switch(logged_in)
    expect(switch).to_have_attribute("aria-pressed", "true" if is_dark else "false")
    switch.click()
    # Who leaves at once is heard as well.
    logged_in.goto("about:blank")
    wait_until(lambda: User.objects.get(pk=reader.pk).theme == chosen, "the account knows the theme")
    logged_in.goto("/")
    expect(theme_switch(logged_in)).to_have_attribute("aria-pressed", "false" if is_dark else "true")
    assert logged_in.evaluate("document.documentElement.dataset.theme") == chosen


def test_a_deleted_document_leaves_the_question_but_no_answer(logged_in: Page, report: Path) -> None:
    upload_and_wait(logged_in, report)
    ask(logged_in, QUESTION)
    expect(logged_in.locator(".answer")).to_contain_text("4 August 1868")
    delete_document(Document.unscoped.get(name="harbour.pdf"))
    logged_in.reload()
    expect(logged_in.get_by_text("This answer can no longer be shown")).to_be_visible()
    expect(logged_in.locator(".question")).to_have_text(QUESTION)
    expect(logged_in.locator(".question")).to_be_visible()
    expect(logged_in.get_by_text("4 August 1868")).to_have_count(0)


def test_what_a_hostile_document_says_is_only_text(logged_in: Page, tmp_path: Path) -> None:
    hostile = tmp_path / "<img src=x onerror=alert(1)>.txt"
    hostile.write_text(
        "The watchword of the lighthouse is <img src=x onerror=alert(1)> swordfish. "
        "The watchword of the harbour is ![p](https://evil.example/p) [here](javascript:alert(1)) mackerel."
    )
    upload_and_wait(logged_in, hostile)
    ask(logged_in, "What are the watchwords of the lighthouse and of the harbour?")
    answer = logged_in.locator(".answer")
    expect(answer).to_contain_text("swordfish")
    expect(answer.locator("img, script, a[href^=javascript]")).to_have_count(0)
    expect(logged_in.locator("[onerror]")).to_have_count(0)


# --- Keeping documents and keys --------------------------------------------------------------------------


def test_a_file_that_fails_says_why_and_what_to_do(logged_in: Page, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pdf"
    empty.touch()
    upload(logged_in, empty)
    row = logged_in.get_by_role("row", name="empty.pdf")
    expect(row.locator(".status")).to_have_text("Failed", timeout=60_000)
    expect(row.locator(".status-note")).to_contain_text("empty")
    # The same bytes can only fail again.
    expect(row.get_by_role("button", name="Try again")).to_have_count(0)
    expect(row.get_by_label("Replace the file of empty.pdf")).to_be_attached()


def test_the_same_file_twice_is_one_document(logged_in: Page, report: Path) -> None:
    upload_and_wait(logged_in, report)
    logged_in.get_by_label("Upload").set_input_files(report)
    expect(logged_in.get_by_text("was here already")).to_be_visible()
    expect(logged_in.get_by_role("row", name="harbour.pdf")).to_have_count(1)


def test_a_deletion_can_be_undone(logged_in: Page, report: Path) -> None:
    upload_and_wait(logged_in, report)
    logged_in.get_by_role("button", name="Delete harbour.pdf").click()
    expect(logged_in.get_by_role("heading", name="No documents yet")).to_be_visible()
    logged_in.get_by_role("button", name="Undo").click()
    expect(logged_in.get_by_role("row", name="harbour.pdf")).to_be_visible()
    assert Document.unscoped.get().delete_at is None


def test_another_tab_sees_what_happens(logged_in: Page, report: Path) -> None:
    other = logged_in.context.new_page()
    other.goto("/documents/")
    expect(other.get_by_role("heading", name="No documents yet")).to_be_visible()
    upload_and_wait(logged_in, report)
    expect(other.get_by_role("row", name="harbour.pdf").locator(".status")).to_have_text("Ready")
    logged_in.get_by_role("button", name="Delete harbour.pdf").click()
    expect(other.get_by_role("heading", name="No documents yet")).to_be_visible()


def test_an_api_key_is_shown_once_and_works(logged_in: Page) -> None:
    page = logged_in
    page.goto("/keys/")
    page.get_by_role("button", name="New key").click()
    page.get_by_label("Name").fill("my program")
    page.get_by_role("button", name="Create key").click()
    expect(page.get_by_role("heading", name="Copy your key now")).to_be_visible()
    secret = page.locator("[data-part=secretValue]").inner_text()
    expect(page.locator("[data-part=example]")).to_contain_text(secret)
    reply = page.request.get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"})
    assert reply.json()["email"] == "reader@example.org"
    page.set_viewport_size(PHONE)
    # The browser lays the page out again after a moment.
    page.wait_for_function(f"document.documentElement.scrollWidth <= {PHONE['width']}")
    page.reload()
    expect(page.get_by_role("row", name="my program")).to_be_visible()
    expect(page.get_by_text(secret)).to_have_count(0)
    page.get_by_role("button", name="Delete the key my program").click()
    page.get_by_role("button", name="Delete key").click()
    expect(page.get_by_role("heading", name="No keys yet")).to_be_visible()


def test_filtering_and_the_questions_scope(logged_in: Page, report: Path, tmp_path: Path) -> None:
    page = logged_in
    upload_and_wait(page, report)
    upload_and_wait(page, write_report(tmp_path / "second.pdf", rotation=180))
    page.get_by_label("Find by name").fill("harb")
    expect(page.get_by_role("row", name="second.pdf")).to_have_count(0)
    expect(page.get_by_role("row", name="harbour.pdf")).to_be_visible()
    page.get_by_role("link", name="harbour.pdf").click()
    page.get_by_role("link", name="Ask about this document").click()
    expect(page.get_by_role("button", name="harbour.pdf")).to_be_visible()
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_attribute("data-status", "completed", timeout=60_000)
    assert set(page.locator(".source-name").all_text_contents()) == {"harbour.pdf"}


def test_the_reader_can_log_out(logged_in: Page, reader: User) -> None:
    logged_in.goto("/")
    logged_in.get_by_label("Account").click()
    expect(logged_in.get_by_text(reader.email)).to_be_visible()
    logged_in.get_by_role("button", name="Log out").click()
    logged_in.wait_for_url("**/accounts/login/")
    logged_in.goto("/documents/")
    expect(logged_in).to_have_url(re.compile(r"/accounts/login/\?next=/documents/"))


def test_a_long_list_is_shown_in_parts(logged_in: Page, reader: User) -> None:
    workspace = reader.personal_workspace
    Document.unscoped.bulk_create(
        Document(
            workspace=workspace,
            name=f"{n}.txt",
            size=n,
            sha256=f"{n:064}",
            identity=f"{n:064}",
            status=Status.READY,
        )
        for n in range(260)
    )
    logged_in.goto("/documents/?sort=size")
    expect(logged_in.get_by_role("row", name="Choose 15.txt")).to_be_attached()
    # The rest comes as the reader scrolls, and what is far away has no rows.
    more = logged_in.get_by_role("button", name="Show more")
    for _ in range(50):
        if more.is_visible():
            logged_in.keyboard.press("End")
            logged_in.wait_for_timeout(100)
    logged_in.keyboard.press("End")
    expect(logged_in.get_by_role("row", name="259.txt")).to_be_visible()
    expect(logged_in.get_by_role("row", name="Choose 15.txt")).to_have_count(0)


def test_a_viewer_reads_but_is_not_offered_changes(logged_in: Page, reader: User) -> None:
    team = Workspace.create_for(User.objects.create_user("owner@example.org"), name="Team")
    Membership.objects.create(workspace=team, user=reader, role=Role.VIEWER)
    indexed_document(team, name="shared.pdf")
    indexed_document(reader.personal_workspace, name="own.pdf")
    logged_in.goto("/documents/")
    expect(logged_in.get_by_role("row", name="shared.pdf")).to_contain_text("Team")
    expect(logged_in.get_by_role("button", name="Delete own.pdf")).to_be_visible()
    expect(logged_in.get_by_role("button", name="Delete shared.pdf")).to_have_count(0)
    logged_in.get_by_role("combobox", name="Workspace", exact=True).select_option("Team")
    expect(logged_in.get_by_role("row", name="own.pdf")).to_have_count(0)
    expect(logged_in.get_by_role("row", name="shared.pdf")).to_be_visible()


def test_the_list_goes_on_without_its_websocket(logged_in: Page, report: Path) -> None:
    logged_in.route_web_socket("**/ws/documents*", lambda socket: socket.close(code=1012))
    upload(logged_in, report)
    wait_until(lambda: Document.unscoped.filter(status=Status.READY).exists(), "the document is ready")
    row = logged_in.get_by_role("row", name="harbour.pdf")
    expect(row.locator(".status")).to_have_text("Ready")


def test_what_is_uploaded_while_the_list_is_on_its_way_stays(logged_in: Page, report: Path) -> None:
    logged_in.route_web_socket("**/ws/documents*", lambda socket: socket.close(code=1012))
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    logged_in.route("**/api/v1/documents?*", hold_the_first)
    logged_in.goto("/documents/")
    while not held:
        logged_in.wait_for_timeout(50)
    before = held[0].fetch()
    logged_in.get_by_label("Upload").set_input_files(report)
    row = logged_in.get_by_role("row", name="harbour.pdf")
    expect(row).to_be_visible()
    with logged_in.expect_response("**/api/v1/documents?*"):
        held[0].fulfill(response=before)
    expect(row.locator(".status")).to_have_text("Ready")


def test_without_its_websocket_the_list_hears_of_other_tabs(logged_in: Page, report: Path) -> None:
    logged_in.route_web_socket("**/ws/documents*", lambda socket: socket.close(code=1012))
    logged_in.goto("/documents/")
    expect(logged_in.get_by_role("heading", name="No documents yet")).to_be_visible()
    upload(logged_in.context.new_page(), report)
    expect(logged_in.get_by_role("row", name="harbour.pdf").locator(".status")).to_have_text("Ready")


def test_a_file_without_pages_is_cited_by_its_lines(logged_in: Page, reader: User) -> None:
    kinds.notes(reader.personal_workspace)
    ask(logged_in, "When does the ferry leave?")
    cite = logged_in.locator(".answer .cite").first
    expect(cite).to_have_accessible_name("Source 1, notes.md, Lines 10–34")
    cited = logged_in.locator(".source-list").first
    expect(cited.locator(".source-place")).to_have_text("Lines 10–34")
    cite.click()
    expect(logged_in.locator("[data-viewer]")).to_contain_text("The ferry leaves at noon.")
