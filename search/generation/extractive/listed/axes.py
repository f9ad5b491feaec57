"""Tables by what they list: as they stand, each row is a thing; turned, each column is one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.text.tables import header_of
from search.generation.extractive.figures import TableFigure
from search.generation.extractive.named_cells import NoteTable, Words
from search.generation.extractive.outstanding.words import TOTAL
from search.generation.extractive.tables import FactRow, naming_column, row_cells

_NO_THING = re.compile(
    r"(?:upper |lower )?limits?|targets?|budget|norm|unit|grenzwert|sollwert|soll|ziel|einheit|limite"
    r"|objectif|unité|límite|unidad|objetivo|norma|eenheid|grens(?:waarde)?",
    re.IGNORECASE,
)
"""A column beside those of things."""


@dataclass(frozen=True)
class Axis:
    """`figures` by thing and measure; `kind` is what the header calls the things, if anything."""

    figures: Mapping[tuple[str, str], Sequence[TableFigure]]
    kind: str
    table: NoteTable
    is_turned: bool = False

    @property
    def language(self) -> str | None:
        """The language of its document."""
        return self.table.language

    @property
    def words_around(self) -> Words:
        """The terms that are said around the table."""
        return self.table.words_around

    @cached_property
    def all_things(self) -> list[str]:
        """The names of all things and totals."""
        return list(dict.fromkeys(thing for thing, _ in self.figures))

    @cached_property
    def things(self) -> list[str]:
        """Those that are neither totals nor limits."""
        return [each for each in self.all_things if not TOTAL.match(each) and not _NO_THING.fullmatch(each)]

    @cached_property
    def sections(self) -> list[str]:
        """The names of the rows above others, that tell what those are of."""
        return list(dict.fromkeys(fact.row.section for of in self.figures.values() for fact in of))

    def measures(self, things: Sequence[str]) -> list[str]:
        """Return what is measured of all of some things."""
        measures = dict.fromkeys(measure for _, measure in self.figures)
        return [each for each in measures if all((thing, each) in self.figures for thing in things)]


def axes_of(table: NoteTable) -> Iterator[Axis]:
    """Yield a table as it stands, and turned."""
    rows = list(dict.fromkeys(fact.row for fact in table.figures))
    naming = naming_column(rows, table.language)
    by_rows: dict[tuple[str, str], list[TableFigure]] = {}
    for fact in table.figures:
        by_rows.setdefault((_name_of(fact.row, naming), fact.cell.column), []).append(fact)
    first, *_ = [*row_cells(header_of(table.figures[0].context.text)), ""]
    yield Axis(by_rows, naming or first, table)
    yield Axis({(column, row): facts for (row, column), facts in by_rows.items()}, "", table, is_turned=True)


def _name_of(row: FactRow, naming: str) -> str:
    return next((cell.value for cell in row.cells if naming and cell.column == naming), row.name)
