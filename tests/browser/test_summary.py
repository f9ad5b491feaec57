"""The summary on a document's page: opened by the reader, each sentence leads to its place."""

from __future__ import annotations

import os

import pymupdf
import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from core.locations import Box, LocatedText, OnPage
from core.locations import Page as Layout
from kb.models import Document
from search.models import ModelConnection
from tests.browser.conftest import PHONE, show_details
from tests.browser.test_accessibility import violations
from tests.factories import indexed_document, stored_document
from tests.kb.test_summaries import PARTS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def pages_of(parts: list[str]) -> tuple[bytes, list[LocatedText]]:
    """Return a PDF with a part on each page, and their words with boxes."""
    with pymupdf.open() as pdf:
        for part in parts:
            page = pdf.new_page(width=400, height=300)
            page.insert_textbox(pymupdf.Rect(40, 40, 360, 260), part, fontsize=12)
        texts = [
            LocatedText.of_words(
                (word, OnPage(Layout(number, 400, 300), line, Box(x1, y1, x2, y2)))
                for x1, y1, x2, y2, word, _, line, _ in page.get_text("words")
            )
            for number, page in enumerate(pdf, start=1)
        ]
        return bytes(pdf.tobytes()), texts


@pytest.fixture
def document(reader: User) -> Document:
    content, texts = pages_of(PARTS)
    kind = {"file_type": "pdf", "mime_type": "application/pdf", "page_count": len(PARTS)}
    document = stored_document(reader.personal_workspace, "light.pdf", content, texts, **kind)
    Document.unscoped.filter(pk=document.pk).update(indexed_at=document.created_at)
    return document


def test_each_sentence_opens_its_place(logged_in: Page, document: Document) -> None:
    page = logged_in
    page.goto(f"/documents/{document.pk}")
    expect(page.locator(".summary-sentence")).to_have_count(0)
    expect(page.locator("[data-part=where]")).to_have_text(f"Page 1 of {len(PARTS)}")
    show_details(page)
    page.get_by_text("Summary", exact=True).click()
    sentence = page.get_by_role("button", name="Ships see the light").or_(
        page.get_by_role("button", name="The lens of Gull Island")
    )
    number = (sentence.first.locator(".summary-place").text_content() or "").removeprefix("page ")
    sentence.first.click()
    expect(page.locator("[data-part=where]")).to_have_text(f"Page {number} of {len(PARTS)}")
    show_details(page)
    expect(page.locator(".summary-sentence").first).to_be_visible()
    assert violations(page) == []


def test_a_model_writes_one_when_it_is_asked(logged_in: Page, document: Document, reader: User) -> None:
    page = logged_in
    ModelConnection.objects.create(pk=ModelConnection.ROW, provider="scripted", changed_by=reader)
    page.goto(f"/documents/{document.pk}")
    show_details(page)
    page.get_by_text("Summary", exact=True).click()
    expect(page.get_by_text("chosen without a language model")).to_be_visible()
    page.get_by_role("button", name="Let the model write a summary").click()
    expect(page.get_by_text("Written by scripted")).to_be_visible()
    sentence = page.get_by_role("button", name="Since 1988 the light")
    number = (sentence.locator(".summary-place").text_content() or "").removeprefix("page ")
    sentence.click()
    expect(page.locator("[data-part=where]")).to_have_text(f"Page {number} of {len(PARTS)}")
    show_details(page)
    assert violations(page) == []
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=f"{folder}/summary.png")
    page.get_by_role("button", name="Show sentences of the document instead").click()
    expect(page.get_by_text("chosen without a language model")).to_be_visible()


def test_on_a_phone_the_place_comes_forward(logged_in: Page, document: Document) -> None:
    page = logged_in
    page.set_viewport_size(PHONE)
    page.goto(f"/documents/{document.pk}")
    show_details(page)
    page.get_by_text("Summary", exact=True).click()
    page.locator(".summary-sentence").first.click()
    expect(page.locator("#details")).to_be_hidden()


def test_a_short_document_says_that_it_needs_none(logged_in: Page, reader: User) -> None:
    short = indexed_document(reader.personal_workspace)
    Document.unscoped.filter(pk=short.pk).update(indexed_at=short.created_at)
    logged_in.goto(f"/documents/{short.pk}")
    show_details(logged_in)
    logged_in.get_by_text("Summary", exact=True).click()
    expect(logged_in.locator(".summary-body")).to_contain_text("too short")
