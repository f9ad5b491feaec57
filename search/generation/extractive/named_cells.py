"""Figures of tables that a question names by where they stand: in which row and column, below which words.

    “the ending balance of unrecognized tax benefits in 2022”

    Accounting for Uncertainty in Income Taxes             the heading, and the sentence before the table
    | (in millions)                        | 2022  |       the period
    | Gross increases in unrecognized tax… | 53    |
    | Ending balance                       | $ 321 |  ◀──  the row

A question names a figure if all that it says is said of the figure: by its row and column, around its table,
or by its period. Of several it names the one whose row and column say least besides.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from core.text.analysis import terms
from core.text.fiscal import DATE, days_in
from core.text.tables import header_of, table_start
from search.contexts import Context
from search.generation.extractive.computing import ABOUT_NOTHING
from search.generation.extractive.figures import (
    TableFigure,
    adding_up,
    by_table,
    table_figures,
)
from search.generation.extractive.periods import YEAR, PeriodReading, is_of, is_of_months, months_of

MOST_TABLES = 3
"""So many of the first tables are looked at."""
MOST_FIGURES = 400
"""A larger table is no note to a statement."""
_TALK = frozenset(
    terms(
        "due matures mature maturing payable falls fall fell located invested classified held hold related"
        " recorded recognized recognised incurred expected scheduled remaining outstanding portion part came"
        " comes made much many allocated attributable included consisted estimated combined table shown using"
        " used assumed paid pay dollars usd book carrying value situated based worth",
        "en",
    )
)
"""What a question may say that is said nowhere; where it is said, it counts."""
_NOTHING = ABOUT_NOTHING - frozenset(terms("gross", "en"))
"""“Groß” tells nothing of a German figure, “gross” much of an English one."""
_NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {word: str(number) for number, word in enumerate(_NUMBER_WORDS, start=1)}
_NUMBER = rf"\d{{1,2}}|{'|'.join(_NUMBERS)}"
_BELOW = frozenset(("less than", "under", "within"))
_SPAN = re.compile(
    rf"(?:\b(?P<edge>less than|under|within|more than|over|after|beyond)\s)?\b(?P<first>{_NUMBER})"
    rf"(?:\s?(?:[-–]|to|and|through)\s?(?P<last>{_NUMBER}))?\syears?\b",
    re.IGNORECASE,
)
_TOTAL = re.compile(r"\A\W*(?:(?:sub)?total|(?:zwischen)?summe|gesamt\w*+|insgesamt|suma)\b", re.IGNORECASE)
_PERIOD = re.compile(r"q[1-4]|[1-4]q|h[12]|fy(?:\d\d){0,2}")
"""“Q2” and “FY23” name periods, which columns name otherwise."""
_BEGINS = re.compile(r"\b(?:begin\w*|start|opening|january 1(?!\d))\b", re.IGNORECASE)
FOOTNOTE_MARK = re.compile(r"\((?:\w|\d\d|\*+)\)|\*+")

Words = frozenset[str]


@dataclass(frozen=True)
class FiguresNamed:
    """What a question says of the figures that it asks for; `besides` is what need not be said of them."""

    words: str
    besides: str = ""

    def said(self, language: str | None) -> Words:
        """Return the terms that tell which figure is meant, without periods."""
        return telling_words(self.words, language)

    def needed(self, language: str | None) -> Words:
        """Return the terms that must be said of the figure."""
        return self.said(language) - telling_words(self.besides, language) - _TALK

    @property
    def is_of_beginning(self) -> bool:
        """Whether it asks for what was at the beginning of a period."""
        return _BEGINS.search(self.words) is not None


@dataclass(frozen=True)
class NamedCell:
    """A figure that a question names; the words of its row and column that it says, and how many it does not.

    `unsaid_above` counts those of its section.
    """

    fact: TableFigure
    said: Words
    unsaid: int
    unsaid_above: int
    is_at_edge: bool
    """Whether it is of the beginning of a period, as asked for."""

    @property
    def distance(self) -> tuple[int, int]:
        """How far it is from what the question says: the nearest one is meant."""
        return self.unsaid + self.unsaid_above, -len(self.said) - self.is_at_edge


@dataclass(frozen=True)
class NoteTable:
    """The figures of a table, of all its parts that were found, in reading order."""

    figures: Sequence[TableFigure]

    @property
    def language(self) -> str | None:
        """The language of its document, ISO 639-1."""
        return self.figures[0].context.language

    @cached_property
    def words_around(self) -> Words:
        """The terms of what is said around it, and of its header."""
        return frozenset().union(*self._around.values())

    def only(self, named: FiguresNamed, period: str, *, is_part: bool = False) -> NamedCell | None:
        """Return the figure of a period that a question names; None if it names none, or two that differ.

        Of a part of a total the row is no total, unless its column tells the part.
        """
        cells = [
            cell
            for fact in _as_long_as(named.words, self._of_period(period))
            if not (is_part and self._is_whole(fact, named))
            for cell in self._named(named, fact)
        ]
        best = min((cell.distance for cell in cells), default=None)
        of_best = [cell for cell in cells if cell.distance == best]
        amounts = [cell for cell in of_best if not cell.fact.figure.is_percent] or of_best
        return amounts[0] if len({cell.fact.figure.value for cell in amounts}) == 1 else None

    def whole_of(self, part: TableFigure, named: FiguresNamed) -> TableFigure | None:
        """Return the total of a figure: in its row if its column is named, else the best named one below."""
        said = named.said(part.context.language)
        if telling_words(part.cell.column, part.context.language) & said:
            beside = [fact for fact in self.figures if fact.row == part.row and fact.cell != part.cell]
            if (total := next((fact for fact in beside if _TOTAL.match(fact.cell.column)), None)) is not None:
                return total
        below = [total for total in self._totals_below(part) if self._is_total_of(total, part)]
        return max(
            below,
            key=lambda total: len(telling_words(total.row.name, total.context.language) & said),
            default=None,
        )

    def _of_period(self, period: str) -> list[TableFigure]:
        """Return the figures of a period; of the latest one where none is asked for.

        “Notes due 2026” are a row, whatever the columns are of. A table without periods is of the year that
        is said around it.
        """
        dated = [fact for fact in self.figures if fact.years]
        if not period:
            return _latest(self.figures)
        if found := [fact for fact in dated if is_of(period, fact.years)]:
            return found
        if of_rows := [fact for fact in self.figures if period[:4] in YEAR.findall(fact.row.name)]:
            return _latest(of_rows)
        context = self.figures[0].context
        around = " ".join([context.document_name, *context.headings, context.introduction])
        return list(self.figures) if not dated and period[:4] in around else []

    def _named(self, named: FiguresNamed, fact: TableFigure) -> Sequence[NamedCell]:
        """Return a figure if a question names it, with enough of what its row and column say."""
        is_at_edge = _BEGINS.search(fact.row.name) is not None
        if is_at_edge and not named.is_of_beginning:
            return ()
        language = fact.context.language
        said, section = named.said(language), telling_words(fact.row.section, language)
        row, column = telling_words(fact.row.name, language), telling_words(fact.cell.column, language)
        known = row | column | section | self._around[fact.context.rank]
        # “Balance at end of year” is of what the rows beside it are of.
        known |= self._words_of_totals(fact) if row else self._words_of_all
        # The only column, and that of totals, need not be named.
        own = row | (column & said if self._is_main(fact.cell.column) else column)
        unsaid = sum(not term[0].isdigit() for term in own - said)
        if not said or not named.needed(language) <= known or unsaid > len(own & said):
            return ()
        # Beside a row without a name the column says what a figure is.
        has_name = any(map(str.isalpha, fact.row.name)) or YEAR.search(fact.row.name) is not None
        if not has_name and not own & said:
            return ()
        return [NamedCell(fact, own & said, unsaid, len(section - said), is_at_edge)]

    def _is_main(self, column: str) -> bool:
        return len(self._columns) == 1 or _TOTAL.match(column) is not None

    def _is_whole(self, fact: TableFigure, named: FiguresNamed) -> bool:
        if telling_words(fact.cell.column, fact.context.language) & named.said(fact.context.language):
            return _TOTAL.match(fact.cell.column) is not None
        return _TOTAL.match(fact.row.name) is not None

    def _words_of_totals(self, fact: TableFigure) -> Words:
        """Return the words of the totals below a row: they say of what it is a part."""
        found = (telling_words(total.row.name, fact.context.language) for total in self._totals_below(fact))
        return frozenset().union(*found)

    def _totals_below(self, part: TableFigure) -> list[TableFigure]:
        """Return the totals below a row, but what has its own section below the first total of the row's."""
        column = self._totals[part.cell.column]
        found: list[TableFigure] = []
        is_totalled = False
        for total in (total for total in column if self._at[id(total)] > self._at[id(part)]):
            is_of_section = total.row.section in (part.row.section, "")
            if is_of_section or not is_totalled:
                found.append(total)
            is_totalled |= is_of_section
        return found

    def _is_total_of(self, total: TableFigure, part: TableFigure) -> bool:
        """Tell whether a row is the total of another one: it is called so, or is the sum of rows with it."""
        is_called = _TOTAL.match(total.row.name) and total.row.section in (part.row.section, "")
        above = self._columns[part.cell.column]
        return bool(is_called) or part in adding_up(above[: above.index(total)], total)

    @cached_property
    def _at(self) -> dict[int, int]:
        return {id(fact): at for at, fact in enumerate(self.figures)}

    @cached_property
    def _columns(self) -> dict[str, list[TableFigure]]:
        columns: defaultdict[str, list[TableFigure]] = defaultdict(list)
        for fact in self.figures:
            columns[fact.cell.column].append(fact)
        return columns

    @cached_property
    def _totals(self) -> dict[str, list[TableFigure]]:
        """The totals of each column."""
        return {
            column: [
                fact
                for at, fact in enumerate(figures)
                if _TOTAL.match(fact.row.name) or adding_up(figures[:at], fact)
            ]
            for column, figures in self._columns.items()
        }

    @cached_property
    def _words_of_all(self) -> Words:
        return frozenset().union(
            *(telling_words(fact.row.name, fact.context.language) for fact in self.figures)
        )

    @cached_property
    def _around(self) -> dict[int, Words]:
        return {fact.context.rank: _words_around(fact.context) for fact in self.figures}


def note_tables(
    contexts: Sequence[Context],
    reading: PeriodReading,
    is_meant: Callable[[TableFigure], bool] = lambda _: True,
) -> list[NoteTable]:
    """Return the first tables with the figures that may be meant, the parts of each table together."""
    tables = (
        [fact for fact in figures if is_meant(fact)]
        for figures in by_table(table_figures(contexts, reading))
        if len(figures) <= MOST_FIGURES
    )
    return [
        NoteTable(sorted(figures, key=lambda fact: (fact.context.ordinal, fact.row.start)))
        for figures in tables
        if figures
    ][:MOST_TABLES]


def _as_long_as(words: str, figures: Sequence[TableFigure]) -> Sequence[TableFigure]:
    """Return the figures of columns that are as long as the period in a question; all if none is."""
    months = months_of(words)
    return [fact for fact in figures if months and is_of_months(fact.cell.column, months)] or figures


def _latest(figures: Sequence[TableFigure]) -> list[TableFigure]:
    """Return the figures of the latest columns that tell a day or a year; all if none does."""
    ends = {fact.cell.column: _end_of(fact.cell.column) for fact in figures}
    latest = max(filter(None, ends.values()), default=None)
    return [fact for fact in figures if ends[fact.cell.column] in (latest, None)]


def _end_of(column: str) -> date | None:
    years = [date(int(year), 12, 31) for year in YEAR.findall(column)]
    return max(days_in(column) or years, default=None)


def telling_words(text: str, language: str | None) -> Words:
    """Return the terms of a text that tell something: no periods, numbers and words about nothing.

    Spans count: “less than one year” is the column “Less than 1 Year”.
    """
    plain = FOOTNOTE_MARK.sub(" ", _SPAN.sub(" ", YEAR.sub(" ", DATE.sub(" ", text))))
    found = (term for term in terms(plain, language) if not (term.isdigit() or _PERIOD.fullmatch(term)))
    return frozenset(found) - _NOTHING | frozenset(map(_span, _SPAN.finditer(text)))


def _span(match: re.Match[str]) -> str:
    edge = match["edge"].casefold() if match["edge"] else ""
    first, last = (
        _NUMBERS.get(number.casefold(), number) for number in (match["first"], match["last"] or "")
    )
    return f"{'<' if edge in _BELOW else '>' if edge else ''}{first}-{last} years"


def _words_around(context: Context) -> Words:
    above = context.text[: table_start(context.text)]
    said = [context.document_name, *context.headings, above, header_of(context.text)]
    return frozenset(terms(" ".join([*said, context.introduction, context.opening]), context.language))
