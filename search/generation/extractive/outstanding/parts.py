"""Rows that are parts of a total, in columns of years; and columns that are parts of one.

That they add up to it proves that none is missing, and that nothing else stands among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from core.text.tables import table_start
from search.contexts import Context
from search.generation.extractive.figures import (
    TableFigure,
    adding_up,
    only_sure,
    table_figures,
    with_period_above,
)
from search.generation.extractive.lines import NAMES, lines_named, plain_name
from search.generation.extractive.outstanding.ranked import RankedRow
from search.generation.extractive.outstanding.superlatives import Superlative
from search.generation.extractive.outstanding.words import (
    TOTAL,
    are_of_one_kind,
    known_around,
    said_by,
    terms_of,
    with_alike,
)
from search.generation.extractive.periods import periods_in, reading_of, words_of

_OF_TOTALS = "total net sum insgesamt gesamt summe netto ensemble suma neto"
"""Words of a total's name that do not tell of what."""
_OF_SHARES = "share percentage percent anteil prozent pourcentage proporción porcentaje"
_OF_SALES = "revenue sales turnover umsatz umsatzerlöse ventes ventas ingresos"


@dataclass(frozen=True, slots=True)
class Parts:
    """The figures of rows, and the ranks of the contexts that show that these are all."""

    figures: Sequence[TableFigure] = ()
    proof: frozenset[int] = frozenset()


def parts_of_total(asked: Superlative, table: Sequence[Context]) -> Parts:
    """Return the rows that add up to the row of which the question names a part, in the year it names."""
    facts = list(of_one_year(asked, table))
    for at, total in enumerate(facts):
        if not _is_named(asked, total, _captioned(total, table), total.cell.column):
            continue
        # Beside amounts stands what share of the total they are.
        alike = [fact for fact in facts[:at] if fact.figure.is_percent == total.figure.is_percent]
        parts = adding_up(alike, total)
        if parts and not any(map(_is_stray_total, parts)):
            return Parts(parts, frozenset(fact.context.rank for fact in [*parts, total]))
    return Parts(facts) if _are_all_shares(asked, facts) else Parts()


def _captioned(total: TableFigure, table: Sequence[Context]) -> Context:
    """Return the nearest context up to that of a row that has a caption, else the first.

    Tables of one note may follow each other below the same columns.
    """
    before = [context for context in table if context.rank <= total.context.rank]
    return next((each for each in reversed(before) if table_start(each.text)), table[0])


def _is_stray_total(part: TableFigure) -> bool:
    """Tell whether a row is a total, and not that of a section, as “Total Americas” below “Americas” is."""
    name, section = (terms_of(text, part.context) for text in (part.name, part.row.section))
    is_of_section = bool(section) and name - terms_of(_OF_TOTALS, part.context) == section
    return TOTAL.match(part.name) is not None and not is_of_section


def _are_all_shares(asked: Superlative, facts: Sequence[TableFigure]) -> bool:
    """Tell whether rows are shares of what the question names: they add up to 100 %."""
    left = 100 - sum((fact.figure.value for fact in facts), Decimal())
    if not facts or not all(fact.figure.is_percent for fact in facts) or abs(left) > len(facts) / 2:
        return False
    context = facts[0].context
    said = said_by(asked, context) - terms_of(_OF_SHARES, context)
    return said <= known_around(context) | terms_of(facts[0].cell.column, context)


def parts_in_columns(asked: Superlative, table: Sequence[Context]) -> list[RankedRow]:
    """Return the cells of the row that is named, beside their total, of the year named or else the last."""
    reading, wanted = reading_of(asked.question), set(periods_in(asked.question))
    found: list[Sequence[TableFigure]] = []
    for _, of_row in groupby(
        table_figures(table, reading), key=lambda fact: (fact.context.rank, fact.row.start)
    ):
        *parts, total = [with_period_above(fact, reading) for fact in of_row]
        parts = [fact for fact in parts if fact.figure.is_percent == total.figure.is_percent]
        if (
            TOTAL.match(total.cell.column)
            and _is_named(asked, total, total.context)
            and (not wanted or total.years == wanted)
            and parts
            and len(adding_up(parts, total)) == len(parts)
        ):
            found.append(parts)
    latest = max(found, key=lambda parts: max(parts[0].years, default=""), default=())
    return [
        RankedRow(part.context, part.row, [part.cell], part.figure.value, is_in_column=True)
        for part in latest
    ]


def _is_named(asked: Superlative, total: TableFigure, context: Context, column: str = "") -> bool:
    """Tell whether a question names a total, and all else that it says is said around the table.

    `context` is the one with the caption of the table. Who asks for assets does not mean the current assets.
    A line of a statement may have another name there. What grows fastest does so by its sales, if nothing
    else is said; shares need not be asked for as such.
    """
    plain, section = plain_name(total.name), total.row.section
    known = with_alike(context, section) | terms_of(f"{total.name} {column}", context)
    said, measure = said_by(asked, context), terms_of(total.name, context) - terms_of(_OF_TOTALS, context)
    # “The longest” is no number of anything.
    if asked.columns and not measure & terms_of(asked.columns, context):
        return False
    sales = measure & terms_of(_OF_SALES, context)
    for key, match in lines_named(asked.rest):
        if any(each.fullmatch(plain) for each in NAMES[key]):
            said = said - terms_of(match[0], context) | measure
        elif key == "revenue" and sales:
            said = said - terms_of(match[0], context) | sales
    if total.figure.is_percent:
        said -= terms_of(_OF_SHARES, context)
    is_mere = TOTAL.match(total.name) is not None or (total.figure.is_percent and total.figure.value == 100)
    is_cost = any(each.fullmatch(plain) for each in NAMES["cost"])
    is_of_sales = asked.change is not None and bool(sales) and not is_cost
    around = known_around(context) | terms_of(section, context)
    is_so_called = measure <= (said | around if is_of_sales else said) if measure else is_mere
    is_of_kind = are_of_one_kind(said_by(asked, context), terms_of(section, context))
    return is_so_called and is_of_kind and said <= known


def of_one_year(
    asked: Superlative, table: Sequence[Context], of_kind: Callable[[TableFigure], bool] = lambda _: True
) -> Iterator[TableFigure]:
    """Yield the figure of each row, of the year that the question names or else the last one."""
    facts = [fact for fact in table_figures(table, reading_of(asked.question)) if of_kind(fact)]
    named = periods_in(asked.question)
    latest = max((year for fact in facts for year in fact.years), default="")
    # A change is that to the last of the years that are named.
    year = set(named[-1:] if asked.change else named) or {latest}
    words = words_of(asked.question)
    for _, of_row in groupby(facts, key=lambda fact: (fact.context.rank, fact.row.start)):
        found = only_sure([fact for fact in of_row if fact.years == year], words)
        if found is not None:
            yield found
