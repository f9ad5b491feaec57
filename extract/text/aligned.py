"""Tables that a plain text draws with blanks or tabs: columns that stand below each other.

    Drug            Dose       When
    -------------------------------------------
    For the heart
      Aspirin       75 mg      morning
      Ticagrelor    90 mg      morning, evening

    lines ─▶ runs of lines with several cells ─▶ runs with the same columns, joined ─▶ tables

Read as a paragraph, the rows become one sentence that says nothing. What is no table for certain stays text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, islice, takewhile
from typing import NamedTuple
from unicodedata import east_asian_width

from core.text.entries import begins_entry
from extract.text.titles import is_counted

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
USUAL = 0.4
"""The share of rows that makes a place usual for cells to begin or end at."""
MOST_HEADS = 4
MOST_BETWEEN = 3
"""Lines between rows of one table: empty ones, rules, and the name of a section."""
SECTION_CHARS, SECTION_WORDS = 60, 6
_CELL = re.compile(r"\S++(?: \S++)*+")
_APART = re.compile(r"(?<=\S)(?:  |[\t\u3000])|\A\s|\.{4}")
_LEADER = re.compile(r"\.{4,}+")
"""“Biscuits ........ 26.50”."""
_RULE = re.compile(r"(?=\s*+\S)[\s\-=_+]++\Z")
_LIST_MARK = re.compile(r"[-*+•]|\w{1,3}[.)]")
_DIGIT = re.compile(r"\d")
_FIGURE = re.compile(r"(?<=[^\W\d_] |[).,:] )\d\S*+")
"""Behind a word: “1 248” is one figure."""
_RANGE = re.compile(r"(?<=\d [-–]) ( {1,6})(?=\d)")
"""“133 -  146”."""
_HELD = "\0"
_SENTENCE = re.compile(r"[.,;!?]\Z")
_UNFINISHED = re.compile(r"(?:[-/&]|\b(?:and|or|of|for|und|oder|für|et|ou|de|y|o|e|ed|di|en|van))\Z")


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
class TableRow:
    """The words of each column, "" where there are none, and the indexes of the lines that they stand in."""

    cells: Row
    lines: range
    is_below_rule: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of the same number of cells; `head` names the columns, if anything does.

    A row whose first cell alone is filled is the name of a section.
    """

    head: TableRow | None
    rows: Sequence[TableRow]

    @property
    def lines(self) -> range:
        """The indexes of all lines, those between rows included."""
        first = self.head or self.rows[0]
        return range(first.lines.start, self.rows[-1].lines.stop)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The cells of a line, or of a line and those that go on with them, with the indexes of these lines.

    `tabs` is how many tabs part them; `section` is the name of a section instead of cells.
    """

    lines: range
    cells: Sequence[Cell]
    tabs: int = 0
    section: str = ""
    is_below_rule: bool = False


def tables_of(lines: Sequence[str]) -> Iterator[Table]:
    """Yield the tables of a text in order."""
    run: list[Drawn] = []
    for following in _runs(lines):
        if joined := _joined(lines, run, following):
            run = joined
        else:
            yield from _tables(run)
            run = following
    yield from _tables(run)


def _runs(lines: Sequence[str]) -> Iterator[list[Drawn]]:
    """Yield lines of several cells that follow each other, with no more than rules between them."""
    run: list[Drawn] = []
    for at, line in enumerate(lines):
        cells = _cells(line)
        if run and run[-1].lines.stop == at and _goes_on(cells, run[-1].cells):
            run[-1] = replace(
                run[-1], lines=range(run[-1].lines.start, at + 1), cells=[*run[-1].cells, *cells]
            )
        elif len(cells) > 1:
            is_below_rule = bool(run) and run[-1].lines.stop < at
            run.append(Drawn(range(at, at + 1), cells, line.strip(" ").count("\t"), "", is_below_rule))
        elif not (run and _RULE.match(line)):
            yield from _aligned(lines, run)
            run = []
        if len(run) == MOST_ROWS:
            yield from _aligned(lines, run)
            run = []
    yield from _aligned(lines, run)


def _cells(line: str) -> list[Cell]:
    if len(line) > MOST_CHARS or "|" in line or not _APART.search(line) or _RULE.match(line):
        return []
    line = _LEADER.sub(lambda dots: " " * len(dots[0]), line)
    line = _RANGE.sub(lambda blanks: " " + _HELD * len(blanks[1]), line)
    cells = [
        Cell(found[0].replace(_HELD, ""), _width(line[: found.start()]), _width(line[: found.end()]))
        for found in islice(_CELL.finditer(line), MOST_CELLS + 1)
    ]
    return cells if len(cells) <= MOST_CELLS else []


def _width(text: str) -> int:
    """Return how many columns of characters a text takes: Chinese and Japanese signs take two."""
    text = text.expandtabs()
    return len(text) if text.isascii() else sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _goes_on(cells: Sequence[Cell], above: Sequence[Cell]) -> bool:
    """Tell whether the only cell of a line goes on, in words, with one above it that is not the first."""
    is_alone = len(cells) == 1 and not _DIGIT.match(cells[0].text)
    return is_alone and cells[0].start in {cell.start for cell in above[1:]}


def _aligned(lines: Sequence[str], run: Sequence[Drawn]) -> Iterator[list[Drawn]]:
    """Yield a run with its cells where they stand in the table, if there are any."""
    if (
        len(run) > 1
        and is_counted(lines[run[0].lines.start])
        and run[0].cells[0].start < run[1].cells[0].start
    ):
        run = run[1:]
    if run and run[0].tabs and len({drawn.tabs for drawn in run}) == 1:
        # A program has parted the cells by tabs: they may stand anywhere.
        yield [
            replace(
                drawn,
                cells=[
                    Cell(text.strip(), 2 * at, 2 * at + 1)
                    for at, text in enumerate(lines[drawn.lines.start].strip(" ").split("\t"))
                    if text.strip()
                ],
            )
            for drawn in run
        ]
    elif run:
        starts = _usual([cell.start for drawn in run for cell in drawn.cells[1:]], len(run))
        ends = _usual([cell.end for drawn in run for cell in drawn.cells[1:]], len(run))
        yield [
            replace(drawn, cells=[part for cell in drawn.cells for part in _parted(cell, starts, ends)])
            for drawn in run
        ]


def _is_title(lines: Sequence[str], drawn: Drawn, below: Drawn) -> bool:
    """Tell whether a line is a numbered title above a table that stands further right: “TOP 2  Dates”."""
    return is_counted(lines[drawn.lines.start]) and drawn.cells[0].start < below.cells[0].start


def _usual(places: Sequence[int], rows: int) -> frozenset[int]:
    return frozenset(place for place, times in Counter(places).items() if times >= max(2, USUAL * rows))


def _parted(cell: Cell, starts: frozenset[int], ends: frozenset[int]) -> Iterator[Cell]:
    """Yield a cell, or it and the figure of the next column, if it leaves but one blank before that."""
    for figure in _FIGURE.finditer(cell.text):
        start = cell.start + _width(cell.text[: figure.start()])
        is_at_end = figure.end() == len(cell.text) and cell.end in ends and cell.start not in starts
        if start in starts or is_at_end:
            yield Cell(cell.text[: figure.start() - 1], cell.start, start - 1)
            yield Cell(cell.text[figure.start() :], start, cell.end)
            return
    yield cell


def _joined(lines: Sequence[str], run: Sequence[Drawn], following: Sequence[Drawn]) -> list[Drawn] | None:
    """Return two runs as one, if they have the same columns, and no more than a section's name is between."""
    if not run or len(run) >= MOST_ROWS:
        return None
    between = range(run[-1].lines.stop, following[0].lines.start)
    rules = [at for at in between if _RULE.match(lines[at])]
    told = [at for at in between if lines[at].strip() and at not in rules]
    if len(between) > MOST_BETWEEN or told not in ([], [between[-1]]):
        return None
    is_head = len(run) <= MOST_HEADS and not any(drawn.section for drawn in run)
    if _has_own_head(following) or not _fit(run, following, is_head=is_head):
        return None
    first, *others = following
    name = " ".join(lines[told[0]].split()) if told else ""
    if not told:
        return [*run, replace(first, is_below_rule=bool(rules)), *others]
    if len(between) == 1 and (name[0].islower() or name[0] == "("):
        return [*run[:-1], _renamed(run[-1], f"{run[-1].cells[0].text} {name}", told[0]), *following]
    if _UNFINISHED.search(name):
        return [*run, _renamed(first, f"{name} {first.cells[0].text}", told[0]), *others]
    is_name = len(name) <= SECTION_CHARS and len(name.split()) <= SECTION_WORDS and not _SENTENCE.search(name)
    section = Drawn(range(told[0], told[0] + 1), [], 0, name, is_below_rule=bool(rules))
    return [*run, section, *following] if is_name else None


def _renamed(drawn: Drawn, name: str, at: int) -> Drawn:
    """Return a row with the name that it shares with a line above or below it."""
    first, *others = drawn.cells
    lines = range(min(at, drawn.lines.start), max(at + 1, drawn.lines.stop))
    return replace(drawn, lines=lines, cells=[first._replace(text=name), *others])


def _has_own_head(run: Sequence[Drawn]) -> bool:
    rows = _rows(run, _columns(run)) if len(run) >= FEWEST_ROWS else []
    return bool(rows) and _names_columns([row.cells for row in rows])


def _fit(run: Sequence[Drawn], following: Sequence[Drawn], *, is_head: bool) -> bool:
    """Tell whether each row of two runs has its cells in columns of their own, and none has new columns."""
    drawn = [each for each in (*run, *following) if each.cells]
    if len({each.tabs for each in drawn}) > 1:
        return False
    columns = _columns(following if is_head else drawn)
    most = max(len(_columns(run)), len(_columns(following)))
    if not 2 <= len(columns) <= most or not all(_has_own_columns(each.cells, columns) for each in drawn):
        return False
    # What stands above most columns may name them; else it is something of its own.
    above = {_nearest(cell, columns) for each in run for cell in each.cells}
    return not is_head or 2 * len(above) > len(columns)


def _has_own_columns(cells: Sequence[Cell], columns: Sequence[range]) -> bool:
    nearest = [_nearest(cell, columns) for cell in cells]
    is_in = all(cell.overlap(columns[at]) > 0 for cell, at in zip(cells, nearest, strict=True))
    return is_in and len(set(nearest)) == len(nearest)


def _nearest(cell: Cell, columns: Sequence[range]) -> int:
    return max(range(len(columns)), key=lambda at: cell.overlap(columns[at]))


def _columns(run: Sequence[Drawn]) -> list[range]:
    """Return where the characters of columns stand: parted by what most rows leave blank."""
    change = Counter[int]()
    for drawn in run:
        change.update(cell.start for cell in drawn.cells)
        change.subtract(cell.end for cell in drawn.cells)
    most_across = MOST_ACROSS * sum(bool(drawn.cells) for drawn in run)
    columns: list[range] = []
    start: int | None = None
    filled = 0
    for at in sorted(change):
        filled += change[at]
        if filled <= most_across:
            columns += [range(start, at)] if start is not None else []
            start = None
        elif start is None:
            start = at
    return columns


def _rows(run: Sequence[Drawn], columns: Sequence[range]) -> list[TableRow]:
    return [TableRow(_row(each, columns), each.lines, each.is_below_rule) for each in run] if columns else []


def _row(drawn: Drawn, columns: Sequence[range]) -> Row:
    texts: list[list[str]] = [[] for _ in columns]
    for cell in drawn.cells:
        texts[_nearest(cell, columns)].append(cell.text)
    if drawn.section:
        texts[0].append(drawn.section)
    return [" ".join(column) for column in texts]


def _tables(run: Sequence[Drawn]) -> Iterator[Table]:
    """Yield the table that a run is, if it is one."""
    # A line above the columns is a title.
    rows = [*dropwhile(lambda row: not _is_filled(row), _rows(run, _columns(run)))]
    if sum(map(_is_filled, rows)) < FEWEST_ROWS:
        return
    heads = _heads(rows)
    if not _is_table([row.cells for row in rows[heads:] if _is_filled(row)]):
        return
    if heads:
        names = [
            " ".join(filter(None, parts)) for parts in zip(*(row.cells for row in rows[:heads]), strict=True)
        ]
        head = TableRow(names, range(rows[0].lines.start, rows[heads - 1].lines.stop))
        yield Table(head, rows[heads:])
    else:
        yield Table(None, rows)


def _is_table(rows: Sequence[Row]) -> bool:
    if not rows or not 2 <= len(rows[0]) <= MOST_COLUMNS:
        return False
    are_named = 2 * sum(_is_name(row[0]) for row in rows) > len(rows)
    is_list = len(rows[0]) == 2 and all(map(_is_begun, rows))
    filled = [cell for row in rows for cell in row if cell]
    is_form = 2 * sum(map(begins_entry, filled)) > len(filled)
    is_prose = sum(map(_is_prose, zip(*rows, strict=True))) > 1
    return are_named and not (is_list or is_form or is_prose)


def _is_name(first: str) -> bool:
    """Tell whether a row's first words name it, unlike the label of a form and the “#” before a comment."""
    return not first.endswith((":", "：")) and any(map(str.isalnum, first))


def _is_begun(row: Row) -> bool:
    """Tell whether a row is the item of a list, or an entry that is read as such (`extract.entries`)."""
    return not row[0] or _LIST_MARK.fullmatch(row[0]) is not None or begins_entry(" ".join(row))


def _is_prose(column: Sequence[str]) -> bool:
    filled = [len(cell.split()) for cell in column if cell]
    return sum(filled) > MOST_WORDS * len(filled)


def _heads(rows: Sequence[TableRow]) -> int:
    """Return how many of the first rows name the columns.

    They are those above the first rule or empty line, or one whose own first cell is empty or that has a word
    above figures; more of them say nothing in the first column.
    """
    apart = next(
        (at for at, row in enumerate(rows[1 : MOST_HEADS + 1], start=1) if _is_apart(row, rows[at - 1])), 0
    )
    first, more = rows[0], rows[1:apart]
    is_ruled_off = apart == 1 and rows[1].is_below_rule
    is_in_words = not all(map(_has_digits, rows[:apart])) and not any(all(row.cells) for row in more)
    if apart and (is_ruled_off or is_in_words or not first.cells[0]):
        return apart
    if first.cells[0] and not _names_columns([row.cells for row in rows]):
        return 0
    lower = takewhile(lambda row: not row.cells[0] and not _has_digits(row), rows[1:MOST_HEADS])
    return 1 + sum(1 for _ in lower)


def _is_apart(row: TableRow, above: TableRow) -> bool:
    return row.lines.start > above.lines.stop or not _is_filled(row)


def _is_filled(row: TableRow) -> bool:
    """Tell whether a row has more than the name of a section."""
    return any(row.cells[1:])


def _has_digits(row: TableRow) -> bool:
    return any(map(_DIGIT.search, row.cells))


def _names_columns(rows: Sequence[Row]) -> bool:
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
