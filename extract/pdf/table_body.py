"""The body of a table: rows made whole, columns of figures and words, and what is no table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from core.locations import Box
from extract.pdf.lines import PdfLine, enclosing_box
from extract.pdf.table_cells import CURRENCY, FIGURE, TableCell, TableRow, piece_of
from extract.pdf.table_spans import Columns, column_of, in_reading_order

FEWEST_CELLS = 4
NUMERIC_SHARE = 0.5
# A column has a figure in at least this share of the rows, or words in that share.
COLUMN_SHARE, WORDS_SHARE = 0.15, 0.4
# A label's second line is this much nearer than the next row, or this near (in type sizes) and no beginning.
TIGHT, WRAPPED = 0.88, 1.6
# Figures without a label are this near below the label of theirs, in type sizes.
BESIDE = 0.75
UNFINISHED, CONTINUING = re.compile(r"[/&,(–-]$"), re.compile(r"[/&a-zà-ÿ]")
LIST_MARK = re.compile(r"[•●○▪■◦‣·–—*-]|\(?\w{1,3}[.)]")
PAGE_NUMBER = re.compile(r"\d{1,4}")


# --- Rows -------------------------------------------------------------------------------------------------


def whole_rows(run: Sequence[TableRow], left: float) -> list[TableRow]:
    """Return rows of which each has all lines of its label."""
    tops = [row.box.y1 for row in run]
    pitch = median([below - above for above, below in pairwise(tops) if below > above] or [0.0])
    whole: list[TableRow] = []
    for row in run:
        if whole and _is_same_row(whole[-1], row, left, pitch):
            whole[-1] = _join_rows(whole[-1], row, left)
        else:
            whole.append(row)
    return whole


def _is_same_row(above: TableRow, row: TableRow, left: float, pitch: float) -> bool:
    """Whether two rows that follow each other are lines of one."""
    labels_above, figures_above = _halves(above, left)
    labels, figures = _halves(row, left)
    if figures and figures_above:
        return bool(labels_above) and not labels and _goes_on_below(figures_above, figures)
    down = row.box.y1 - labels_above[-1].lines[-1].box.y1 if labels_above else row.box.y1 - above.box.y1
    if not labels or not labels_above:  # figures beside a label that the file draws before or after them
        return row.box.y1 < above.box.y2 + BESIDE * row.size and row.box.y2 > above.box.y1
    text = labels_above[-1].text
    if text.endswith(":") or down <= 0:
        return False
    is_continued = UNFINISHED.search(text) or CONTINUING.match(labels[0].text)
    return down <= WRAPPED * row.size and (down <= TIGHT * pitch or is_continued is not None)


def _goes_on_below(above: Sequence[TableCell], cells: Sequence[TableCell]) -> bool:
    """Whether cells below those of a row go on with it: with its words, or with the figures that it lacks."""
    words, words_below = _words_of(above), _words_of(cells)
    first = cells[0]
    is_near = first.box.y1 <= max(cell.box.y2 for cell in above) + BESIDE * first.size
    if not words or not is_near or len(words_below) > 1:
        return False
    if any(abs(cell.box.x1 - words[-1].box.x1) > first.size for cell in words_below):
        return False
    if len(words) == len(above):
        return True
    is_unfinished = UNFINISHED.search(words[-1].text) or CONTINUING.match(first.text)
    return words_below == [*cells] and is_unfinished is not None


def _words_of(cells: Sequence[TableCell]) -> list[TableCell]:
    return [cell for cell in cells if not cell.is_number]


def _halves(row: TableRow, left: float) -> tuple[list[TableCell], list[TableCell]]:
    """Return the cells left of the columns, and the others."""
    labels = [cell for cell in row.cells if cell.box.x1 < left - row.size / 2]
    return labels, [cell for cell in row.cells if cell.box.x1 >= left - row.size / 2]


def _join_rows(above: TableRow, row: TableRow, left: float) -> TableRow:
    (labels, figures), (more, below) = _halves(above, left), _halves(row, left)
    lines = [line for cell in (*labels, *more) for line in cell.lines]
    label = [TableCell.of(*lines)] if lines else []
    return TableRow.of(above.block, (*label, *figures, *below))


# --- Columns ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Column:
    left: float
    right: float
    cells: int = 1


def columns_of(rows: Sequence[TableRow], left: float) -> list[tuple[float, float]]:
    """Return left and right edges of the columns in which figures stand, and in which words often stand."""
    data = [_halves(row, left)[1] for row in rows]
    figures = [[cell for cell in cells if cell.is_number] for cells in data]
    columns = [each for each in _clusters(figures) if each.cells >= COLUMN_SHARE * len(rows)]
    words = [[cell for cell in cells if not cell.is_number and not _touched(cell, columns)] for cells in data]
    columns += [each for each in _clusters(words) if each.cells >= max(2, WORDS_SHARE * len(rows))]
    return sorted((each.left, each.right) for each in columns)


def _clusters(rows: Sequence[Sequence[TableCell]]) -> list[_Column]:
    """Return where cells stand above each other, from the fullest row on; none spans two columns."""
    columns: list[_Column] = []
    for row in sorted(rows, key=len, reverse=True):
        for cell in row:
            touched = _touched(cell, columns)
            if not touched:
                columns.append(_Column(cell.box.x1, cell.box.x2))
            elif len(touched) == 1:
                [column] = touched
                column.left, column.right = min(column.left, cell.box.x1), max(column.right, cell.box.x2)
                column.cells += 1
    return columns


def _touched(cell: TableCell, columns: Iterable[_Column]) -> list[_Column]:
    return [each for each in columns if cell.box.x1 < each.right and cell.box.x2 > each.left]


def lines_of_columns(row: TableRow, columns: Columns, left: float) -> list[list[PdfLine]]:
    """Return the lines of each column in reading order, the labels' column first."""
    labels, data = _halves(row, left)
    parted: list[list[TableCell]] = [labels, *([] for _ in columns)]
    for cell in (part for each in data for part in _parts(each, columns)):
        parted[column_of(_figure_box(cell), columns)].append(cell)
    return [[line for cell in sorted(cells, key=in_reading_order) for line in cell.lines] for cells in parted]


def _parts(cell: TableCell, columns: Columns) -> Iterator[TableCell]:
    """Yield a cell; figures that stand in several columns, each as a cell of its own."""
    touched = sum(cell.box.x1 < right and cell.box.x2 > left for left, right in columns)
    words = [(line, word) for line in cell.lines for word in line.words]
    if touched > 1 and all(FIGURE.fullmatch(text) for _, (text, _) in words):
        yield from (TableCell.of(piece_of(line, [word])) for line, word in words)
    else:
        yield cell


def _figure_box(cell: TableCell) -> Box:
    """Return the box of a cell without a currency sign, which may stand far to the left."""
    boxes = [box for line in cell.lines for text, box in line.words if not CURRENCY.fullmatch(text)]
    return enclosing_box(boxes) if boxes else cell.box


# --- What is no table -------------------------------------------------------------------------------------


def is_table(rows: Sequence[TableRow], left: float) -> bool:
    """Whether rows side by side hold enough figures right of `left`, and are no list."""
    data = [cell for row in rows for cell in _halves(row, left)[1]]
    if len(rows) < 2 or len(data) < FEWEST_CELLS or _is_list(rows):
        return False
    return sum(cell.is_number for cell in data) >= NUMERIC_SHARE * len(data)


def is_contents(rows: Sequence[TableRow]) -> bool:
    """Whether rows are a table of contents: the last column counts pages, and nothing else is a figure."""
    ends = [row.cells[-1].text for row in rows]
    if not all(PAGE_NUMBER.fullmatch(end) for end in ends):
        return False
    pages = [int(end) for end in ends]
    others = [cell for row in rows for cell in row.cells[1:-1]]
    return pages == sorted(pages) and not any(cell.is_number for cell in others)


def _is_list(rows: Sequence[TableRow]) -> bool:
    return all(len(row.cells) == 2 and LIST_MARK.fullmatch(row.cells[0].text) for row in rows)
