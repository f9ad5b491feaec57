"""HTML tables: which of them hold data, and their cells in rows and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lxml import etree

from extract.grids import Cell, CellCounter, lay_out
from extract.merged_cells import MergedCell
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
    """Yield the titles of a table, each as a row, and its rows; merged cells are at all of their places.

    Raise `FileTooLarge` if the cells span too many places.
    """
    cells: list[MergedCell[Cell]] = []
    counter = CellCounter()
    below: dict[int, int] = {}  # columns that a cell above extends into, and for how many more rows
    head = 0
    for number, row in enumerate(_rows(table)):
        head += head == number and _is_head(row)
        column = 0
        for cell in row:
            column = _free(column, below)
            down, across = _span(cell, "rowspan"), _span(cell, "colspan")
            cells.append(MergedCell(locate_text(_text(cell)), number, column, down, across))
            below.update(dict.fromkeys(range(column, column + across), down))
            column += across
        counter.count(column)
        below = {covered: rows - 1 for covered, rows in below.items() if rows > 1}
    titles, rows = lay_out(cells, head)
    for title in titles:
        yield [title, *[EMPTY] * (len(rows[0]) - 1)]
    yield from rows


def _free(column: int, below: Mapping[int, int]) -> int:
    """Return the first column from this one on that no cell above extends into."""
    while column in below:
        column += 1
    return column


def _is_head(row: Sequence[etree._Element]) -> bool:
    """Whether the file says that a row heads the table."""
    return bool(row[0].xpath("boolean(parent::tr/parent::thead)"))


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
