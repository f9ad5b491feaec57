"""A row of a table with the value that it is compared by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from search.contexts import Context
from search.generation.extractive.figures import TableFigure
from search.generation.extractive.tables import FactCell, FactRow


@dataclass(frozen=True, slots=True)
class RankedRow:
    """A row of a table, its cell that decides, and those that say what the question wants of it."""

    context: Context
    row: FactRow
    cells: Sequence[FactCell]
    value: Decimal
    is_in_column: bool = False
    """Whether the column is the thing, and not the row."""
    formula: str = ""
    """What the value is computed by, in Markdown, if it is none of the cells."""
    proof: frozenset[int] = frozenset()
    """The ranks of the other contexts that show that no row is missing."""

    @property
    def name(self) -> str:
        """What the thing is called."""
        return self.cells[-1].column if self.is_in_column else self.row.name


def ranked_rows(parts: Sequence[TableFigure], proof: frozenset[int] = frozenset()) -> list[RankedRow]:
    """Return the rows of figures, by their values."""
    return [RankedRow(part.context, part.row, [part.cell], part.figure.value, proof=proof) for part in parts]
