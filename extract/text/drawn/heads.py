"""Which of the first rows of a drawn table name its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

MOST_HEADS = 4
"""Lines above the rows that may name the columns."""
_DIGIT = re.compile(r"\d")

Row = Sequence[str]
"""The words of each column, "" where there are none."""


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """The words of each column, and the indexes of the lines that they stand in."""

    cells: Row
    lines: range
    is_below_rule: bool = False

    @property
    def is_filled(self) -> bool:
        """Whether it has more than the name of a section."""
        return any(self.cells[1:])

    @property
    def has_digits(self) -> bool:
        """Whether one of its cells has a digit."""
        return any(map(_DIGIT.search, self.cells))


def head_rows(rows: Sequence[DrawnRow]) -> int:
    """Return how many of the first rows name the columns.

    They are those above the first rule, empty line or section, if it is but one or they are in words; or one
    whose own first cell is empty, or that has a word above figures, with those below it that go on.
    """
    apart = _apart(rows)
    first, more = rows[0], rows[1:apart]
    is_ruled_off = apart == 1 and rows[1].is_below_rule
    is_in_words = not all(row.has_digits for row in rows[:apart]) and not any(all(row.cells) for row in more)
    if apart and (is_ruled_off or is_in_words or not first.cells[0]):
        return apart
    if first.cells[0] and not names_columns([row.cells for row in rows]):
        return 0
    return 1 + sum(1 for _ in takewhile(_goes_on, rows[1:MOST_HEADS]))


def _goes_on(row: DrawnRow) -> bool:
    """Tell whether a row has further words of several columns, and neither a name nor a figure."""
    return not row.cells[0] and not row.has_digits and sum(map(bool, row.cells)) > 1


def _apart(rows: Sequence[DrawnRow]) -> int:
    """Return how many of the first rows stand apart from the next one; 0 if there are too many."""
    for at, row in enumerate(rows[1 : MOST_HEADS + 1], start=1):
        if row.lines.start > rows[at - 1].lines.stop or not row.is_filled:
            return at
    return 0


def names_columns(rows: Sequence[Row]) -> bool:
    """Tell whether the first row names the columns: one of them has figures below a word."""
    first, *others = rows
    if any(map(_is_figure, first)):
        return False
    wordy = [at for at, name in enumerate(first) if name and not _DIGIT.search(name)]
    below = [[row[at] for row in others if row[at]] for at in wordy]
    return any(cells and all(map(_DIGIT.search, cells)) for cells in below)


def _is_figure(cell: str) -> bool:
    """Tell whether a cell has more digits than letters."""
    return sum(map(str.isdigit, cell)) > sum(map(str.isalpha, cell))
