"""The figures of a business segment: “revenue of the international segment” is not that of the company.

They stand in a table below a heading with its name, in a column of its name, or in a row of it:

    Flexibles Segment            |             | Digital Media |        | Revenue by segment | 2023   |
    | Net sales | $ 11,154 |     | Fiscal 2022 |               |        | Domestic           | $ 8,890 |
                                 | Revenue     | $ 12,842      |

Each becomes a figure of that line in that period, as if the segment had statements of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from core.text.analysis import terms
from search.contexts import Context
from search.generation.extractive.figures import (
    TableFigure,
    measured_by,
    table_figures,
    with_period_above,
)
from search.generation.extractive.lines import name_of
from search.generation.extractive.periods import YEAR, PeriodReading

_CALLED = re.compile(r"\b(?:segment|division)(?:['’]s)?(?!\w)", re.IGNORECASE)
_SEGMENT = re.compile(r"\b(?:segments?|divisions?)\b", re.IGNORECASE)
_HEADING = re.compile(r"([A-Z].{2,40}?) (?:segment|division)", re.IGNORECASE)
_ENDS = re.compile(r"['’]s?\Z|,\Z")
_OF_ANY = frozenset(
    terms("reportable reporting operating business main largest biggest smallest each every", "en")
)
"""What is said of segments without naming one."""
_JOINS = frozenset(("and", "&"))
_BY = re.compile(r"\s(?:by|from|of)\s.*", re.IGNORECASE | re.DOTALL)
_TOTAL = re.compile(r"\Atotal\s+", re.IGNORECASE)
_PERIOD = re.compile(
    r"(?:fiscal )?(?:years?|(?:three|six|nine|twelve|\d{1,2}) (?:months|weeks)) ended.*|(?:19|20)\d\d.*",
    re.IGNORECASE | re.DOTALL,
)


def business_segment_of(question: str, headings: Iterable[str] = ()) -> tuple[str | None, str]:
    """Return the name of the segment that a question names, and the question without it.

    Who does not say “segment” may mean one that a heading calls so: “net sales of Flexibles”. None if it
    names none, or speaks of segments in general: “each reportable segment”.
    """
    called = _CALLED.search(question)
    if called is None:
        return _called_so(question, headings)
    before = question[: called.start()]
    places = list(re.finditer(r"\S+", before))
    words = [place[0] for place in places]
    start = len(words)
    while start and _belongs_to_name(words, start - 1):
        start -= 1
    if start < len(words) and words[start].casefold() in _JOINS:
        start += 1
    name = " ".join(words[start:])
    if not name or _OF_ANY.issuperset(terms(name, "en")):
        return None, question
    return name, before[: places[start].start()] + question[called.end() :].lstrip()


def _called_so(question: str, headings: Iterable[str]) -> tuple[str | None, str]:
    """Return what a heading calls a segment if a question names it, and the question without it."""
    called = (_HEADING.fullmatch(heading) for heading in dict.fromkeys(headings))
    names = [match[1] for match in called if match and not _OF_ANY.issuperset(terms(match[1], "en"))]
    for name in [] if _SEGMENT.search(question) else names:
        before, found, behind = question.partition(name)
        if found and not (before[-1:].isalnum() or behind[:1].isalnum()):
            return name, before + behind.lstrip()
    return None, question


def asks_for_segment(question: str) -> bool:
    """Tell whether a question asks which of the segments it is."""
    return business_segment_of(question)[0] is None and _SEGMENT.search(question) is not None


def _belongs_to_name(words: Sequence[str], at: int) -> bool:
    """Tell whether a word before “segment” is of its name: not “of the”, nor the company that has it."""
    word = words[at]
    if word.casefold() in _JOINS:
        # “Publishing and Advertising segment”, but not “What is revenue and the graphics segment …”.
        return 0 < at < len(words) - 1 and words[at - 1][0].isupper() and words[at + 1][0].isupper()
    return not _ENDS.search(word) and bool(terms(word, "en")) and not _OF_ANY.issuperset(terms(word, "en"))


def figures_of_segment(
    segment: str, contexts: Sequence[Context], reading: PeriodReading
) -> list[list[TableFigure]]:
    """Return the figures of the segment of this name: below a heading, in columns, and in rows of it."""
    facts = list(table_figures(contexts, reading))
    return [
        [_below_heading(fact) for fact in facts if _names(segment, fact, _heading_of(fact))],
        [*_in_columns(segment, facts, reading)],
        [*_in_rows(segment, facts)],
    ]


def holds_figures_of(segment: str, keys: Sequence[str], table: Context) -> bool:
    """Tell whether a table has the figures of these lines of a segment; of any line if there are no keys."""
    of_places = figures_of_segment(segment, [table], PeriodReading.YEARS)
    return any(
        not keys or any(name_of(key, fact.name, fact.row.section) is not None for key in keys)
        for facts in of_places
        for fact in facts
    )


def _in_columns(segment: str, facts: Sequence[TableFigure], reading: PeriodReading) -> Iterator[TableFigure]:
    """Yield the figures in columns of the segment, of the period that stands above them as a row."""
    for fact in facts:
        if _names(segment, fact, YEAR.sub("", fact.cell.column)):
            yield with_period_above(fact, reading)


def _in_rows(segment: str, facts: Sequence[TableFigure]) -> Iterator[TableFigure]:
    """Yield the figures in rows of the segment, called as what says of what they are parts."""
    for fact in facts:
        if _names(segment, fact, fact.row.name):
            for called in (_PERIOD.sub("", fact.cell.column), *measured_by(fact, facts)):
                if name := _BY.sub("", _TOTAL.sub("", called)).strip(" :"):
                    yield replace(fact, name=name, measure=tuple(terms(name, fact.context.language)))


def _below_heading(fact: TableFigure) -> TableFigure:
    """Return a figure whose row says whose it is: “Flexibles Segment · Net sales”."""
    return replace(fact, row=replace(fact.row, name=f"{_heading_of(fact)} · {fact.row.name}"))


def _heading_of(fact: TableFigure) -> str:
    return fact.context.headings[-1] if fact.context.headings else ""


def _names(segment: str, fact: TableFigure, text: str) -> bool:
    """Tell whether a text is the name of the segment, perhaps with the word itself."""
    language = fact.context.language
    name = frozenset(terms(_SEGMENT.sub(" ", text), language))
    return bool(name) and name == frozenset(terms(segment, language))
