"""Groups of a table's rows: the row that names a group is repeated where a chunk begins inside the group."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from core.locations import LocatedText

# Rows of a group are indented by more than so many points.
INDENT = 2.0
# The name of a group is looked for in so many rows.
MOST_ROWS = 40
NAME = re.compile(r"\| *[^|\s][^|]*\|[ |]*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence (or part of one): `element.text[start:end]`."""

    element: LocatedText
    start: int
    end: int
    tokens: int


@dataclass(frozen=True, slots=True)
class GroupNames:
    """The rows of a table, and which of them name a group: those with words in the first cell only."""

    rows: Sequence[Piece]
    names: frozenset[int]

    @classmethod
    def of(cls, rows: Sequence[Piece], most_tokens: int) -> Self:
        """Find the names of groups; those of more tokens are not repeated."""
        names = (
            at
            for at, row in enumerate(rows)
            if row.tokens <= most_tokens and NAME.fullmatch(row.element.text, row.start, row.end)
        )
        return cls(rows, frozenset(names))

    @property
    def tokens(self) -> int:
        """The most tokens that a name takes."""
        return max((self.rows[at].tokens for at in self.names), default=0)

    def above(self, first: Piece) -> list[Piece]:
        """Return the name of the group inside which `first` stands, if any: a row, or a part of one."""
        at = bisect_right(self.rows, first.start, key=lambda row: row.start) - 1
        if at in self.names:
            return []
        near = range(at - 1, max(at - MOST_ROWS, 0) - 1, -1)
        name = next((each for each in near if each in self.names), None)
        return [self.rows[name]] if name is not None and self._reaches(name, at) else []

    def _reaches(self, name: int, at: int) -> bool:
        """Whether the group does not end before a row: its rows stand no further left than its name does."""
        edge, *edges = [self._left(row) for row in (name, *range(name + 1, at + 1))]
        if edge is None or edges[0] is None:
            return True
        least = edge + INDENT if edges[0] > edge + INDENT else edge - INDENT
        return all(each is None or each >= least for each in edges)

    def _left(self, at: int) -> float | None:
        """Return where the words of a row begin, in points from the left edge of the page."""
        row = self.rows[at]
        boxes = row.element.boxes(row.start, row.end)
        return min((box.box.x1 for box in boxes), default=None)
