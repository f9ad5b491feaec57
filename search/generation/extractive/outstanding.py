"""The row of a table that has the most, or the least, of what a question names.

    “Which city has the most inhabitants?”
    ─▶ **Castor · Inhabitants: 310,000** <source_1>
       Aldhaven · Inhabitants: 120,400 <source_1>      the next one, to compare

All rows count, not only those that were found: `search/companions.py` reads the whole table, and marks the
chunks that decide. Two kinds of tables are understood. In one each row is a thing, and a column is what the
question names. In the other each column is a year, and the rows are parts of a total: that they add up to it
proves that none is missing, and that nothing else stands among them. So do parts that are columns beside
their total. “In which year” compares the years of one row.

Refuses rather than guesses: what else the question says must be a heading, a column, the document's name, or
words of the row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from core.text.analysis import terms
from core.text.figures import figure_of
from core.text.tables import header_of, table_start
from search.contexts import Context
from search.generation.extractive.computing import rows_named
from search.generation.extractive.figures import (
    FEWEST_PARTS,
    TableFigure,
    adding_up,
    only_sure,
    table_figures,
    with_period_above,
)
from search.generation.extractive.lines import NAMES, lines_named, plain_name
from search.generation.extractive.periods import YEAR, periods_in, reading_of, words_of
from search.generation.extractive.superlatives import Superlative, superlative_of
from search.generation.extractive.tables import FactCell, FactRow, rows_of
from search.generation.extractive.wording import escape_markdown
from search.question_language import language_of

MOST_ROWS = 5000
MOST_ALIKE = 3
"""Rows that have equally much are all told, if they are so few."""

Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class RankedRow:
    """A row of a table, its cell that decides, and those that say what the question wants of it."""

    context: Context
    row: FactRow
    cells: Sequence[FactCell]
    value: Decimal
    is_in_column: bool = False
    """Whether the column is the thing, and not the row."""

    @property
    def name(self) -> str:
        """What the thing is called."""
        return self.cells[-1].column if self.is_in_column else self.row.name


_DAY = re.compile(r"(1\d{3}|20\d\d)(?:-(\d\d)(?:-(\d\d))?)?(?:[ T]\d\d:\d\d(?::\d\d)?)?")
"""A year, or a day as ISO 8601 writes it and as sheets hold it."""
_NOT_KNOWN = re.compile(r"n/?a|nan|null|none|unknown|k\. ?a\.|inconnue?|desconocid[oa]|\?", re.IGNORECASE)
_TALK = (
    "what which who name value number amount count figure total overall list table file data among year"
    " was reporting reportable fiscal"
    " welche welcher welches wer wert anzahl zahl menge insgesamt liste tabelle datei daten unter hoch jahr"
    " quel quelle quels quelles qui a plus moins nombre valeur tableau fichier données parmi année"
    " cuál qué quién tiene más menos número valor lista tabla archivo datos entre año"
)
"""What such a question may say besides."""
_PERIOD = re.compile(
    r"\bfy ?['’]?\d{2,4}\b|\bq[1-4]\b|\b(?:first|second|third|fourth) (?:quarter|half)\b"
    r"|\b(?:three|six|nine|twelve) months?\b",
    re.IGNORECASE,
)
_ASKS_FOR_YEAR = re.compile(r"\b(?:year|jahr|geschäftsjahr|année|exercice|año|ejercicio)\b", re.IGNORECASE)
_TOTAL = re.compile(
    r"\A\W*+(?:sub|grand |net )?+(?:total|sum|all|overall|average|mean|insgesamt|gesamt\w*+|summe|zusammen"
    r"|durchschnitt|ensemble|moyenne|suma|promedio)\b",
    re.IGNORECASE,
)
_OF_TOTALS = "total net sum insgesamt gesamt summe netto ensemble suma neto"
"""Words of a total's name that do not tell of what."""
_ALIKE = [
    frozenset(terms(words, "en"))
    for words in (
        "geographic geography geographical region area country territory",
        "segment division unit",
        "product category line offering",
    )
]
"""Words for the same kind of parts: tables of “geographical information” are of regions."""
_OF_SHARES = "share percentage percent anteil prozent pourcentage proporción porcentaje"
_CURRENCIES = frozenset("$€£¥")
_OF_FIGURE = re.compile(r"[\d.,'’\s()−–-]+")


def outstanding(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the row that has most and the next one, as Markdown; nothing if it is not sure."""
    asked = superlative_of(question)
    decisive = [context for context in contexts if context.is_decisive]
    if asked is None or not decisive:
        return []
    ranked = best_rows(asked, decisive)
    return [_item(each, is_best=each.value == ranked[0].value) for each in ranked]


def _item(ranked: RankedRow, *, is_best: bool) -> str:
    text, emphasis = escape_markdown(ranked.row.rendered(ranked.cells)), "**" if is_best else ""
    return f"- {emphasis}{text}{emphasis} <source_{ranked.context.rank}>\n"


def best_rows(asked: Superlative, table: Sequence[Context]) -> list[RankedRow]:
    """Return the rows that have most, and the next one; nothing if it is not sure.

    `table` holds the parts of one table in their order.
    """
    if not table:
        return []
    ranked = sorted(
        _records(asked, table)
        or _years_of_row(asked, table)
        or _parts_of_total(asked, table)
        or _parts_in_columns(asked, table),
        key=lambda each: each.value,
        reverse=asked.is_most,
    )
    first = [each for each in ranked if each.value == ranked[0].value]
    is_clear = len(ranked) >= FEWEST_PARTS and len(first) <= MOST_ALIKE
    return ranked[: len(first) + 1] if is_clear else []


# --- Tables of things --------------------------------------------------------------------------------------


def _records(asked: Superlative, table: Sequence[Context]) -> list[RankedRow]:
    """Return the rows that the question is about, with the cell of the column that it names."""
    rows = [
        (context, row) for context in table for row in rows_of(context.text) if not _TOTAL.match(row.name)
    ][: MOST_ROWS + 1]
    columns = list(dict.fromkeys(cell.column for _, row in rows for cell in row.cells))
    if len(rows) > MOST_ROWS:
        return []
    column = _column_of(asked, table[0], columns, rows)
    if column is None:
        return []
    left = _said(asked, table[0]) - _known(table[0]) - _terms(column, table[0])
    return [
        RankedRow(context, row, [*_saying(left, row, context), cell], value)
        for context, row in rows
        if not left or left <= _terms(" ".join([row.name, *(each.value for each in row.cells)]), context)
        for cell in row.cells
        if cell.column == column and (value := _value(asked, cell.value, context)) is not None
    ]


def _saying(words: Words, row: FactRow, context: Context) -> list[FactCell]:
    """Return the cells of a row that say some of these words."""
    return [cell for cell in row.cells if words & _terms(cell.value, context)] if words else []


def _column_of(
    asked: Superlative,
    context: Context,
    columns: Sequence[str],
    rows: Sequence[tuple[Context, FactRow]],
) -> str | None:
    """Return the column that the question names, or the only one that it may mean; None if it is not sure."""
    said, of_adjective = _said(asked, context) | asked.years, _terms(asked.columns, context)
    names = {column: _terms(plain_name(column), context) for column in columns}
    if of_adjective:
        named = [column for column, name in names.items() if name & of_adjective]
    else:
        named = [column for column, name in names.items() if name - asked.years and name <= said]
    # Years are no amounts, unless the question names their column.
    others = [column for column in columns if not (of_adjective or named or YEAR.search(column))]
    fitting = [
        column
        for column in named or others
        if (values := [cell.value for _, row in rows for cell in row.cells if cell.column == column])
        and _can_be_compared(asked, values, context)
        and (named or asked.is_of_time or not all(map(_DAY.fullmatch, values)))
    ]
    longest = max((len(names[column]) for column in fitting), default=0)
    best = [column for column in fitting if len(names[column]) == longest]
    return best[0] if len(best) == 1 else None


def _can_be_compared(asked: Superlative, values: Sequence[str], context: Context) -> bool:
    """Tell whether all cells of a column have a value, in one unit: 3 kg are not more than 500 g."""
    given = [value for value in values if not _NOT_KNOWN.fullmatch(value)]
    units = set() if asked.is_of_time else {_OF_FIGURE.sub("", value).casefold() for value in given}
    # Many tables have the sign of the currency in the first row only.
    is_one_unit = len(units - {""} if units & _CURRENCIES else units) <= 1
    return is_one_unit and all(_value(asked, value, context) is not None for value in given)


def _value(asked: Superlative, text: str, context: Context) -> Decimal | None:
    """Return the amount in a cell; if the question is about time, its day as YYYYMMDD."""
    if asked.is_of_time:
        day = _DAY.fullmatch(text.strip())
        return Decimal("".join(part or "00" for part in day.groups())) if day else None
    figure = figure_of(text, context.language)
    return figure.value if figure else None


# --- Years -------------------------------------------------------------------------------------------------


def _years_of_row(asked: Superlative, table: Sequence[Context]) -> list[RankedRow]:
    """Return the figures of the row that the question names, one for each year."""
    if not _ASKS_FOR_YEAR.search(asked.question):
        return []
    facts = [fact for fact in table_figures(table) if len(fact.years) == 1]
    named = rows_named(asked.rest, facts)
    of_row = [fact for fact in facts if [fact.measure] == named]
    if len({fact.years for fact in of_row}) < len(of_row):
        return []
    return [
        RankedRow(fact.context, fact.row, [fact.cell], fact.figure.value)
        for fact in of_row
        if _said(asked, fact.context) <= _known(fact.context) | {*fact.measure, *_of_lines(asked)}
    ]


def _of_lines(asked: Superlative) -> Iterator[str]:
    """Yield the words that name a line of a statement, which may be called otherwise there."""
    for _, match in lines_named(asked.rest):
        yield from terms(match[0], language_of(asked.question))


# --- Parts of a total --------------------------------------------------------------------------------------


def _parts_of_total(asked: Superlative, table: Sequence[Context]) -> list[RankedRow]:
    """Return the rows that add up to the row of which the question names a part, in the year it names."""
    facts = list(_of_one_year(asked, table))
    for at, total in enumerate(facts):
        if not _is_total_of(asked, total):
            continue
        # Beside amounts stands what share of the total they are.
        alike = [fact for fact in facts[:at] if fact.figure.is_percent == total.figure.is_percent]
        parts = adding_up(alike, total)
        if parts and not any(_TOTAL.match(part.name) for part in parts):
            return _rows(parts)
    return _rows(facts) if _are_all_shares(asked, facts) else []


def _rows(parts: Sequence[TableFigure]) -> list[RankedRow]:
    return [RankedRow(part.context, part.row, [part.cell], part.figure.value) for part in parts]


def _are_all_shares(asked: Superlative, facts: Sequence[TableFigure]) -> bool:
    """Tell whether rows are shares of what the question names: they add up to 100 %."""
    left = 100 - sum((fact.figure.value for fact in facts), Decimal())
    if not facts or not all(fact.figure.is_percent for fact in facts) or abs(left) > len(facts) / 2:
        return False
    context = facts[0].context
    said = _said(asked, context) - _terms(_OF_SHARES, context)
    return said <= _known(context) | _terms(facts[0].cell.column, context)


def _parts_in_columns(asked: Superlative, table: Sequence[Context]) -> list[RankedRow]:
    """Return the cells of the row that is named, beside their total, of the year named or else the last."""
    reading, wanted = reading_of(asked.question), set(periods_in(asked.question))
    found: list[Sequence[TableFigure]] = []
    for _, of_row in groupby(
        table_figures(table, reading), key=lambda fact: (fact.context.rank, fact.row.start)
    ):
        *parts, total = [with_period_above(fact, reading) for fact in of_row]
        parts = [fact for fact in parts if fact.figure.is_percent == total.figure.is_percent]
        if (
            _TOTAL.match(total.cell.column)
            and _is_named(asked, total.name, total.context)
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


def _is_total_of(asked: Superlative, total: TableFigure) -> bool:
    """Tell whether a row is the total of what the question names: not of the current assets, if of assets."""
    return _is_named(asked, total.name, total.context, total.cell.column)


def _is_named(asked: Superlative, name: str, context: Context, column: str = "") -> bool:
    """Tell whether a question names a row, and all else that it says is said around the table.

    A line of a statement may have another name there.
    """
    said, measure = _said(asked, context), _terms(name, context) - _terms(_OF_TOTALS, context)
    for key, match in lines_named(asked.rest):
        if any(each.fullmatch(plain_name(name)) for each in NAMES[key]):
            said = said - _terms(match[0], context) | measure
    is_named = measure <= said if measure else _TOTAL.match(name) is not None
    return is_named and said <= _with_alike(_known(context)) | measure | _terms(column, context)


def _with_alike(words: Words) -> Words:
    return words.union(*(alike for alike in _ALIKE if words & alike))


def _of_one_year(asked: Superlative, table: Sequence[Context]) -> Iterator[TableFigure]:
    """Yield the figure of each row, of the year that the question names or else the last one."""
    facts = list(table_figures(table, reading_of(asked.question)))
    year = set(periods_in(asked.question)) or {
        max((year for fact in facts for year in fact.years), default="")
    }
    words = words_of(asked.question)
    for _, of_row in groupby(facts, key=lambda fact: (fact.context.rank, fact.row.start)):
        found = only_sure([fact for fact in of_row if fact.years == year], words)
        if found is not None:
            yield found


# --- Words -------------------------------------------------------------------------------------------------


def _said(asked: Superlative, context: Context) -> Words:
    """Return what the question says besides, but for its periods."""
    said = _terms(_PERIOD.sub(" ", asked.rest), context) - _terms(_TALK, context)
    return frozenset(term for term in said if term not in asked.years)


def _known(context: Context) -> Words:
    """Return the words around a table: headings, caption, columns, and the document's name."""
    above = context.text[: table_start(context.text)]
    return _terms(
        " ".join([context.document_name, *context.headings, above, header_of(context.text)]), context
    )


def _terms(text: str, context: Context) -> Words:
    return frozenset(terms(text, context.language))
