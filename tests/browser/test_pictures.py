"""Pictures on the pages: cut out beside the sources, framed in the viewer, a machine's words marked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User, Workspace
from extract.base import Element, Limits, Pictured, Request
from extract.registry import extract
from ingestion.chunking import chunk_elements
from ingestion.pictures import Description, with_pictures
from ingestion.structure.elements import structure_elements
from ingestion.vectors import MissingVectors
from kb.chunks import swap_chunks
from kb.embedding import embedding_model
from kb.models import Chunk, Document, Searchable
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.places import Rect, drawn
from tests.browser.test_accessibility import violations
from tests.browser.test_journey import ask, wait_for_page_image
from tests.factories import stored_document
from tests.ingestion import pictured as sample

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DESCRIPTION = "A bar chart with four blue bars. The bar of 2022 is the tallest."
OF_DESCRIPTION = "Which bar in the bar chart is the tallest?"
SIGN = "THE FERRY DEPARTS AT NOON."
OF_SIGN = "When does the ferry depart?"


def pictured_report(workspace: Workspace, folder: Path) -> Document:
    """A report as the worker leaves it: a photo of a sign, and a chart that a machine has described."""
    path = sample.write_report(folder / "harbour.pdf", sign=SIGN)
    elements = [found for found in extract(path, Request(Limits(9))) if isinstance(found, Element)]
    findings = extract(path, Request(Limits(9), deep=True, pictures=True))
    found = [finding for finding in findings if isinstance(finding, Pictured)]
    chart = found[1].area
    assert chart
    described = with_pictures(
        structure_elements(elements), found, {chart: Description(DESCRIPTION, "seer-1")}
    )
    document = stored_document(
        *(workspace, "harbour.pdf", path.read_bytes()),
        file_type="pdf",
        mime_type="application/pdf",
        page_count=1,
        searchable=Searchable.FULL,
    )
    swap_chunks(document.pk, list(chunk_elements(described, embedding_model(), "en")), "en")
    vectors = MissingVectors(document.pk)
    vectors.find()
    while vectors.embed_next(lambda done, total: None):
        pass
    return document


def chunk_of(document: Document, words: str) -> Chunk:
    [chunk] = [chunk for chunk in Chunk.unscoped.filter(document=document) if words in chunk.text]
    return chunk


@pytest.fixture
def report(reader: User, tmp_path: Path) -> Document:
    return pictured_report(reader.personal_workspace, tmp_path)


def is_on(inner: Rect, outer: Rect, within: float = 4) -> bool:
    edges = zip(
        (inner.x1, inner.y1, inner.x2, inner.y2), (outer.x1, outer.y1, outer.x2, outer.y2), strict=True
    )
    return all(abs(one - other) <= within for one, other in edges)


def on_screen(page: Page, box: Any) -> Rect:
    """Return where a box of the only page of the report must be seen."""
    [image] = drawn(page, "[data-drawn]")
    scale = (image.x2 - image.x1) / 400
    x1, y1, x2, y2 = (scale * edge for edge in box)
    return Rect(image.x1 + x1, image.y1 + y1, image.x1 + x2, image.y1 + y2)


def test_a_cited_picture_is_seen_beside_its_source_and_framed_on_its_page(
    logged_in: Page, report: Document
) -> None:
    page = logged_in
    ask(page, OF_SIGN)
    source = page.locator(".source", has_text=SIGN)
    expect(source).to_be_visible()
    expect(source.locator(".machine-made")).to_have_count(0)
    crop = source.locator(".crop")
    expect(crop).to_be_visible()
    # What is seen of the page is the box of the picture: 280 x 130 points of 400 x 760.
    [frame] = drawn(page, ".crop")[:1]
    assert (frame.x2 - frame.x1) / (frame.y2 - frame.y1) == pytest.approx(280 / 130, rel=0.05)
    [image] = drawn(page, ".crop img")[:1]
    assert (image.x2 - image.x1) / (frame.x2 - frame.x1) == pytest.approx(400 / 280, rel=0.05)
    assert crop.locator("img").evaluate("image => image.decode().then(() => image.naturalWidth)") >= 240

    source.click()
    wait_for_page_image(page)
    shown = chunk_of(report, SIGN).shown
    assert shown and shown.area
    [framed] = drawn(page, ".place-picture")
    assert is_on(framed, on_screen(page, shown.area.box))
    # The words of the sign are marked in it.
    marks = drawn(page, "[data-place=quote]")
    assert marks and all(framed.overlap(mark) > 0.9 * mark.area for mark in marks)
    expect(page.get_by_text("Page 1 of 1", exact=True)).to_be_visible()


def test_what_a_machine_has_written_is_never_shown_as_the_documents(
    logged_in: Page, report: Document
) -> None:
    page = logged_in
    ask(page, OF_DESCRIPTION)
    source = page.locator(".source", has_text="The bar of 2022 is the tallest.")
    expect(source.locator(".machine-made")).to_have_text("Described by a machine")
    citation = page.locator(".answer .cite").first
    expect(citation).to_have_accessible_name(re.compile(r"harbour\.pdf, page 1, described by a machine"))
    expect(citation).to_have_class(re.compile("is-machine-made"))
    citation.click()
    wait_for_page_image(page)
    expect(page.get_by_text("Page 1 of 1 · Described by a machine")).to_be_visible()
    expect(page.locator("[data-drawn]")).to_have_attribute(
        "aria-label", re.compile(r"Marked: a picture\. Described by a machine: The bar of 2022")
    )
    shown = chunk_of(report, DESCRIPTION).shown
    assert shown and shown.area
    for framed in drawn(page, ".place-picture"):
        assert is_on(framed, on_screen(page, shown.area.box))


def test_a_link_to_a_picture_frames_it(logged_in: Page, report: Document) -> None:
    page = logged_in
    chunk = chunk_of(report, DESCRIPTION)
    page.goto(f"/documents/{report.pk}?chunk={chunk.pk}")
    wait_for_page_image(page)
    assert chunk.shown and chunk.shown.area
    [framed] = drawn(page, ".place-picture")
    assert is_on(framed, on_screen(page, chunk.shown.area.box))


def test_the_search_bench_shows_it_too(logged_in: Page, report: Document) -> None:
    page = logged_in
    page.goto("/search-bench")
    page.get_by_role("searchbox", name="Question").fill(OF_DESCRIPTION)
    page.keyboard.press("Enter")
    hit = page.locator(f"[data-chunk='{chunk_of(report, DESCRIPTION).pk}'].hit")
    expect(hit.locator(".machine-made")).to_have_text("Described by a machine, seer-1")
    expect(hit.locator(".crop img")).to_be_visible()
    expect(hit.locator(".hit-text mark").first).to_be_visible()


@pytest.mark.parametrize(
    ("theme", "viewport"),
    [
        pytest.param("light", DESKTOP, id="light desk"),
        pytest.param("dark", PHONE, id="dark phone"),
        pytest.param("light", PHONE, id="light phone", marks=pytest.mark.slow("pages")),
        pytest.param("dark", DESKTOP, id="dark desk", marks=pytest.mark.slow("pages")),
    ],
)
def test_pictures_suit_every_screen(logged_in: Page, report: Document, theme: Any, viewport: Any) -> None:
    page = logged_in
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(viewport)
    for question in (OF_DESCRIPTION, OF_SIGN):
        ask(page, question)
        page.wait_for_load_state("networkidle")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        page.locator(".source").first.click()
        wait_for_page_image(page)
        assert violations(page) == []
