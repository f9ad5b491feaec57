"""Which lines above the figures of a table are its head.

Programs draw the lines of a head in any order, often cell by cell. So a head is found by where its lines
stand: level by level upwards, while what stands there is short and above the columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from core.text.numbering import labels
from extract.pdf.table_cells import TableCell, TableRow

# A head is no further above the figures, or above its own lower lines, than so many type sizes.
HEADER_GAP, HEADER_HEIGHT = 2.0, 12
# Names of sections may stand a little further above the figures.
LABEL_GAP = 2.5
# A head may begin so many type sizes left of the figures below it.
HEADER_OVERHANG = 5
# At most so many names of sections stand between a head and the first figures.
LABELS_ABOVE = 3
LABEL_CHARS, HEAD_CHARS = 120, 80
# A line so long that ends in a full stop is a sentence, and no label of rows; nor, above a table, in a colon.
SENTENCE_CHARS = 40
# A lone line so wide, as a share of the table, is text.
TEXT_WIDTH = 0.75
# A title is off the middle of the table by less than so many type sizes.
CENTRAL = 2.0
# Cells of a head that differ in height by less than this share of their size stand side by side.
SAME_LEVEL = 0.4

CAPTION = re.compile(r"(table|tab\.|figure|fig\.|exhibit|chart|tabelle|tableau)\s+[\dA-Z]", re.IGNORECASE)
UNITS = re.compile(r"\([^()]*+\)|[^.:]{0,24}\bin (thousands|millions|billions)\b[^.:]{0,40}", re.IGNORECASE)
# The numbers of columns: “(1) (2) (3)”.
COLUMN_NUMBER = re.compile(r"\(\d{1,2}\)")
# What begins a footnote or the item of a list, and stands apart from its words.
ITEM_MARK = re.compile(r"\(\w{1,2}\)|[*†‡§•●▪–—-]{1,3}|\d{1,2}[.)]")


@dataclass(slots=True)
class Beginning:
    """What above the first rows of a table belongs to it: indexes of the rows of its head, and of labels."""

    head: set[int]
    labels: set[int]


def find_beginning(above: Sequence[TableRow], body: Sequence[TableRow], zone: Zone) -> Beginning:
    """Return which of the rows read before belong to the table that these rows form."""
    limit, size = body[0].box.y1, body[0].size
    found, waiting = Beginning(set(), set(_labels_beside(above, body[0], zone))), list[int]()
    floor = limit - HEADER_HEIGHT * size
    for level in _levels_above(above, zone, limit + size / 2, floor):
        rows = [above[at] for at in level]
        is_left = all(map(zone.is_left, rows))
        gap = LABEL_GAP if is_left or waiting else HEADER_GAP
        if limit - max(row.box.y2 for row in rows) > gap * max(row.size for row in rows):
            break
        if is_left:
            if not all(is_label(row, zone.left) for row in rows) or len(waiting) == LABELS_ABOVE:
                break
            waiting += level
            if found.head and all(UNITS.fullmatch(row.cells[0].text) for row in rows):
                found.head.update(waiting)
                waiting.clear()
        elif zone.is_head(rows):
            (found.head if found.head else found.labels).update(waiting)
            found.head.update(level)
            waiting.clear()
        else:
            break
        limit = min(row.box.y1 for row in rows)
    if not found.head and waiting and announces(above[waiting[0]]):
        found.labels.add(waiting[0])
    return found


def _labels_beside(above: Sequence[TableRow], first: TableRow, zone: Zone) -> list[int]:
    """Return the indexes of the lines of a label that the file draws before the figures beside it."""
    if first.cells[0].box.x1 < zone.left:
        return []
    return [
        at
        for at, row in enumerate(above)
        if zone.is_left(row)
        and is_label(row, zone.left)
        and row.box.y1 < first.box.y2
        and row.box.y2 > first.box.y1 + row.size / 2
    ]


@dataclass(frozen=True, slots=True)
class Zone:
    """Where a table stands across the page, in points.

    The labels' column begins at `x1` and ends at `labels_end`; figures stand from `left` to `x2`, those of
    the last column from `last`.
    """

    x1: float
    labels_end: float
    left: float
    x2: float
    last: float

    @classmethod
    def of(cls, rows: Sequence[TableRow]) -> Self:
        """Return the zone of rows that have figures, and of labels between them."""
        tabular = [row for row in rows if row.is_tabular]
        left = min(row.data_left for row in tabular)
        # In a row without a label, the first cell is a figure above or below others.
        first = [row.cells[0].box for row in tabular if row.cells[0].is_figure]
        left = min([left, *(box.x1 for box in first if box.x2 > left)])
        ends = [row.cells[0].box.x2 for row in tabular if row.cells[0].box.x2 <= left]
        x2 = max(row.box.x2 for row in rows)
        far = [row.cells[-1].box for row in tabular]
        last = min((box.x1 for box in far if box.x2 > (left + x2) / 2), default=x2)
        return cls(min(row.box.x1 for row in rows), max(ends, default=left), left, x2, last)

    def touches(self, row: TableRow) -> bool:
        """Whether a row stands above or below the table, not beside it."""
        return row.box.x1 < self.x2 and row.box.x2 > self.x1 - HEADER_OVERHANG

    def is_left(self, row: TableRow) -> bool:
        """Whether a row has words only above the first column."""
        is_beyond_labels = row.box.x1 >= self.labels_end
        return len(row.cells) == 1 and row.box.x2 <= self.left + row.size and not is_beyond_labels

    def is_central(self, cell: TableCell) -> bool:
        """Whether words stand in the middle of the whole table."""
        return abs(cell.middle - (self.x1 + self.x2) / 2) <= CENTRAL * cell.size

    def is_head(self, rows: Sequence[TableRow]) -> bool:
        """Whether words at one height are names of columns: short, without figures, above the columns."""
        cells = [cell for row in rows for cell in row.cells]
        if any(not self._may_name(cell) for cell in cells):
            return False
        if self._is_numbered_title(cells) or self._is_item(cells):
            return False
        return len(cells) > 1 or not self._is_title(cells[0])

    def _may_name(self, cell: TableCell) -> bool:
        if cell.is_figure and not COLUMN_NUMBER.fullmatch(cell.text):
            return False
        if cell.box.x2 <= self.left or UNITS.fullmatch(cell.text):
            return len(cell.text) <= LABEL_CHARS
        overhang = HEADER_OVERHANG * cell.size
        # Above figures at the left of their column the name of the last one goes on to the right.
        is_of_last = self.last - cell.size <= cell.box.x1 <= self.x2
        is_over = cell.box.x1 >= min(self.left - overhang, self.labels_end) and (
            is_of_last or cell.box.x2 <= self.x2 + overhang
        )
        return is_over and len(cell.text) <= HEAD_CHARS

    def _is_numbered_title(self, cells: Sequence[TableCell]) -> bool:
        """Whether words left of all figures are a heading whose number stands apart: “Item 1.  Business”."""
        text = " ".join(cell.text for cell in cells)
        is_left = all(cell.box.x2 <= self.left for cell in cells)
        return is_left and cells[0].lines[0].bold and any(True for _ in labels(text))

    def _is_item(self, cells: Sequence[TableCell]) -> bool:
        """Whether words left of all figures are a footnote or an item whose mark stands apart."""
        is_left = all(cell.box.x2 <= self.left for cell in cells)
        return len(cells) > 1 and is_left and ITEM_MARK.fullmatch(cells[0].text) is not None

    def _is_title(self, cell: TableCell) -> bool:
        """Whether a lone line is text, a caption, or a title in the middle of the whole table."""
        if UNITS.fullmatch(cell.text):
            return False
        is_wide = cell.box.x2 - cell.box.x1 > TEXT_WIDTH * (self.x2 - self.x1)
        off, off_data = (abs(cell.middle - (x1 + self.x2) / 2) for x1 in (self.x1, self.left))
        is_title = self.is_central(cell) and off < off_data and cell.box.x1 < self.left
        return is_wide or is_title or CAPTION.match(cell.text) is not None


def _levels_above(rows: Sequence[TableRow], zone: Zone, ceiling: float, floor: float) -> Iterator[list[int]]:
    """Yield the indexes of rows above a table level by level upwards, however the file orders them."""
    near = [
        at
        for at, row in enumerate(rows)
        if row.box.y2 <= ceiling and row.box.y1 >= floor and zone.touches(row)
    ]
    level: list[int] = []
    for at in sorted(near, key=lambda at: -rows[at].box.y2):
        row = rows[at]
        if level and rows[level[0]].box.y2 - row.box.y2 > SAME_LEVEL * row.size:
            yield level
            level = []
        level.append(at)
    if level:
        yield level


def is_label(row: TableRow, left: float, reach: float = 0.0) -> bool:
    """Whether a row has only words left of the columns, which begin at `left`.

    A label without figures may reach above the columns by so many points.
    """
    if len(row.cells) > 1 or row.box.x1 >= left or row.box.x2 > left + max(reach, row.size):
        return False
    text = row.cells[0].text
    is_sentence = len(text) >= SENTENCE_CHARS and text.endswith(
        "." if row.box.x2 <= left else (".", ":", ",")
    )
    return len(text) <= LABEL_CHARS and not (is_sentence or _is_heading(row.cells[0]))


def _is_heading(cell: TableCell) -> bool:
    """Whether it is a heading between two tables: “Note 8. Goodwill” in bold."""
    return cell.lines[0].bold and any(True for _ in labels(cell.text))


def announces(row: TableRow) -> bool:
    """Whether a line above a table is a short one that ends in a colon."""
    text = row.cells[0].text
    return text.endswith(":") and len(text) < SENTENCE_CHARS
