"""Computes what a question asks for from figures of tables, as a formula whose operands are cited.

    “By what percentage did net revenue grow from 2022 to 2023?”
    ─▶ Net revenue, 2022 → 2023: (3,200 − 2,900) ÷ 2,900 = 10.3 % <source_1>

Refuses rather than guesses: the names of the rows must stand in the question, each year must have one column,
and whatever else the question says must be a heading, a column or the document's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.text.analysis import terms
from core.text.figures import Figure, figure_of
from core.text.tables import header_of, is_table
from search.contexts import Context
from search.generation.extractive.calculations import Calculation, CalculationKind, calculation_of
from search.generation.extractive.formulas import Operand, formula
from search.generation.extractive.statements import words_of
from search.generation.extractive.tables import FactCell, FactRow, rows_of
from search.generation.extractive.wording import escape_markdown

MOST_OPERANDS = 6
MOST_FACTS = 2000
"""So many figures are looked at."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(
    r"\b(?:jan|feb|mar|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*\.?\s\d{1,2}\b,?", re.IGNORECASE
)
_ABOUT_NOTHING = frozenset(
    terms(
        "fiscal year years quarter annual company report reported total value amount amounts balance expected"
        " number according compared comparison compare calculate compute relative respect period"
        " percentage points",
        "en",
    )
)
"""Words of a question that no row has to have."""

Measure = tuple[str, ...]
"""The terms of what a figure measures, in their order."""


@dataclass(frozen=True, slots=True)
class TableFigure:
    """A figure of a table: what it measures, of which years, and in which row it stands."""

    context: Context
    row: FactRow
    cell: FactCell
    name: str
    measure: Measure
    years: frozenset[str]
    figure: Figure


def computed(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the formula and the rows that it is computed from, as Markdown; nothing if none is sure."""
    asked = calculation_of(question)
    if asked is None:
        return []
    facts = list(_facts(contexts))
    operands = _operands(asked, question, facts)
    if operands is None or not _is_about(asked, question, operands):
        return []
    written = formula(asked, [_operand(fact) for fact in operands])
    if written is None:
        return []
    markers = "".join(f"<source_{rank}>" for rank in dict.fromkeys(fact.context.rank for fact in operands))
    return [f"- **{written}** {markers}\n", *_rows(operands)]


def _operand(fact: TableFigure) -> Operand:
    return Operand(fact.name, max(fact.years, default=""), fact.figure, fact.row.unit, fact.context.language)


def _rows(operands: Iterable[TableFigure]) -> Iterator[str]:
    """Yield the rows of the operands, each once, with the cells that count."""
    cells: dict[tuple[int, FactRow], list[FactCell]] = {}
    for fact in operands:
        cells.setdefault((fact.context.rank, fact.row), []).append(fact.cell)
    for (rank, row), some in cells.items():
        yield f"- {escape_markdown(row.rendered(some))} <source_{rank}>\n"


# --- Figures -----------------------------------------------------------------------------------------------


def _facts(contexts: Sequence[Context]) -> Iterator[TableFigure]:
    left = MOST_FACTS
    for context in (context for context in contexts if is_table(context.text)):
        for row in rows_of(context.text):
            for cell in row.cells:
                figure = figure_of(cell.value, context.language)
                if figure is not None and left > 0:
                    left -= 1
                    yield _fact(context, row, cell, figure)


def _fact(context: Context, row: FactRow, cell: FactCell, figure: Figure) -> TableFigure:
    """Return a figure by its row, of the years of its column; or the other way round, in turned tables."""
    years, name = frozenset(_YEAR.findall(cell.column)), row.name
    if not years and (years := frozenset(_YEAR.findall(row.name))):
        name = _YEAR.sub("", _DAY.sub("", row.name)).strip(" ,.:–-")
        name = name if terms(name, context.language) else cell.column
    return TableFigure(context, row, cell, name, tuple(terms(name, context.language)), years, figure)


# --- Operands ----------------------------------------------------------------------------------------------


def _operands(asked: Calculation, question: str, facts: Sequence[TableFigure]) -> list[TableFigure] | None:
    """Return the figures to compute with, in their order; None if any of them is missing or not sure."""
    measures = _named(question, facts, asked.cues)
    if not measures:
        return None
    if asked.kind is not CalculationKind.RATIO and (
        len(measures) == 1 or len(asked.years) > 1 or asked.is_yearly
    ):
        wanted = [(measures[0], year) for year in _years(asked, measures[0], facts)]
    else:
        if asked.before_whole is not None and not _named(asked.before_whole, facts, asked.cues):
            measures = measures[::-1]
        wanted = [(measure, asked.years[-1] if asked.years else "") for measure in measures]
    if not 2 <= len(wanted) <= MOST_OPERANDS or (
        len(wanted) > 2 and asked.kind not in (CalculationKind.SUM, CalculationKind.MEAN)
    ):
        return None
    words = words_of(question)
    of_one = [[fact for fact in facts if fact.context is context] for context in _contexts(facts)]
    for some in [*of_one, facts]:
        found = [_only([fact for fact in some if _is(fact, *each)], words) for each in wanted]
        operands = [fact for fact in found if fact is not None]
        if len(operands) == len(wanted):
            return operands
    return None


def _named(question: str, facts: Sequence[TableFigure], cues: str) -> list[Measure]:
    """Return what a question names, in its order; the longest names first take their words.

    “By what percentage did total revenue grow” does not name the row “Percentage of total revenue”.
    """
    places: dict[int, Measure] = {}
    taken: set[int] = set()
    known = {(fact.measure, fact.context.language) for fact in facts if fact.measure}
    for measure, language in sorted(known, key=lambda each: (-len(each[0]), each[0])):
        of_cues = frozenset(terms(cues, language))
        plain = tuple(term for term in measure if term not in of_cues)
        if plain != measure and (plain, language) in known:
            continue
        said = tuple(terms(question, language))
        for at in range(len(said) - len(measure) + 1):
            span = set(range(at, at + len(measure)))
            if said[at : at + len(measure)] == measure and not span & taken:
                taken |= span
                places[at] = measure
    return list(dict.fromkeys(places[at] for at in sorted(places)))


def _years(asked: Calculation, measure: Measure, facts: Sequence[TableFigure]) -> list[str]:
    """Return the years to compare, ascending: those named, with the one before if only one is."""
    years = list(asked.years)
    known = sorted({max(fact.years) for fact in facts if fact.measure == measure and len(fact.years) == 1})
    if len(years) == 1 and asked.kind in (CalculationKind.GROWTH, CalculationKind.DIFFERENCE):
        return [str(int(years[0]) - 1), *years]
    if not years and asked.is_yearly:
        return known[-2:]
    if len(years) == 2 and asked.kind in (CalculationKind.SUM, CalculationKind.MEAN):
        between = [str(year) for year in range(int(years[0]), int(years[1]) + 1)]
        return between if set(between) <= set(known) else years
    return years


def _contexts(facts: Sequence[TableFigure]) -> list[Context]:
    """Return the contexts of the facts, each once, best first."""
    return list({fact.context.rank: fact.context for fact in facts}.values())


def _is(fact: TableFigure, measure: Measure, year: str) -> bool:
    return fact.measure == measure and (fact.years == {year} if year else fact.cell is fact.row.cells[0])


def _only(facts: Sequence[TableFigure], words: frozenset[str]) -> TableFigure | None:
    """Return the fact whose column has most words of the question; None if several do, and differ."""
    shares = [len(words.intersection(re.findall(r"\w+", fact.cell.column.casefold()))) for fact in facts]
    best = [fact for fact, share in zip(facts, shares, strict=True) if share == max(shares)]
    is_sure = bool(best) and all(one.figure.value == other.figure.value for one, other in pairwise(best))
    return best[0] if is_sure else None


# --- Whether it is what was asked --------------------------------------------------------------------------


def _is_about(asked: Calculation, question: str, operands: Sequence[TableFigure]) -> bool:
    """Tell whether all the question says is said of the operands: of another company they say nothing."""
    if len({fact.row.unit for fact in operands}) > 1:
        return False
    return all(_says(fact, asked, operands) for fact in operands)


def _says(fact: TableFigure, asked: Calculation, operands: Sequence[TableFigure]) -> bool:
    context = fact.context
    about = [context.document_name, *context.headings, header_of(context.text), fact.cell.column]
    known = {*terms(" ".join(about), context.language), *_ABOUT_NOTHING}
    known.update(term for other in operands for term in other.measure)
    left = [term for term in terms(asked.rest, context.language) if term not in known]
    return all(any(map(str.isdigit, term)) for term in left)
