"""Tables as elements: Markdown in which every cell keeps its places."""

from __future__ import annotations

from collections.abc import Sequence

from core.locations import LocatedText
from extract.base import Element, Kind

EMPTY = LocatedText("")
BAR = LocatedText("|")


def table_element(grid: Sequence[Sequence[LocatedText]]) -> Element:
    """Return a grid of cells, the first row being the header, as a table element.

    Rows may differ in length; empty cells are empty texts. Each cell on a page should be a line of its own
    (`OnPage.line`), so that it gets a box of its own.
    """
    width = max(map(len, grid))
    lines = [_line(row, width) for row in grid]
    rule = LocatedText("|" + " --- |" * width)
    lines[0] = LocatedText.join([lines[0], rule], "\n")
    rows = []
    at = 0
    for line in lines:
        rows.append((at, at + len(line.text)))
        at += len(line.text) + 1
    return Element(Kind.TABLE, LocatedText.join(lines, "\n"), rows=tuple(rows))


def _line(cells: Sequence[LocatedText], width: int) -> LocatedText:
    padded = [*cells, *[EMPTY] * (width - len(cells))]
    return LocatedText.join([BAR, *(part for cell in padded for part in (cell, BAR))], " ")
