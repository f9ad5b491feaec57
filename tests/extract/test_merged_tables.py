"""One table with merged cells, in four kinds of files: each row tells all that names it."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import docx
import pptx
import pytest
from docx.oxml.ns import qn
from pptx.util import Inches

from extract.errors import FileTooLarge
from tests.extract.reading import read_bytes
from tests.extract.test_opendocument import opendocument

Area = tuple[int, int, int, int, str]
"""Row and column of a cell, how many of each it spans, and its words."""

TABLE: tuple[Area, ...] = (
    (0, 0, 1, 3, "Ships of the lake"),
    (1, 0, 2, 1, "Year"),
    (1, 1, 1, 2, "Holds"),
    (2, 1, 1, 1, "Cars"),
    (2, 2, 1, 1, "People"),
    (3, 0, 2, 1, "1987"),
    (3, 1, 1, 1, "40"),
    (3, 2, 1, 1, "300"),
    (4, 1, 1, 1, "12"),
    (4, 2, 1, 1, "90"),
    (5, 0, 1, 3, "Sunk"),
    (6, 0, 1, 1, "1990"),
    (6, 1, 1, 2, "unknown"),
)
ROWS, COLUMNS = 7, 3
READ = [
    "| Year | Holds Cars | Holds People |",
    "| --- | --- | --- |",
    "| 1987 | 40 | 300 |",
    "| 1987 | 12 | 90 |",
    "| Sunk |  |  |",
    "| 1990 | unknown | unknown |",
]


def markup() -> bytes:
    """Return the table as a web page."""
    rows = [
        "".join(
            f"<td rowspan={rows} colspan={columns}>{text}</td>"
            for at, _, rows, columns, text in TABLE
            if at == row
        )
        for row in range(ROWS)
    ]
    table = "".join(f"<tr>{cells}</tr>" for cells in rows)
    return f"<!doctype html><p>Text.</p><table>{table}</table>".encode()


def word() -> bytes:
    """Return the table as a Word file."""
    document = docx.Document()
    table = document.add_table(ROWS, COLUMNS)
    for row, column, rows, columns, text in TABLE:
        cell = table.cell(row, column).merge(table.cell(row + rows - 1, column + columns - 1))
        cell.text = text
    return saved(document.save)


def slides() -> bytes:
    """Return the table as a presentation."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    size = (Inches(1), Inches(1), Inches(5), Inches(3))
    table = slide.shapes.add_table(ROWS, COLUMNS, *size).table
    for row, column, rows, columns, text in TABLE:
        cell = table.cell(row, column)
        cell.text = text
        if rows * columns > 1:
            cell.merge(table.cell(row + rows - 1, column + columns - 1))
    return saved(presentation.save)


def text_document() -> bytes:
    """Return the table as an OpenDocument text."""
    areas = {(row, column): (rows, columns, text) for row, column, rows, columns, text in TABLE}
    cells = [
        [
            '<table:table-cell table:number-rows-spanned="{}" table:number-columns-spanned="{}">'
            "<text:p>{}</text:p></table:table-cell>".format(*areas[row, column])
            if (row, column) in areas
            else "<table:covered-table-cell/>"
            for column in range(COLUMNS)
        ]
        for row in range(ROWS)
    ]
    rows = "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in cells)
    return opendocument("text", f"<office:text><table:table>{rows}</table:table></office:text>")


def saved(save: Callable[[io.BytesIO], None]) -> bytes:
    """Return what is saved."""
    target = io.BytesIO()
    save(target)
    return target.getvalue()


@pytest.mark.parametrize("made", [markup, word, slides, text_document])
def test_merged_cells_are_at_all_of_their_places(tmp_path: Path, made: Callable[[], bytes]) -> None:
    found = read_bytes(tmp_path, made())
    kinds = [(kind, text) for kind, text in found.kinds() if text != "Text."]
    assert [text for _, text in kinds] == ["Ships of the lake", "\n".join(READ)]
    assert kinds[0][0] == ("heading" if made is markup else "caption")


def test_rows_that_a_web_page_calls_its_head_are_the_head(tmp_path: Path) -> None:
    head = "<thead><tr><th>Ship<th>Length</tr><tr><th><th>in metres</tr></thead>"
    page = f"<!doctype html><table>{head}<tbody><tr><td>Aurora<td>40</tr></tbody></table>"
    [table] = [text for kind, text in read_bytes(tmp_path, page.encode()).kinds() if kind == "table"]
    assert table.splitlines() == ["| Ship | Length in metres |", "| --- | --- |", "| Aurora | 40 |"]


def test_a_span_far_beyond_the_table_is_nothing(tmp_path: Path) -> None:
    row = "<tr><td colspan=99999>Ship<td rowspan=99999>Length</tr>"
    page = f"<!doctype html><table>{row}<tr><td>Aurora</tr></table>"
    assert len(read_bytes(tmp_path, page.encode()).text) < 2_000


def test_spans_of_very_many_places_are_refused(tmp_path: Path) -> None:
    row = "<tr>" + "<td rowspan=99999 colspan=99999>x" * 50 + "</tr>"
    with pytest.raises(FileTooLarge):
        read_bytes(tmp_path, f"<!doctype html><table>{row * 200}</table>".encode())


def test_a_cell_of_word_that_spans_nothing_loses_no_text(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(2, 2)
    cells = [table.cell(row, column) for row in range(2) for column in range(2)]
    for cell, text in zip(cells, ("Ship", "Cars", "Aurora", "40"), strict=True):
        cell.text = text
        cell._tc.get_or_add_tcPr().get_or_add_gridSpan().set(qn("w:val"), "0")
    [(_, text)] = read_bytes(tmp_path, saved(document.save)).kinds()
    assert text.splitlines()[::2] == ["| Ship | Cars |", "| Aurora | 40 |"]
