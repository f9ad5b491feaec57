"""Divides the cells of a sheet into tables and remarks.

Blank rows and columns separate tables, or only space out one table. They belong to one table if the cells
beyond them have no head of their own, and need the head (or the row names) on this side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from extract.office.cells import CellKind, FilledCell, Range, Row, SheetLayout, holds

# A table goes on beyond at most so many blank rows.
MOST_SPACERS = 2
# More columns between blank ones are not told apart, nor more tables that a file declares.
MOST_GROUPS, MOST_DECLARED = 50, 100
# So many areas back is the one above looked for.
LOOKED_BACK = 50


class Area:
    """Rows of cells that belong together, and the range around them.

    `counted` are the columns with amounts. `is_declared` says that the file itself calls it a table.
    """

    def __init__(self, rows: list[Row], *, is_declared: bool = False) -> None:
        self.rows: list[Row] = []
        self.counted: set[int] = set()
        self.is_declared = is_declared
        self.left, self.right = rows[0][0].column, rows[0][-1].column
        self.extend(rows)

    def extend(self, rows: list[Row]) -> None:
        """Add rows below the others."""
        self.rows += rows
        self.left = min([self.left, *(row[0].column for row in rows)])
        self.right = max([self.right, *(row[-1].column for row in rows)])
        self.counted.update(cell.column for row in rows for cell in row if cell.is_amount)

    @property
    def top(self) -> int:
        """The first row."""
        return self.rows[0][0].row

    @property
    def bottom(self) -> int:
        """The last row."""
        return self.rows[-1][0].row

    @property
    def is_remark(self) -> bool:
        """Whether all cells stand in one column."""
        return not self.is_declared and self.left == self.right


def areas_of(cells: Sequence[FilledCell], layout: SheetLayout) -> list[Area]:
    """Return the areas of a sheet whose cells come row by row, in reading order."""
    declared = [area for area in layout.tables if area[2] > area[0]][:MOST_DECLARED]
    own: dict[Range, Row] = {area: [] for area in declared}
    others: Row = []
    for cell in cells:
        home = next((area for area in declared if holds(area, cell.row, cell.column)), None)
        (others if home is None else own[home]).append(cell)
    named = [Area(_rows(inside), is_declared=True) for inside in own.values() if inside]
    found = _join_spaced([area for band in _bands(others) for area in _side_by_side(band, layout)])
    return sorted([*named, *found], key=lambda area: (area.top, area.left))


def _rows(cells: Iterable[FilledCell]) -> list[Row]:
    return [list(row) for _, row in groupby(cells, key=lambda cell: cell.row)]


def _bands(cells: Iterable[FilledCell]) -> Iterator[list[Row]]:
    """Split where a row is blank."""
    band: list[Row] = []
    for row in _rows(cells):
        if band and row[0].row > band[-1][0].row + 1:
            yield band
            band = []
        band.append(row)
    if band:
        yield band


# --- Blank columns -----------------------------------------------------------------------------------------


def _side_by_side(band: list[Row], layout: SheetLayout) -> list[Area]:
    """Split where a column is blank from top to bottom, unless that only spaces out one table."""
    columns = sorted({cell.column for row in band for cell in row})
    groups: list[list[int]] = []
    for column in columns:
        if groups and column == groups[-1][-1] + 1:
            groups[-1].append(column)
        else:
            groups.append([column])
    if len(groups) > MOST_GROUPS:
        return [Area(band)]
    layout = layout.within(band[0][0].row, band[-1][0].row)
    joined = [groups[0]]
    for group in groups[1:]:
        if _are_one_table(joined[-1], group, band, layout):
            joined[-1] = joined[-1] + group
        else:
            joined.append(group)
    return [Area(rows) for group in joined if (rows := _within(band, group))]


def _within(band: list[Row], columns: Sequence[int]) -> list[Row]:
    first, last = columns[0], columns[-1]
    rows = ([cell for cell in row if first <= cell.column <= last] for row in band)
    return [row for row in rows if row]


def _are_one_table(left: list[int], right: list[int], band: list[Row], layout: SheetLayout) -> bool:
    """Whether the columns on both sides of blank ones are those of one table."""
    gap = range(left[-1] + 1, right[0])
    if all(column in layout.narrow for column in gap):
        return True
    wide = {row[0].row for row in band if len(row) > 1}
    if any(top in wide and first <= gap[0] and gap[-1] <= last for top, first, _, last in layout.merges):
        return True
    if len(band) > 1 and (len(left) == 1 or len(right) == 1):
        # A single column next to a gap holds row names of the next table, or remarks on the previous one.
        return True
    return _lacks_row_names(_within(band, right), _within(band, left))


def _lacks_row_names(rows: list[Row], beside: list[Row]) -> bool:
    """Whether rows begin with amounts below their first row, and have their names in the cells beside."""
    first = min(row[0].column for row in rows)
    below = [row[0] for row in rows[1:] if row[0].column == first]
    named = {row[0].row for row in beside if row[0].kind is CellKind.WORDS}
    amounts = sum(cell.is_amount for cell in below)
    return bool(below) and 2 * amounts > len(below) and {cell.row for cell in below} <= named


# --- Blank rows --------------------------------------------------------------------------------------------


def _join_spaced(areas: list[Area]) -> list[Area]:
    """Join areas that are one table spaced out by blank rows; a lone cell between them names its rows."""
    kept: list[Area] = []
    waiting: list[Area] = []
    for area in areas:
        above = _above(area, kept)
        if above is not None and area.is_remark and len(area.rows) == 1 and area.left == above.left:
            waiting.append(area)
            continue
        between = [one for one in waiting if one.bottom < area.top]
        if above is not None and _continues(area, above, between):
            above.extend([row for one in between for row in one.rows] + area.rows)
            waiting = [one for one in waiting if one not in between]
            continue
        kept += [*waiting, area]
        waiting = []
    return sorted([*kept, *waiting], key=lambda area: (area.top, area.left))


def _above(area: Area, kept: list[Area]) -> Area | None:
    """Return the nearest area above that shares columns with an area."""
    sharing = (
        one for one in reversed(kept[-LOOKED_BACK:]) if one.left <= area.right and area.left <= one.right
    )
    found = next(sharing, None)
    return found if found is not None and not found.is_remark else None


def _continues(area: Area, above: Area, between: Sequence[Area]) -> bool:
    """Whether an area has no head of its own and fits below the head of the area above."""
    last = between[-1].bottom if between else above.bottom
    is_near = area.top - last - 1 <= MOST_SPACERS
    # A head alone may leave out the column of the rows' names.
    is_beside = area.left < above.left and len(above.rows) > 1
    if not is_near or area.is_remark or is_beside or area.right > above.right:
        return False
    rows = [row for row in area.rows if len(row) > 1]
    return bool(rows) and not _is_head(rows, area, above) and _fits(rows[0], above)


def _is_head(rows: list[Row], area: Area, above: Area) -> bool:
    """Whether the first of these rows heads those below it."""
    first, *below = rows
    if any(cell.is_amount for cell in first):
        return False
    if not below:
        # A row of words alone, such as “n/a”, is a row; years and dates are a head without a table.
        return any(cell.kind is not CellKind.WORDS for cell in first)
    if any(cell.column in area.counted for cell in first):
        return True
    below_amounts = [cell for cell in first if cell.column in above.counted]
    if below_amounts and all(_is_name(cell) for cell in below_amounts):
        return True
    is_bolder = all(cell.bold for cell in first) and not all(cell.bold for row in below for cell in row)
    return is_bolder or (area.left, area.right) != (above.left, above.right)


def _is_name(cell: FilledCell) -> bool:
    """Whether a cell holds more than “n/a” or a dash."""
    return cell.kind is CellKind.WORDS and sum(map(str.isalpha, cell.text)) > 2


def _fits(first: Row, above: Area) -> bool:
    """Whether the amounts of a row stand below amounts, or below a head alone."""
    return not above.counted or all(cell.column in above.counted for cell in first if cell.is_amount)
