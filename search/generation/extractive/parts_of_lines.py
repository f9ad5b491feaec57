"""A part of a line of a statement: “data center revenue”, or “revenue of data center”, is a row."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.text.analysis import terms
from search.contexts import Context
from search.generation.extractive.figures import (
    TableFigure,
    measured_by,
    periods_to_try,
    sure_figure,
    table_figures,
)
from search.generation.extractive.lines import NAMES, lines_named, plain_name
from search.generation.extractive.measures import Measure, lines_of, measure_of
from search.generation.extractive.periods import is_of, words_of

_OF_WHOLE = frozenset(("total", "net", "our", "worldwide", "consolidated", "gesamt"))
"""What may stand before a line without making another of it."""
_OF = re.compile(r"\s(?:of|from|for|did|does)\s(?:the\s)?", re.IGNORECASE)


def holds_part_of_line(question: str, table: Context) -> bool:
    """Tell whether a table has the row of which a question names the line: “data center revenue”."""
    named = measure_of(question)
    return named is not None and bool(_parts_of_line(*named, question, list(table_figures([table]))))


def part_of_line(
    measure: Measure, cue: re.Match[str], question: str, facts: Sequence[TableFigure]
) -> list[TableFigure]:
    """Return the figures of the part of a line that the question names; nothing if any year is not sure."""
    named, words = _parts_of_line(measure, cue, question, facts), words_of(question)
    for years in periods_to_try(question, named):
        found = [sure_figure([fact for fact in named if is_of(year, fact.years)], words) for year in years]
        if found and all(found):
            return [fact for fact in found if fact is not None]
    return []


def _parts_of_line(
    measure: Measure, cue: re.Match[str], question: str, facts: Sequence[TableFigure]
) -> list[TableFigure]:
    """Return the figures of the row that the words beside a line name, in a table or section of that line.

    “Data center revenue” is the row “Data center” below “Revenue”, and so is “revenue of data center”.
    """
    if not measure.is_line:
        return []
    (key,) = lines_of(measure.ways[0])
    languages = {fact.context.language for fact in facts}
    said = frozenset(re.findall(r"\w+", question.casefold()))
    before = {language: tuple(terms(question[: cue.start()], language)) for language in languages}
    follows = _OF.match(question, cue.end())
    rest = question[follows.end() :] if follows else ""
    after = {language: tuple(terms(rest, language)) for language in languages}
    named = [
        fact
        for fact in facts
        if fact.measure
        and fact.measure
        in (
            before[fact.context.language][-len(fact.measure) :],
            after[fact.context.language][: len(fact.measure)],
        )
        and any(_is_called(key, name, said) for name in measured_by(fact, facts))
    ]
    longest = max((len(fact.measure) for fact in named), default=0)
    return [fact for fact in named if len(fact.measure) == longest]


def _is_called(key: str, name: str, said: frozenset[str]) -> bool:
    """Tell whether a heading or a section names a line: “Revenue”, “Revenue by market”.

    “Total subscription revenue” is another one, unless the question has said “subscription”.
    """
    plain = plain_name(name)
    if any(each.fullmatch(plain) for each in NAMES[key]):
        return True
    return any(
        named == key and (_OF_WHOLE | said).issuperset(plain[: match.start()].split())
        for named, match in lines_named(plain)
    )
