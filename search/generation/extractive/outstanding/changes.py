"""What has grown or fallen most: “Which region had the highest revenue growth?”.

    ─▶ **Americas, 2021 → 2022: (10,251 − 8,996) ÷ 8,996 = 14.0 %** <source_1>
       APAC, 2021 → 2022: (2,762 − 2,537) ÷ 2,537 = 8.9 % <source_1>

A table states the changes itself, or has the parts of a total for both years. Growth is a share of what was
before, as reports tell it; who reads the formula sees the amounts, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import groupby

from search.contexts import Context
from search.generation.extractive.calculations import Calculation, CalculationKind, asks_for_change
from search.generation.extractive.computing import operand_of
from search.generation.extractive.figures import TableFigure, only_sure, table_figures
from search.generation.extractive.formulas import formula
from search.generation.extractive.lines import is_of_a_part
from search.generation.extractive.outstanding.parts import of_one_year, parts_of_total
from search.generation.extractive.outstanding.ranked import RankedRow, ranked_rows
from search.generation.extractive.outstanding.superlatives import Superlative
from search.generation.extractive.outstanding.words import TOTAL, said_by, terms_of, with_alike
from search.generation.extractive.periods import period_before, periods_in, reading_of, words_of
from search.generation.extractive.yes_no import Direction

_GROWTH = Calculation(CalculationKind.GROWTH, (), "", "")
_COMPARABLE = re.compile(r"\b(?:comparable|like[- ]for[- ]like|same[- ]store|organic)\b", re.IGNORECASE)
"""Sales that are told as what they have changed by."""
FEWEST_STATED = 3


def stated_changes(asked: Superlative, table: Sequence[Context]) -> list[RankedRow]:
    """Return the rows with the changes that a column of the table states for the period asked for."""
    facts = [fact for fact in of_one_year(asked, table, _is_change) if not TOTAL.match(fact.name)]
    if len(facts) < FEWEST_STATED or len({fact.cell.column for fact in facts}) > 1:
        return []
    context, column = facts[0].context, facts[0].cell.column
    said = said_by(asked, context)
    if is_of_a_part(context.headings[-1:]) and not said & terms_of(context.headings[-1], context):
        return []
    # What sells best, if nothing else is said, is told by comparable sales, too.
    is_all_known = said <= with_alike(context) | terms_of(column, context)
    return _in_direction(asked, ranked_rows(facts)) if is_all_known else []


def _is_change(fact: TableFigure) -> bool:
    column = fact.cell.column
    return fact.figure.is_percent and (asks_for_change(column) or _COMPARABLE.search(column) is not None)


def changes_of_parts(asked: Superlative, table: Sequence[Context]) -> list[RankedRow]:
    """Return the parts of the total that the question names, by what each has grown or fallen by."""
    parts = parts_of_total(asked, table)
    if any(part.figure.is_percent for part in parts.figures):
        return []
    pairs = list(_with_before(asked, table, parts.figures))
    found = [_ranked(before, part, parts.proof) for before, part in pairs if before is not None]
    known = [each for each in found if each is not None]
    return _in_direction(asked, known) if len(known) == len(pairs) else []


def _with_before(
    asked: Superlative, table: Sequence[Context], parts: Sequence[TableFigure]
) -> Iterator[tuple[TableFigure | None, TableFigure]]:
    """Yield each part with its figure of the first year that the question names, or of the year before."""
    reading, words, named = reading_of(asked.question), words_of(asked.question), periods_in(asked.question)
    rows = {
        place: list(facts)
        for place, facts in groupby(
            table_figures(table, reading), key=lambda fact: (fact.context.rank, fact.row.start)
        )
    }
    for part in parts:
        year = max(part.years, default="")
        before = named[0] if len(named) > 1 else period_before(year) if year else ""
        of_row = rows[part.context.rank, part.row.start]
        earlier = [fact for fact in of_row if not fact.figure.is_percent and fact.years == {before}]
        yield only_sure(earlier, words), part


def _ranked(before: TableFigure, after: TableFigure, proof: frozenset[int]) -> RankedRow | None:
    written = formula(_GROWTH, [operand_of(before), operand_of(after)])
    if written is None:
        return None
    change = (after.figure.value - before.figure.value) / before.figure.value
    cells = [before.cell, after.cell]
    return RankedRow(after.context, after.row, cells, change, formula=written, proof=proof)


def _in_direction(asked: Superlative, rows: list[RankedRow]) -> list[RankedRow]:
    """Return rows if one of them went in the direction that is asked for: where all fell none grew most."""
    sign = -1 if asked.change is Direction.DOWN else 1
    return rows if any(sign * row.value > Decimal() for row in rows) else []
