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
from typing import Generic, TypeVar

# A head has at most so many rows.
MOST_HEADS = 4
# What is longer, in characters, is no name, and stands at its first place only.
REPEATED_CHARS = 80

Content = TypeVar("Content")


@dataclass(frozen=True, slots=True, eq=False)
class MergedCell(Generic[Content]):
    """A cell and the places that it covers: the first row and column, from 0, and how many of each."""

    content: Content
    row: int
    column: int
    rows: int = 1
    columns: int = 1


def rows_of_head(cells: Sequence[MergedCell[Content]], rows: int, columns: int) -> int:
    """Return how many rows are the head, if the first one is: all that it needs to name each column.

    What spans some columns there names them together, and each has a name of its own below.
    """
    count = 1
    while True:
        needed = max(
            (cell.row + cell.rows + (1 < cell.columns < columns) for cell in cells if cell.row < count),
            default=1,
        )
        if needed <= count:
            return count
        if needed > min(MOST_HEADS, rows - 1):
            return 1
        count = needed


def spread(
    cells: Sequence[MergedCell[Content]],
    rows: int,
    columns: int,
    heads: int,
    join: Callable[[Sequence[Content]], Content],
    length: Callable[[Content], int],
) -> list[list[Content]]:
    """Return the contents by row and column: one row of `heads` joined, then those below.

    What begins in the first column names its row, or the rows below, so it stands there alone.
    """
    at: dict[tuple[int, int], MergedCell[Content]] = {}
    for cell in cells:
        is_repeated = length(cell.content) <= REPEATED_CHARS
        down = cell.rows if is_repeated else 1
        across = cell.columns if is_repeated and (cell.column or cell.row < heads) else 1
        for row in range(cell.row, min(cell.row + down, rows)):
            for column in range(cell.column, min(cell.column + across, columns)):
                at[row, column] = cell

    def column_head(column: int) -> Content:
        above = dict.fromkeys(at[row, column] for row in range(heads) if (row, column) in at)
        return join([cell.content for cell in above])

    def body_cell(row: int, column: int) -> Content:
        return join([at[row, column].content] if (row, column) in at else [])

    head = [column_head(column) for column in range(columns)]
    body = [[body_cell(row, column) for column in range(columns)] for row in range(heads, rows)]
    return [head, *body]
