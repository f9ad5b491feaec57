"""From the filled cells of a sheet to its tables: blocks between blank rows and columns, with titles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from core.locations import InFile, LocatedText
from extract.base import Element, Finding, Kind, TextOrigin, UnitRead
from extract.grids import CellCounter, table_elements, title_of
from extract.places import element, fold_spaces, locate_text

TITLE_CHARS = 120


@dataclass(frozen=True, slots=True)
class FilledCell:
    """A cell that shows something; row and column count from 1."""

    row: int
    column: int
    text: str


def sheet_unit(
    number: int, name: str, cells: Iterable[FilledCell], counter: CellCounter
) -> Iterator[Finding]:
    """Yield a sheet's heading, its tables and its unit; raise `TooLarge`."""
    tables = 0
    is_blank = True
    for found in sheet_elements(name, cells, counter):
        if is_blank:
            yield element(Kind.HEADING, fold_spaces(name), InFile(sheet=name), level=1)
        is_blank = False
        tables += found.kind is Kind.TABLE
        yield found
    yield UnitRead(number, TextOrigin.BLANK if is_blank else TextOrigin.TEXT, tables=tables)


def sheet_elements(name: str, cells: Iterable[FilledCell], counter: CellCounter) -> Iterator[Element]:
    """Yield the tables, titles and remarks of a sheet whose cells come row by row."""
    for band in _bands(cells, counter):
        for block in _side_by_side(band):
            yield from _block(name, block)


def _bands(cells: Iterable[FilledCell], counter: CellCounter) -> Iterator[list[FilledCell]]:
    """Split where a row is blank."""
    band: list[FilledCell] = []
    for cell in cells:
        counter.count(1)
        if band and cell.row > band[-1].row + 1:
            yield band
            band = []
        band.append(cell)
    if band:
        yield band


def _side_by_side(band: list[FilledCell]) -> list[list[FilledCell]]:
    """Split where a column is blank from top to bottom, unless that only spaces out one table."""
    columns = sorted({cell.column for cell in band})
    groups: list[list[int]] = []
    for _, group in groupby(enumerate(columns), key=lambda indexed: indexed[1] - indexed[0]):
        groups.append([column for _, column in group])
    # A single column next to a gap holds row names of the next table, or remarks on the previous one.
    if any(len(group) < 2 for group in groups) and len({cell.row for cell in band}) > 1:
        return [band]
    return [[cell for cell in band if group[0] <= cell.column <= group[-1]] for group in groups]


def _block(sheet: str, block: list[FilledCell]) -> Iterator[Element]:
    rows = [list(row) for _, row in groupby(block, key=lambda cell: cell.row)]
    columns = sorted({cell.column for cell in block})
    if len(columns) == 1:
        for row in rows:
            yield _remark(sheet, row[0], is_alone=len(rows) == 1)
        return
    grid = [_line(sheet, row, columns) for row in rows]
    if len(grid) == 1 and title_of(grid[0]) is None:
        yield Element(Kind.PARAGRAPH, LocatedText.join([cell for cell in grid[0] if cell.text], " "))
        return
    yield from table_elements(grid, title_level=2)


def _remark(sheet: str, cell: FilledCell, *, is_alone: bool) -> Element:
    """Return a cell that stands alone: as a title if it is short and has words."""
    has_words = any(map(str.isalpha, cell.text)) and "://" not in cell.text
    is_title = is_alone and has_words and len(cell.text) <= TITLE_CHARS
    kind, level = (Kind.HEADING, 2) if is_title else (Kind.PARAGRAPH, None)
    return Element(kind, _cell_text(sheet, cell), level=level)


def _line(sheet: str, row: Sequence[FilledCell], columns: list[int]) -> list[LocatedText]:
    by_column = {cell.column: _cell_text(sheet, cell) for cell in row}
    return [by_column.get(column, locate_text("")) for column in columns]


def _cell_text(sheet: str, cell: FilledCell) -> LocatedText:
    place = InFile(sheet=sheet, cells=(cell.row, cell.column, cell.row, cell.column))
    return locate_text(fold_spaces(cell.text), place)
