"""Merged cells stand at each place that they cover, if they name something there."""

from __future__ import annotations

from extract.merged_cells import REPEATED_CHARS, MergedCell, rows_of_head, spread

Cell = MergedCell[str]


def grid(cells: list[Cell], rows: int, columns: int) -> list[list[str]]:
    """Return the cells in rows and columns, below the head that the first row needs."""
    return spread(cells, columns, rows_of_head(cells, rows, columns, str.isdigit), " ".join, len)


def test_the_rows_of_a_head_are_one() -> None:
    cells = [
        MergedCell("Title", 0, 0, 2, 1),
        MergedCell("Peak", 0, 1, 1, 2),
        MergedCell("US", 1, 1),
        MergedCell("UK", 1, 2),
        MergedCell("Song", 2, 0),
        MergedCell("18", 2, 1),
        MergedCell("79", 2, 2),
    ]
    assert grid(cells, 3, 3) == [["Title", "Peak US", "Peak UK"], ["Song", "18", "79"]]


def test_values_below_a_shared_name_are_no_head() -> None:
    cells = [MergedCell("Year", 0, 0), MergedCell("Barrels", 0, 1, 1, 2)]
    cells += [MergedCell(text, 1, column) for column, text in enumerate(("1871", "4", "5"))]
    assert grid(cells, 2, 3) == [["Year", "Barrels", "Barrels"], ["1871", "4", "5"]]


def test_a_name_beside_several_rows_is_that_of_each() -> None:
    cells = [
        MergedCell("Year", 0, 0),
        MergedCell("Film", 0, 1),
        MergedCell("2018", 1, 0, 2, 1),
        MergedCell("One", 1, 1),
        MergedCell("Two", 2, 1),
    ]
    assert grid(cells, 3, 2) == [["Year", "Film"], ["2018", "One"], ["2018", "Two"]]


def test_the_name_of_a_section_stands_once() -> None:
    cells = [MergedCell("Item", 0, 0), MergedCell("Price", 0, 1), MergedCell("Paint", 1, 0, 1, 2)]
    assert grid([*cells, MergedCell("Blue", 2, 0), MergedCell("3", 2, 1)], 3, 2)[1] == ["Paint"]


def test_what_spans_columns_of_values_is_the_value_of_each() -> None:
    cells = [MergedCell(name, 0, column) for column, name in enumerate(("", "Oslo", "Riga", "Lyon"))]
    cells += [MergedCell("Money", 1, 0), MergedCell("Crown", 1, 1), MergedCell("Euro", 1, 2, 1, 2)]
    assert grid(cells, 2, 4)[1] == ["Money", "Crown", "Euro", "Euro"]


def test_long_text_stands_once_however_much_it_spans() -> None:
    text = "x" * (REPEATED_CHARS + 1)
    rows = grid([MergedCell("A", 0, 0), MergedCell("B", 0, 1), MergedCell(text, 1, 0, 10**9, 10**9)], 4, 2)
    assert sum(text in row for row in rows) == 1


def test_a_head_that_would_take_the_whole_table_is_one_row() -> None:
    cells = [MergedCell("A", 0, 0, 3, 1), MergedCell("B", 0, 1), MergedCell("C", 1, 1), MergedCell("D", 2, 1)]
    assert rows_of_head(cells, 3, 2, str.isdigit) == 1
