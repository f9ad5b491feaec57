"""Tables that a plain text draws with blanks: columns that stand below each other.

    Drug            Dose       When
    Aspirin         75 mg      morning
    Ticagrelor      90 mg      morning, evening

Read as a paragraph, the rows become one sentence that says nothing. What is no table for certain stays text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple
from unicodedata import east_asian_width

from core.text.entries import begins_entry

FEWEST_ROWS = 3
MOST_ROWS = 10_000
"""What follows begins another table, without a head: all rows of a table are held in memory."""
MOST_COLUMNS = 12
MOST_CELLS = 2 * MOST_COLUMNS
"""More in a line are no row; a column may hold two: “GBP    420”."""
MOST_CHARS = 400
"""A longer line was written by a program that wraps nothing."""
MOST_WORDS = 4
"""Only one column may have cells of more words on average: two columns of prose are no table."""
MOST_ACROSS = 0.25
"""The share of rows in which a cell may be longer than its column."""
_APART = re.compile(r"(?<=\S)(?:  |[\t\u3000])|\A\s")
_CELL = re.compile(r"\S++(?: \S++)*+")
_RULE = re.compile(r"(?=\s*+\S)[\s\-=_+]++\Z")
_LIST_MARK = re.compile(r"[-*+•]|\w{1,3}[.)]")
_DIGIT = re.compile(r"\d")


class Cell(NamedTuple):
    """Words with single blanks between them, and from which column of characters up to which they stand."""

    text: str
    start: int
    end: int

    def overlap(self, column: range) -> int:
        """Return how many characters stand in a column; below 0 how far away it is."""
        return min(self.end, column.stop) - max(self.start, column.start)


Row = Sequence[str]
"""The words of each column, "" where there are none."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows, and the indexes of the lines of each; `has_head` if the first one names the columns."""

    rows: Sequence[Row]
    lines: Sequence[range]
    has_head: bool

    @property
    def where(self) -> range:
        """The indexes of all lines, rules between them included."""
        return range(self.lines[0].start, self.lines[-1].stop)


def tables_of(lines: Sequence[str]) -> Iterator[Table]:
    """Yield the tables of a text in order."""
    found: list[_Drawn] = []
    for at, line in enumerate(lines):
        cells = _cells(line)
        if found and found[-1].where.stop == at and _goes_on(cells, found[-1].cells):
            found[-1] = _Drawn(range(found[-1].where.start, at + 1), found[-1].cells + cells)
        elif len(cells) > 1:
            found.append(_Drawn(range(at, at + 1), cells))
        elif not (found and _RULE.match(line)):
            yield from _tables(lines, found)
            found = []
        if len(found) == MOST_ROWS:
            yield from _tables(lines, found)
            found = []
    yield from _tables(lines, found)


class _Drawn(NamedTuple):
    """What looks like a row: where its lines are, and their cells."""

    where: range
    cells: list[Cell]


def _cells(line: str) -> list[Cell]:
    if len(line) > MOST_CHARS or "|" in line or not _APART.search(line) or _RULE.match(line):
        return []
    cells = [
        Cell(found[0], _width(line[: found.start()]), _width(line[: found.end()]))
        for found in islice(_CELL.finditer(line), MOST_CELLS + 1)
    ]
    return cells if len(cells) <= MOST_CELLS else []


def _width(text: str) -> int:
    """Return how many columns of characters a text takes: Chinese and Japanese signs take two."""
    text = text.expandtabs()
    return len(text) if text.isascii() else sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _goes_on(cells: Sequence[Cell], above: Sequence[Cell]) -> bool:
    """Tell whether the only cell of a line goes on with one above it that is not the first."""
    return len(cells) == 1 and cells[0].start in {cell.start for cell in above[1:]}


def _tables(lines: Sequence[str], found: Sequence[_Drawn]) -> Iterator[Table]:
    if len(found) < FEWEST_ROWS:
        return
    rows = _by_tabs([lines[drawn.where.start : drawn.where.stop] for drawn in found]) or _by_columns(
        [drawn.cells for drawn in found]
    )
    if _is_table(rows):
        is_ruled_off = found[1].where.start > found[0].where.stop
        yield Table(rows, [drawn.where for drawn in found], is_ruled_off or _names_columns(rows))


def _by_tabs(found: Sequence[Sequence[str]]) -> Sequence[Row]:
    """Return the rows of lines that a program has parted by tabs: its cells may stand anywhere; or none."""
    rows = [[cell.strip() for cell in lines[0].strip(" ").split("\t")] for lines in found]
    is_parted = len({len(row) for row in rows}) == 1 and max(map(len, found)) == 1
    return rows if is_parted and len(rows[0]) > 1 else []


def _by_columns(found: Sequence[list[Cell]]) -> Sequence[Row]:
    """Return the rows of cells that stand in the same columns of characters; or none."""
    columns = _columns(found)
    return [_row(cells, columns) for cells in found] if columns else []


def _row(cells: Sequence[Cell], columns: Sequence[range]) -> Row:
    texts: list[list[str]] = [[] for _ in columns]
    for cell in cells:
        nearest = max(range(len(columns)), key=lambda at: cell.overlap(columns[at]))
        texts[nearest].append(cell.text)
    return [" ".join(column) for column in texts]


def _columns(found: Sequence[list[Cell]]) -> list[range]:
    """Return where the characters of columns stand: parted by what most rows leave blank."""
    change = Counter[int]()
    for cells in found:
        change.update(cell.start for cell in cells)
        change.subtract(cell.end for cell in cells)
    columns: list[range] = []
    start: int | None = None
    filled = 0
    for at in sorted(change):
        filled += change[at]
        if filled <= MOST_ACROSS * len(found):
            columns += [range(start, at)] if start is not None else []
            start = None
        elif start is None:
            start = at
    return columns


def _is_table(rows: Sequence[Row]) -> bool:
    if not rows or not 2 <= len(rows[0]) <= MOST_COLUMNS or any(sum(map(bool, row)) < 2 for row in rows):
        return False
    are_named = 2 * sum(_is_name(row[0]) for row in rows) > len(rows)
    is_list = len(rows[0]) == 2 and all(map(_is_begun, rows))
    return are_named and not is_list and sum(map(_is_prose, zip(*rows, strict=True))) < 2


def _is_name(first: str) -> bool:
    """Tell whether a row's first words name it, unlike the label of a form and the “#” before a comment."""
    return not first.endswith((":", "：")) and any(map(str.isalnum, first))


def _is_begun(row: Row) -> bool:
    """Tell whether a row is the item of a list, or an entry that is read as such (`extract.entries`)."""
    return not row[0] or _LIST_MARK.fullmatch(row[0]) is not None or begins_entry(" ".join(row))


def _is_prose(column: Sequence[str]) -> bool:
    filled = [len(cell.split()) for cell in column if cell]
    return sum(filled) > MOST_WORDS * len(filled)


def _names_columns(rows: Sequence[Row]) -> bool:
    """Tell whether the first row names the columns: one of them has figures below a word."""
    first, *others = rows
    if any(map(_DIGIT.search, first)):
        return False
    below = [[row[at] for row in others if row[at]] for at, name in enumerate(first) if name]
    return any(cells and all(map(_DIGIT.search, cells)) for cells in below)
