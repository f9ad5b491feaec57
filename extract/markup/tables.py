"""HTML tables: which of them hold data, and their cells in rows and columns."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from extract.grids import Cell
from extract.places import fold_spaces, locate_text

# A table whose cells hold one of these is used for layout.
LAYOUT = ".//table|.//h1|.//h2|.//h3|.//form|.//pre|.//ul[count(li)>3]|.//ol[count(li)>3]|.//p[5]"
LONG_CELL = 400
MAX_SPAN = 100
EMPTY = locate_text("")


def is_data_table(table: etree._Element) -> bool:
    """Whether a table holds rows and columns of data, rather than the layout of a page."""
    if table.get("role") in ("presentation", "none") or table.xpath(LAYOUT):
        return False
    rows = [row for row in _rows(table) if any(_text(cell) for cell in row)]
    columns = max((len(row) for row in rows), default=0)
    if len(rows) < 2 or columns < 2:
        return False
    cells = [len(_text(cell)) for row in rows for cell in row]
    return sum(cells) <= LONG_CELL * len(cells)


def grid(table: etree._Element) -> Iterator[list[Cell]]:
    """Yield the rows that have text; a merged cell fills its first position and leaves the others empty."""
    below: dict[int, int] = {}  # columns that a cell above extends into, and for how many more rows
    for row in _rows(table):
        line: list[Cell] = []
        for cell in row:
            _fill(line, below)
            start = len(line)
            line += [locate_text(_text(cell)), *[EMPTY] * (_span(cell, "colspan") - 1)]
            rows_more = _span(cell, "rowspan") - 1
            below.update({column: rows_more for column in range(start, len(line)) if rows_more})
        _fill(line, below)
        if any(cell.text for cell in line):
            yield line


def _fill(line: list[Cell], below: dict[int, int]) -> None:
    while below.get(len(line)):
        below[len(line)] -= 1
        line.append(EMPTY)


def _rows(table: etree._Element) -> Iterator[list[etree._Element]]:
    for row in table.iterdescendants("tr"):
        cells = [cell for cell in row if cell.tag in ("td", "th")]
        if cells:
            yield cells


def _text(cell: etree._Element) -> str:
    """Return a cell's text, with a space where a block or line ends."""
    parts: list[str] = []
    for part in cell.xpath(".//text()[not(ancestor::script or ancestor::style)]"):
        parent = part.getparent()
        parts.append(
            (" " if parent is not None and parent.tag in ("p", "div", "br", "li") else "") + str(part)
        )
    return fold_spaces("".join(parts))


def _span(cell: etree._Element, name: str) -> int:
    given = (cell.get(name) or "").strip()
    return min(max(int(given), 1), MAX_SPAN) if given.isascii() and given.isdigit() else 1
