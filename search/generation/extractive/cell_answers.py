"""What a question asks of figures that it names by their place in a table: a share, a change, a sum, or one.

    “What portion of the total operating lease commitments is due in 2010?”
    ─▶ 2010 ÷ Total: 24,735 ÷ 80,782 = 30.6 % <source_1>

For tables that are no statement of a company: their rows have no names that are known (`lines.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from search.contexts import Context
from search.generation.extractive.asked_formulas import formula_asked
from search.generation.extractive.calculations import Calculation, CalculationKind, calculation_of
from search.generation.extractive.computing import formula_and_rows, operand_of
from search.generation.extractive.expected import abbreviation_of
from search.generation.extractive.figures import TableFigure, rows_behind
from search.generation.extractive.formulas import Operand
from search.generation.extractive.measures import measure_of
from search.generation.extractive.named_cells import (
    FOOTNOTE_MARK,
    FiguresNamed,
    NamedCell,
    NoteTable,
    note_tables,
    telling_words,
)
from search.generation.extractive.periods import period_before, periods_in, reading_of
from search.generation.extractive.yes_no import wants_yes_or_no

MOST_OPERANDS = 6
_WANTS_FIGURE = re.compile(
    r"\b(?:what|how (?:much|many)|wie (?:hoch|viele?|groß)|welche[nrs]?|combien|quel(?:le)?s?|cuánt[oa]s?"
    r"|cuál(?:es)?)\b",
    re.IGNORECASE,
)
_WANTS_PARTS = re.compile(
    r"\b(?:includes?|contains?|consists?|comprises?|enthält|enthalten|besteht|bestehen|umfasst|umfassen|comprend"
    r"|contient|compose|incluyen?|contienen?|consta)\b",
    re.IGNORECASE,
)
_WANTS_AMOUNT = re.compile(r"\b(?:how|wie|combien|cuánt[oa]s?|amounts?|total)\b", re.IGNORECASE)
_BALANCE = re.compile(r"\A(?:(?:beginning|ending|opening|closing)\s)?balances?\b", re.IGNORECASE)
_OF_BALANCE = re.compile(
    r"\b(?:balances?|outstanding|accru\w+|reserves?|allowances?|liabilit\w+|as of|end(?:ed|ing)?|begin\w*)\b",
    re.IGNORECASE,
)
_LAST_WORD = re.compile(r"\s(?:at|as of|on|of)\Z")
_BETWEEN_WORDS = " ,.:–-"
_RATE = re.compile(r"\b(?:rates?|satz|taux|tasa)\b", re.IGNORECASE)


def answer_by_cells(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the formula and the rows that it is computed from, or the one row, as Markdown; or nothing."""
    if wants_yes_or_no(question) or not wants_figure(question):
        return []
    asked, tables = calculation_of(question), note_tables(contexts, reading_of(question))
    if (asked is None or asked.kind is CalculationKind.RATIO) and formula_asked(question) is None:
        cell = _alone(FiguresNamed(question, asked.cues if asked else ""), tables)
        if cell is not None and (asked is None or _is_rate(cell.fact)):
            return _row(cell)
    if asked is None:
        return []
    for table in tables:
        operands = _operands(asked, question, table)
        if operands and (answer := _formula_and_rows(asked, operands)):
            return answer
    return []


def answer_by_cell_of_line(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the row of a figure that a question names beside a line: its beginning, or what it is for.

    “Stock-based compensation for research and development” is not the line “Stock-based compensation”.
    """
    measure, asked = measure_of(question), calculation_of(question)
    if measure is None or asked is not None or wants_yes_or_no(question):
        return []
    cell = _alone(FiguresNamed(question), note_tables(contexts, reading_of(question)))
    if cell is None:
        return []
    of_line = telling_words(measure[1][0], cell.fact.context.language)
    return _row(cell) if cell.is_at_edge or not cell.said <= of_line else []


def wants_figure(question: str) -> bool:
    """Tell whether a question may want a figure: “What do berries include?” does not."""
    wants_parts = _WANTS_PARTS.search(question) and not _WANTS_AMOUNT.search(question)
    wants_words = wants_parts or abbreviation_of(question) is not None
    return _WANTS_FIGURE.search(question) is not None and not wants_words


def _row(cell: NamedCell) -> list[str]:
    return [row.removeprefix("- ") for row in rows_behind([cell.fact])]


def _alone(named: FiguresNamed, tables: Sequence[NoteTable]) -> NamedCell | None:
    """Return the one figure that a question names, with all words of its row; None if tables differ."""
    periods = periods_in(named.words)
    if len(periods) > 1:
        return None
    found = [table.only(named, periods[0] if periods else "") for table in tables]
    cells = [cell for cell in found if cell is not None and not cell.unsaid]
    # “Employee termination costs in 2020” are no balance of that day.
    cells = [
        cell for cell in cells if not _BALANCE.match(cell.fact.row.name) or _OF_BALANCE.search(named.words)
    ]
    cells = [cell for cell in cells if cell.is_at_edge] or cells
    most = max((len(cell.said) for cell in cells), default=0)
    best = [cell for cell in cells if len(cell.said) == most]
    return best[0] if len({abs(cell.fact.figure.value) for cell in best}) == 1 else None


def _is_rate(fact: TableFigure) -> bool:
    """Tell whether a figure is a share itself: “Income tax at statutory rate”, “4.3 %”."""
    return fact.figure.is_percent or _RATE.search(f"{fact.row.name} {fact.cell.column}") is not None


def _operands(asked: Calculation, question: str, table: NoteTable) -> list[TableFigure]:
    """Return the figures to compute with, in their order; nothing if one of them is not sure."""
    periods = list(periods_in(question))
    if asked.kind is CalculationKind.RATIO:
        named = FiguresNamed(question, asked.cues)
        cell = table.only(named, periods[0] if periods else "", is_part=True) if len(periods) < 2 else None
        if cell is None or cell.fact.figure.is_percent:
            return []
        whole = table.whole_of(cell.fact, named)
        return [cell.fact, whole] if whole is not None else []
    if len(periods) == 1 and asked.kind in (CalculationKind.GROWTH, CalculationKind.DIFFERENCE):
        periods = [period_before(periods[0]), *periods]
    if not 2 <= len(periods) <= MOST_OPERANDS:
        return []
    named = FiguresNamed(asked.rest, asked.cues)
    found = [table.only(named, period) for period in periods]
    facts = [cell.fact for cell in found if cell is not None]
    # “17 %” and “19 %” are shares of revenue, which has not fallen by 2 ÷ 19.
    are_shares = asked.kind is CalculationKind.GROWTH and any(fact.figure.is_percent for fact in facts)
    return facts if len(facts) == len(periods) and not are_shares else []


def _formula_and_rows(asked: Calculation, operands: Sequence[TableFigure]) -> list[str]:
    return formula_and_rows(asked, [_operand(asked, fact) for fact in operands], operands)


def _operand(asked: Calculation, fact: TableFigure) -> Operand:
    """Return a figure called like its row; in the course of years without the day: “Balance”."""
    operand = operand_of(fact)
    if asked.kind is CalculationKind.RATIO:
        # A row that is a year, “2025”, is said once.
        is_year = bool(operand.year) and operand.year in fact.row.name
        return replace(operand, name=fact.row.name, year="" if is_year else operand.year)
    name = FOOTNOTE_MARK.sub("", fact.name).rstrip(_BETWEEN_WORDS)
    return replace(operand, name=_LAST_WORD.sub("", name).rstrip(_BETWEEN_WORDS))
