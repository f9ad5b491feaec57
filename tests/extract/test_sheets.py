"""Sheets as people lay them out: spaced, titled, with merged heads, several tables, hidden parts."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from openpyxl import Workbook
from openpyxl.styles import Font
from openpyxl.worksheet.table import Table
from python_calamine import CalamineWorkbook

from extract.base import Kind
from extract.errors import Corrupted
from extract.office.biff_layout import hidden_cells
from ingestion.chunking import chunk_elements
from ingestion.structure.elements import structure_elements
from tests.extract.reading import Read, read, read_bytes, simply, stored, zipped
from tests.extract.test_definitions import Words
from tests.testing.paths import SAMPLES

Rows = list[list[Any]]


def sheet_of(rows: Rows, name: str = "Oil") -> Any:
    book: Any = Workbook()
    book.active.title = name
    for number, row in enumerate(rows, start=1):
        for column, value in enumerate(row, start=1):
            if value is not None:
                book.active.cell(number, column, value)
    return book.active


def saved(sheet: Any) -> bytes:
    buffer = io.BytesIO()
    sheet.parent.save(buffer)
    return buffer.getvalue()


def tables_of(tmp_path: Path, sheet: Any) -> list[str]:
    return read_bytes(tmp_path, saved(sheet)).texts(Kind.TABLE)


def path_of_tables(found: Read) -> list[list[str]]:
    """Return the headings above each table."""
    path: dict[int, str] = {}
    paths = []
    for element in found.elements:
        if element.kind is Kind.HEADING:
            level = element.level or 1
            path = {above: text for above, text in path.items() if above < level} | {level: element.text}
        elif element.kind is Kind.TABLE:
            paths.append([path[level] for level in sorted(path)])
    return paths


# --- Blank rows and columns --------------------------------------------------------------------------------


def test_blank_rows_inside_a_table_do_not_cut_it(tmp_path: Path) -> None:
    sheet = sheet_of(
        [
            ["", "2023", "2024"],
            [],
            ["Oil", 4, 5],
            ["Gas", 6, 7],
            [],
            ["Abroad"],
            [],
            ["Coal", 8, 9],
            [],
            ["Total", 18, 21],
        ]
    )
    assert tables_of(tmp_path, sheet) == [
        "|  | 2023 | 2024 |\n| --- | --- | --- |\n| Oil | 4 | 5 |\n| Gas | 6 | 7 |\n"
        "| Abroad |  |  |\n| Coal | 8 | 9 |\n| Total | 18 | 21 |"
    ]


def test_blank_columns_inside_a_table_do_not_cut_it(tmp_path: Path) -> None:
    sheet = sheet_of(
        [
            ["Item", "Unit", None, 2021, 2022, None, 2023, 2024],
            ["Oil", "t", None, 1, 2, None, 3, 4],
            ["Gas", "t", None, 5, 6, None, 7, 8],
        ]
    )
    (table,) = tables_of(tmp_path, sheet)
    assert table.splitlines()[2] == "| Oil | t | 1 | 2 | 3 | 4 |"


def test_a_narrow_blank_column_parts_no_words_either(tmp_path: Path) -> None:
    rows: Rows = [["Name", "Town", None, "Lamp", "Make"], ["Ann", "Bergau", None, "brass", "Hall"]]
    assert len(tables_of(tmp_path, sheet_of(rows))) == 2
    narrow = sheet_of(rows)
    narrow.column_dimensions["C"].width = 1.5
    assert len(tables_of(tmp_path, narrow)) == 1


def test_several_tables_have_each_its_own_head_and_titles(tmp_path: Path) -> None:
    sheet = sheet_of(
        [
            ["Revenue by region"],
            ["in millions of dollars"],
            ["Region", "2023", "2024"],
            ["North", 1, 2],
            [],
            ["Headcount"],
            ["Region", "2023", "2024"],
            ["North", 30, 40],
            [],
            ["Code", "Meaning", "Since"],
            ["A", "active", 1990],
        ]
    )
    found = read_bytes(tmp_path, saved(sheet))
    assert [table.splitlines()[-1] for table in found.texts(Kind.TABLE)] == [
        "| North | 1 | 2 |",
        "| North | 30 | 40 |",
        "| A | active | 1990 |",
    ]
    assert path_of_tables(found) == [
        ["Oil", "Revenue by region", "in millions of dollars"],
        ["Oil", "Headcount"],
        ["Oil"],
    ]
    assert found.place_of("Headcount").cells == (6, 1, 6, 1)
    assert found.place_of("active").cells == (11, 2, 11, 2)


def test_a_title_apart_from_its_table_and_a_source_below(tmp_path: Path) -> None:
    source = "Source: the annual report of the lighthouse board, page 12, and letters of the keepers."
    sheet = sheet_of([["Keepers"], [], ["Name", "Age"], ["Ann", 31], ["Bo", 40], [source]])
    found = read_bytes(tmp_path, saved(sheet))
    assert path_of_tables(found) == [["Oil", "Keepers"]]
    assert found.kinds()[-1] == ("paragraph", source)


def test_a_source_between_two_tables_is_no_title(tmp_path: Path) -> None:
    rows: Rows = [
        ["Name", "Age"],
        ["Ann", 31],
        [],
        ["Source: letters."],
        [],
        ["Boat", "Crew", "Flag"],
        ["G", 4, "x"],
    ]
    found = read_bytes(tmp_path, saved(sheet_of(rows)))
    assert path_of_tables(found) == [["Oil"], ["Oil"]]
    assert found.texts(Kind.PARAGRAPH) == ["Source: letters."]


def test_text_tables_one_below_the_other_stay_apart(tmp_path: Path) -> None:
    sheet = sheet_of(
        [["Name", "Lamp"], ["Ann", "brass"], [], ["Boat", "Port", "Flag"], ["Gull", "Bergau", "red"]]
    )
    for cell in ("A1", "B1", "A4", "B4", "C4"):
        sheet[cell].font = Font(bold=True)
    assert len(tables_of(tmp_path, sheet)) == 2


def test_no_chunk_is_only_a_sheets_name(tmp_path: Path) -> None:
    rows: Rows = [["Revenue by region"], ["in millions"], ["Region", "2023"], ["North", 1], [], ["A remark."]]
    found = read_bytes(tmp_path, saved(sheet_of(rows)))
    drafts = list(chunk_elements(structure_elements(found.elements), Words(), "en"))
    assert "Oil" not in [draft.located.text for draft in drafts]
    tables = [draft for draft in drafts if "North" in draft.located.text]
    assert [draft.headings for draft in tables] == [("Oil", "Revenue by region", "in millions")]
    (remark,) = [draft for draft in drafts if "remark" in draft.located.text]
    assert remark.headings == ("Oil",)


# --- Heads -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_merged", [True, False])
def test_a_spanning_head_belongs_to_each_column(tmp_path: Path, is_merged: bool) -> None:
    sheet = sheet_of(
        [
            ["Region", "2023", None, "2024", None],
            [None, "Plan", "Actual", "Plan", "Actual"],
            ["North", 1, 2, 3, 4],
            ["South", 5, 6, 7, 8],
        ]
    )
    if is_merged:
        for area in ("A1:A2", "B1:C1", "D1:E1"):
            sheet.merge_cells(area)
    (table,) = tables_of(tmp_path, sheet)
    assert table.splitlines()[0] == "| Region | 2023 Plan | 2023 Actual | 2024 Plan | 2024 Actual |"
    assert table.splitlines()[2] == "| North | 1 | 2 | 3 | 4 |"


def test_the_places_of_a_spanning_head(tmp_path: Path) -> None:
    sheet = sheet_of([["Region", "2023", None], [None, "Plan", "Actual"], ["North", 1, 2]])
    sheet.merge_cells("A1:A2")
    sheet.merge_cells("B1:C1")
    (table,) = [one for one in read_bytes(tmp_path, saved(sheet)).elements if one.kind is Kind.TABLE]
    words = [(table.text[span.start : span.end], span.place.cells) for span in table.located.spans]
    assert words[:5] == [
        ("Region", (1, 1, 1, 1)),
        ("2023", (1, 2, 1, 2)),
        ("Plan", (2, 2, 2, 2)),
        ("2023", (1, 2, 1, 2)),
        ("Actual", (2, 3, 2, 3)),
    ]


def test_a_merged_row_name_belongs_to_each_row(tmp_path: Path) -> None:
    sheet = sheet_of([["Region", "Item", "2024"], ["North", "Oil", 1], [None, "Gas", 2]])
    sheet.merge_cells("A2:A3")
    (table,) = tables_of(tmp_path, sheet)
    assert table.splitlines()[-1] == "| North | Gas | 2 |"


# --- What the file says ------------------------------------------------------------------------------------


def test_declared_tables_and_named_ranges(tmp_path: Path) -> None:
    sheet = sheet_of([["Name", "Age"], ["Ann", 31], ["Boat", "Crew"], ["Gull", 4]])
    sheet.add_table(Table(displayName="Keepers", ref="A1:B2"))
    found = read_bytes(tmp_path, saved(sheet))
    assert found.texts(Kind.TABLE)[0].splitlines() == ["| Name | Age |", "| --- | --- |", "| Ann | 31 |"]
    assert path_of_tables(found) == [["Oil", "Keepers"], ["Oil"]]
    assert found.place_of("Keepers").cells == (1, 1, 2, 2)


def test_hidden_rows_and_columns_are_read_and_told(tmp_path: Path) -> None:
    sheet = sheet_of([["Name", "Age", "Pay"], ["Ann", 31, 5], ["Bo", 40, 6]])
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["C"].hidden = True
    found = read_bytes(tmp_path, saved(sheet))
    assert "| Bo | 40 | 6 |" in found.text
    (warning,) = found.warnings
    assert (warning.code, "rows 3 and columns C" in warning.message) == ("hidden_cells", True)


def test_what_old_excel_hides_is_told_too() -> None:
    found = read(SAMPLES / "hidden.xls")
    assert "| Bo | 40 | 6 |" in found.text
    told = [(warning.code, warning.message) for warning in found.warnings]
    (what,) = [message for code, message in told if code == "hidden_cells"]
    assert "“Pay”" in what and "rows 3 and columns C" in what


def test_a_place_of_a_sheet_that_is_no_place_hides_nothing(tmp_path: Path) -> None:
    whole = (SAMPLES / "hidden.xls").read_bytes()
    assert [len(each.rows) for each in hidden_cells(SAMPLES / "hidden.xls")] == [1, 0]
    start = whole.index(b"\x85\x00") + 4
    path = stored(tmp_path, whole[:start] + b"\xff\xff\xff\x7f" + whole[start + 4 :])
    assert not any(each.rows or each.columns for each in hidden_cells(path))
    assert hidden_cells(stored(tmp_path, "no workbook")) == []


def test_formulas_count_by_their_values_and_are_told_without(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer)
    page = book.add_worksheet("Sums")
    page.write_row(0, 0, ["Item", "Sum"])
    page.write_row(1, 0, ["Oil"])
    page.write_formula(1, 1, "=20+22", None, 42)
    book.close()
    assert "| Oil | 42 |" in read_bytes(tmp_path, buffer.getvalue()).text
    lost = read_bytes(tmp_path, saved(sheet_of([["Item", "Sum"], ["Oil", "=20+22"]])))
    assert [warning.code for warning in lost.warnings] == ["formulas_unread"]


def test_dates_without_a_day_are_read_as_shown(tmp_path: Path) -> None:
    sheet = sheet_of([["Item", date(2024, 3, 1), date(2025, 1, 1)], ["Oil", 4, 5]])
    sheet["B1"].number_format = "mmm-yy"
    sheet["C1"].number_format = "yyyy"
    assert tables_of(tmp_path, sheet)[0].splitlines()[0] == "| Item | Mar-24 | 2025 |"


def test_strict_workbooks(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(saved(sheet_of([["Name", "Age"], ["Ann", 31]])))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    strict = {
        name: re.sub(
            rb"http://schemas\.openxmlformats\.org/(spreadsheetml|drawingml|officeDocument)/2006/",
            rb"http://purl.oclc.org/ooxml/\1/",
            content,
        )
        for name, content in members.items()
    }
    found = read_bytes(tmp_path, zipped(strict))
    assert found.texts(Kind.TABLE) == ["| Name | Age |\n| --- | --- |\n| Ann | 31 |"]


def test_a_workbook_may_name_a_part_that_it_lacks(tmp_path: Path) -> None:
    """Some programs name a table of texts though all texts stand in their cells."""
    with zipfile.ZipFile(io.BytesIO(saved(sheet_of([["Name", "Age"], ["Ann", 31]])))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    # openpyxl writes texts into their cells.
    assert b"inlineStr" in members["xl/worksheets/sheet1.xml"]
    named = b'<Override PartName="/xl/sharedStrings.xml" ContentType="%s.sharedStrings+xml"/></Types>'
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml"
    types = "[Content_Types].xml"
    members[types] = members[types].replace(b"</Types>", named % kind)
    assert read_bytes(tmp_path, zipped(members)).texts(Kind.TABLE) == [
        "| Name | Age |\n| --- | --- |\n| Ann | 31 |"
    ]


def test_what_the_reader_of_binary_workbooks_can_not_do_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class PanicException(BaseException):
        pass

    def panic(*_: object) -> None:
        raise PanicException

    monkeypatch.setattr(CalamineWorkbook, "from_path", panic)
    with pytest.raises(Corrupted, match=r"save it as \.xlsx"):
        read_bytes(tmp_path, saved(sheet_of([["Name"]])), simply())
