"""The head of a table: which lines above it belong to it, and which columns each of them names.

Programs draw the lines of a head in any order, often cell by cell. So a head is found by where its lines stand:
level by level upwards, as long as what stands there is short and above the columns. A line drawn below a cell
shows which columns it spans; without one, a cell spans the columns in whose middle it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from core.locations import Box
from core.text.numbering import labels
from extract.pdf.lines import PdfLine
from extract.pdf.rules import Rule
from extract.pdf.table_cells import TableCell, TableRow

# A head is no further above the figures, or above its own lower lines, than so many type sizes.
HEADER_GAP, HEADER_HEIGHT = 2.0, 12
# A head may begin so many type sizes left of the figures below it.
HEADER_OVERHANG = 5
# At most so many names of sections stand between a head and the first figures.
LABELS_ABOVE = 3
LABEL_CHARS, HEAD_CHARS = 120, 80
# A line so long that ends in a full stop is a sentence, and no label of rows; nor, above a table, in a colon.
SENTENCE_CHARS = 40
# A lone line so wide, as a share of the table, is text.
TEXT_WIDTH = 0.75
# A head stands in the middle of the columns that it spans, but for this share of their width.
OFF_MIDDLE = 0.15
# Cells of a head that differ in height by less than this share of their size stand side by side.
SAME_LEVEL = 0.4
# A rule is so many type sizes below the words that it underlines, and reaches so many points beyond a column.
BELOW_WORDS, BEYOND = 1.1, 2.0

CAPTION = re.compile(r"(table|tab\.|figure|fig\.|exhibit|chart|tabelle|tableau)\s+[\dA-Z]", re.IGNORECASE)
UNITS = re.compile(r"\(.*\)|.*\bin (thousands|millions|billions)\b.*", re.IGNORECASE)
# The numbers of columns: “(1) (2) (3)”.
COLUMN_NUMBER = re.compile(r"\(\d{1,2}\)")

Columns = Sequence[tuple[float, float]]


# --- Which lines are the head -------------------------------------------------------------------------------


@dataclass(slots=True)
class Beginning:
    """What above the first rows of a table belongs to it: indexes of the rows of its head, and of labels."""

    head: set[int]
    labels: set[int]


def find_beginning(above: Sequence[TableRow], body: Sequence[TableRow], left: float) -> Beginning:
    """Return which of the rows read before belong to the table of some rows; its columns begin at `left`."""
    first, last = min(row.box.x1 for row in body), max(row.box.x2 for row in body)
    zone = _Zone(first, left, last)
    limit, size = body[0].box.y1, body[0].size
    found, waiting = Beginning(set(), set()), list[int]()
    floor = limit - HEADER_HEIGHT * size
    for level in _levels_above(above, zone, limit + size / 2, floor):
        rows = [above[at] for at in level]
        if limit - max(row.box.y2 for row in rows) > HEADER_GAP * max(row.size for row in rows):
            break
        if all(map(zone.is_left, rows)):
            if not all(is_label(row, left) for row in rows) or len(waiting) == LABELS_ABOVE:
                break
            waiting += level
            if found.head and all(UNITS.fullmatch(row.cells[0].text) for row in rows):
                found.head.update(waiting)
                waiting.clear()
        elif zone.is_head(rows):
            (found.head if found.head else found.labels).update(waiting)
            found.head.update(level)
            waiting.clear()
        else:
            break
        limit = min(row.box.y1 for row in rows)
    if not found.head and waiting and announces(above[waiting[0]]):
        found.labels.add(waiting[0])
    return found


@dataclass(frozen=True, slots=True)
class _Zone:
    """Where a table stands across the page: its first column from `x1` to `left`, the others up to `x2`."""

    x1: float
    left: float
    x2: float

    def touches(self, row: TableRow) -> bool:
        """Whether a row stands above or below the table, not beside it."""
        return row.box.x1 < self.x2 and row.box.x2 > self.x1 - HEADER_OVERHANG

    def is_left(self, row: TableRow) -> bool:
        """Whether a row has words only above the first column."""
        return len(row.cells) == 1 and row.box.x2 <= self.left + row.size

    def is_head(self, rows: Sequence[TableRow]) -> bool:
        """Whether words at one height are names of columns: short, without figures, above the columns."""
        cells = [cell for row in rows for cell in row.cells]
        if any(not self._may_name(cell) for cell in cells):
            return False
        over = [cell for cell in cells if cell.box.x2 > self.left]
        return len(cells) > 1 or not over or not self._is_title(over[0])

    def _may_name(self, cell: TableCell) -> bool:
        if cell.is_figure and not COLUMN_NUMBER.fullmatch(cell.text):
            return False
        if cell.box.x2 <= self.left or UNITS.fullmatch(cell.text):
            return len(cell.text) <= LABEL_CHARS
        is_over = cell.box.x1 >= self.left - HEADER_OVERHANG * cell.size and cell.box.x2 <= self.x2 + BEYOND
        beyond = cell.box.x2 - self.x2
        return (is_over or 0 < beyond <= HEADER_OVERHANG * cell.size) and len(cell.text) <= HEAD_CHARS

    def _is_title(self, cell: TableCell) -> bool:
        """Whether a lone line is text, a caption, or a title in the middle of the whole table."""
        if UNITS.fullmatch(cell.text):
            return False
        whole, data = (self.x1 + self.x2) / 2, (self.left + self.x2) / 2
        is_wide = cell.box.x2 - cell.box.x1 > TEXT_WIDTH * (self.x2 - self.x1)
        is_nearer = abs(cell.middle - whole) < abs(cell.middle - data) and cell.box.x1 < self.left
        return is_wide or is_nearer or CAPTION.match(cell.text) is not None


def _levels_above(rows: Sequence[TableRow], zone: _Zone, ceiling: float, floor: float) -> Iterator[list[int]]:
    """Yield the indexes of rows above a table level by level upwards, whatever order the file draws them in."""
    near = [
        at
        for at, row in enumerate(rows)
        if row.box.y2 <= ceiling and row.box.y1 >= floor and zone.touches(row)
    ]
    level: list[int] = []
    for at in sorted(near, key=lambda at: -rows[at].box.y2):
        row = rows[at]
        if level and rows[level[0]].box.y2 - row.box.y2 > SAME_LEVEL * row.size:
            yield level
            level = []
        level.append(at)
    if level:
        yield level


def is_label(row: TableRow, left: float) -> bool:
    """Whether a row has only words left of the columns, which begin at `left`."""
    if len(row.cells) > 1 or row.box.x2 > left + row.size:
        return False
    text = row.cells[0].text
    is_sentence = len(text) >= SENTENCE_CHARS and text.endswith(".")
    return len(text) <= LABEL_CHARS and not (is_sentence or _is_heading(row.cells[0]))


def _is_heading(cell: TableCell) -> bool:
    """Whether it is a heading between two tables: “Note 8. Goodwill” in bold."""
    return cell.lines[0].bold and any(True for _ in labels(cell.text))


def announces(row: TableRow) -> bool:
    """Whether a line above a table is a short one that ends in a colon."""
    text = row.cells[0].text
    return text.endswith(":") and len(text) < SENTENCE_CHARS


# --- Which columns a line names ------------------------------------------------------------------------------


def head_of_columns(
    head: Sequence[TableRow], columns: Columns, left: float, rules: Sequence[Rule]
) -> list[list[PdfLine]]:
    """Return the lines above each column, the labels' column first; what spans columns stands above each."""
    above: list[list[PdfLine]] = [[] for _ in range(len(columns) + 1)]
    lower: list[tuple[TableCell, list[int]]] = []
    wide = list(columns)
    cells = sorted((cell for row in head for cell in row.cells), key=lambda cell: cell.box.y1)
    # From below: figures are set to the right of their column, and what names it shows how wide it is.
    for level in reversed(list(_levels(cells))):
        named = list(_columns_of_level(level, wide, lower, left, rules))
        for cell, numbers in named:
            for number in numbers:
                above[number] += cell.lines
            if len(numbers) == 1 and numbers[0] > 0:
                left_end, right_end = wide[numbers[0] - 1]
                wide[numbers[0] - 1] = min(left_end, cell.box.x1), max(right_end, cell.box.x2)
        lower += named
    return [sorted(lines, key=in_reading_order) for lines in above]


def _levels(cells: Iterable[TableCell]) -> Iterator[list[TableCell]]:
    """Yield the cells of a head that stand at one height."""
    level: list[TableCell] = []
    for cell in cells:
        if level and cell.box.y1 > level[0].box.y1 + SAME_LEVEL * cell.size:
            yield level
            level = []
        level.append(cell)
    if level:
        yield level


Named = tuple[TableCell, list[int]]
"""A cell of a head with the numbers of the columns that it names; 0 is that of the labels."""


def _columns_of_level(
    cells: Sequence[TableCell],
    columns: Columns,
    lower: Sequence[Named],
    left: float,
    rules: Sequence[Rule],
) -> Iterator[Named]:
    """Yield each cell of one height with the columns that it names."""
    for cell, numbers in _spread(cells, columns):
        if cell.box.x2 <= left and cell.box.x1 < columns[0][0] and numbers == [0]:
            yield cell, numbers
        elif (rule := _own_rule(cell, cells, lower, rules)) and (under := _columns_under(rule, columns)):
            yield cell, under
        elif _is_unit_of_all(cell, cells, columns):
            yield cell, [0]
        else:
            yield cell, _columns_of_line_below(cell, lower, columns, rules) or numbers


def _own_rule(
    cell: TableCell, beside: Sequence[TableCell], lower: Sequence[Named], rules: Sequence[Rule]
) -> Rule | None:
    """Return the line that is drawn below a cell, and below it alone."""
    for rule in rules:
        if not (
            cell.box.y2 - 0.4 * cell.size <= rule.y <= cell.box.y2 + BELOW_WORDS * cell.size
            and rule.x1 <= cell.box.x1 + BEYOND
            and rule.x2 >= cell.box.x2 - BEYOND
        ):
            continue
        others = [each for each in beside if each is not cell] + [
            each for each, _ in lower if each.box.y2 <= rule.y + 0.4 * each.size
        ]
        if not any(rule.x1 <= each.middle <= rule.x2 for each in others):
            return rule
    return None


def _columns_under(rule: Rule, columns: Columns) -> list[int]:
    return [
        number
        for number, (left, right) in enumerate(columns, start=1)
        if rule.x1 - BEYOND <= (left + right) / 2 <= rule.x2 + BEYOND
    ]


def _is_unit_of_all(cell: TableCell, beside: Sequence[TableCell], columns: Columns) -> bool:
    """Whether a lone “(In millions)” stands in the middle of all columns."""
    return len(beside) == 1 and UNITS.fullmatch(cell.text) is not None and _spans(cell, columns)


def _columns_of_line_below(
    cell: TableCell, lower: Sequence[Named], columns: Columns, rules: Sequence[Rule]
) -> list[int]:
    """Return the columns of the line directly below, if both are lines of one cell; else none."""
    touched = [
        (each, numbers)
        for each, numbers in lower
        if each.box.x1 < cell.box.x2 and each.box.x2 > cell.box.x1 and each.box.y1 > cell.box.y1
    ]
    if not touched:
        return []
    top = min(each.box.y1 for each, _ in touched)
    nearest = [(each, numbers) for each, numbers in touched if each.box.y1 - top < SAME_LEVEL * each.size]
    below, numbers = nearest[0]
    is_tight = below.box.y1 - cell.box.y2 <= 0.5 * cell.size
    is_parted = any(
        cell.box.y2 - 2 <= rule.y <= below.box.y1 + 2 and rule.x1 < cell.middle < rule.x2 for rule in rules
    )
    if len(nearest) > 1 or not is_tight or is_parted or below.is_year or numbers == [0]:
        return []
    if len(numbers) == 1 and not _is_within_its_column(cell, numbers[0], columns):
        return []
    return numbers


def _is_within_its_column(cell: TableCell, number: int, columns: Columns) -> bool:
    """Whether a cell reaches less than half way to the neighbours of a column."""
    left, right = columns[number - 1]
    before = (columns[number - 2][1] + left) / 2 if number > 1 else float("-inf")
    after = (right + columns[number][0]) / 2 if number < len(columns) else float("inf")
    return before - BEYOND <= cell.box.x1 and cell.box.x2 <= after + BEYOND


def _spread(cells: Sequence[TableCell], columns: Columns) -> Iterator[Named]:
    """Yield each cell of a head's row with the columns that it probably names, by its place alone."""
    own = {column_of(cell.box, columns): cell for cell in cells}
    over = [cell for number, cell in sorted(own.items(), key=itemgetter(0)) if number > 0]
    nearest: dict[int, list[int]] = {at: [] for at in range(len(over))}
    for number, column in enumerate(columns, start=1):
        if over:
            nearest[min(nearest, key=lambda at: _distance(over[at].box, column))].append(number)
    for cell in cells:
        number = column_of(cell.box, columns)
        group = nearest[over.index(cell)] if cell in over else []
        yield cell, group if number in group and _spans(cell, [columns[n - 1] for n in group]) else [number]


def _distance(box: Box, column: tuple[float, float]) -> tuple[float, float]:
    left, right = column
    return max(0.0, box.x1 - right, left - box.x2), abs(box.x1 + box.x2 - left - right)


def _spans(cell: TableCell, columns: Columns) -> bool:
    """Whether a head stands in the middle above columns; a word above the middle one may be its own."""
    left, right = columns[0][0], columns[-1][1]
    if abs(cell.box.x1 + cell.box.x2 - left - right) > 2 * OFF_MIDDLE * (right - left):
        return False
    touched = sum(cell.box.x1 < column[1] and cell.box.x2 > column[0] for column in columns)
    return touched != 1 or len(columns) % 2 == 0 or " " in cell.text or cell.is_year


def in_reading_order(line: PdfLine) -> tuple[int, float]:
    """Return a key that sorts the lines of a cell from top to bottom."""
    return round(line.box.y1), line.box.x1


def column_of(box: Box, columns: Columns) -> int:
    """Return the number of the column in which a box stands, from 1; 0 is that of the labels."""
    overlaps = [min(box.x2, right) - max(box.x1, left) for left, right in columns]
    best = max(range(len(columns)), key=lambda number: overlaps[number])
    if overlaps[best] <= 0 and box.x1 < columns[0][0]:
        return 0
    return best + 1
