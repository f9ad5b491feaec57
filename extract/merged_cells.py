"""Tables with merged cells as rows and columns: what spans several places stands at each of them.

    | Title           | Peak positions |        | Title          | Peak positions US | Peak positions UK |
    |                 | US    | UK     |   ─▶   | ---            | ---               | ---               |
    | Sing to Me      | 18    | 79     |        | Sing to Me     | 18                | 79                |

The rows of a head become one: a column is called by all that stands above it. A name beside several rows is
that of each: a row that is read alone says of what year it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Generic, TypeVar

# A head has at most so many rows, and a table at least so many.
MOST_HEADS, FEWEST_ROWS = 4, 2
# What is longer, in characters, is no name, and stands at its first place only.
REPEATED_CHARS = 80
# No more places are filled by repeating: a small file may ask for very many.
MOST_REPEATED = 100_000

Content = TypeVar("Content")


@dataclass(frozen=True, slots=True, eq=False)
class MergedCell(Generic[Content]):
    """A cell and the places that it covers: the first row and column, from 0, and how many of each."""

    content: Content
    row: int
    column: int
    rows: int = 1
    columns: int = 1


def rows_of_head(
    cells: Sequence[MergedCell[Content]],
    rows: int,
    columns: int,
    is_value: Callable[[Content], bool],
    declared: int = 1,
) -> int:
    """Return how many rows are the head, if the first one is: all that it needs to name each column.

    What spans some columns names them together, and each may have a name of its own below, but no value. A
    file may declare more rows to be the head.
    """
    count = max(1, min(declared, rows - 1))
    while True:
        beside = max((cell.row + cell.rows for cell in cells if cell.row < count), default=1)
        is_shared = any(cell.row + cell.rows == count and 1 < cell.columns < columns for cell in cells)
        has_values = any(cell.row == count and is_value(cell.content) for cell in cells)
        needed = max(beside, count + (is_shared and not has_values))
        if needed == count or needed > min(MOST_HEADS, rows - 1):
            return count
        count = needed


def titles_of(cells: Sequence[MergedCell[Content]], rows: int, columns: int) -> list[MergedCell[Content]]:
    """Return the cells in the first rows that are as wide as the table, in their order: its titles."""
    titles = list(takewhile(lambda cell: cell.columns == columns, cells))
    return titles if sum(title.rows for title in titles) <= rows - FEWEST_ROWS else []


def spread(
    cells: Sequence[MergedCell[Content]],
    columns: int,
    heads: int,
    join: Callable[[Sequence[Content]], Content],
    length: Callable[[Content], int],
) -> list[list[Content]]:
    """Return the contents by row and column: one row of `heads` joined, then those below that have any.

    What begins in the first column names its row, or the rows below, so it stands there alone.
    """
    begun = {cell.row for cell in cells if length(cell.content)}
    by_row: dict[int, dict[int, MergedCell[Content]]] = {row: {} for row in sorted(begun | {*range(heads)})}
    left = MOST_REPEATED
    for cell in cells:
        is_repeated = length(cell.content) <= REPEATED_CHARS
        down = cell.rows if is_repeated else 1
        across = cell.columns if is_repeated and (cell.column or cell.row < heads) else 1
        last = min(cell.column + across, columns)
        for row in (row for row in range(cell.row, cell.row + down) if row in by_row):
            for column in range(cell.column, last):
                if left <= 0 and (row, column) != (cell.row, cell.column):
                    break
                left -= 1
                by_row[row][column] = cell

    def column_head(column: int) -> Content:
        above = dict.fromkeys(by_row[row][column] for row in range(heads) if column in by_row[row])
        return join([cell.content for cell in above])

    body = [
        [join([places[column].content] if column in places else []) for column in range(max(places) + 1)]
        for row, places in by_row.items()
        if row >= heads and places
    ]
    return [[column_head(column) for column in range(columns)], *body]
