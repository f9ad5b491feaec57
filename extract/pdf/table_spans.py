"""Which columns of a table each line of its head names.

A line drawn below words shows how far they reach. Without one, words name the columns in whose middle they
stand, unless they are a line of one cell with the words below them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from core.locations import Box
from extract.pdf.lines import PdfLine
from extract.pdf.rules import Rule
from extract.pdf.table_cells import TableCell, TableRow
from extract.pdf.table_heads import SAME_LEVEL, UNITS, Zone

# A head stands in the middle of the columns that it spans, but for this share of their width.
OFF_MIDDLE = 0.15
# A rule is at most so many type sizes below the words that it underlines; words so far above it may have
# another line between. It reaches so many points less far than a column or words.
BELOW_WORDS, BELOW_LINES, BEYOND = 1.1, 2.2, 2.0
# Words in the middle of several pieces of a rule are off by less than so many type sizes.
OFF_RULES = 0.75
# Lines of one cell are this near, in type sizes.
LINE_GAP = 0.5
PERIOD = re.compile(r"\b((19|20)\d\d|ended|ending|months|weeks|years?|quarters?|fiscal)\b", re.IGNORECASE)
DATED = re.compile(r"\b(19|20)\d\d\b")

Columns = Sequence[tuple[float, float]]
Named = tuple[TableCell, list[int]]
"""A cell of a head with the numbers of the columns that it names; 0 is that of the labels."""


def head_of_columns(
    head: Sequence[TableRow], columns: Columns, zone: Zone, rules: Sequence[Rule]
) -> list[list[PdfLine]]:
    """Return the lines above each column, the labels' column first; what spans columns stands above each."""
    above: list[list[PdfLine]] = [[] for _ in range(len(columns) + 1)]
    cells = sorted((cell for row in head for cell in row.cells), key=lambda cell: cell.box.y1)
    namer = _Namer(cells, columns, zone, rules)
    # From below: figures are set to the right of their column, and what names it shows how wide it is.
    for level in reversed(list(_levels(cells))):
        for cell, numbers in sorted(namer.name(level), key=lambda named: -named[0].box.x1):
            for number in numbers:
                above[number] = [*cell.lines, *above[number]]
    return above


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


class _Namer:
    """Finds the columns of a head's cells, one height after the other from below."""

    def __init__(
        self, cells: Sequence[TableCell], columns: Columns, zone: Zone, rules: Sequence[Rule]
    ) -> None:
        self.cells = cells
        self.zone = zone
        self.rules = [rule for rule in rules if rule.x1 > zone.x1 + BEYOND]
        self.columns = [_reach(column, columns, self.rules) for column in columns]
        self.lower: list[Named] = []

    def name(self, level: Sequence[TableCell]) -> list[Named]:
        """Return the cells of one height with their columns."""
        named = [(cell, self._columns(cell, numbers, level)) for cell, numbers in self._spread(level)]
        for cell, numbers in named:
            if len(numbers) == 1 and numbers[0] > 0:
                left, right = self.columns[numbers[0] - 1]
                self.columns[numbers[0] - 1] = min(left, cell.box.x1), max(right, cell.box.x2)
        self.lower += named
        return named

    def _columns(self, cell: TableCell, guess: list[int], level: Sequence[TableCell]) -> list[int]:
        if guess == [0]:
            return guess
        if under := self._columns_of_rules(cell):
            return under
        if len(level) == 1 and UNITS.fullmatch(cell.text) and self._is_of_all(cell):
            return [0]
        if PERIOD.search(cell.text) and (dates := self._dates(cell, guess, level)):
            return dates
        return self._columns_of_line_below(cell) or guess

    def _dates(self, cell: TableCell, guess: list[int], level: Sequence[TableCell]) -> list[int]:
        """Return the most columns of dates in whose middle a period stands, as “Year ended” above years."""
        if len(guess) > 1:
            return guess
        [own] = guess
        dated = {number for each, numbers in self.lower if DATED.search(each.text) for number in numbers}
        taken = {column_of(each.box, self.columns) for each in level if each is not cell}
        first = last = own
        while first - 1 in dated - taken - {0}:
            first -= 1
        while last + 1 in dated - taken:
            last += 1
        spans = [
            list(range(start, end + 1))
            for start in range(first, own + 1)
            for end in range(own, last + 1)
            if _spans(cell, self.columns[start - 1 : end])
        ]
        return max(spans, key=len, default=[]) if own in dated else []

    def _is_of_all(self, cell: TableCell) -> bool:
        """Whether words stand in the middle of all columns, or of the whole table."""
        return _spans(cell, self.columns) or self.zone.is_central(cell)

    # By place alone.

    def _spread(self, cells: Sequence[TableCell]) -> Iterator[Named]:
        """Yield each cell with the columns that it probably names, by its place alone."""
        own = {self._column_of(cell, cells): cell for cell in cells}
        over = [cell for number, cell in sorted(own.items(), key=itemgetter(0)) if number > 0]
        nearest: dict[int, list[int]] = {at: [] for at in range(len(over))}
        for number, column in enumerate(self.columns, start=1):
            if over:
                nearest[min(nearest, key=lambda at: _distance(over[at].box, column))].append(number)
        for cell in cells:
            number = self._column_of(cell, cells)
            group = nearest[over.index(cell)] if cell in over else []
            if number in group and _spans(cell, [self.columns[each - 1] for each in group]):
                yield cell, group
            else:
                yield cell, self._touched(cell) or [number]

    def _column_of(self, cell: TableCell, beside: Sequence[TableCell]) -> int:
        """Return the number of a cell's column; right of the labels, it names figures set to the right."""
        number = column_of(cell.box, self.columns)
        if number or cell.box.x1 < self.zone.labels_end - BEYOND:
            return number
        return int(not any(column_of(each.box, self.columns) == 1 for each in beside))

    def _touched(self, cell: TableCell) -> list[int]:
        """Return the columns between which a cell stands, if it reaches above all of them."""
        touched = [
            number
            for number, (left, right) in enumerate(self.columns, start=1)
            if cell.box.x1 < right - BEYOND and cell.box.x2 > left + BEYOND
        ]
        is_between = len(touched) > 1 and not any(
            left <= cell.middle <= right for left, right in (self.columns[each - 1] for each in touched)
        )
        return touched if is_between else []

    # By the lines drawn below.

    def _columns_of_rules(self, cell: TableCell) -> list[int]:
        """Return the columns above which the words are underlined, by one rule or by pieces in a row."""
        own = next((rule for rule in self.rules if self._underlines(rule, cell)), None)
        if own is None or any(self._underlines(own, each) for each in self.cells if each is not cell):
            return []
        pieces = sorted((rule for rule in self.rules if abs(rule.y - own.y) <= 1), key=lambda rule: rule.x1)
        first = last = at = pieces.index(own)
        most = len(self.columns)
        while first > 0 and at - first < most and self._is_free(pieces[first - 1]):
            first -= 1
        while last + 1 < len(pieces) and last - at < most and self._is_free(pieces[last + 1]):
            last += 1
        reaches = [
            (pieces[start].x1, pieces[end].x2)
            for start in range(first, at + 1)
            for end in range(at, last + 1)
        ]
        centred = [each for each in reaches if abs(sum(each) / 2 - cell.middle) <= OFF_RULES * cell.size]
        left, right = max(centred, key=lambda each: each[1] - each[0], default=(own.x1, own.x2))
        numbers = self._columns_between(left, right)
        return numbers if centred or len(numbers) < 2 or cell.box.x1 - own.x1 <= cell.size else []

    def _underlines(self, rule: Rule, cell: TableCell) -> bool:
        is_below = -SAME_LEVEL * cell.size <= rule.y - cell.box.y2 <= BELOW_WORDS * cell.size
        return is_below and rule.x1 <= cell.middle <= rule.x2

    def _is_free(self, rule: Rule) -> bool:
        """Whether no words stand above a rule, and figures below it."""
        is_taken = any(
            -SAME_LEVEL * cell.size <= rule.y - cell.box.y2 <= BELOW_LINES * cell.size
            and rule.x1 <= cell.middle <= rule.x2
            for cell in self.cells
        )
        return not is_taken and bool(self._columns_between(rule.x1, rule.x2))

    def _columns_between(self, left: float, right: float) -> list[int]:
        return [
            number
            for number, column in enumerate(self.columns, start=1)
            if left - BEYOND <= sum(column) / 2 <= right + BEYOND
        ]

    # By the words below.

    def _columns_of_line_below(self, cell: TableCell) -> list[int]:
        """Return the columns of the words directly below, if both are lines of one cell; else none."""
        touched = [
            (each, numbers)
            for each, numbers in self.lower
            if each.box.x1 < cell.box.x2 and each.box.x2 > cell.box.x1 and each.box.y1 > cell.box.y1
        ]
        if not touched:
            return []
        top = min(each.box.y1 for each, _ in touched)
        nearest = [(each, numbers) for each, numbers in touched if each.box.y1 - top < SAME_LEVEL * each.size]
        below, numbers = nearest[0]
        if len(nearest) > 1 or numbers == [0] or below.is_year or not self._is_same_cell(cell, below):
            return []
        return numbers if len(numbers) > 1 or self._is_within(cell, numbers[0]) else []

    def _is_same_cell(self, cell: TableCell, below: TableCell) -> bool:
        is_parted = any(
            cell.box.y2 - BEYOND <= rule.y <= below.box.y1 + BEYOND and rule.x1 < cell.middle < rule.x2
            for rule in self.rules
        )
        return below.box.y1 - cell.box.y2 <= LINE_GAP * cell.size and not is_parted

    def _is_within(self, cell: TableCell, number: int) -> bool:
        """Whether a cell reaches less than half way to the neighbours of a column."""
        columns = self.columns
        left, right = columns[number - 1]
        before = (columns[number - 2][1] + left) / 2 if number > 1 else float("-inf")
        after = (right + columns[number][0]) / 2 if number < len(columns) else float("inf")
        return before - BEYOND <= cell.box.x1 and cell.box.x2 <= after + BEYOND


def _reach(column: tuple[float, float], columns: Columns, rules: Iterable[Rule]) -> tuple[float, float]:
    """Return how far a column reaches by the rules that are drawn in it alone."""
    left, right = column
    for rule in rules:
        touched = [each for each in columns if rule.x1 < each[1] and rule.x2 > each[0]]
        if touched == [column]:
            left, right = min(left, rule.x1), max(right, rule.x2)
    return left, right


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


def in_reading_order(cell: TableCell) -> tuple[int, float]:
    """Return a key that sorts cells in one place of a table from top to bottom."""
    return round(cell.box.y1), cell.box.x1


def column_of(box: Box, columns: Columns) -> int:
    """Return the number of the column in which a box stands, from 1; 0 is that of the labels."""
    overlaps = [min(box.x2, right) - max(box.x1, left) for left, right in columns]
    best = max(range(len(columns)), key=lambda number: overlaps[number])
    if overlaps[best] <= 0 and box.x1 < columns[0][0]:
        return 0
    return best + 1
