"""Office files: what stands in them, where, and in the values that their programs show."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from docx import Document
from docx.oxml import parse_xml
from openpyxl import Workbook
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from core.errors import DocumentError
from extract.base import Kind, Limits, Request, TextOrigin
from extract.errors import FileTooLarge, TooManyPages
from extract.office.shown import displayed_value
from tests.extract.reading import REQUEST, read, read_bytes, simply, zipped

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def saved(office_file: Any) -> bytes:
    buffer = io.BytesIO()
    office_file.save(buffer)
    return buffer.getvalue()


# --- Word --------------------------------------------------------------------------------------------------


def report() -> Any:
    document = Document()
    document.core_properties.title = "Gull Island"
    document.sections[0].header.paragraphs[0].text = "A short history"
    document.sections[0].footer.paragraphs[0].text = "Page 1"
    document.add_heading("Gull Island", 0)
    document.add_heading("The Tower", 1)
    document.add_paragraph("Built in 1871,\tof granite.")
    document.add_heading("Oil", 2)
    document.add_paragraph("whale oil", style="List Bullet")
    document.add_paragraph("Figure 1", style="Caption")
    table = document.add_table(3, 3)
    for row, texts in enumerate([("Year", "Oil", ""), ("1871", "4", "5"), ("", "6", "7")]):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 0).merge(table.cell(2, 0))
    return document


def test_word(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, saved(report()))
    assert (found.opened.file_type, found.opened.title) == ("docx", "Gull Island")
    assert found.kinds() == [
        ("page_header", "A short history"),
        ("heading", "Gull Island"),
        ("heading", "The Tower"),
        ("paragraph", "Built in 1871, of granite."),
        ("heading", "Oil"),
        ("list_item", "whale oil"),
        ("caption", "Figure 1"),
        ("table", "| Year | Oil | Oil |\n| --- | --- | --- |\n| 1871 | 4 | 5 |\n| 1871 | 6 | 7 |"),
        ("page_footer", "Page 1"),
    ]
    assert found.headings() == [(1, "Gull Island"), (1, "The Tower"), (2, "Oil")]


def test_what_word_shows_and_what_it_does_not(tmp_path: Path) -> None:
    document = Document()
    body = document.element.body
    body.insert(
        0,
        parse_xml(
            f"<w:p {W}><w:r><w:t>kept</w:t></w:r><w:del><w:r><w:delText>cut</w:delText></w:r></w:del>"
            f"<w:ins><w:r><w:t xml:space='preserve'> new</w:t></w:r></w:ins>"
            f"<w:r><w:instrText>PAGE</w:instrText></w:r></w:p>"
        ),
    )
    body.insert(
        1,
        parse_xml(
            f"<w:sdt {W}><w:sdtContent><w:p><w:r><w:t>control</w:t></w:r></w:p></w:sdtContent></w:sdt>"
        ),
    )
    box = "<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>"
    markup = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    body.insert(
        2,
        parse_xml(
            f"<w:p {W} {markup}><w:r><mc:AlternateContent><mc:Choice Requires='wps'>{box}</mc:Choice>"
            f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
        ),
    )
    assert read_bytes(tmp_path, saved(document)).texts(Kind.PARAGRAPH) == ["kept new", "control", "boxed"]


def test_bold_lines_are_headings_where_no_style_says_so(tmp_path: Path) -> None:
    document = Document()
    for heading in ("Tower", "Oil"):
        document.add_paragraph().add_run(heading).bold = True
        document.add_paragraph("A sentence that ").add_run("stresses a word.").bold = True
    assert read_bytes(tmp_path, saved(document)).headings() == [(1, "Tower"), (1, "Oil")]


def test_word_files_with_macros_and_templates(tmp_path: Path) -> None:
    content = saved(report())
    plain = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    found = read_bytes(
        tmp_path,
        _with_content_type(content, plain, b"application/vnd.ms-word.document.macroEnabled.main+xml"),
    )
    assert "Built in 1871" in found.text


def _with_content_type(content: bytes, old: bytes, new: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return zipped({name: archive.read(name).replace(old, new) for name in archive.namelist()})


@pytest.mark.slow("corpora")
def test_a_handbook(shared_data: Path) -> None:
    found = read(shared_data / "robustness" / "unstructured" / "handbook-872p.docx")
    assert len(found.elements) > 4000
    assert {level for level, _ in found.headings()} == {1, 2, 3}


# --- PowerPoint --------------------------------------------------------------------------------------------


def slides() -> Any:
    presentation = Presentation()
    presentation.core_properties.title = "Lamps"
    first = presentation.slides.add_slide(presentation.slide_layouts[1])
    first.shapes.title.text = "The Tower"
    first.placeholders[1].text = "granite\nglass"
    first.notes_slide.notes_text_frame.text = "Speak slowly."
    group = first.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "in a group"
    presentation.slides.add_slide(presentation.slide_layouts[6])
    third = presentation.slides.add_slide(presentation.slide_layouts[6])
    table = third.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(2)).table
    for row, texts in enumerate([("Year", "Oil"), ("1871", "4")]):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    data = CategoryChartData()
    data.categories = ["1871", "1872"]
    data.add_series("Barrels", (4, 5.5))
    third.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(2), Inches(2), data)
    return presentation


def test_powerpoint(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, saved(slides()))
    assert (found.opened.title, found.opened.units, found.opened.page_count) == ("Lamps", 3, 3)
    assert found.kinds() == [
        ("heading", "The Tower"),
        ("list_item", "granite"),
        ("list_item", "glass"),
        ("paragraph", "in a group"),
        ("paragraph", "Speak slowly."),
        ("table", "| Year | Oil |\n| --- | --- |\n| 1871 | 4 |"),
        ("table", "|  | Barrels |\n| --- | --- |\n| 1871 | 4 |\n| 1872 | 5.5 |"),
    ]
    assert [place.slide for place in found.places()] == [1, 1, 1, 1, 1, 3, 3]
    assert [unit.source for unit in found.units] == [TextOrigin.TEXT, TextOrigin.BLANK, TextOrigin.TEXT]


def test_single_slides(tmp_path: Path) -> None:
    request = Request(Limits(10), units=(2, 3))
    assert {place.slide for place in read_bytes(tmp_path, saved(slides()), request).places()} == {3}
    assert "granite" in read_bytes(tmp_path, saved(slides()), simply()).text


def test_too_many_slides(tmp_path: Path) -> None:
    with pytest.raises(TooManyPages, match="3 slides"):
        read_bytes(tmp_path, saved(slides()), Request(Limits(2)))


# --- Excel -------------------------------------------------------------------------------------------------


def workbook() -> Any:
    book: Any = Workbook()
    sheet = book.active
    sheet.title = "Oil"
    for row in [
        ["Oil by year"],
        ["Year", "Barrels", "Share"],
        [1871, 1234.5, 0.256],
        [date(1872, 5, 1), 3, True],
    ]:
        sheet.append(row)
    sheet["B3"].number_format = "#,##0.00"
    sheet["C3"].number_format = "0.0%"
    sheet["B8"], sheet["B9"], sheet["C8"], sheet["C9"] = "Keeper", "Ann", "Age", 31
    sheet["F8"], sheet["F9"], sheet["G8"], sheet["G9"] = "Lamp", "brass", "Height", 2
    hidden = book.create_sheet("Secret")
    hidden["A1"], hidden.sheet_state = "unseen", "hidden"
    book.create_sheet("Blank")
    book.create_sheet("Notes")["A1"] = "A remark of a few words."
    return book


def test_excel(tmp_path: Path) -> None:
    found = read_bytes(tmp_path, saved(workbook()))
    assert (found.opened.file_type, found.opened.units) == ("xlsx", 3)
    assert found.kinds() == [
        ("heading", "Oil"),
        ("heading", "Oil by year"),
        (
            "table",
            "| Year | Barrels | Share |\n| --- | --- | --- |\n"
            "| 1871 | 1,234.50 | 25.6% |\n| 1872-05-01 | 3 | TRUE |",
        ),
        ("heading", "Oil"),
        ("table", "| Keeper | Age |\n| --- | --- |\n| Ann | 31 |"),
        ("table", "| Lamp | Height |\n| --- | --- |\n| brass | 2 |"),
        ("heading", "Notes"),
        ("paragraph", "A remark of a few words."),
    ]
    assert [unit.source for unit in found.units] == [TextOrigin.TEXT, TextOrigin.BLANK, TextOrigin.TEXT]
    place = found.place_of("brass")
    assert (place.sheet, place.cells) == ("Oil", (9, 6, 9, 6))
    assert [(warning.code, "Secret" in warning.message) for warning in found.warnings] == [
        ("hidden_sheets", True)
    ]


def test_single_sheets_and_the_sturdiest_reading(tmp_path: Path) -> None:
    request = Request(Limits(10), units=(3,))
    for how in (request, simply(request)):
        assert {place.sheet for place in read_bytes(tmp_path, saved(workbook()), how).places()} == {"Notes"}


def test_a_sheet_that_reaches_to_the_last_cell(tmp_path: Path) -> None:
    book: Any = Workbook()
    book.active["A1"], book.active["XFD1048576"] = "first", "last"
    found = read_bytes(tmp_path, saved(book))
    assert found.place_of("last").cells == (1048576, 16384, 1048576, 16384)


def test_a_sheet_whose_rows_go_on_for_ever(tmp_path: Path) -> None:
    content = _with_content_type(saved(workbook()), b'<row r="9"', b'<row r="999999999"')
    with pytest.raises(FileTooLarge):
        read_bytes(tmp_path, content)


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (3.0, "General", "3"),
        (0.1 + 0.2, "General", "0.3"),
        (12345678901234, "General", "12345678901234"),
        (0.256, "0.0%", "25.6%"),
        (1234567.891, "#,##0.00", "1,234,567.89"),
        (-5.5, "#,##0.0_);(#,##0.0)", "-5.5"),
        (12, "[$€-407] #,##0.00", "€12.00"),
        (12.5, '#,##0.00 "€"', "12.50 €"),
        (1234, '_("$"* #,##0_)', "$1,234"),
        (-0.001, "0.00", "0.00"),
        (1.5, "0.0##", "1.5"),
        (datetime(2026, 5, 1), "m/d/yy", "2026-05-01"),
        (datetime(2026, 5, 1, 8, 30), "m/d/yy h:mm", "2026-05-01 08:30:00"),
        (False, "General", "FALSE"),
    ],
)
def test_numbers_are_read_as_shown(value: object, number_format: str, text: str) -> None:
    assert displayed_value(value, number_format) == text


def test_old_excel(shared_data: Path) -> None:
    found = read(shared_data / "robustness" / "unstructured" / "tests-example.xls")
    assert found.place_of("What C datatypes are 8 bits? (assume i386)").cells == (2, 2, 2, 2)
    assert found.opened.file_type == "xls"


# --- Damage ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "lost"),
    [
        (report, "word/document.xml"),
        (report, "word/_rels/document.xml.rels"),
        (report, "[Content_Types].xml"),
        (slides, "ppt/presentation.xml"),
        (slides, "ppt/slides/slide1.xml"),
        (workbook, "xl/workbook.xml"),
        (workbook, "xl/worksheets/sheet1.xml"),
        (workbook, "_rels/.rels"),
    ],
)
@pytest.mark.parametrize("how", ["half", "nothing"])
def test_damaged_packages_are_no_internal_error(
    tmp_path: Path, make: Callable[[], Any], lost: str, how: str
) -> None:
    with zipfile.ZipFile(io.BytesIO(saved(make()))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[lost] = members[lost][: len(members[lost]) // 2] if how == "half" else b""
    for request in (REQUEST, simply()):
        try:
            read_bytes(tmp_path, zipped(members), request)
        except DocumentError as error:
            assert error.code == "corrupted"
