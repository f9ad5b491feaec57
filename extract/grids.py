"""Cells in rows and columns, from sheets and delimited files, turned into table elements."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from core.locations import LocatedText
from core.text.tables import is_amount
from extract.base import Element, Kind
from extract.errors import FileTooLarge
from extract.merged_cells import MergedCell, rows_of_head, spread, titles_of
from extract.tables import table_element

Cell = LocatedText

# One element has to fit into one message of the child, and the file into memory.
CELLS_AT_ONCE = 4_000
MAX_CELLS = 1_000_000
TOO_MANY_CELLS = f"The file has more than {MAX_CELLS:,} cells. Split it and upload the parts."


def table_elements(rows: Iterable[list[Cell]], title_level: int = 1) -> Iterator[Element]:
    """Yield a table as groups of its rows, each under the first row; raise `FileTooLarge`.

    A first row of one cell only is the table's title, and becomes a heading.
    """
    counter = CellCounter()
    left = iter(rows)
    for row in left:
        counter.count(len(row))
        if title := title_of(row):
            yield Element(Kind.HEADING, title, level=title_level)
        else:
            yield from row_groups(row, counted(left, counter))


def row_groups(header: list[Cell], rows: Iterable[list[Cell]]) -> Iterator[Element]:
    """Yield a table as groups of its rows, each under its header."""
    group: list[list[Cell]] = []
    is_new = True
    for row in rows:
        group.append(row)
        if len(group) * len(header) >= CELLS_AT_ONCE:
            yield table_element([header, *group])
            group, is_new = [], False
    if group or is_new:
        yield table_element([header, *group])


def counted(rows: Iterable[list[Cell]], counter: CellCounter) -> Iterator[list[Cell]]:
    """Yield the rows; raise `FileTooLarge` once they have too many cells, blank ones included."""
    for row in rows:
        counter.count(len(row))
        yield row


def lay_out(cells: Sequence[MergedCell[Cell]], heads: int = 1) -> tuple[list[Cell], list[list[Cell]]]:
    """Return the titles of a table with merged cells, and its rows: the first of them is the head.

    `heads` is how many of the first rows the file declares to be that. Rows without words are left out, and
    so is what a cell spans beyond the cells of all rows.
    """
    words = {cell.row for cell in cells if cell.content.text}
    filled = sorted(words)
    rows, columns = len(filled), max((cell.column for cell in cells), default=-1) + 1
    within = [
        replace(
            cell,
            row=(row := bisect_left(filled, cell.row)),
            rows=max(1, bisect_left(filled, cell.row + cell.rows) - row),
            columns=min(cell.columns, columns - cell.column),
        )
        for cell in cells
        if cell.row in words
    ]
    titles = titles_of(within, rows, columns)
    first = sum(title.rows for title in titles)
    below = [replace(cell, row=cell.row - first) for cell in within[len(titles) :]]
    heads = rows_of_head(below, rows - first, columns, lambda cell: is_amount(cell.text), heads - first)
    laid_out = spread(below, columns, heads, _joined, lambda cell: len(cell.text))
    return [title.content for title in titles if title.content.text], laid_out


def _joined(parts: Sequence[Cell]) -> Cell:
    filled = [part for part in parts if part.text]
    return filled[0] if len(filled) == 1 else LocatedText.join(filled, " ")


def title_of(row: list[Cell]) -> Cell | None:
    """Return the only filled cell of a wider row, if it has words."""
    filled = [cell for cell in row if cell.text]
    is_title = len(row) > 1 and len(filled) == 1 and any(char.isalpha() for char in filled[0].text)
    return filled[0] if is_title else None


class CellCounter:
    """Counts the cells of a file and stops if there are too many."""

    def __init__(self, cells: int = 0) -> None:
        self.cells = cells

    def count(self, cells: int) -> None:
        """Add to the count; raise `FileTooLarge` above the limit."""
        self.cells += cells
        if self.cells > MAX_CELLS:
            raise FileTooLarge(TOO_MANY_CELLS)
