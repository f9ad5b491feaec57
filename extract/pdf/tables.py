"""Tables on a page, found by the positions of words; without a model, and without drawn rules.

Programs that write PDF draw a table row by row. So a row is a run of words side by side in the order of the
content stream, which the columns of running text never are. Consecutive rows whose short cells keep to common
columns are a table. What stands closely above those columns is its header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Self

from core.locations import Box
from core.text.numbering import labels
from extract.pdf.lines import PdfLine, continues_row, enclosing_box

# Words separated by more than this many type sizes are in different cells.
CELL_GAP = 0.9
# Rows separated by more than this many type sizes are in different tables; a header is no further above.
ROW_GAP, HEADER_GAP, HEADER_HEIGHT = 2.5, 2.0, 12
# A header may begin so many type sizes left of the figures below it.
HEADER_OVERHANG = 5
# At most so many lines without cells (names of sections, wrapped labels) may stand between rows, or above the
# first.
LABELS_BETWEEN, LABELS_ABOVE = 3, 3
LABEL_CHARS, CELL_CHARS = 120, 40
# A line so long that ends in a full stop is a sentence, and no label of rows; nor, above a table, in a colon.
SENTENCE_CHARS = 40
FEWEST_CELLS = 4
# A column has a cell in at least this share of the rows; otherwise it belongs to its neighbour.
COLUMN_SHARE = 0.15
NUMERIC_SHARE = 0.5
# A head stands in the middle of the columns that it spans, but for this share of their width.
OFF_MIDDLE = 0.15
# Cells of a head that differ in height by less than this share of their size stand side by side.
SAME_LEVEL = 0.4

NUMBER = re.compile(
    r"(?<![(\-–—+$€£¥\s])[(\-–—+$€£¥\s]*+\d[\d.,]*+[\s)%x*]*+(\(\w\))?|(?<![—–\-])[—–\-]++\s*+%?|n/?[am]|\*++",
    re.IGNORECASE,
)
YEAR = re.compile(r"(19|20)\d\d(\s*\(\w\))?")
CURRENCY = re.compile(r"\(?(US|C|A|HK)?[$€£¥]")
TAIL = re.compile(r"[%)]+")
# “Cash . . . . . 1,815”
LEADER = re.compile(r"[.…·]+")
FEWEST_DOTS = 3
LIST_MARK = re.compile(r"[•●○▪■◦‣·–—*-]|\(?\w{1,3}[.)]")


@dataclass(frozen=True, slots=True)
class TableCell:
    """The contents of one row and column: usually one piece of a line."""

    lines: tuple[PdfLine, ...]
    box: Box
    text: str

    @classmethod
    def of(cls, *lines: PdfLine) -> Self:
        """Put pieces of a line together."""
        if len(lines) == 1:
            return cls(lines, lines[0].box, lines[0].text)
        return cls(lines, enclosing_box([line.box for line in lines]), " ".join(line.text for line in lines))

    @property
    def is_number(self) -> bool:
        """Whether the text is a figure, or a placeholder for one."""
        return bool(NUMBER.fullmatch(self.text))

    @property
    def is_year(self) -> bool:
        """Whether it is a year, as in the header of a column."""
        return bool(YEAR.fullmatch(self.text))


@dataclass(frozen=True, slots=True)
class TableRow:
    """Cells side by side; `block` is the index at which the page's blocks continue without the table."""

    block: int
    cells: tuple[TableCell, ...]
    box: Box

    @classmethod
    def of(cls, block: int, cells: tuple[TableCell, ...]) -> Self:
        """Put cells into a row."""
        return cls(
            block, cells, cells[0].box if len(cells) == 1 else enclosing_box([cell.box for cell in cells])
        )

    @property
    def size(self) -> float:
        """The size of its type, in points."""
        return self.cells[0].lines[0].size

    @property
    def is_tabular(self) -> bool:
        """Whether this could be a row of a table: several cells, all short."""
        return len(self.cells) > 1 and all(len(cell.text) <= CELL_CHARS for cell in self.cells[1:])

    @property
    def data_left(self) -> float:
        """The left edge of the cells after the first."""
        return min(cell.box.x1 for cell in self.cells[1:])

    @property
    def has_figures(self) -> bool:
        """Whether a cell after the first holds a figure that is no year."""
        return any(cell.is_number and not cell.is_year for cell in self.cells[1:])


@dataclass(frozen=True, slots=True)
class Table:
    """Lines by row, column and place in the cell; the first row is the header."""

    grid: list[list[list[PdfLine]]]


def with_tables(blocks: Sequence[Sequence[PdfLine]]) -> Iterator[list[PdfLine] | Table]:
    """Yield the blocks of a page in order, with tables in place of the lines that they consist of."""
    rows = list(_rows(blocks))
    kept: list[TableRow] = []
    at = 0
    while at < len(rows):
        end = _end_of_run(rows, at) if rows[at].is_tabular else at
        header, body = _beginning(kept, rows[at:end]) if end > at else (len(kept), len(kept))
        table = _table(kept[header:body], kept[body:] + rows[at:end])
        if table is None:
            kept.append(rows[at])
            at += 1
            continue
        yield from _without_cells(kept[:header])
        yield table
        kept, at = [], end
    yield from _without_cells(kept)


# --- Rows --------------------------------------------------------------------------------------------------


def _rows(blocks: Sequence[Sequence[PdfLine]]) -> Iterator[TableRow]:
    row: list[PdfLine] = []
    row_block = 0
    for block, lines in enumerate(blocks):
        for line in lines:
            if row and not continues_row(line, row[-1]):
                yield TableRow.of(row_block, _cells(row))
                row = []
            if not row:
                row_block = block
            row.append(line)
    if row:
        yield TableRow.of(row_block, _cells(row))


def _cells(lines: Iterable[PdfLine]) -> tuple[TableCell, ...]:
    """Cut lines at wide gaps; a currency sign goes with what follows, a percent sign with what precedes."""
    cells: list[TableCell] = []
    for piece in (piece for line in lines for piece in _pieces(line)):
        if cells and (CURRENCY.fullmatch(cells[-1].text) or TAIL.fullmatch(piece.text)):
            cells[-1] = TableCell.of(*cells[-1].lines, piece)
        else:
            cells.append(TableCell.of(piece))
    return tuple(cells)


def _pieces(line: PdfLine) -> Iterator[PdfLine]:
    """Cut a line where a wide gap is, or dots lead from one word to the next; the dots are left out."""
    words = [word for word in line.words if not LEADER.fullmatch(word[0])]
    if len(line.words) - len(words) < FEWEST_DOTS:
        words = line.words
    start = 0
    for at in range(1, len(words)):
        (_, left), (_, right) = words[at - 1], words[at]
        if right.x1 - left.x2 > CELL_GAP * line.size:
            yield _piece(line, words[start:at])
            start = at
    if words:
        yield line if words is line.words and not start else _piece(line, words[start:])


def _piece(line: PdfLine, words: list[tuple[str, Box]]) -> PdfLine:
    return PdfLine(line.size, line.bold, line.italic, words, enclosing_box([box for _, box in words]))


def _without_cells(rows: Iterable[TableRow]) -> Iterator[list[PdfLine]]:
    for _, in_block in groupby(rows, key=lambda row: row.block):
        yield [line for row in in_block for cell in row.cells for line in cell.lines]


# --- Runs of rows ------------------------------------------------------------------------------------------


def _end_of_run(rows: Sequence[TableRow], start: int) -> int:
    """Return the index after the last row that belongs to the table of row `start`."""
    end = start + 1
    left = rows[start].data_left
    for at in range(start + 1, len(rows)):
        row, above = rows[at], rows[at - 1]
        gap = row.box.y1 - above.box.y2
        if not -above.size / 2 <= gap <= ROW_GAP * above.size:
            break
        if row.is_tabular:
            if at > end and not row.has_figures and any(each.has_figures for each in rows[start:end]):
                break  # below a line of words, the head of another table
            end = at + 1
            left = min(left, row.data_left)
        elif at + 1 - end > LABELS_BETWEEN or not _is_label(row, left):
            break
    return end


def _beginning(above: Sequence[TableRow], run: Sequence[TableRow]) -> tuple[int, int]:
    """Return where, in the rows above a run, its header and its body begin."""
    left = min(row.data_left for row in run if row.is_tabular)
    body, top = len(above), run[0]
    for _ in range(LABELS_ABOVE + 1):
        header = _header_start(above[:body], top, left)
        if header < body or body == 0 or not _is_label_above(above[body - 1], top, left):
            break
        body -= 1
        top = above[body]
    if header == body:
        # No header: a line above belongs to the table only if it announces what follows.
        body = header = len(above) - (bool(above) and _announces(above[-1], run[0], left))
    return header, body


def _header_start(above: Sequence[TableRow], below: TableRow, left: float) -> int:
    """Return the index of the first row that stands above the columns, and only there.

    Programs draw the lines of a head in any order: “2009 2008” before the “Fiscal year” above them.
    """
    start = len(above)
    while start and _is_over(above[start - 1], below, left):
        start -= 1
    top, near = below.box.y1, set[int]()
    for at in sorted(range(start, len(above)), key=lambda at: -above[at].box.y2):
        row = above[at]
        if top - row.box.y2 > HEADER_GAP * row.size:
            break
        near.add(at)
        top = min(top, row.box.y1)
    return next((at + 1 for at in range(len(above) - 1, start - 1, -1) if at not in near), start)


def _is_over(row: TableRow, below: TableRow, left: float) -> bool:
    """Whether a row without figures stands above the columns of the row below."""
    over = row.cells[1:] if len(row.cells) > 1 else row.cells
    return (
        not any(cell.is_number and not cell.is_year for cell in row.cells)
        and all(cell.box.x1 >= left - HEADER_OVERHANG * row.size for cell in over)
        and row.box.y2 <= below.box.y1 + row.size / 2
        and below.box.y1 - row.box.y1 <= HEADER_HEIGHT * row.size
    )


def _is_label(row: TableRow, left: float) -> bool:
    """Whether a row has only words left of the columns."""
    if len(row.cells) > 1 or row.box.x2 > left + row.size:
        return False
    text = row.cells[0].text
    is_sentence = len(text) >= SENTENCE_CHARS and text.endswith(".")
    return len(text) <= LABEL_CHARS and not (is_sentence or _is_heading(row.cells[0]))


def _is_heading(cell: TableCell) -> bool:
    """Whether it is a heading between two tables: “Note 8. Goodwill” in bold."""
    return cell.lines[0].bold and any(True for _ in labels(cell.text))


def _is_label_above(row: TableRow, below: TableRow, left: float) -> bool:
    is_sentence = len(row.cells[0].text) >= SENTENCE_CHARS and row.cells[0].text.endswith(":")
    return (
        _is_label(row, left) and not is_sentence and 0 <= below.box.y1 - row.box.y1 <= ROW_GAP * 2 * row.size
    )


def _announces(row: TableRow, below: TableRow, left: float) -> bool:
    return _is_label_above(row, below, left) and row.cells[0].text.endswith(":")


# --- Columns -----------------------------------------------------------------------------------------------


def _table(header: Sequence[TableRow], run: Sequence[TableRow]) -> Table | None:
    """Return the table that these rows form, or None if they form none."""
    tabular = [row for row in run if row.is_tabular]
    data = [cell for row in tabular for cell in row.cells[1:]]
    if len(tabular) < 2 or len(data) < FEWEST_CELLS or _is_list(tabular):
        return None
    numbers = [cell for cell in data if cell.is_number]
    if len(numbers) < NUMERIC_SHARE * len(data):
        return None
    columns = _columns(numbers, len(tabular))
    head, body = _head_and_body(header, run)
    return Table([_head_of_columns(head, columns), *(_lines_of_columns(row.cells, columns) for row in body)])


def _is_list(rows: Sequence[TableRow]) -> bool:
    return all(len(row.cells) == 2 and LIST_MARK.fullmatch(row.cells[0].text) for row in rows)


def _columns(numbers: Sequence[TableCell], rows: int) -> list[tuple[float, float]]:
    """Return left and right edges of the columns in which the figures stand."""
    columns: list[list[TableCell]] = []
    right = float("-inf")
    for cell in sorted(numbers, key=lambda cell: cell.box.x1):
        if cell.box.x1 > right:
            columns.append([])
        columns[-1].append(cell)
        right = max(right, cell.box.x2)
    least = COLUMN_SHARE * rows
    spans = [enclosing_box([cell.box for cell in column]) for column in columns if len(column) >= least]
    return [(box.x1, box.x2) for box in spans or [enclosing_box([cell.box for cell in numbers])]]


def _head_and_body(
    header: Sequence[TableRow], run: Sequence[TableRow]
) -> tuple[list[TableRow], list[TableRow]]:
    """Move leading rows without figures to the header."""
    figures = next((at for at, row in enumerate(run) if row.has_figures), 0)
    first = max((at + 1 for at in range(figures) if run[at].is_tabular), default=0)
    return [*header, *run[:first]], list(run[first:])


def _head_of_columns(head: Sequence[TableRow], columns: Sequence[tuple[float, float]]) -> list[list[PdfLine]]:
    """Return the lines above each column, the labels' column first; what spans columns stands above each."""
    above: list[list[PdfLine]] = [[] for _ in range(len(columns) + 1)]
    cells = sorted((cell for row in head for cell in row.cells), key=lambda cell: cell.box.y1)
    wide = list(columns)
    # From below: figures are set to the right of their column, and what names it shows how wide it is.
    for level in reversed(list(_levels(cells))):
        for cell, numbers in list(_spread(level, wide)):
            for number in numbers:
                above[number] += cell.lines
            if len(numbers) == 1 and numbers[0] > 0:
                left, right = wide[numbers[0] - 1]
                wide[numbers[0] - 1] = min(left, cell.box.x1), max(right, cell.box.x2)
    return [sorted(lines, key=_in_reading_order) for lines in above]


def _levels(cells: Iterable[TableCell]) -> Iterator[list[TableCell]]:
    """Yield the cells of a head that stand at one height, whatever order the file draws them in."""
    level: list[TableCell] = []
    for cell in cells:
        if level and cell.box.y1 > level[0].box.y1 + SAME_LEVEL * cell.lines[0].size:
            yield level
            level = []
        level.append(cell)
    if level:
        yield level


def _spread(
    cells: Sequence[TableCell], columns: Sequence[tuple[float, float]]
) -> Iterator[tuple[TableCell, list[int]]]:
    """Yield each cell of a head's row with the numbers of the columns that it stands above."""
    own = {_column_of(cell.box, columns): cell for cell in cells}
    over = [cell for number, cell in sorted(own.items(), key=itemgetter(0)) if number > 0]
    nearest: dict[int, list[int]] = {at: [] for at in range(len(over))}
    for number, column in enumerate(columns, start=1):
        if over:
            nearest[min(nearest, key=lambda at: _distance(over[at].box, column))].append(number)
    for cell in cells:
        number = _column_of(cell.box, columns)
        group = nearest[over.index(cell)] if cell in over else []
        yield cell, group if number in group and _spans(cell, [columns[n - 1] for n in group]) else [number]


def _distance(box: Box, column: tuple[float, float]) -> tuple[float, float]:
    left, right = column
    return max(0.0, box.x1 - right, left - box.x2), abs(box.x1 + box.x2 - left - right)


def _spans(cell: TableCell, columns: Sequence[tuple[float, float]]) -> bool:
    """Whether a head stands in the middle above columns; a word above the middle one may be its own."""
    left, right = columns[0][0], columns[-1][1]
    if abs(cell.box.x1 + cell.box.x2 - left - right) > 2 * OFF_MIDDLE * (right - left):
        return False
    touched = sum(cell.box.x1 < column[1] and cell.box.x2 > column[0] for column in columns)
    return touched != 1 or len(columns) % 2 == 0 or " " in cell.text or cell.is_year


def _in_reading_order(line: PdfLine) -> tuple[int, float]:
    return round(line.box.y1), line.box.x1


def _lines_of_columns(
    cells: Iterable[TableCell], columns: Sequence[tuple[float, float]]
) -> list[list[PdfLine]]:
    """Return the lines of each column in reading order, the labels' column first."""
    row: list[list[PdfLine]] = [[] for _ in range(len(columns) + 1)]
    for cell in cells:
        row[_column_of(cell.box, columns)] += cell.lines
    return [sorted(lines, key=_in_reading_order) for lines in row]


def _column_of(box: Box, columns: Sequence[tuple[float, float]]) -> int:
    overlaps = [min(box.x2, right) - max(box.x1, left) for left, right in columns]
    best = max(range(len(columns)), key=lambda number: overlaps[number])
    if overlaps[best] <= 0 and box.x1 < columns[0][0]:
        return 0
    return best + 1
