"""The cells of a line of plain text, and the columns in which those of several lines stand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple
from unicodedata import east_asian_width

MOST_COLUMNS = 12
MOST_CELLS = 2 * MOST_COLUMNS
"""More in a line are no row; a column may hold two: “GBP    420”."""
MOST_CHARS = 400
"""A longer line was written by a program that wraps nothing."""
MOST_ACROSS = 0.25
"""The share of rows in which a cell may be longer than its column."""
MOST_ASIDE = 3
"""The name of a column may stand so many characters beside what it names."""
_CELL = re.compile(r"\S++(?: \S++)*+")
_CELL_AMONG_BLANKS = re.compile(r"\S++(?:[ \u3000]\S++)*+")
"""Where blanks part cells, a wide one stands between words."""
_BLANKS = re.compile(r"\S  ")
_APART = re.compile(r"(?<=\S)(?:  |[\t\u3000])|\A\s|\.{4}")
_LEADER = re.compile(r"\.{4,}+")
"""“Biscuits ........ 26.50”."""
_RANGE = re.compile(r"(?<=\d [-–]) ( {1,6})(?=\d)")
"""“133 -  146”."""
_SENTENCES = re.compile(r"(?<!\S)\S++ \S++(?<=[^\W\d_]{2}[.!?]) (?= \S)")
"""“Checksum does not match.  The frame is lost.”; “No.  Owner” are two columns."""
_BARS = str.maketrans("│┃║╎", "||||")
_HELD = "\0"
_RULE = re.compile(r"\A(?=\s*+\S)[\s\-=_+|:\u2500-\u257f]++\Z")
_FIGURE = re.compile(r"(?<=[^\W\d_] |[).,:] )\d\S*+")
"""Behind a word: “1 248” is one figure."""


class Cell(NamedTuple):
    """Words with single blanks between them, and from which column of characters up to which they stand."""

    text: str
    start: int
    end: int

    def overlap(self, column: range) -> int:
        """Return how many characters stand in a column; below 0 how far away it is."""
        last = self.end if self.end < column.stop else column.stop
        first = self.start if self.start > column.start else column.start
        return last - first

    def nearest(self, columns: Sequence[range]) -> int:
        """Return the index of the column that it has most of, or that is nearest."""
        overlaps = [self.overlap(column) for column in columns]
        return overlaps.index(max(overlaps))

    def going_on(self, cells: Iterable[Cell]) -> Cell:
        """Return it with those that stand below it and begin where it does."""
        below = [cell for cell in cells if cell.start == self.start]
        text = " ".join([self.text, *(cell.text for cell in below)])
        return Cell(text, self.start, max([self.end, *(cell.end for cell in below)]))

    def parts(self, starts: frozenset[int], ends: frozenset[int]) -> Iterator[Cell]:
        """Yield it, or it and the figure of the next column, if it leaves but one blank before that.

        `starts` and `ends` are where cells of other rows usually begin and end.
        """
        for figure in _FIGURE.finditer(self.text):
            start = self.start + width(self.text[: figure.start()])
            is_at_end = figure.end() == len(self.text) and self.end in ends and self.start not in starts
            if start in starts or is_at_end:
                yield Cell(self.text[: figure.start() - 1], self.start, start - 1)
                yield Cell(self.text[figure.start() :], start, self.end)
                return
        yield self


def is_rule(line: str) -> bool:
    """Tell whether a line parts others: “------  -----”."""
    return _RULE.match(line) is not None


def with_bars(line: str) -> str:
    """Return a line with the bars that box drawing has as “|”."""
    return line if line.isascii() else line.translate(_BARS)


def parting_of(line: str) -> tuple[str, int]:
    """Return the sign that parts the cells of a line, a bar or a tab, and how often; "" if blanks do."""
    return next(((sign, count) for sign in "|\t" if (count := line.strip(" ").count(sign))), ("", 0))


def cells_of(line: str) -> list[Cell]:
    """Return the cells of a line that may be one of a table: parted, or indented; else none."""
    if len(line) > MOST_CHARS or is_rule(line):
        return []
    cells = cells_between(line, "|") if "|" in line else _cells_between_blanks(line)
    return cells if len(cells) <= MOST_CELLS else []


def _cells_between_blanks(line: str) -> list[Cell]:
    if not _APART.search(line):
        return []
    line = _LEADER.sub(lambda dots: " " * len(dots[0]), line)
    line = _RANGE.sub(lambda blanks: " " + _HELD * len(blanks[1]), line)
    line = _SENTENCES.sub(lambda sentence: sentence[0][:-1] + _HELD, line)
    pattern = _CELL_AMONG_BLANKS if _BLANKS.search(line) else _CELL
    return [
        Cell(match[0].replace(_HELD, ""), width(line[: match.start()]), width(line[: match.end()]))
        for match in islice(pattern.finditer(line), MOST_CELLS + 1)
    ]


def cells_between(line: str, sign: str) -> list[Cell]:
    """Return the cells of a line that a sign parts, wherever they stand; a frame of bars is left out."""
    inner = line.strip(" ")
    if sign == "|":
        inner = inner.removeprefix(sign).removesuffix(sign)
    texts = enumerate(inner.split(sign))
    return [Cell(text.strip(), 2 * at, 2 * at + 1) for at, text in texts if text.strip()]


def width(text: str) -> int:
    """Return how many columns of characters a text takes: Chinese and Japanese signs take two."""
    text = text.expandtabs()
    return len(text) if text.isascii() else sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def columns_of(rows: Sequence[Sequence[Cell]], heads: Iterable[Sequence[Cell]] = ()) -> list[range]:
    """Return where the characters of columns stand: parted by what most rows leave blank.

    What stands above the rows may name a column that they leave empty.
    """
    columns = _filled(rows)
    beside = [
        cell for cells in heads for cell in cells if all(cell.overlap(each) < -MOST_ASIDE for each in columns)
    ]
    return sorted([*columns, *_filled([[cell] for cell in beside])], key=lambda column: column.start)


def _filled(rows: Sequence[Sequence[Cell]]) -> list[range]:
    change = Counter[int]()
    for cells in rows:
        for cell in cells:
            change[cell.start] += 1
            change[cell.end] -= 1
    columns: list[range] = []
    start: int | None = None
    filled = 0
    for at in sorted(change):
        filled += change[at]
        if filled <= MOST_ACROSS * len(rows):
            columns += [range(start, at)] if start is not None else []
            start = None
        elif start is None:
            start = at
    return columns


def in_columns(cells: Iterable[Cell], columns: Sequence[range]) -> list[str]:
    """Return the words of cells in each column, "" where there are none."""
    texts: list[list[str]] = [[] for _ in columns]
    for cell in cells:
        texts[cell.nearest(columns)].append(cell.text)
    return [" ".join(column) for column in texts]
