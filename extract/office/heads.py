"""The parts of a sheet's table: titles above it, the head of each column, the rows, the remarks below."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from extract.office.areas import Area
from extract.office.cells import CellKind, FilledCell, Range, Row, SheetLayout, holds

# A head has at most so many rows, and so many titles stand above it.
MOST_HEADS, MOST_TITLES = 4, 10
# A lone cell below a table is a remark if it is longer than this, in characters.
NOTE_CHARS = 60


@dataclass(frozen=True, slots=True)
class SheetTable:
    """A table: `head` has the cells that head each column, those that span it first."""

    name: str
    range: Range
    titles: list[Row]
    head: list[list[FilledCell]]
    body: Iterator[list[FilledCell | None]]
    notes: list[Row]


def read_table(area: Area, layout: SheetLayout) -> SheetTable:
    """Return the parts of an area that is more than a remark."""
    rows, layout = list(area.rows), layout.within(area.top, area.bottom)
    titles = [] if area.is_declared else list(_take_titles(rows, layout))
    notes = [] if area.is_declared else list(_take_notes(rows))
    columns = sorted({cell.column for row in rows for cell in row})
    count = 1 if area.is_declared else _head_rows(rows, layout)
    merged = _Merged(rows, columns, layout)
    head = [_heads(column, rows[:count], merged) for column in columns]
    body = ([merged.below(row[0].row, column) for column in columns] for row in rows[count:])
    where = (area.top, area.left, area.bottom, area.right)
    return SheetTable(_name(where, layout), where, titles, head, body, notes)


def _name(where: Range, layout: SheetLayout) -> str:
    return next((name for area, name in layout.names.items() if _are_alike(area, where)), "")


def _are_alike(named: Range, where: Range) -> bool:
    """Whether a named range is the table, perhaps without its head."""
    return named[1:] == where[1:] and 0 <= named[0] - where[0] <= 1


# --- Titles and remarks ------------------------------------------------------------------------------------


def _take_titles(rows: list[Row], layout: SheetLayout) -> Iterator[Row]:
    """Remove and yield the rows above the head: title, units, period, notes."""
    for _ in range(MOST_TITLES):
        if len(rows) < 2 or not _is_title(rows[0], rows[1:], layout):
            return
        yield rows.pop(0)


def _is_title(row: Row, below: list[Row], layout: SheetLayout) -> bool:
    widest = max(map(len, below))
    if not any(map(str.isalpha, row[0].text)) or widest < 2:
        return False
    left = min(other[0].column for other in below)
    if len(row) == 1:
        # Over a column of amounts, a lone word is its head.
        is_wide = any(holds(area, row[0].row, row[0].column) and area[3] > area[1] for area in layout.merges)
        return row[0].column <= left or is_wide or _is_headlike(below[0])
    # “Company  ACME” above a table of many columns.
    is_pair = len(row) == 2 and row[0].column <= left and row[1].column == row[0].column + 1
    return is_pair and widest > 2 * len(row) and not any(cell.is_amount for cell in row)


def _is_headlike(row: Row) -> bool:
    return len(row) > 1 and not any(cell.is_amount for cell in row)


def _take_notes(rows: list[Row]) -> Iterator[Row]:
    """Remove the lone long cells below a table; yield them in order."""
    count = 0
    while count < len(rows) - 2 and len(rows[-1 - count]) == 1 and _is_note(rows[-1 - count][0]):
        count += 1
    notes = rows[len(rows) - count :]
    del rows[len(rows) - count :]
    yield from notes


def _is_note(cell: FilledCell) -> bool:
    return cell.kind is CellKind.WORDS and len(cell.text) > NOTE_CHARS


# --- Heads -------------------------------------------------------------------------------------------------


def _head_rows(rows: Sequence[Row], layout: SheetLayout) -> int:
    """Return how many rows are the head: one, and those below that the merged cells or gaps in it need."""
    if any(cell.is_amount for cell in rows[0]) and not any(cell.kind is CellKind.WORDS for cell in rows[0]):
        return 0
    count = 1
    while count < min(MOST_HEADS, len(rows) - 1):
        last, following = rows[count - 1], rows[count]
        if any(cell.is_amount for cell in following):
            break
        if not (_spans_more(last, following[0].row, layout) or _has_gaps(last, following, rows[count + 1 :])):
            break
        count += 1
    return count


def _spans_more(row: Row, following: int, layout: SheetLayout) -> bool:
    """Whether a cell of a row is merged with the row below it, or over several columns."""
    ranges = [area for area in layout.merges for cell in row if holds(area, cell.row, cell.column)]
    return any(bottom >= following or right > left for _, left, bottom, right in ranges)


def _has_gaps(row: Row, following: Row, below: Sequence[Row]) -> bool:
    """Whether a row without merged cells heads groups of the columns that the next row heads."""
    filled = {cell.column for cell in row}
    named = [cell.column for cell in following]
    counted = {cell.column for other in below for cell in other if cell.is_amount}
    uncovered = [column for column in named if column not in filled and column > min(filled)]
    return bool(uncovered) and len(following) > len(row) and any(column in counted for column in named)


def _heads(column: int, rows: Sequence[Row], merged: _Merged) -> list[FilledCell]:
    """Return the cells that head a column, from the top."""
    found: list[FilledCell] = []
    for at, row in enumerate(rows):
        cell = merged.at(row[0].row, column)
        if cell is None and at < len(rows) - 1:
            cell = _to_the_left(column, row, rows[at + 1], merged)
        if cell is not None and cell not in found:
            found.append(cell)
    return found


def _to_the_left(column: int, row: Row, following: Row, merged: _Merged) -> FilledCell | None:
    """Return the cell that heads a group of columns from its first one on, without being merged."""
    if merged.any_in(row) or all(cell.column != column for cell in following):
        return None
    before = [cell for cell in row if cell.column < column]
    # The names of rows are in no such group.
    return before[-1] if before and before[-1].column >= following[0].column else None


class _Merged:
    """The cell of each place, that of a merged range at all of its places."""

    def __init__(self, rows: Sequence[Row], columns: Sequence[int], layout: SheetLayout) -> None:
        self._cells = {(cell.row, cell.column): cell for row in rows for cell in row}
        self._over: dict[tuple[int, int], FilledCell] = {}
        numbers = [row[0].row for row in rows]
        self._ranges = [area for area in layout.merges if (area[0], area[1]) in self._cells]
        for top, left, bottom, right in self._ranges:
            cell = self._cells[top, left]
            within = numbers[bisect_left(numbers, top) : bisect_right(numbers, bottom)]
            across = columns[bisect_left(columns, left) : bisect_right(columns, right)]
            self._over |= {(row, column): cell for row in within for column in across}

    def at(self, row: int, column: int) -> FilledCell | None:
        """Return the cell at a place, None if it is blank."""
        return self._cells.get((row, column)) or self._over.get((row, column))

    def below(self, row: int, column: int) -> FilledCell | None:
        """Return the cell at a place, or that of its column that is merged down to it."""
        cell = self.at(row, column)
        return cell if cell is None or cell.column == column else None

    def any_in(self, row: Row) -> bool:
        """Whether a row has a merged cell."""
        return any(holds(area, cell.row, cell.column) for area in self._ranges for cell in row)
