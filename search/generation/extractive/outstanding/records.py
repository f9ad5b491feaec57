"""Tables in which each row is a thing, and a column is what the question names; and turned ones.

|        | Trek 700 | Pico 600 |
| Weight | 8.2 kg   | 6.4 kg   |      “Which is the lightest?”
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from core.text.analysis import terms
from core.text.figures import CURRENCIES, figure_of, unit_of
from search.contexts import Context
from search.generation.extractive.lines import plain_name
from search.generation.extractive.outstanding.ranked import RankedRow
from search.generation.extractive.outstanding.superlatives import Superlative
from search.generation.extractive.outstanding.words import (
    TOTAL,
    Words,
    known_around,
    said_by,
    terms_of,
    words_of_question,
)
from search.generation.extractive.periods import YEAR
from search.generation.extractive.tables import FactCell, FactRow, naming_column, rows_of

MOST_ROWS = 5000
_DAY = re.compile(r"(1\d{3}|20\d\d)(?:-(\d\d)(?:-(\d\d))?)?(?:[ T]\d\d:\d\d(?::\d\d)?)?")
"""A year, or a day as ISO 8601 writes it and as sheets hold it."""
_NOT_KNOWN = re.compile(r"n/?a|nan|null|none|unknown|k\. ?a\.|inconnue?|desconocid[oa]|\?", re.IGNORECASE)
_MONEY = re.compile(r"[$€£¥]|\b(?:EUR|GBP|USD|CHF)\b")
"""In the name of a column: “Bottle (€)” is what a bottle costs."""
_CUT = re.compile(r"[,;:]")
"""“Noise, dB(A)” is the noise."""
_OF_LIMITS = frozenset(terms("max maximum min minimum maximal minimal", "en"))
"""What the name of a row says of limits, and a question need not."""
_OF_THINGS = frozenset(
    terms("two three four five six seven model product device variant tolerate accept allow take cope", "en")
)
"""What a question about the things of a table may say besides."""


def records(asked: Superlative, table: Sequence[Context]) -> list[RankedRow]:
    """Return the rows that the question is about, with the cell of the column that it names."""
    rows = [
        (context, row) for context in table for row in rows_of(context.text) if not TOTAL.match(row.name)
    ][: MOST_ROWS + 1]
    columns = list(dict.fromkeys(cell.column for _, row in rows for cell in row.cells))
    if len(rows) > MOST_ROWS:
        return []
    column = _column_of(asked, table[0], columns, rows)
    if column is None:
        return []
    left = said_by(asked, table[0]) - known_around(table[0]) - terms_of(column, table[0])
    naming = naming_column([row for _, row in rows], table[0].language)
    return [
        RankedRow(context, row, [*_telling(naming, left, row, context, cell), cell], value)
        for context, row in rows
        if not left or left <= terms_of(" ".join([row.name, *(each.value for each in row.cells)]), context)
        for cell in row.cells
        if cell.column == column and (value := _value(asked, cell.value, context)) is not None
    ]


def records_in_columns(asked: Superlative, table: Sequence[Context]) -> list[RankedRow]:
    """Return the cells of the row that the question names, where each column is a thing and no period."""
    rows = [(context, row) for context in table for row in rows_of(context.text)][: MOST_ROWS + 1]
    things = list(dict.fromkeys(cell.column for _, row in rows for cell in row.cells))
    if (
        len(rows) > MOST_ROWS
        or not all(things)
        or any(YEAR.search(each) or TOTAL.match(each) for each in things)
    ):
        return []
    name = _row_of(asked, rows)
    if name is None:
        return []
    context, row = next(each for each in rows if each[1].name == name)
    left = said_by(asked, context) - known_around(table[0]) - terms_of(name, context) - _OF_THINGS
    values = [(cell, _value(asked, cell.value, context)) for cell in row.cells]
    return [
        RankedRow(context, row, [cell], value, is_in_column=True)
        for cell, value in values
        if not left and value is not None
    ]


def _row_of(asked: Superlative, rows: Sequence[tuple[Context, FactRow]]) -> str | None:
    """Return the row that the question names, or its adjective does, if it is sure and has one unit."""
    if asked.is_of_time:
        return None
    named = []
    for context, row in rows:
        said, of_adjective = said_by(asked, context), terms_of(asked.columns, context)
        labels = (row.name, _CUT.split(row.name)[0])
        names = [terms_of(plain_name(label), context) - _OF_LIMITS for label in labels]
        is_named = any(name & of_adjective if of_adjective else name and name <= said for name in names)
        if is_named and _can_be_compared(asked, [cell.value for cell in row.cells], context):
            named.append(row.name)
    return named[0] if len(named) == 1 else None


def _telling(naming: str, words: Words, row: FactRow, context: Context, decisive: FactCell) -> list[FactCell]:
    """Return the cells of a row, beside the decisive one, that name it behind its code or say some words."""
    others = [cell for cell in row.cells if cell is not decisive]
    return [
        cell for cell in others if (naming and cell.column == naming) or words & terms_of(cell.value, context)
    ]


def _column_of(
    asked: Superlative,
    context: Context,
    columns: Sequence[str],
    rows: Sequence[tuple[Context, FactRow]],
) -> str | None:
    """Return the column that the question names, or the only one that it may mean; None if it is not sure."""
    said, of_adjective = words_of_question(asked, context) | asked.years, terms_of(asked.columns, context)
    names = {column: terms_of(plain_name(column), context) for column in columns}
    if of_adjective:
        named = [column for column, name in names.items() if name & of_adjective]
        if not named and asked.is_of_money:
            of_money = [column for column in columns if _MONEY.search(column)]
            named = [column for column in of_money if names[column] & said] or of_money
    else:
        named = [column for column, name in names.items() if name - asked.years and name <= said]
    # Years are no amounts, unless the question names their column.
    others = [column for column in columns if not (of_adjective or named or YEAR.search(column))]
    fitting = [
        column
        for column in named or ([] if asked.needs_name else others)
        if (values := [cell.value for _, row in rows for cell in row.cells if cell.column == column])
        and _can_be_compared(asked, values, context)
        and (named or asked.is_of_time or not all(map(_DAY.fullmatch, values)))
    ]
    longest = max((len(names[column]) for column in fitting), default=0)
    best = [column for column in fitting if len(names[column]) == longest or not named]
    return best[0] if len(best) == 1 else None


def _can_be_compared(asked: Superlative, values: Sequence[str], context: Context) -> bool:
    """Tell whether all cells of a column have a value, in one unit: 3 kg are not more than 500 g."""
    given = [value for value in values if not _NOT_KNOWN.fullmatch(value)]
    units = set() if asked.is_of_time else {unit_of(value).casefold() for value in given}
    # Many tables have the sign of the currency in the first row only.
    is_one_unit = len(units - {""} if units & CURRENCIES else units) <= 1
    return is_one_unit and all(_value(asked, value, context) is not None for value in given)


def _value(asked: Superlative, text: str, context: Context) -> Decimal | None:
    """Return the amount in a cell; if the question is about time, its day as YYYYMMDD."""
    if asked.is_of_time:
        day = _DAY.fullmatch(text.strip())
        return Decimal("".join(part or "00" for part in day.groups())) if day else None
    figure = figure_of(text, context.language)
    return figure.value if figure else None
