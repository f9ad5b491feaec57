"""The rows and cells of a table's chunk, with the place of each cell in the chunk's text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from core.locations import InFile, LocatedText
from core.text.tables import RULE, table_end, table_start

# Readers put a space on both sides of each bar that separates cells; other bars belong to a cell.
BAR = re.compile(r"(?:(?<= )|^)\|(?: |$)")


class CellBounds(NamedTuple):
    """A cell: `text[start:end]` of the chunk; row and column from 1 where it is one of a sheet."""

    start: int
    end: int
    row: int | None = None
    column: int | None = None


def rows_of(located: LocatedText) -> Iterator[list[CellBounds]]:
    """Yield the rows of a table; the line between the header and the rest is none of them.

    Rows of sheets hold their filled cells, all others all cells. What stands above or below is no row.
    """
    at, last, taken = table_start(located.text), table_end(located.text), 0
    in_sheet = [cell for cell in sheet_cells(located) if at <= cell.start < last]
    for line in located.text[at:last].split("\n"):
        start, end = at, at + len(line)
        at = end + 1
        if RULE.fullmatch(line):
            continue
        if not in_sheet:
            yield list(_cells_between_bars(line, start))
            continue
        row = []
        while taken < len(in_sheet) and in_sheet[taken].start < end:
            row.append(in_sheet[taken])
            taken += 1
        if row:
            yield row


def header_line(text: str) -> str:
    """Return the first line of a table if it is a header, else ""."""
    first, _, rest = text[table_start(text) :].partition("\n")
    return first if RULE.match(rest) else ""


def sheet_cells(located: LocatedText) -> Iterator[CellBounds]:
    """Yield the cells that know their row and column."""
    for run in located.runs:
        if isinstance(run.place, InFile) and run.place.cells:
            top, left, bottom, right = run.place.cells
            if (top, left) == (bottom, right):
                yield CellBounds(run.words[0][0], run.words[-1][1], top, left)


def _cells_between_bars(line: str, offset: int) -> Iterator[CellBounds]:
    """Yield the cells of a line; of a long row's part, the first and last may be without their bars."""
    bars = [found.start() for found in BAR.finditer(line)]
    begins = [0 if not bars or bars[0] > 0 else None, *(bar + 1 for bar in bars)]
    ends = [*bars, len(line)]
    for start, end in zip(begins, ends, strict=True):
        if start is None or (start == end == len(line) and bars):
            continue
        cell = line[start:end]
        left = start + len(cell) - len(cell.lstrip())
        yield CellBounds(offset + left, offset + max(left, start + len(cell.rstrip())))
