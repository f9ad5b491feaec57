"""Tables of a PDF page from the places of words: which head stands above which column."""

from __future__ import annotations

from typing import Any

from core.locations import Box
from extract.pdf.lines import PdfLine, enclosing_box
from extract.pdf.tables import Table, with_tables

SIZE = 10
LETTER = 5


def line(text: str, x: float, y: float, bold: bool = False) -> PdfLine:
    """Return a line of type at a place; a letter is 5 points wide."""
    words, at = [], x
    for word in text.split():
        words.append((word, Box(at, y, at + LETTER * len(word), y + SIZE)))
        at += LETTER * (len(word) + 1)
    return PdfLine(SIZE, bold, False, words, enclosing_box([box for _, box in words]))


def centred(text: str, middle: float, y: float) -> PdfLine:
    return line(text, middle - LETTER * len(text) / 2, y)


def row(label: str, y: float, *figures: str, ends: tuple[float, ...] = (345, 445)) -> list[PdfLine]:
    """Return a label and its figures, which end at these places."""
    cells = [line(figure, end - LETTER * len(figure), y) for figure, end in zip(figures, ends, strict=False)]
    return [line(label, 50, y), *cells]


def read(*blocks: list[PdfLine]) -> list[Any]:
    """Return the tables as rows of cells, and other blocks as text."""
    return [
        [[" ".join(each.text for each in cell) for cell in cells] for cells in block.grid]
        if isinstance(block, Table)
        else " ".join(each.text for each in block)
        for block in with_tables(blocks)
    ]


BODY = [*row("Revenue", 140, "7,192", "8,288"), *row("Cost of sales", 152, "2,544", "2,857")]


def test_a_head_that_spans_columns_stands_above_each() -> None:
    head = [centred("Three months ended", 380, 100), line("April 30", 305, 112), line("May 1", 420, 112)]
    assert read([*head, *BODY]) == [
        [
            ["", "Three months ended April 30", "Three months ended May 1"],
            ["Revenue", "7,192", "8,288"],
            ["Cost of sales", "2,544", "2,857"],
        ]
    ]


def test_a_head_above_one_column_stays_there() -> None:
    head = [line("Note", 325, 112), line("Amount", 415, 112), line("(restated)", 395, 100)]
    [[first, *_]] = read([*head, *BODY])
    assert first == ["", "Note", "(restated) Amount"]


def test_lines_of_a_head_in_any_drawing_order() -> None:
    head = [line("2023", 325, 112), line("2022", 425, 112), centred("Fiscal year", 385, 100)]
    [[first, *_]] = read([*head, *BODY])
    assert first == ["", "Fiscal year 2023", "Fiscal year 2022"]


def test_a_table_without_a_head_has_an_empty_one() -> None:
    """A row of figures as the head would be repeated above rows that it has nothing to do with."""
    [[first, second, _]] = read(BODY)
    assert first == ["", "", ""]
    assert second == ["Revenue", "7,192", "8,288"]


def test_a_heading_between_two_tables_belongs_to_neither() -> None:
    between = [line("Note 8. Goodwill", 50, 176, bold=True)]
    after = [*row("2023", 188, "1,200", "1,300"), *row("2024", 200, "2,200", "2,300")]
    found = read([*BODY], between, after)
    assert found[1] == "Note 8. Goodwill"
    assert [len(table) for table in (found[0], found[2])] == [3, 3]


def test_a_head_below_a_line_of_words_begins_another_table() -> None:
    between = [line("Goodwill by reportable segment was as follows:", 50, 164)]
    head = [line("Segment", 50, 176), line("2020", 325, 176), line("2021", 425, 176)]
    after = [*row("Media", 188, "2,868", "3,731"), *row("Experience", 200, "7,476", "8,539")]
    assert read([*BODY, *between, *head, *after])[1:] == [
        "Goodwill by reportable segment was as follows:",
        [
            ["Segment", "2020", "2021"],
            ["Media", "2,868", "3,731"],
            ["Experience", "7,476", "8,539"],
        ],
    ]


def test_a_label_with_a_colon_does_not_end_a_table() -> None:
    between = [line("Adjustments to reconcile net income to net cash:", 50, 164)]
    after = row("Depreciation", 176, "384", "334")
    [table] = read([*BODY, *between, *after])
    assert table[-1] == ["Depreciation", "384", "334"]


def test_dots_lead_from_a_label_to_its_figures() -> None:
    def dotted(label: str, y: float, *figures: str) -> list[PdfLine]:
        dots = " .".join([""] * (40 - len(label) // 2))
        return [line(f"{label}{dots} {'  '.join(figures)}", 50, y)]

    found = read(
        [*dotted("Cash", 140, "1,815"), *dotted("Inventories", 152, "253"), *dotted("Other", 164, "99")]
    )
    assert found == ["Cash 1,815 Inventories 253 Other 99"]
