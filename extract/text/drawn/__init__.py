"""Tables that a plain text draws with blanks, tabs or bars: columns that stand below each other.

    Drug            Dose       When
    -------------------------------------------
    For the heart
      Aspirin       75 mg      morning
      Ticagrelor    90 mg      morning, evening

    lines ─▶ cells ─▶ runs of rows ─▶ runs with the same columns, joined ─▶ tables with their heads
            cells.py                    runs.py                              heads.py

Read as a paragraph, the rows become one sentence that says nothing. What is no table for certain stays text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from core.text.entries import begins_entry
from extract.text.drawn.cells import MOST_COLUMNS, columns_of, in_columns
from extract.text.drawn.heads import MOST_HEADS, DrawnRow, Row, head_rows
from extract.text.drawn.runs import FEWEST_ROWS, AlignedRow, tables_drawn

__all__ = ["DrawnRow", "DrawnTable", "tables_of"]

FEWEST_NAMED = 0.4
"""The share of rows that have a name: others go on with the one above."""
MOST_WORDS = 5
"""Only one column may have more words in a line on average: two columns of prose are no table."""
_LIST_MARK = re.compile(r"[-*+•]|\w{1,3}[.)]")


@dataclass(frozen=True, slots=True)
class DrawnTable:
    """Rows of the same number of cells; `head` names the columns, if anything does.

    A row whose first cell alone is filled is the name of a section.
    """

    head: DrawnRow | None
    rows: Sequence[DrawnRow]

    @property
    def lines(self) -> range:
        """The indexes of all lines, those between rows included."""
        first = self.head or self.rows[0]
        return range(first.lines.start, self.rows[-1].lines.stop)


def tables_of(lines: Sequence[str]) -> Iterator[DrawnTable]:
    """Yield the tables of a text in order."""
    for run in tables_drawn(lines):
        # A line above the columns is a title.
        rows = [*dropwhile(lambda row: not row.is_filled, _rows(run))]
        if sum(row.is_filled for row in rows) < FEWEST_ROWS:
            continue
        count = head_rows(rows)
        if _is_table([row for row in rows[count:] if row.is_filled]):
            yield DrawnTable(_joined(rows[:count]) if count else None, rows[count:])


def _rows(run: Sequence[AlignedRow]) -> Iterator[DrawnRow]:
    heads = [drawn.cells for drawn in run[:MOST_HEADS] if drawn.is_head]
    columns = columns_of([drawn.cells for drawn in run if drawn.cells and not drawn.is_head], heads)
    for drawn in run if columns else ():
        first, *others = in_columns(drawn.cells, columns)
        yield DrawnRow([drawn.section or first, *others], drawn.lines, drawn.is_below_rule)


def _joined(rows: Sequence[DrawnRow]) -> DrawnRow:
    """Return several lines of a head as one row."""
    columns = zip(*(row.cells for row in rows), strict=True)
    names = [" ".join(filter(None, parts)) for parts in columns]
    return DrawnRow(names, range(rows[0].lines.start, rows[-1].lines.stop))


def _is_table(rows: Sequence[DrawnRow]) -> bool:
    if not rows or not 2 <= len(rows[0].cells) <= MOST_COLUMNS:
        return False
    are_named = sum(_is_name(row.cells[0]) for row in rows) >= FEWEST_NAMED * len(rows)
    is_list = len(rows[0].cells) == 2 and all(_is_begun(row.cells) for row in rows)
    filled = [cell for row in rows for cell in row.cells if cell]
    is_form = 2 * sum(map(begins_entry, filled)) > len(filled)
    is_prose = sum(_is_prose(rows, column) for column in range(len(rows[0].cells))) > 1
    return are_named and not (is_list or is_form or is_prose)


def _is_name(first: str) -> bool:
    """Tell whether a row's first words name it, unlike the label of a form and the “#” before a comment."""
    return not first.endswith((":", "：")) and any(map(str.isalnum, first))


def _is_begun(row: Row) -> bool:
    """Tell whether a row is the item of a list, or an entry that is read as such (`extract.entries`)."""
    return not row[0] or _LIST_MARK.fullmatch(row[0]) is not None or begins_entry(" ".join(row))


def _is_prose(rows: Sequence[DrawnRow], column: int) -> bool:
    """Tell whether a column has more words in a line than cells of a table have."""
    filled = [row for row in rows if row.cells[column]]
    words = sum(len(row.cells[column].split()) for row in filled)
    return words > MOST_WORDS * sum(len(row.lines) for row in filled)
