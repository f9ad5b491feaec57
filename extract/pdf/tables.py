"""Tables on a page, found by the positions of words, and without a model.

Programs that write PDF draw a table row by row. So a row is a run of words side by side in the order of the
content stream, which the columns of running text never are. Consecutive rows whose short cells keep to common
columns are a table. What stands closely above those columns is its header; lines that are drawn on the page
show which columns it spans.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from extract.pdf.lines import PdfLine
from extract.pdf.rules import Rule
from extract.pdf.table_body import columns_of, is_contents, is_table, lines_of_columns, whole_rows
from extract.pdf.table_cells import DESCRIPTION_CHARS, TableRow, table_rows
from extract.pdf.table_heads import LABEL_CHARS, Zone, find_beginning, is_label
from extract.pdf.table_spans import Columns, head_of_columns
from extract.pdf.word_tables import may_name_columns, read_word_table

# Rows separated by more than this many type sizes are in different tables.
ROW_GAP = 2.5
# At most so many lines without cells (names of sections, wrapped labels) may stand between rows.
LABELS_BETWEEN = 5
# Between parts of a table that keep to the same columns, so many lines may be long: labels that are wrapped.
LINES_BETWEEN = 2
GROUP_CHARS = 60
# A label without figures may reach above this share of the columns.
LABEL_REACH = 0.33
# At most so many rows above a table are looked at for its head.
ROWS_ABOVE = 60
# More lines in one table are a drawing.
MOST_RULES = 500
DATE = re.compile(r"(19|20)\d\d|\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)

Rules = Sequence[Rule]


@dataclass(frozen=True, slots=True)
class Table:
    """Lines by row, column and place in the cell; the first row is the header."""

    grid: list[list[list[PdfLine]]]


def with_tables(blocks: Sequence[Sequence[PdfLine]], rules: Rules = ()) -> Iterator[list[PdfLine] | Table]:
    """Yield the blocks of a page in order, with tables in place of the lines that they consist of.

    `rules` are the horizontal lines drawn on the page.
    """
    rows = list(table_rows(blocks))
    kept: list[TableRow] = []
    last: _Found | None = None
    at = 0
    while at < len(rows):
        found = _table_at(rows, at, kept, rules)
        if found is None:
            kept.append(rows[at])
            at += 1
            continue
        if last and _goes_on(last, found):
            found = replace(found, table=Table([last.table.grid[0], *found.table.grid[1:]]))
        yield from _without_cells(found.before)
        yield found.table
        kept, at, last = [], found.end, found
    yield from _without_cells(kept)


@dataclass(frozen=True, slots=True)
class _Found:
    """A table, the rows before that are not part of it, and the index after its last row."""

    table: Table
    before: list[TableRow]
    end: int
    columns: Columns = ()

    @property
    def has_head(self) -> bool:
        """Whether a column after the first has a name."""
        return any(self.table.grid[0][1:])


def _table_at(rows: Sequence[TableRow], at: int, kept: list[TableRow], rules: Rules) -> _Found | None:
    """Return the table whose first figures, or whose names of columns, stand in row `at`."""
    row = rows[at]
    if row.is_tabular and row.has_figures:
        end = _end_of_run(rows, at)
        return _read_table(kept, rows[at:end], end, rules)
    if not may_name_columns(row):
        return None
    words = read_word_table(rows, at, rules)
    if words is None or _goes_on_with_figures(rows, words.end):
        return None
    grid = [[[line for cell in cells for line in cell.lines] for cells in row] for row in words.rows]
    return _Found(Table(grid), list(kept), words.end)


def _goes_on(last: _Found, found: _Found) -> bool:
    """Whether a table without a head has the columns of the one before, with a few words between them."""
    if (
        found.has_head
        or not last.has_head
        or len(last.columns) != len(found.columns)
        or len(found.columns) < 2
    ):
        return False
    is_near = len(found.before) <= LABELS_BETWEEN and (
        len(found.before) <= LINES_BETWEEN
        or all(sum(len(cell.text) for cell in row.cells) <= LABEL_CHARS for row in found.before)
    )
    pairs = zip(last.columns, found.columns, strict=True)
    return is_near and all(left[0] < right[1] and right[0] < left[1] for left, right in pairs)


def _goes_on_with_figures(rows: Sequence[TableRow], end: int) -> bool:
    """Whether figures stand closely below words, which so are the head of their table."""
    lowest = rows[end - 1].box.y2
    for row in rows[end : end + LABELS_BETWEEN]:
        if not lowest - row.size / 2 <= row.box.y1 <= lowest + ROW_GAP * row.size:
            return False
        if row.is_tabular and row.has_figures:
            return True
        lowest = row.box.y2
    return False


def _without_cells(rows: Iterable[TableRow]) -> Iterator[list[PdfLine]]:
    for _, in_block in groupby(rows, key=lambda row: row.block):
        yield [line for row in in_block for cell in row.cells for line in cell.lines]


def _end_of_run(rows: Sequence[TableRow], start: int) -> int:
    """Return the index after the last row that belongs to the table of row `start`."""
    end = tail = start + 1  # after the last row with figures, and with cells
    left, bottom = rows[start].data_left, rows[start].box.y2
    described = _places_of_words(rows[start])
    lowest, reach = bottom, LABEL_REACH * (rows[start].box.x2 - left)
    for at in range(start + 1, len(rows)):
        row, size = rows[at], max(rows[at].size, rows[at - 1].size)
        if row.box.y1 < bottom - size / 2 or row.box.y1 > lowest + ROW_GAP * size:
            break
        if row.is_tabular:
            if not row.has_figures and (at > tail or _is_head_again(row, left)):
                return end  # words since the last figures belong to the head of another table
            tail, left, bottom = at + 1, min(left, row.data_left), row.box.y2
            end = tail if row.has_figures else end
            described |= _places_of_words(row)
        elif at + 1 - tail > LABELS_BETWEEN or not (
            is_label(row, left, reach) or _names_group(row, left) or _describes(row, described)
        ):
            break
        lowest = max(lowest, row.box.y2)
    return tail


def _places_of_words(row: TableRow) -> set[float]:
    """Return where words begin that stand between a label and the figures of a row."""
    return {cell.box.x1 for cell in row.cells[1:] if not cell.is_number} if row.has_figures else set()


def _describes(row: TableRow, described: Iterable[float]) -> bool:
    """Whether a row, of a label or of none, has no more than words where others of its table have them."""
    *labels, words = row.cells
    is_below = any(abs(words.box.x1 - left) <= row.size for left in described)
    return is_below and len(labels) <= 1 and not words.is_number and len(words.text) <= DESCRIPTION_CHARS


def _is_head_again(row: TableRow, left: float) -> bool:
    """Whether nothing but dates stands in the columns: the head of another table."""
    return row.cells[0].box.x1 >= left - row.size and all(DATE.search(cell.text) for cell in row.cells)


def _names_group(row: TableRow, left: float) -> bool:
    """Whether a lone line above the columns names the rows below: “Six months ended”."""
    text = row.cells[0].text
    return (
        len(row.cells) == 1 and row.box.x1 >= left - row.size and len(text) <= GROUP_CHARS and text[-1] != "."
    )


def _read_table(kept: Sequence[TableRow], run: Sequence[TableRow], end: int, rules: Rules) -> _Found | None:
    """Return the table that rows form, if any."""
    tabular = [row for row in run if row.is_tabular]
    zone = Zone.of(run)
    if not is_table(tabular, zone.left):
        return None
    near = len(kept) - len(kept[-ROWS_ABOVE:])
    beginning = find_beginning(kept[near:], run, zone)
    head = [kept[near + at] for at in sorted(beginning.head)]
    if is_contents(tabular) and len(head) <= 1:
        return None
    labels = sorted((kept[near + at] for at in beginning.labels), key=lambda row: row.box.y1)
    taken = {near + at for at in beginning.head | beginning.labels}
    columns = columns_of(tabular, zone.left)
    body = whole_rows([*labels, *run], zone.left)
    named = head_of_columns(head, columns, zone, _rules_in(head, run, rules)) if head else []
    table = Table(
        [
            named or [[] for _ in range(len(columns) + 1)],
            *(lines_of_columns(row, columns, zone.left) for row in body),
        ]
    )
    return _Found(table, [row for at, row in enumerate(kept) if at not in taken], end, columns)


def _rules_in(head: Sequence[TableRow], run: Sequence[TableRow], rules: Rules) -> list[Rule]:
    """Return the lines drawn in a table; none if its head has one line, which spans nothing."""
    top, bottom = min(row.box.y1 for row in head), max(row.box.y2 for row in run)
    if max(row.box.y1 for row in head) - top < head[0].size / 2:
        return []
    inside = [rule for rule in rules if top < rule.y < bottom + run[-1].size]
    return inside if len(inside) <= MOST_RULES else []
