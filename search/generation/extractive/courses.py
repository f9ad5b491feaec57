"""How a figure has gone on through the reports of a series: of each report its own, the oldest first.

    “How has total revenue developed over the quarters?”
    ─▶ Revenue · Three Months Ended May 1, 2022: $ 8,288 <source_1>
       Revenue · Three Months Ended July 31, 2022: $ 6,704 <source_2>

The question must name one row, or a line of statements by any of its names, and all else that it says must
be said of the reports. A report without a sure figure is left out; of one report alone nothing is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from core.text.analysis import terms
from core.text.tables import header_of, table_start
from search.contexts import Context
from search.generation.extractive.computing import line_of, rows_named
from search.generation.extractive.figures import (
    Name,
    TableFigure,
    holds_shares,
    only_sure,
    rows_behind,
    table_figures,
)
from search.generation.extractive.line_names import LINES, StatementKind
from search.generation.extractive.lines import lines_named
from search.generation.extractive.periods import words_of
from search.generation.extractive.shares import wants_share
from search.generation.extractive.subjects import is_about
from search.named_documents import IN_TABLES, asks_for_course, period_of, without_course
from search.question_language import language_of

FEWEST = 2
_TALK = "consistent identify identified develop developed development change changed course total"
"""What a question about a course may say besides."""
_BARE_TOTAL = ("total",)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY = re.compile(rf"\b({'|'.join(_MONTHS)})[a-z]*\.? (\d{{1,2}})\b", re.IGNORECASE)
_DURATION = re.compile(r"\b(?:months|weeks|ended)\b", re.IGNORECASE)
_CHANGE = re.compile(r"\b(?:change|variance|veränderung|variation)", re.IGNORECASE)


def course(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the row of each report, as Markdown; nothing if the question asks for none, or few are sure."""
    if not asks_for_course(question):
        return []
    reports = sorted((each for each in contexts if period_of(each.document_name)), key=_period)
    found = [_best_figure(question, beside) for _, beside in groupby(reports, _period)]
    sure = [figure for figure in found if figure is not None]
    return list(rows_behind(sure)) if len(sure) >= FEWEST else []


def _best_figure(question: str, contexts: Iterable[Context]) -> TableFigure | None:
    """Return the figure of the first context, in the order of rank, that has it for sure."""
    return next(filter(None, (own_figure(question, context) for context in contexts)), None)


def own_figure(question: str, context: Context) -> TableFigure | None:
    """Return the latest figure of the row that a question names, in a table of a report.

    None if there is none, or if it is not sure which one is meant. What share it has of another one is none.
    """
    if holds_shares(context.text, context.introduction) and not wants_share(question):
        return None
    facts = [fact for fact in table_figures([context]) if not _CHANGE.search(fact.cell.column)]
    asked = without_course(question)
    row = _row_named(asked, facts)
    of_row = [fact for fact in facts if fact.measure == row and len(fact.years) == 1]
    if any(LINES[key].kind is StatementKind.BALANCE for key, _ in lines_named(asked)):
        # Statements of cash flows call the change of a balance like the balance.
        of_row = _latest_day([fact for fact in of_row if not _DURATION.search(fact.cell.column)])
    if not of_row or not _says_of_what(asked, of_row[0]):
        return None
    for _, match in reversed(lines_named(asked)):
        asked = asked[: match.start()] + asked[match.end() :]
    if not is_about(asked, [context], f"{of_row[0].name} {_TALK}"):
        return None
    year = max(max(fact.years) for fact in of_row)
    period = period_of(context.document_name)
    words = words_of(f"{asked} {IN_TABLES}" if period and period.quarter else asked)
    return only_sure([fact for fact in of_row if year in fact.years], words)


def _says_of_what(question: str, fact: TableFigure) -> bool:
    """Tell whether a row called “Total” stands in a table of the line that a question names, if any."""
    context = fact.context
    if fact.measure != _BARE_TOTAL or not (named := lines_named(question)):
        return True
    above = context.text[: table_start(context.text)]
    around = " · ".join([*context.headings, above, header_of(context.text), context.introduction])
    return not {key for key, _ in named}.isdisjoint(key for key, _ in lines_named(around))


def _latest_day(balances: Sequence[TableFigure]) -> list[TableFigure]:
    """Return the balances of the latest day; those of one year often stand beside each other."""
    latest = max((_day(fact) for fact in balances), default=())
    return [fact for fact in balances if _day(fact) == latest]


def _day(fact: TableFigure) -> tuple[int, ...]:
    found = _DAY.search(fact.cell.column)
    month = _MONTHS.index(found[1].casefold()) if found else 0
    return int(max(fact.years)), month, int(found[2]) if found else 0


def _row_named(question: str, facts: Sequence[TableFigure]) -> Name | None:
    """Return the row that a question names; of “data center revenue” the one that is no line of a statement.

    Words of a line name no other row: “net” of “net sales”.
    """
    names, named = rows_named(question, facts), lines_named(question)
    lines = {line_of(key, facts) for key, _ in named}
    of_lines = {term for _, match in named for term in terms(match[0], language_of(question))}
    special = [name for name in names if name not in lines and not of_lines.issuperset(name)]
    of_statements = [name for name in names if name in lines]
    return next(iter([*special, *of_statements]), None)


def _period(context: Context) -> tuple[int, int]:
    period = period_of(context.document_name)
    return (period.year, period.quarter) if period else (0, 0)
