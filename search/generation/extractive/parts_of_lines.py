"""A part of a line of a statement: “data center revenue” is the row “Data Center” below “Revenue”."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.text.analysis import terms
from search.contexts import Context
from search.generation.extractive.figures import TableFigure, periods_to_try, sure_figure, table_figures
from search.generation.extractive.lines import NAMES, plain_name
from search.generation.extractive.measures import Measure, lines_of, measure_of
from search.generation.extractive.periods import is_of, words_of


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
    """Return the figures of the row that the words before a line name, in a table or section of that line.

    “Data center revenue” is the row “Data center” below “Revenue”.
    """
    if not measure.is_line:
        return []
    (key,) = lines_of(measure.ways[0])
    before, languages = question[: cue.start()], {fact.context.language for fact in facts}
    said = {language: tuple(terms(before, language)) for language in languages}
    named = [
        fact
        for fact in facts
        if fact.measure
        and said[fact.context.language][-len(fact.measure) :] == fact.measure
        and any(_is_called(key, name) for name in (fact.row.section, *fact.context.headings[-1:]))
    ]
    longest = max((len(fact.measure) for fact in named), default=0)
    return [fact for fact in named if len(fact.measure) == longest]


def _is_called(key: str, name: str) -> bool:
    return any(each.fullmatch(plain_name(name)) for each in NAMES[key])
