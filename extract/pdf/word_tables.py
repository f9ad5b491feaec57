"""Tables of words: below a row of names, lines that keep to the columns which the names stand above.

Cells of words have several lines, and programs often draw them cell by cell. So lines are taken in the order
of the content stream while each stands in one column, and put into rows by their heights afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from extract.pdf.rules import Rule
from extract.pdf.table_body import CONTINUING
from extract.pdf.table_cells import CELL_CHARS, CELL_GAP, TableCell, TableRow

# Rows of a table are this near below each other, in type sizes, and lines of a cell this near. A cell that is
# drawn later may begin so much higher.
LINE_GAP, LONE_GAP, BACK = 2.5, 1.2, 12.0
# Between two columns is at least so much room, in type sizes.
GUTTER = 0.5
# A rule below the names reaches over this share of them.
RULED_SHARE = 0.8
FEWEST_ROWS, FEWEST_COLUMNS = 2, 2
FEWEST_UNRULED = 3
# Of the rows, so many have words in two columns. Of the columns, fewer have mostly figures.
FILLED_SHARE, FIGURES_SHARE = 0.6, 0.5
MOST_LINES = 400
# Rows are this much further apart than lines, where they are set apart.
ROW_PITCH = 1.2
SAME_LINE = 0.4


@dataclass(slots=True)
class _Column:
    left: float
    right: float
    cells: list[TableCell] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class WordTable:
    """Cells of a table by row and column, and after which row of the page it ends."""

    rows: list[list[list[TableCell]]]
    end: int


def may_name_columns(row: TableRow) -> bool:
    """Whether a row may be the head of a table: several cells, all short and none a figure."""
    return len(row.cells) >= FEWEST_COLUMNS and all(
        len(cell.text) <= CELL_CHARS and not cell.is_figure and cell.text[-1:] not in ".,;"
        for cell in row.cells
    )


def read_word_table(rows: Sequence[TableRow], start: int, rules: Sequence[Rule]) -> WordTable | None:
    """Return the table below the names in row `start`, if there is one."""
    head = rows[start]
    columns = [_Column(cell.box.x1, cell.box.x2) for cell in head.cells]
    end = _fill(columns, rows, start)
    if (
        end - start <= FEWEST_ROWS
        or not all(column.cells for column in columns)
        or sum(map(_has_figures, columns[1:])) >= FIGURES_SHARE * len(columns[1:])
    ):
        return None
    is_bold = all(line.bold for cell in head.cells for line in cell.lines)
    if not (is_bold and len(head.cells) >= FEWEST_UNRULED) and not _is_ruled(head, rules):
        return None
    lines = _rows_of(columns, rules)
    filled = sum(sum(map(bool, row)) > 1 for row in lines)
    if len(lines) < FEWEST_ROWS or filled < FILLED_SHARE * len(lines):
        return None
    return WordTable([[[cell] for cell in head.cells], *lines], end)


def _has_figures(column: _Column) -> bool:
    """Whether half of the cells of a column are figures."""
    return sum(cell.is_figure for cell in column.cells) >= FIGURES_SHARE * len(column.cells)


def _is_ruled(head: TableRow, rules: Sequence[Rule]) -> bool:
    """Whether a line is drawn below the names, or below each of them."""
    below = [rule for rule in rules if -head.size / 2 <= rule.y - head.box.y2 <= head.size]
    left, right = head.box.x1, head.box.x2
    covered = sum(
        min(rule.x2, right) - max(rule.x1, left) for rule in below if rule.x1 < right and rule.x2 > left
    )
    is_each = all(any(rule.x1 <= cell.middle <= rule.x2 for rule in below) for cell in head.cells)
    return is_each or covered >= RULED_SHARE * (right - left)


def _fill(columns: list[_Column], rows: Sequence[TableRow], start: int) -> int:
    """Put the lines below the names into columns; return the index after the last row that fits."""
    top = lowest = rows[start].box.y2
    for at in range(start + 1, min(start + 1 + MOST_LINES, len(rows))):
        row = rows[at]
        places = [_place(cell, columns) for cell in row.cells]
        gap = LINE_GAP if len(places) > 1 or 0 in places else LONE_GAP
        is_near = lowest - BACK * row.size <= row.box.y1 <= lowest + gap * row.size
        if not is_near or row.box.y1 < top - row.size / 2 or None in places or len({*places}) < len(places):
            return at
        for cell, place in zip(row.cells, places, strict=True):
            if place is not None:
                column = columns[place]
                column.left, column.right = min(column.left, cell.box.x1), max(column.right, cell.box.x2)
                column.cells.append(cell)
        lowest = max(lowest, row.box.y2)
    return min(start + 1 + MOST_LINES, len(rows))


def _place(cell: TableCell, columns: Sequence[_Column]) -> int | None:
    """Return the index of the only column in which a cell can stand, or None."""
    gutter = GUTTER * cell.size
    near = [
        at
        for at, column in enumerate(columns)
        if cell.box.x1 < column.right + gutter and cell.box.x2 > column.left - gutter
    ]
    if len(near) == 1:
        return near[0]
    if near:
        return None
    # Words to the left of a name that stands in the middle of its column, or to the right.
    gaps = [max(column.left - cell.box.x2, cell.box.x1 - column.right) for column in columns]
    nearest, *others = sorted(range(len(columns)), key=lambda at: gaps[at])
    is_inside = columns[0].left - CELL_GAP * cell.size <= cell.box.x1
    return nearest if is_inside and all(gaps[nearest] < gaps[at] / 2 for at in others) else None


# --- Rows ---------------------------------------------------------------------------------------------------


Placed = tuple[int, TableCell]
"""A line of a cell, with the index of its column."""


def _rows_of(columns: Sequence[_Column], rules: Sequence[Rule]) -> list[list[list[TableCell]]]:
    """Return the cells of columns by row: rows begin below rules, at gaps, or where a cell cannot go on."""
    cells = [(at, cell) for at, column in enumerate(columns) for cell in column.cells]
    levels: list[list[Placed]] = []
    for at, cell in sorted(cells, key=lambda placed: placed[1].box.y1):
        if levels and cell.box.y1 - levels[-1][0][1].box.y1 <= SAME_LINE * cell.size:
            levels[-1].append((at, cell))
        else:
            levels.append([(at, cell)])
    rows: list[list[list[TableCell]]] = []
    for begins, level in zip(_beginnings(levels, columns, rules), levels, strict=True):
        if begins:
            rows.append([[] for _ in columns])
        for at, cell in level:
            rows[-1][at].append(cell)
    return rows


def _beginnings(
    levels: Sequence[Sequence[Placed]], columns: Sequence[_Column], rules: Sequence[Rule]
) -> list[bool]:
    """Return for each line whether a row begins with it."""
    tops = [level[0][1].box.y1 for level in levels]
    pitches = [below - above for above, below in pairwise(tops)]
    least = min(pitches, default=0.0)
    is_set_apart = max(pitches, default=0.0) > ROW_PITCH * least
    left, right = columns[0].left, columns[-1].right
    ruled = [rule.y for rule in rules if rule.x1 <= left + 2 and rule.x2 >= right - 2]
    begins = [True][: len(levels)]
    last = {at: cell for level in levels[:1] for at, cell in level}
    for level, (top, bottom) in zip(levels[1:], pairwise(tops), strict=True):
        is_parted = any(top < y < bottom for y in ruled)
        is_apart = bottom - top > ROW_PITCH * least and (len(level) > 1 or level[0][0] == 0)
        names = any(at == 0 and not CONTINUING.match(cell.text) for at, cell in level)
        has_ended = any(at in last and _has_room(last[at], cell, columns[at]) for at, cell in level)
        is_new = (has_ended and (names or len(level) > 1)) or (names and not is_set_apart)
        begins.append(is_parted or is_apart or is_new)
        last.update(level)
    return begins


def _has_room(above: TableCell, cell: TableCell, column: _Column) -> bool:
    """Whether the first word of a line would have had room in the line above: it begins another cell."""
    _, word = cell.lines[0].words[0]
    used = above.box.x2 - above.box.x1 + word.x2 - word.x1 + cell.size / 2
    return used < column.right - column.left
