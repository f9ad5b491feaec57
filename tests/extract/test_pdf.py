"""PDF pages: tables with cells, forms, outlines, what needs recognition, and the second engine."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from extract.base import Element, Kind, Limits, Request, TextOrigin, UnitRead
from extract.pdf import reader as pdf
from ingestion.chunking import chunk_elements
from kb.embedding.hashing import HashingModel
from tests.extract.truth import folded, text_inside, words_of
from tests.testing.paths import SAMPLES

FIGURES = [("Subscription", "16,388", "14,573"), ("Product", "532", "555"), ("Services", "686", "657")]


def write(path: Path, page: pymupdf.Page) -> Path:
    page.parent.save(path)
    return path


def read(path: Path, **request: object) -> list[Element]:
    found = pdf.extract(path, Request(Limits(100), **request))
    return [f for f in found if isinstance(f, Element) and f.kind is not Kind.HIDDEN]


def sources(path: Path) -> list[TextOrigin]:
    return [f.source for f in pdf.extract(path, Request(Limits(100))) if isinstance(f, UnitRead)]


@pytest.fixture
def page() -> pymupdf.Page:
    return pymupdf.open().new_page()


def draw_row(page: pymupdf.Page, y: float, cells: tuple[str, ...]) -> None:
    for x, cell in zip((72, 300, 400), cells, strict=False):
        page.insert_text((x, y), cell, fontsize=10)


@pytest.fixture
def statement(page: pymupdf.Page, tmp_path: Path) -> Path:
    page.insert_text(
        (72, 72), "Revenue by kind of service was as follows, in millions of dollars:", fontsize=10
    )
    draw_row(page, 100, ("", "2022", "2021"))
    page.insert_text((72, 115), "Revenue:", fontsize=10)
    for number, cells in enumerate(FIGURES):
        draw_row(page, 130 + 15 * number, cells)
    page.insert_text(
        (72, 220), "Revenue grew because more customers subscribed than ever before.", fontsize=10
    )
    return write(tmp_path / "statement.pdf", page)


def test_a_table_without_rules_is_found_with_its_header_and_cells(statement: Path) -> None:
    before, table, after = read(statement)
    assert (before.kind, table.kind, after.kind) == (Kind.PARAGRAPH, Kind.TABLE, Kind.PARAGRAPH)
    assert table.text.splitlines() == [
        "|  | 2022 | 2021 |",
        "| --- | --- | --- |",
        "| Revenue: |  |  |",
        "| Subscription | 16,388 | 14,573 |",
        "| Product | 532 | 555 |",
        "| Services | 686 | 657 |",
    ]
    assert len(table.rows) == 5
    assert [folded(text_inside(statement, [box])) for box in table.located.boxes()] == folded_cells(table)


def folded_cells(table: Element) -> list[str]:
    cells = (
        cell.strip() for cell in table.text.replace("| --- | --- | --- |", "").replace("\n", "").split("|")
    )
    return [folded(cell) for cell in cells if cell]


def test_prose_in_two_columns_is_no_table(page: pymupdf.Page, tmp_path: Path) -> None:
    left = [f"The left column, line {n}, of 1871." for n in range(9)]
    right = [f"The right column, line {n}, of 1988." for n in range(9)]
    for x, lines in ((72, left), (320, right)):
        for n, line in enumerate(lines):
            page.insert_text((x, 100 + 13 * n), line, fontsize=10)
    found = read(write(tmp_path / "columns.pdf", page))
    assert {element.kind for element in found} == {Kind.PARAGRAPH}
    assert " ".join(element.text for element in found) == " ".join(left + right)


def test_a_long_table_is_cut_between_rows_and_repeats_its_header(page: pymupdf.Page, tmp_path: Path) -> None:
    draw_row(page, 60, ("Keeper", "Watches", "Nights"))
    for number in range(45):
        draw_row(page, 75 + 15 * number, (f"Keeper number {number}", str(100 + number), str(200 + number)))
    path = write(tmp_path / "long.pdf", page)
    drafts = list(chunk_elements(read(path), HashingModel(), "en"))
    assert len(drafts) > 1
    for draft in drafts:
        assert draft.is_table
        assert draft.located.text.startswith(
            "| Keeper | Watches | Nights |\n| --- | --- | --- |\n| Keeper number"
        )
        assert folded(text_inside(path, draft.located.boxes())) == folded(words_of(draft.located))
        assert all(draft.located.text[start:end].count("|") == 4 for start, end in draft.sentences)
    rows = [d.located.text[start:end] for d in drafts for start, end in d.sentences]
    assert len(rows) == len(set(rows)) == 45


@pytest.mark.parametrize("name", ["report.pdf", "turned.pdf", "no_password.pdf"])
def test_the_second_engine_reads_the_same_words_at_the_same_places(name: str) -> None:
    path = SAMPLES / name
    found = read(path, safe_mode=True)
    for element in found:
        assert folded(text_inside(path, element.located.boxes())) == folded(words_of(element.located))
    usual = sorted(" ".join(element.text for element in read(path)).split())
    assert sorted(" ".join(element.text for element in found).split()) == usual


def test_a_picture_of_text_waits_for_recognition_and_a_picture_beside_text_does_not(tmp_path: Path) -> None:
    with pymupdf.open() as made:
        picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 300, 400))
        picture.clear_with(200)
        made.new_page().insert_image(pymupdf.Rect(50, 50, 500, 700), pixmap=picture)
        beside = made.new_page()
        beside.insert_image(pymupdf.Rect(50, 50, 500, 400), pixmap=picture)
        beside.insert_text((72, 500), "The lighthouse on Gull Island was built in 1871 from grey granite.")
        made.new_page()
        made.save(tmp_path / "pictures.pdf")
    assert sources(tmp_path / "pictures.pdf") == [TextOrigin.PENDING, TextOrigin.TEXT, TextOrigin.BLANK]


def test_text_drawn_as_outlines_waits_for_recognition(page: pymupdf.Page, tmp_path: Path) -> None:
    for number in range(60):
        page.draw_circle((72 + 7 * number, 100), 3)
        page.draw_line((72 + 7 * number, 120), (75 + 7 * number, 130))
    assert sources(write(tmp_path / "outlines.pdf", page)) == [TextOrigin.PENDING]


def test_what_was_filled_into_a_form_is_text_with_a_box(page: pymupdf.Page, tmp_path: Path) -> None:
    page.insert_text((72, 100), "Name of the keeper of the lighthouse on Gull Island:", fontsize=10)
    field = pymupdf.Widget()
    field.field_name, field.field_type = "keeper", pymupdf.mupdf.PDF_WIDGET_TYPE_TEXT
    field.rect, field.field_value = pymupdf.Rect(72, 110, 300, 130), "Martha Quist"
    field.text_fontsize = 10
    page.add_widget(field)
    path = write(tmp_path / "form.pdf", page)
    element = next(element for element in read(path) if "Quist" in element.text)
    (box,) = (place.box for place in element.located.boxes()[-1:])
    assert pymupdf.Rect(72, 110, 300, 130).contains(pymupdf.Rect(box.x1, box.y1, box.x2, box.y2))


def test_the_outline_tells_headings(tmp_path: Path) -> None:
    with pymupdf.open() as made:
        for title in ("The Tower", "The Keepers"):
            page = made.new_page()
            page.insert_text((72, 72), title, fontsize=10)
            page.insert_text(
                (72, 100), "Three keepers lived on the island and wrote down the weather.", fontsize=10
            )
        made.set_toc([[1, "The Tower", 1], [2, "The Keepers", 2]])
        made.save(tmp_path / "outline.pdf")
    found = [(e.text, e.level) for e in read(tmp_path / "outline.pdf") if e.kind is Kind.HEADING]
    assert found == [("The Tower", 1), ("The Keepers", 2)]
