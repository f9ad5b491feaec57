"""The filled cells of a sheet, and what its file says of their layout."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from enum import StrEnum

LAST_ROW, LAST_COLUMN = 2**20, 2**14
# More merged ranges of a sheet are not looked at.
MOST_MERGES = 20_000
REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?")

Range = tuple[int, int, int, int]
"""First row, first column, last row, last column, from 1."""


class CellKind(StrEnum):
    """What a cell holds: a year may be a number or a date, and both may head a column."""

    WORDS = "words"
    NUMBER = "number"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class FilledCell:
    """A cell that shows something; row and column count from 1."""

    row: int
    column: int
    text: str
    kind: CellKind = CellKind.WORDS
    bold: bool = False

    @property
    def is_amount(self) -> bool:
        """Whether the cell holds a number that is no year."""
        is_year = len(self.text) == 4 and self.text.isdigit() and "1900" <= self.text <= "2100"
        return self.kind is CellKind.NUMBER and not is_year


Row = list[FilledCell]


@dataclass(frozen=True, slots=True)
class SheetLayout:
    """What the file says beside the cells.

    `merges` are the ranges of merged cells, ascending. `narrow` columns are too narrow for any word. `tables`
    are the ranges that the file declares to be tables, `names` those that have a name of their own.
    """

    merges: tuple[Range, ...] = ()
    hidden_rows: frozenset[int] = frozenset()
    hidden_columns: frozenset[int] = frozenset()
    narrow: frozenset[int] = frozenset()
    tables: tuple[Range, ...] = ()
    names: dict[Range, str] = field(default_factory=dict)

    def within(self, top: int, bottom: int) -> SheetLayout:
        """Return the layout with those merged cells alone that begin in these rows."""
        first, last = bisect_left(self.merges, (top,)), bisect_left(self.merges, (bottom + 1,))
        return replace(self, merges=self.merges[first:last])


def holds(area: Range, row: int, column: int) -> bool:
    """Whether a range holds a cell."""
    top, left, bottom, right = area
    return top <= row <= bottom and left <= column <= right


def column_name(number: int) -> str:
    """Return a column's letters: 1 is A, 27 is AA."""
    letters = ""
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


def range_of(reference: str) -> Range | None:
    """Return the range that a reference such as `A1:C7` names, None for any other text."""
    match = REFERENCE.fullmatch(reference.replace("$", ""))
    if not match:
        return None
    top, left = int(match[2]), column_number(match[1])
    bottom, right = (int(match[4]), column_number(match[3])) if match[3] else (top, left)
    return (top, left, bottom, right) if top <= bottom <= LAST_ROW and left <= right <= LAST_COLUMN else None


def column_number(letters: str) -> int:
    """Return the number of a column: A is 1, AA is 27."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
