"""Whole documents in the viewer: quotes are marked exactly, headings lead there, all of it is searched."""

from __future__ import annotations

import time
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from accounts.models import User
from core.text.tables import RULE
from kb.models import Chunk, Document, Status
from tests.browser import kinds
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.test_accessibility import violations
from tests.browser.test_document_page import open_document
from tests.factories import stored_document
from tests.ingestion.conftest import upload_to
from tests.kb.test_reading import FILES

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("worker"),
]

PATIENCE_SECS = 90.0
MARKED = "() => [...document.querySelectorAll('mark.place-text')].map((mark) => mark.textContent).join(' ')"


def read(reader: User, name: str) -> Document:
    """Upload a file and wait for the worker."""
    document = upload_to(reader.personal_workspace, FILES[name], name)
    until = time.monotonic() + PATIENCE_SECS
    while not document.is_finished and time.monotonic() < until:
        time.sleep(0.2)
        document.refresh_from_db()
    assert document.status == Status.READY
    return document


def letters(text: str) -> str:
    """Return a text without white space and the marks of tables, which a page does not show."""
    return "".join(RULE.sub("", text).replace("|", "").split())


def open_quote(page: Page, document: Document, chunk: Chunk, quote: str) -> None:
    """Open a document at a quote, as a citation does: the page takes a linked chunk's text for the quote."""

    bodies: list[dict[str, Any]] = []

    def shortened(route: Route) -> None:
        if bodies:
            return route.continue_()
        bodies.append(route.fetch().json())
        return route.fulfill(json=bodies[0] | {"text": quote})

    address = f"**/api/v1/chunks/{chunk.pk}"
    # Not `times=1`: the browser would stop listening while the viewer itself asks for the chunk.
    page.route(address, shortened)
    page.goto(f"/documents/{document.pk}?chunk={chunk.pk}")
    expect(page.locator("mark.place-text").first).to_be_in_viewport()


@pytest.mark.parametrize("name", FILES)
def test_what_is_marked_is_the_quote(logged_in: Page, reader: User, name: str) -> None:
    document = read(reader, name)
    chunks = list(Chunk.unscoped.filter(document=document).order_by("ordinal"))
    for chunk in {chunks[0].pk: chunks[0], chunks[-1].pk: chunks[-1]}.values():
        start, end = chunk.sentences[len(chunk.sentences) // 2]
        quote = chunk.text[start:end]
        if not letters(quote):
            continue
        open_quote(logged_in, document, chunk, quote)
        assert letters(logged_in.evaluate(MARKED)) == letters(quote)


def test_a_recordings_quote_is_marked_and_found_on_the_waveform(logged_in: Page, reader: User) -> None:
    page = logged_in
    document = kinds.recording(reader.personal_workspace)
    chunk = Chunk.unscoped.get(document=document, ordinal=1)
    open_quote(page, document, chunk, kinds.SPOKEN[1])
    assert page.evaluate(MARKED) == kinds.SPOKEN[1]
    holder, mark = (page.locator(one).bounding_box() for one in (".wave-holder", ".wave-quote"))
    assert holder
    assert mark
    assert abs((mark["x"] - holder["x"]) / holder["width"] - 1 / 3) < 0.01
    assert abs(mark["width"] / holder["width"] - 1 / 3) < 0.01


def test_the_player_is_ours(logged_in: Page, reader: User) -> None:
    page = logged_in
    open_document(page, kinds.recording(reader.personal_workspace))
    player, stage = page.locator("audio"), page.get_by_role("region", name="Recording")
    expect(page.locator(".segment")).to_have_count(3)
    expect(player).not_to_have_attribute("controls", "")
    page.get_by_role("button", name="10 seconds on").click()
    expect(player).to_have_js_property("currentTime", 10)
    stage.press("ArrowLeft")
    expect(player).to_have_js_property("currentTime", 5)
    expect(page.locator(".segment[aria-current]")).to_contain_text(kinds.SPOKEN[1])
    page.get_by_role("slider", name="Position").fill("9")
    expect(page.locator(".segment[aria-current]")).to_contain_text(kinds.SPOKEN[2])
    page.get_by_label("Speed").select_option("1.5")
    expect(player).to_have_js_property("playbackRate", 1.5)
    stage.press(" ")
    expect(player).to_have_js_property("paused", False)
    page.get_by_role("button", name="Pause").click()
    expect(player).to_have_js_property("paused", True)


def test_outline_and_sections(logged_in: Page, reader: User) -> None:
    page = logged_in
    open_document(page, read(reader, "harbour.md"))
    expect(page.locator(".reading").get_by_role("heading", name="Rules")).to_be_visible()
    expect(page.locator(".reading li")).to_have_text(["No anchors in the channel.", "Lights at night."])
    page.get_by_role("button", name="Outline").click()
    page.locator(".contents").get_by_role("button", name="Details").click()
    expect(page.locator(".reading").get_by_role("heading", name="Details")).to_be_in_viewport()
    page.get_by_role("region", name="Text").press("ArrowLeft")
    expect(page.locator(".reading").get_by_role("heading", name="Long part")).to_be_in_viewport()


def test_addresses_stay_text(logged_in: Page, reader: User) -> None:
    open_document(logged_in, read(reader, "harbour.md"))
    expect(logged_in.get_by_text("https://example.org/harbour")).to_be_visible()
    expect(logged_in.locator(".reading a")).to_have_count(0)


def test_sheets_have_tabs_and_letters(logged_in: Page, reader: User) -> None:
    page = logged_in
    open_document(page, read(reader, "sales.xlsx"))
    expect(page.locator(".grid-head td")).to_have_text(["", "A", "B", "C"])
    expect(page.get_by_role("tab")).to_have_text(["Sales", "Prices"])
    # The header that each chunk repeats is shown once; parts that are far away are not drawn yet.
    for number in (50, 150, 250, 299):
        page.get_by_role("cell", name=f"Town {number}", exact=True).scroll_into_view_if_needed()
    expect(page.get_by_role("cell", name="Town", exact=True)).to_have_count(1)
    page.get_by_role("tab", name="Prices").click()
    expect(page.get_by_role("cell", name="Rope")).to_be_visible()


def test_slides_are_cards(logged_in: Page, reader: User) -> None:
    open_document(logged_in, read(reader, "goals.pptx"))
    slides = logged_in.locator(".slide")
    expect(slides).to_have_count(3)
    expect(slides.nth(1)).to_have_attribute("aria-label", "Slide 2")
    expect(slides.nth(1)).to_contain_text("No title here")


def long_document(reader: User, chunks: int) -> Document:
    """Return a text of many chunks, with a rare word at its end."""
    document = stored_document(
        reader.personal_workspace, "long.txt", b"long", file_type="txt", mime_type="text/plain"
    )
    places: dict[str, Any] = {"workspace": document.workspace, "document": document, "language": "en"}
    Chunk.unscoped.bulk_create(
        Chunk(
            pk=f"00000000-0000-4000-8000-{number:012d}",
            ordinal=number,
            text="\n\n".join(f"Paragraph {number}.{part} of the lighthouse book. " * 4 for part in range(5)),
            **places,
        )
        for number in range(chunks)
    )
    last = Chunk.unscoped.get(document=document, ordinal=chunks - 1)
    last.text += "\n\nA quokka."
    last.save()
    return document


def test_a_long_document_is_drawn_in_windows_and_searched_whole(logged_in: Page, reader: User) -> None:
    page = logged_in
    open_document(page, long_document(reader, 400))
    expect(page.locator(".reading-window").first).to_contain_text("Paragraph 0.0")
    assert page.locator(".reading-window.is-empty").count() > 5
    page.keyboard.press("Control+f")
    field = page.get_by_role("searchbox", name="Find in this document")
    field.fill("QUOKKA")
    expect(page.locator("[data-part=findCount]")).to_have_text("1 of 1")
    expect(page.get_by_text("A quokka.")).to_be_in_viewport()
    assert page.evaluate("() => CSS.highlights.get('found-now').size") == 1
    field.fill("paragraph 7.")
    expect(page.locator("[data-part=findCount]")).to_have_text("1 of 20")
    field.press("Shift+Enter")
    expect(page.locator("[data-part=findCount]")).to_have_text("20 of 20")
    field.fill("no such words")
    expect(page.locator("[data-part=findCount]")).to_have_text("Not found")
    field.press("Escape")
    assert page.evaluate("() => CSS.highlights.has('found')") is False


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
    problems: list[str] = []
    page.on("console", lambda message: problems.extend([message.text] if message.type == "error" else []))
    found: list[Any] = []
    for name in ("harbour.md", "report.docx", "sales.xlsx", "goals.pptx", "light.py"):
        open_document(page, read(reader, name), ordinal=0)
        expect(page.locator("mark.place-text").first).to_be_visible()
        found += violations(page)
        shift = page.evaluate(LAYOUT_SHIFT)
        assert shift < 0.1, name
    assert found == []
    assert problems == []


LAYOUT_SHIFT = """() => new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum), 300);
})"""
