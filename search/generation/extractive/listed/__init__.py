"""What is worked out between things that a table lists, in its rows or in its columns.

    “How many points better is GateLite than LoRA on RailAxle?”

    | Method   | TurbineLog | RailAxle |
    | LoRA     | 72.8       | 65.7     |
    | GateLite | 75.0       | 70.8     |   ─▶   GateLite − LoRA, RailAxle: 70.8 − 65.7 = 5.1 <source_1>

    asked ─▶ what is to be computed       axes ─▶ a table as it stands, and turned
    naming ─▶ which things and which measure a question means

The things may be called anything: models, versions, towns, years. What is said of companies and their periods
is computed elsewhere (`computing.py`, `cell_answers.py`).

Refuses rather than guesses: the question must name the things, and one row or column in which each has one
figure, all in one unit. All else but one word must be said in the table or around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.text.figures import CURRENCIES, unit_of
from search.contexts import Context
from search.generation.extractive.calculations import (
    Calculation,
    CalculationKind,
    asks_for_difference,
)
from search.generation.extractive.cell_answers import wants_figure
from search.generation.extractive.computing import formula_and_rows, operand_of
from search.generation.extractive.figures import TableFigure, rows_behind
from search.generation.extractive.formulas import Operand
from search.generation.extractive.lines import lines_named
from search.generation.extractive.listed.asked import calculation_between_things, is_behind_than
from search.generation.extractive.listed.axes import Axis, axes_of
from search.generation.extractive.listed.naming import (
    MeasureMeant,
    as_table_says,
    left_unsaid,
    measure_meant,
    things_meant,
    things_named,
    words_said,
)
from search.generation.extractive.named_cells import NoteTable, note_tables
from search.generation.extractive.outstanding.words import TOTAL
from search.generation.extractive.periods import PeriodReading, is_of_period
from search.generation.extractive.yes_no import wants_yes_or_no

MOST_THINGS = 12
_BEHIND = re.compile(r"\(([^()\s]{1,20})\)\W*\Z")


@dataclass(frozen=True, slots=True)
class FigureOfThing:
    """A figure with the thing that it is of, and what is measured."""

    thing: str
    measure: str
    fact: TableFigure


@dataclass(frozen=True, slots=True)
class TableReading:
    """What a question may mean in a table; `said` counts its words that are said of that, less the others."""

    figures: Sequence[FigureOfThing]
    said: int


def answer_by_things(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the formula and the rows that it is computed from, as Markdown; nothing if it is not sure."""
    asked = None if wants_yes_or_no(question) else calculation_between_things(question)
    if asked is None:
        return []
    found = [
        reading
        for table in _tables(question, contexts, is_compared=asked.is_yearly)
        for reading in _readings(asked, question, table)
    ]
    most = max((reading.said for reading in found), default=0)
    best = [reading.figures for reading in found if reading.said == most]
    is_sure = len({tuple(each.fact.cell.value for each in figures) for figures in best}) == 1
    # Where rows and columns of one table are things, a part is one of the rows.
    is_share = asked.kind is CalculationKind.RATIO and len({each[0].fact.context.rank for each in best}) == 1
    return formula_and_rows(asked, *_operands(asked, best[0])) if is_sure or is_share else []


def answer_by_thing(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the one cell whose row and column a question names, as Markdown; nothing if it is not sure."""
    is_computed = calculation_between_things(question) is not None or asks_for_difference(question)
    if wants_yes_or_no(question) or not wants_figure(question) or is_computed:
        return []
    found = [reading for table in _tables(question, contexts) for reading in _cells_named(question, table)]
    most = max((reading.said for reading in found), default=0)
    best = [figure.fact for reading in found if reading.said == most for figure in reading.figures]
    is_sure = len({fact.cell.value for fact in best}) == 1
    return [row.removeprefix("- ") for row in rows_behind(best[:1])] if is_sure else []


def _tables(question: str, contexts: Sequence[Context], *, is_compared: bool = False) -> list[NoteTable]:
    """Return the first tables, without the figures of other periods than the one that a question names.

    They are needed where it is compared with the year before. Nor are there figures of another line than the
    question names: “Revenue by segment” has no operating income.
    """
    lines = _lines_in(question)

    def is_meant(fact: TableFigure) -> bool:
        labels, calendar = (fact.cell.column, fact.row.section), fact.context.calendar
        is_of_it = is_compared or all(is_of_period(question, label, calendar) for label in labels)
        of_lines = _lines_in(" · ".join([fact.row.name, *labels, *fact.context.headings[-1:]]))
        return is_of_it and not (lines and of_lines and lines.isdisjoint(of_lines))

    return note_tables(contexts, PeriodReading.YEARS, is_meant)


@lru_cache(maxsize=512)
def _lines_in(text: str) -> frozenset[str]:
    return frozenset(key for key, _ in lines_named(text))


def _cells_named(question: str, table: NoteTable) -> Iterator[TableReading]:
    question = as_table_says(question, table)
    by_rows, by_columns = axes_of(table)
    things, measures = things_named(question, by_rows), things_named(question, by_columns)
    if len(things) != 1 or len(measures) != 1:
        return
    thing, measure = things[0], MeasureMeant(measures[0], is_said=True)
    facts = by_rows.figures.get((thing, measure.label), [])
    left = left_unsaid(question, "", by_rows, things, measure)
    if len(facts) == 1 and left is not None:
        figure = FigureOfThing(thing, measure.label, facts[0])
        yield TableReading([figure], words_said(question, by_rows, [thing, measure.label]) - left)


def _readings(asked: Calculation, question: str, table: NoteTable) -> Iterator[TableReading]:
    """Yield each way to read a table that is sure, with the figures to compute with in their order."""
    question = as_table_says(question, table)
    for axis in axes_of(table):
        for things in things_meant(asked, question, axis):
            measure = measure_meant(question, axis, things)
            if measure is None:
                continue
            if asked.kind is CalculationKind.RATIO and not _are_shares(axis, measure.label):
                # Columns side by side are seldom parts of anything, if no total says so.
                is_of_whole = asked.before_whole is not None and not axis.is_turned
                things = [*things, *_whole(axis, measure.label, things[0], is_sum=is_of_whole)]
            of_each = [axis.figures.get((thing, measure.label), []) for thing in things]
            if not 1 < len(things) <= MOST_THINGS + 1 or any(len(of) != 1 for of in of_each):
                continue
            figures = [
                FigureOfThing(thing, measure.label, of) for thing, (of,) in zip(things, of_each, strict=True)
            ]
            left = left_unsaid(question, asked.cues, axis, things, measure)
            if left is not None and _are_alike(figures):
                yield TableReading(figures, words_said(question, axis, [*things, measure.label]) - left)
                break


def _are_shares(axis: Axis, measure: str) -> bool:
    """Tell whether what is measured are shares already."""
    return any(
        fact.figure.is_percent for (_, each), of in axis.figures.items() if each == measure for fact in of
    )


def _are_alike(figures: Sequence[FigureOfThing]) -> bool:
    """Tell whether figures have one unit, in their cells or behind the names of all things.

    Many tables have the sign of the currency in the first row only.
    """
    behind = [match[1] if (match := _BEHIND.search(each.thing)) else "" for each in figures]
    units = {unit_of(each.fact.cell.value).casefold() for each in figures}
    is_one_unit = len(units - {""} if units & CURRENCIES else units) == 1
    return is_one_unit and (len(set(behind)) == 1 or not all(behind))


def _whole(axis: Axis, measure: str, part: str, *, is_sum: bool) -> list[str]:
    """Return the total of which a thing is a part, or all things where there is none; else nothing."""
    if TOTAL.match(part):
        return []
    totals = [each for each in axis.all_things if TOTAL.match(each) and (each, measure) in axis.figures]
    return totals if len(totals) == 1 else axis.things if is_sum and not totals else []


def _operands(
    asked: Calculation, figures: Sequence[FigureOfThing]
) -> tuple[list[Operand], list[TableFigure]]:
    """Return operands as formulas take them, in their order, and the figures that they are."""
    if asked.kind is CalculationKind.GROWTH:
        figures = _from_base(asked.rest, figures)
    are_years = all(each.thing.isdigit() for each in figures)
    is_of_things = asked.kind is CalculationKind.RATIO or (
        asked.kind is CalculationKind.DIFFERENCE and not are_years
    )
    operands = [
        Operand(
            each.thing if is_of_things else each.measure,
            each.measure if is_of_things else each.thing,
            operand_of(each.fact).figure,
            each.fact.row.unit or unit_of(each.fact.cell.value).strip("%$€£¥"),
            each.fact.context.language,
        )
        for each in figures
    ]
    return operands, list({id(each.fact): each.fact for each in figures}.values())


def _from_base(question: str, figures: Sequence[FigureOfThing]) -> Sequence[FigureOfThing]:
    """Return two figures, the base first: what stands behind “than” or “from”, or the earlier year."""
    if all(each.thing.isdigit() for each in figures):
        return sorted(figures, key=lambda each: each.thing)
    return figures[::-1] if is_behind_than(question) else figures
