"""Lines of several cells that follow each other, and which of these runs are one table.

Test          Result   Units        a run of one line
----------------------------
HAEMATOLOGY                         the name of a section, between two runs
  Platelets      342   10^9/L       a run
  MCV           77.4   fL
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from extract.text.drawn.cells import (
    MOST_ASIDE,
    Cell,
    cells_between,
    cells_of,
    columns_of,
    in_columns,
    is_rule,
    parting_of,
    with_bars,
)
from extract.text.drawn.heads import MOST_HEADS, names_columns
from extract.text.titles import is_counted

FEWEST_ROWS = 3
MOST_ROWS = 10_000
"""What follows begins another table, without a head: all rows of a table are held in memory."""
MOST_BETWEEN = 3
"""Lines between rows of one table: empty ones, rules, and the name of a section."""
USUAL = 0.4
"""The share of rows that makes a place usual for cells to begin or end at."""
MOST_COMPARED = 12
"""So many rows of each run tell whether their columns are the same."""
SECTION_CHARS, SECTION_WORDS = 60, 6
_DIGIT = re.compile(r"\d")
_SENTENCE = re.compile(r"[.,;!?]\Z")
_UNFINISHED = re.compile(r"(?:[-/&]|\b(?:and|or|of|for|und|oder|für|et|ou|de|y|o|e|ed|di|en|van))\Z")
"""What the name of a row ends with that goes on in the next line."""

Cells = Sequence[Cell]


@dataclass(frozen=True, slots=True)
class AlignedRow:
    """The cells of a line, or of a line and those that go on with them, with the indexes of these lines.

    `parting` is the sign that parts them, and how often; `section` is the name of a section instead of cells.
    """

    lines: range
    cells: Cells
    parting: tuple[str, int] = ("", 0)
    section: str = ""
    is_below_rule: bool = False
    is_head: bool = False
    """Whether it stands above other rows in a way that it may name their columns."""


def tables_drawn(lines: Sequence[str]) -> Iterator[list[AlignedRow]]:
    """Yield runs, those that have the same columns as one."""
    run: list[AlignedRow] = []
    for following in _runs(lines):
        if run and len(run) < MOST_ROWS and (added := _added(lines, run, following)):
            run += added
        else:
            yield run
            run = following
    yield run


def _runs(lines: Sequence[str]) -> Iterator[list[AlignedRow]]:
    """Yield lines of several cells that follow each other, with no more than rules between them."""
    run: list[AlignedRow] = []
    for at, line in enumerate(map(with_bars, lines)):
        cells, parting = cells_of(line), parting_of(line)
        # Between bars and tabs, all cells but one may be empty.
        is_alone = len(cells) == 1 and bool(run) and parting[1] > 0 and parting == run[-1].parting
        is_rest = bool(run) and run[-1].lines.stop == at and _goes_on(cells, run[-1].cells)
        if is_rest and not (is_alone and parting[0] == "\t"):
            above = run[-1]
            whole = [cell.going_on(cells) for cell in above.cells]
            run[-1] = replace(above, lines=range(above.lines.start, at + 1), cells=whole)
        elif len(cells) > 1 or is_alone:
            is_below_rule = bool(run) and run[-1].lines.stop < at
            run.append(AlignedRow(range(at, at + 1), cells, parting, "", is_below_rule))
        elif not (run and is_rule(line)):
            yield from _aligned(lines, run)
            run = []
        if len(run) == MOST_ROWS:
            yield from _aligned(lines, run)
            run = []
    yield from _aligned(lines, run)


def _goes_on(cells: Sequence[Cell], above: Sequence[Cell]) -> bool:
    """Tell whether a line goes on, in words, with cells above it of which none is the first of its row."""
    if not _are_below(cells, above):
        return False
    if len(cells) == 1:
        return any(map(str.isalpha, cells[0].text))
    is_rest = cells[0].text[0].islower() or 2 * len(cells) < len(above)
    return is_rest and not any(_DIGIT.match(cell.text) for cell in cells)


def _are_below(cells: Sequence[Cell], above: Sequence[Cell]) -> bool:
    starts = {cell.start for cell in above[1:]}
    return bool(cells) and all(cell.start in starts for cell in cells)


def _aligned(lines: Sequence[str], run: list[AlignedRow]) -> Iterator[list[AlignedRow]]:
    """Yield a run with its cells where they stand in the table, if there are any."""
    if len(run) > 1 and _is_title(lines, *run[:2]):
        run = run[1:]
    if len(run) > 1 and all(_are_below(drawn.cells, run[0].cells) for drawn in run[1:]):
        # Rows of several lines stand apart, and only the first one has their name.
        cells = [
            cell.going_on(chain.from_iterable(drawn.cells for drawn in run[1:])) for cell in run[0].cells
        ]
        run = [replace(run[0], lines=range(run[0].lines.start, run[-1].lines.stop), cells=cells)]
    partings = {drawn.parting for drawn in run}
    sign, count = run[0].parting if run else ("", 0)
    is_one_parting = count > 0 and len(partings) == 1
    if is_one_parting and sign == "|":
        yield run
    elif is_one_parting and all(len(drawn.lines) == 1 for drawn in run):
        yield [replace(drawn, cells=cells_between(lines[drawn.lines.start], sign)) for drawn in run]
    elif run and not any(sign == "|" for sign, _ in partings):
        starts = _usual([cell.start for drawn in run for cell in drawn.cells[1:]], len(run))
        ends = _usual([cell.end for drawn in run for cell in drawn.cells[1:]], len(run))
        yield [
            replace(drawn, cells=[part for cell in drawn.cells for part in cell.parts(starts, ends)])
            for drawn in run
        ]


def _is_title(lines: Sequence[str], drawn: AlignedRow, below: AlignedRow) -> bool:
    """Tell whether a line is a numbered title above a table that stands further right: “TOP 2  Dates”."""
    return is_counted(lines[drawn.lines.start]) and drawn.cells[0].start < below.cells[0].start


def _usual(places: Sequence[int], rows: int) -> frozenset[int]:
    return frozenset(place for place, times in Counter(places).items() if times >= max(2, USUAL * rows))


def _added(lines: Sequence[str], run: list[AlignedRow], following: list[AlignedRow]) -> list[AlignedRow]:
    """Return what a run gets of the following one: all, perhaps below the name of a section; or nothing.

    The last row of the run may get the rest of its name; the first ones are marked if they may be a head.
    """
    between = range(run[-1].lines.stop, following[0].lines.start)
    rules = [at for at in between if is_rule(lines[at])]
    said = [at for at in between if lines[at].strip() and at not in rules]
    goes_on = bool(said) and said[0] == between[0] and _goes_on_with_name(lines[said[0]], run[-1])
    names = said[1:] if goes_on else said
    name = _words(lines[names[0]]) if names else ""
    if len(between) > MOST_BETWEEN or (names and (names != [between[-1]] or not _is_name(name))):
        return []
    if _has_own_head(following) or not _fits(run, following):
        return []
    if _may_be_head(run):
        run[:] = [replace(drawn, is_head=True) for drawn in run]
    first, *others = following
    if goes_on:
        run[-1] = _renamed(run[-1], f"{run[-1].cells[0].text} {_words(lines[said[0]])}", said[0])
    if not names:
        return [replace(first, is_below_rule=bool(rules)), *others]
    if _UNFINISHED.search(name):
        return [_renamed(first, f"{name} {first.cells[0].text}", names[0]), *others]
    section = AlignedRow(range(names[0], names[0] + 1), [], section=name, is_below_rule=bool(rules))
    return [section, *following]


def _is_name(words: str) -> bool:
    """Tell whether a line may be the name of a section, or begin that of a row."""
    is_short = len(words) <= SECTION_CHARS and len(words.split()) <= SECTION_WORDS
    return is_short and not _SENTENCE.search(words)


def _words(line: str) -> str:
    return " ".join(line.split())


def _goes_on_with_name(line: str, above: AlignedRow) -> bool:
    """Tell whether a line has the rest of the name of the row above it, and not the name of a section."""
    words = line.strip()
    is_rest = words[0].islower() or words[0] == "("
    return is_rest and bool(above.cells) and len(line) - len(line.lstrip()) >= above.cells[0].start


def _renamed(drawn: AlignedRow, name: str, at: int) -> AlignedRow:
    """Return a row with the name that it shares with a line above or below it."""
    first, *others = drawn.cells
    lines = range(min(at, drawn.lines.start), max(at + 1, drawn.lines.stop))
    return replace(drawn, lines=lines, cells=[first._replace(text=name), *others])


def _has_own_head(run: Sequence[AlignedRow]) -> bool:
    rows = [drawn.cells for drawn in run[:MOST_COMPARED]]
    columns = columns_of(rows) if len(rows) >= FEWEST_ROWS else []
    return bool(columns) and names_columns([in_columns(cells, columns) for cells in rows])


def _may_be_head(run: Sequence[AlignedRow]) -> bool:
    return len(run) <= MOST_HEADS and not any(drawn.section or drawn.is_head for drawn in run)


def _fits(run: Sequence[AlignedRow], following: Sequence[AlignedRow]) -> bool:
    """Tell whether a run names the columns of another one, or has the same."""
    last, first = run[-MOST_COMPARED:], following[:MOST_COMPARED]
    if len({drawn.parting for drawn in (*last, *first) if drawn.cells}) > 1:
        return False
    below = [drawn.cells for drawn in first]
    if _may_be_head(run):
        return _are_names([drawn.cells for drawn in run], below)
    heads = [drawn.cells for drawn in run[:MOST_HEADS] if drawn.is_head]
    above = [drawn.cells for drawn in last if drawn.cells and not drawn.is_head]
    return _are_alike(heads, above, below)


def _are_names(heads: Sequence[Cells], rows: Sequence[Cells]) -> bool:
    """Tell whether each cell of a head stands above a column of its own, and they above most columns.

    Else they are something of their own.
    """
    columns = columns_of(rows, heads)
    is_above = 2 * len({cell.nearest(columns) for cells in heads for cell in cells}) > len(columns)
    return is_above and _have_own(heads, columns, MOST_ASIDE) and _have_own(rows, columns)


def _are_alike(heads: Sequence[Cells], above: Sequence[Cells], below: Sequence[Cells]) -> bool:
    """Tell whether rows have the columns of those above: each cell one of its own, and none a new one."""
    columns = columns_of([*above, *below], heads)
    most = max(len(columns_of(above, heads)), len(columns_of(below)))
    return len(columns) <= most and _have_own([*above, *below], columns)


def _have_own(rows: Sequence[Cells], columns: Sequence[range], aside: int = -1) -> bool:
    """Tell whether each cell of each row has a column of its own, or is at most so many characters aside."""
    return len(columns) > 1 and all(_has_own(cells, columns, aside) for cells in rows)


def _has_own(cells: Cells, columns: Sequence[range], aside: int) -> bool:
    nearest = [cell.nearest(columns) for cell in cells]
    is_in = all(cell.overlap(columns[at]) >= -aside for cell, at in zip(cells, nearest, strict=True))
    return is_in and len(set(nearest)) == len(nearest)
