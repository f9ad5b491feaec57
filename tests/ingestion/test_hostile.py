"""The attack corpus: what nobody sees is told of and left out, what is seen stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from django.test import Client
from docx import Document as Word
from docx.shared import RGBColor

from core.locations import Box, LocatedText, OnPage, Page
from extract.base import Element, Kind
from extract.invisible import strip_invisible
from extract.pdf.visible_lines import PAGES_SEARCHED_OUTSIDE
from ingestion.sections import sections
from kb.models import Chunk, Document, Status
from tests.conftest import Cast
from tests.extract.reading import read, read_bytes
from tests.ingestion.conftest import Upload
from tests.ingestion.test_pipeline import ingested
from tests.samples.hostile.make import FACT, ORDER, saved
from tests.testing.paths import SAMPLES

HOSTILE = SAMPLES / "hostile"
HIDDEN_IN = {
    "hidden.pdf": 6,
    "page.html": 10,
    "letter.eml": 10,
    "report.docx": 3,
    "slides.pptx": 3,
    "invisible.txt": 2,
}
SHEET = Page(1, 400, 300)


def pdf_of(draw: Callable[[pymupdf.Page], None], tmp_path: Path) -> Path:
    """Store a page of 400 × 300 points that `draw` has drawn."""
    pdf = pymupdf.open()
    draw(pdf.new_page(width=400, height=300))
    path = tmp_path / "drawn.pdf"
    pdf.save(path)
    return path


# --- The corpus --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HIDDEN_IN)
def test_what_is_hidden_is_told_apart_from_what_is_seen(name: str) -> None:
    found = read(HOSTILE / name)
    assert found.hidden.count(ORDER) == HIDDEN_IN[name]
    assert "Ignore" not in found.text
    assert FACT in found.text


def test_every_page_tells_of_its_own(tmp_path: Path) -> None:
    elements = read(HOSTILE / "hidden.pdf")
    assert [unit.number for unit in elements.units] == [1, 2, 3, 4, 5, 6]
    assert "White letters on a blue field are read." in elements.text


def test_what_only_looks_hidden_is_read() -> None:
    page = read(HOSTILE / "page.html")
    for seen in ("Ornaments are seen", "White letters on a blue field", "Type that is set anew"):
        assert seen in page.text
    assert "8.75 m" in read(HOSTILE / "report.docx").text  # white in a table, whose style may colour it


def test_the_text_layer_of_a_scan_is_no_hidden_text() -> None:
    found = read(HOSTILE / "recognised.pdf")
    assert found.text == FACT
    assert found.hidden == ""


def test_hidden_text_is_in_no_section() -> None:
    hidden = Element(Kind.HIDDEN, LocatedText(ORDER))
    assert list(sections([hidden])) == []


@pytest.mark.django_db
@pytest.mark.parametrize("name", HIDDEN_IN)
def test_no_chunk_holds_it_and_the_report_shows_it(name: str, cast: Cast, upload: Upload) -> None:
    document = ingested(upload(f"hostile/{name}", (HOSTILE / name).read_bytes()))
    assert document.status == Status.READY
    chunks = Chunk.unscoped.filter(document=document)
    assert not chunks.filter(text__contains="Ignore").exists()
    assert chunks.filter(text__contains="8.75").exists()
    assert "hidden_text" in [warning["code"] for warning in document.warnings]
    [first, *_] = quality_of(cast, document)["hidden"]
    assert first["number"] == 1
    assert first["characters"] >= len(ORDER)
    assert first["excerpt"].startswith(ORDER[:60])
    assert len(first["excerpt"]) <= 80


def quality_of(cast: Cast, document: Document) -> Any:
    """Return what the quality report says, by way of the API."""
    return Client(headers=cast.headers("bob")).get(f"/api/v1/documents/{document.pk}/quality").json()


@pytest.mark.django_db
def test_the_report_tells_the_pages(cast: Cast, upload: Upload) -> None:
    document = ingested(upload("hostile/hidden.pdf", (HOSTILE / "hidden.pdf").read_bytes()))
    assert [page["number"] for page in quality_of(cast, document)["hidden"]] == [1, 2, 3, 4, 5, 6]
    [warning] = document.warnings
    assert f"{6 * len(ORDER)} characters" in warning["message"]
    assert "(pages 1, 2, 3, 4, 5, 6)" in warning["message"]


@pytest.mark.django_db
def test_a_crop_mark_is_reported_without_a_warning(cast: Cast, upload: Upload) -> None:
    document = ingested(upload("turned.pdf"))
    assert document.warnings == []
    assert {page["excerpt"] for page in quality_of(cast, document)["hidden"]} == {"hidden"}


@pytest.mark.django_db
def test_a_document_of_nothing_else_has_no_text(upload: Upload) -> None:
    document = ingested(upload("x.html", f"<html><body><p hidden>{ORDER}</p></body></html>".encode()))
    assert (document.status, document.error_code) == (Status.FAILED, "empty")


# --- PDF ---------------------------------------------------------------------------------------------------


def test_only_the_hidden_words_of_a_line_are_left_out(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((40, 50), "The height is ")
        page.insert_text((110, 50), "99 or rather ", color=(1, 1, 1))
        page.insert_text((180, 50), "8.75 metres")

    found = read(pdf_of(draw, tmp_path))
    assert found.text.split() == ["The", "height", "is", "8.75", "metres"]
    assert found.hidden == "99 or rather"


def test_white_words_on_a_dark_picture_or_field_are_read(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page) -> None:
        page.draw_rect(pymupdf.Rect(0, 0, 400, 100), fill=(0.8, 0.8, 0.8), color=None)
        page.insert_text((40, 50), "Pale letters on pale grey", color=(1, 1, 1))
        dark = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 8, 8), False)
        dark.clear_with(40)
        page.insert_image(pymupdf.Rect(0, 150, 400, 250), pixmap=dark, keep_proportion=False)
        page.insert_text((40, 200), "Letters on a photo", color=(1, 1, 1))

    assert read(pdf_of(draw, tmp_path)).hidden == ""


def test_white_words_are_judged_on_the_page_as_turned_and_cropped(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page) -> None:
        page.draw_rect(pymupdf.Rect(200, 100, 400, 300), fill=(0, 0, 0.4), color=None)
        page.insert_text((220, 150), "seen", color=(1, 1, 1))
        page.insert_text((120, 150), "unseen", color=(1, 1, 1))
        page.set_cropbox(pymupdf.Rect(100, 80, 400, 300))
        page.set_rotation(90)

    found = read(pdf_of(draw, tmp_path))
    assert (found.text, found.hidden) == ("seen", "unseen")


def test_letters_drawn_as_outlines_keep_their_text_layer(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page) -> None:
        for x in range(40, 180, 6):
            page.draw_line((x, 40), (x + 3, 50))
        page.insert_text((40, 50), "What the outlines say", render_mode=3)
        page.insert_text((40, 150), "Said by nothing", render_mode=3)

    found = read(pdf_of(draw, tmp_path))
    assert found.text == "What the outlines say"
    assert found.hidden == "Said by nothing"


def test_text_beside_the_page_is_looked_for_on_the_first_pages_and_never_read(tmp_path: Path) -> None:
    pdf = pymupdf.open()
    for _ in range(PAGES_SEARCHED_OUTSIDE + 1):
        page = pdf.new_page(width=400, height=300)
        page.insert_text((40, 50), "on the page")
        page.insert_text((-300, 50), "beside it")
    pdf.save(tmp_path / "long.pdf")
    found = read(tmp_path / "long.pdf")
    assert "beside" not in found.text
    assert found.hidden.count("beside it") == PAGES_SEARCHED_OUTSIDE


# --- Other kinds -------------------------------------------------------------------------------------------


def test_white_words_in_a_shaded_paragraph_are_read(tmp_path: Path) -> None:
    document = Word()
    paragraph = document.add_paragraph()
    paragraph.add_run("White on black").font.color.rgb = RGBColor(255, 255, 255)
    shade = paragraph._p.get_or_add_pPr().makeelement(
        "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}shd",
        {"{http://schemas.openxmlformats.org/wordprocessingml/2006/main}fill": "000000"},
    )
    paragraph._p.get_or_add_pPr().append(shade)
    found = read_bytes(tmp_path, saved(document))
    assert (found.text, found.hidden) == ("White on black", "")


def test_a_style_sheet_leaves_white_text_in_doubt(tmp_path: Path) -> None:
    head = "<head><style>body{background:#000}</style></head>"
    page = f'<html>{head}<body><p style="color:#fff">White on black</p></body></html>'
    assert read_bytes(tmp_path, page).text == "White on black"


# --- Characters --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("zero\u200bwidth", "zerowidth"),
        ("\u202eturned\u202c", "turned"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("\U0001f469\u200d\U0001f680", "\U0001f469\u200d\U0001f680"),
        ("\u2764\ufe0f", "\u2764\ufe0f"),
        ("in\u200cvisible", "invisible"),
        ("plain", "plain"),
    ],
)
def test_joiners_stay_where_they_join(text: str, seen: str) -> None:
    assert [element.text for element in strip_invisible(Element(Kind.PARAGRAPH, LocatedText(text)))] == [seen]


def test_words_keep_their_places_when_characters_go() -> None:
    tags = "".join(chr(0xE0000 + ord(one)) for one in ORDER)
    words = [("fi\u200brst", Box(10, 10, 40, 20)), (tags, Box(41, 10, 42, 20)), ("last", Box(50, 10, 80, 20))]
    located = LocatedText.of_words([(word, OnPage(SHEET, 0, box)) for word, box in words])
    seen, hidden = strip_invisible(Element(Kind.PARAGRAPH, located))
    assert (hidden.kind, hidden.text) == (Kind.HIDDEN, ORDER)
    assert seen.text == "first  last"
    spans = [
        (seen.text[span.start : span.end], span.place.box)
        for span in seen.located.spans
        if isinstance(span.place, OnPage)
    ]
    assert spans == [("first", words[0][1]), ("last", words[2][1])]
