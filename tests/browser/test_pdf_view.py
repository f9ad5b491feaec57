"""What a reader does with a PDF besides looking at a citation: find, select, ask, turn, look at its pages."""

from __future__ import annotations

import re

import pymupdf
import pytest
from playwright.sync_api import Dialog, Page, expect

from accounts.models import User
from tests.browser.test_accessibility import violations
from tests.factories import stored_document
from tests.testing.paths import SAMPLES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def open_sample(page: Page, reader: User, name: str = "report.pdf", pages: int = 4) -> None:
    """Open one of our samples at its second page."""
    kind = {"file_type": "pdf", "mime_type": "application/pdf", "page_count": pages}
    content = (SAMPLES / name).read_bytes()
    document = stored_document(reader.personal_workspace, name, content, searchable="full", **kind)
    page.goto(f"/documents/{document.pk}?page=2")
    expect(page.locator("[data-drawn='2'] .textLayer span").first).to_be_attached()


def test_all_matches_are_counted_and_gone_through(logged_in: Page, reader: User) -> None:
    page = logged_in
    open_sample(page, reader)
    page.keyboard.press("Control+f")
    page.keyboard.type("island")
    count = page.locator("[data-part=findCount]")
    expect(count).to_have_text(re.compile("^\\d of 6$"))
    first = count.text_content()
    page.keyboard.press("Enter")
    expect(count).not_to_have_text(first or "")
    page.keyboard.press("Escape")
    expect(page.get_by_role("search")).to_be_hidden()
    expect(page.locator(".textLayer .highlight")).to_have_count(0)


def test_thumbnails_and_outline_lead_to_pages(logged_in: Page, reader: User) -> None:
    page = logged_in
    open_sample(page, reader)
    page.get_by_role("button", name="Thumbnails and outline").click()
    page.get_by_role("button", name="Page 4", exact=True).click()
    expect(page.locator("[data-part=where]")).to_have_text("Page 4 of 4")
    expect(page.locator(".thumbnail canvas").first).to_be_visible()
    assert violations(page) == []


def test_a_selection_starts_a_question_about_this_document(logged_in: Page, reader: User) -> None:
    page = logged_in
    open_sample(page, reader)
    words = page.locator("[data-drawn='2'] .textLayer span", has_text="wicks").first
    words.evaluate("span => getSelection().selectAllChildren(span)")
    page.get_by_role("button", name="Ask about this selection").click()
    page.wait_for_url("**/?document=*")
    expect(page.locator("[data-part=scopeLabel]")).to_have_text("report.pdf")
    assert "wicks" in page.get_by_label("Your question").input_value()


def test_a_selection_on_a_turned_page_starts_a_question(logged_in: Page, reader: User) -> None:
    page = logged_in
    open_sample(page, reader)
    upright = page.locator("[data-drawn='2'] canvas").bounding_box()
    page.locator(".viewer-menu > summary").click()
    page.get_by_role("button", name="Rotate").click()
    expect(page.locator("[data-drawn='2'] .textLayer[data-main-rotation='90']")).to_be_attached()
    turned = page.locator("[data-drawn='2'] canvas").bounding_box()
    assert upright and turned
    assert (upright["width"] < upright["height"]) is (turned["width"] > turned["height"])
    words = page.locator("[data-drawn='2'] .textLayer span", has_text="wicks").first
    words.scroll_into_view_if_needed()
    box = words.bounding_box()
    assert box and box["height"] > box["width"], "the line runs down the page"
    # With the mouse, as a reader does: along the line, which is upright now.
    across = box["x"] + box["width"] / 2
    page.mouse.move(across, box["y"] + 1)
    page.mouse.down()
    page.mouse.move(across, box["y"] + box["height"] - 1, steps=8)
    page.mouse.up()
    page.get_by_role("button", name="Ask about this selection").click()
    page.wait_for_url("**/?document=*")
    assert "wicks" in page.get_by_label("Your question").input_value()


def test_two_fingers_size_the_page(logged_in: Page, reader: User) -> None:
    page = logged_in
    open_sample(page, reader)
    paper = page.locator("[data-drawn='2']")
    before = paper.bounding_box()
    assert before
    middle = before["x"] + before["width"] / 2
    touch = page.context.new_cdp_session(page)

    def fingers(kind: str, apart: int) -> None:
        points = [{"x": middle + x, "y": 400, "id": finger} for finger, x in enumerate((-apart, apart))]
        touch.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [] if kind == "touchEnd" else points}
        )

    fingers("touchStart", 60)
    for apart in range(65, 125, 5):
        fingers("touchMove", apart)
    fingers("touchEnd", 0)
    page.wait_for_timeout(800)  # It is drawn anew a moment after the fingers rest.
    after = paper.bounding_box()
    assert after and 1.5 < after["width"] / before["width"] < 2.5


def test_a_link_asks_before_it_leaves_and_scripts_are_no_links(logged_in: Page, reader: User) -> None:
    page = logged_in
    with pymupdf.open() as pdf:
        leaf = pdf.new_page(width=400, height=300)
        for line, address in enumerate(("https://example.org/far", "javascript:alert(1)")):
            rect = pymupdf.Rect(40, 40 + 60 * line, 300, 70 + 60 * line)
            leaf.insert_textbox(rect, f"Link number {line}")
            leaf.insert_link({"kind": pymupdf.LINK_URI, "from": rect, "uri": address})
        content = bytes(pdf.tobytes())
    kind = {"file_type": "pdf", "mime_type": "application/pdf", "page_count": 1}
    document = stored_document(reader.personal_workspace, "links.pdf", content, **kind)
    page.goto(f"/documents/{document.pk}")
    links = page.locator(".annotationLayer a[href]")
    expect(links).to_have_count(1)
    expect(links).to_have_attribute("rel", "noopener noreferrer nofollow")
    asked: list[str] = []

    def refuse(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    links.click()
    assert "https://example.org/far" in asked[0]
    assert len(page.context.pages) == 1
