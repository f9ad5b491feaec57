"""The figures of tables: each with what it measures, of which years, and where it stands."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from core.text.analysis import terms
from core.text.figures import Figure, figure_of
from core.text.tables import header_of, is_table, table_start
from search.contexts import Context
from search.generation.extractive.calculations import asks_for_change
from search.generation.extractive.lines import holds_balances, is_balance
from search.generation.extractive.periods import (
    YEAR,
    PeriodReading,
    part_of,
    period_before,
    periods_in,
    periods_of,
    words_of_column,
)
from search.generation.extractive.tables import PER_SHARE, FactCell, FactRow, is_rest_of_rounding, rows_of
from search.generation.extractive.wording import escape_markdown

MOST_FACTS = 2000
"""So many figures are looked at."""
MOST_PERIODS = 3
_DAY = re.compile(
    r"\b(?:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*\.?\s\d{1,2}\b,?", re.IGNORECASE
)

_TOTAL = re.compile(r"total\s", re.IGNORECASE)
_OF_SHARES = re.compile(
    r"\b(?:percentages? of|per ?cent of|in prozent|pourcentages?|porcentajes?)\b", re.IGNORECASE
)
_WHOLE = re.compile(r"\| *100(?:[.,]0+)? *%? *\|")
_OF_STOCK = frozenset(("share", "eps", "aktie", "action", "acción"))
_OF_WHICH = re.compile(
    r"\W{0,3}(?:\w\) ?)?(?:includes?|including|of which|thereof|davon|darin enthalten|dont|de los cuales)\b",
    re.IGNORECASE,
)
"""Begins the name of a section whose rows are parts of rows above that are called like them."""

Name = tuple[str, ...]
"""The terms of what a figure measures, in their order."""


@dataclass(frozen=True, slots=True)
class TableFigure:
    """A figure of a table: what it measures, of which years or other periods, and in which row it stands."""

    context: Context
    row: FactRow
    cell: FactCell
    name: str
    measure: Name
    years: frozenset[str]
    figure: Figure
    said: frozenset[str]
    """The words of its column."""

    @property
    def period(self) -> str:
        """Its period in the table's own words, which can be quoted: its year, or the name of its column."""
        period = max(self.years, default="")
        is_there = not period or period in f"{self.cell.column} {self.row.name}"
        return period if is_there else self.cell.column


def table_figures(
    contexts: Sequence[Context], reading: PeriodReading = PeriodReading.YEARS
) -> Iterator[TableFigure]:
    """Yield the figures of all tables, in reading order, with their periods as the question names them."""
    left = MOST_FACTS
    for context in (context for context in contexts if is_table(context.text)):
        are_shares = holds_shares(context.text, context.introduction)
        for row in rows_of(context.text):
            for cell in row.cells:
                figure = figure_of(cell.value, context.language)
                if figure is not None and left > 0:
                    left -= 1
                    figure = replace(figure, is_percent=True) if are_shares else figure
                    yield _fact(context, row, cell, figure, reading)


def holds_shares(text: str, introduction: str = "") -> bool:
    """Tell whether a table says that its figures are shares of one of them: many mark that one alone."""
    above = text[: table_start(text)] or introduction
    return _OF_SHARES.search(above) is not None and _WHOLE.search(text) is not None


def by_table(facts: Iterable[TableFigure]) -> list[list[TableFigure]]:
    """Return figures by the table that they stand in, all parts of it together, in the order of the first.

    What stands in one document below the same headings with the same header is one table.
    """
    tables: defaultdict[tuple[object, ...], list[TableFigure]] = defaultdict(list)
    for fact in facts:
        context = fact.context
        document = getattr(context, "document_id", context.document_name)
        tables[document, context.headings, header_of(context.text) or context.rank].append(fact)
    return list(tables.values())


def _fact(
    context: Context, row: FactRow, cell: FactCell, figure: Figure, reading: PeriodReading
) -> TableFigure:
    """Return a figure by its row, of the years of its column; or the other way round, in turned tables."""
    years, name = periods_of(cell.column, reading, context.calendar), row.name
    if not YEAR.search(cell.column) and (years := periods_of(row.name, reading, context.calendar)):
        name = YEAR.sub("", _DAY.sub("", row.name)).strip(" ,.:–-")
        name = name if terms(name, context.language) else cell.column
    said = words_of_column(cell.column, reading, context.calendar)
    return TableFigure(context, row, cell, name, tuple(terms(name, context.language)), years, figure, said)


def with_period_above(fact: TableFigure, reading: PeriodReading) -> TableFigure:
    """Return a figure whose column has no period with that of the row above it: “Fiscal 2022”."""
    section, calendar = fact.row.section, fact.context.calendar
    if fact.years or not section:
        return fact
    row = replace(fact.row, name=f"{section} · {fact.row.name}")
    said = fact.said | words_of_column(section, reading, calendar)
    return replace(fact, row=row, years=periods_of(section, reading, calendar), said=said)


def without_changes(facts: Iterable[TableFigure]) -> list[TableFigure]:
    """Return the facts but what balances have changed by, which is called like the balances.

    Shares are left out, too, where the amounts of the same name are there; and so are parts of them.
    """
    known = [
        fact
        for fact in facts
        if not _OF_WHICH.match(fact.row.section)
        and (holds_balances(fact.context.headings, fact.cell.column) or not is_balance(fact.name))
    ]
    amounts = {(fact.context.document_name, fact.measure) for fact in known if not fact.figure.is_percent}
    return [
        fact
        for fact in known
        if not fact.figure.is_percent or (fact.context.document_name, fact.measure) not in amounts
    ]


def only_sure(facts: Sequence[TableFigure], words: frozenset[str]) -> TableFigure | None:
    """Return the fact whose column and section the question names best; None if it names several that differ.

    Beside amounts stand shares of the total in columns of the same name, and below them, in rows of the same
    name, what each share of stock has of them; those are not meant.
    """
    facts = [fact for fact in facts if not fact.figure.is_percent] or facts
    if _OF_STOCK.isdisjoint(words):
        facts = [fact for fact in facts if not PER_SHARE.search(fact.row.section)] or facts
    shares = [len(words & fact.said) + _words_of_section(fact, words) for fact in facts]
    best = [fact for fact, share in zip(facts, shares, strict=True) if share == max(shares)]
    is_sure = bool(best) and all(one.figure.value == other.figure.value for one, other in pairwise(best))
    return best[0] if is_sure else None


def sure_figure(facts: Sequence[TableFigure], words: frozenset[str]) -> TableFigure | None:
    """Return the figure of the first table that has it in one column."""
    for _, beside in groupby(facts, lambda fact: fact.context.rank):
        if (found := only_sure(list(beside), words)) is not None:
            return found
    return None


def periods_to_try(question: str, facts: Sequence[TableFigure]) -> Iterator[list[str]]:
    """Yield the years to try: those of a question, with the one before for a change; or the last ones."""
    named = periods_in(question)
    if named:
        is_compared = len(named) == 1 and asks_for_change(question)
        yield [*([period_before(named[0])] if is_compared else []), *named][-MOST_PERIODS:]
        return
    part = part_of(question)
    known = {max(fact.years) for fact in facts if fact.years and max(fact.years)[5:] == part}
    for year in sorted(known, reverse=True)[:MOST_PERIODS]:
        if asks_for_change(question):
            yield [period_before(year), year]
        yield [year]


def measured_by(part: TableFigure, facts: Iterable[TableFigure]) -> Iterator[str]:
    """Yield what may say of what a row is a part: its section, the total below it, its table's heading."""
    yield part.row.section
    yield next(
        (
            fact.row.name
            for fact in facts
            if fact.context is part.context
            and fact.row.start > part.row.start
            and fact.row.section == part.row.section
            and _TOTAL.match(fact.row.name)
        ),
        "",
    )
    yield part.context.headings[-1] if part.context.headings else ""


def adding_up(before: Sequence[TableFigure], total: TableFigure) -> Sequence[TableFigure]:
    """Return the rows right above a row that add up to it, but for what rounding takes."""
    left = total.figure.value
    for count, part in enumerate(reversed(before), start=1):
        left -= part.figure.value
        if is_rest_of_rounding(left, total.figure.value, count):
            return before[-count:]
    return ()


def _words_of_section(fact: TableFigure, words: frozenset[str]) -> int:
    """Return how many words the section of a row has, if the question has them all."""
    section = frozenset(re.findall(r"\w+", fact.row.section.casefold()))
    return len(section) if section <= words else 0


def rows_behind(operands: Iterable[TableFigure]) -> Iterator[str]:
    """Yield the rows of the operands, each once, with the cells that count."""
    cells: dict[tuple[int, FactRow], list[FactCell]] = {}
    for fact in operands:
        cells.setdefault((fact.context.rank, fact.row), []).append(fact.cell)
    for (rank, row), some in cells.items():
        yield f"- {escape_markdown(row.rendered(some))} <source_{rank}>\n"
