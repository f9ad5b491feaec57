"""The year in which a row of a table has the most."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.text.analysis import terms
from search.contexts import Context
from search.generation.extractive.computing import rows_named
from search.generation.extractive.figures import table_figures
from search.generation.extractive.lines import lines_named
from search.generation.extractive.outstanding.ranked import RankedRow
from search.generation.extractive.outstanding.superlatives import Superlative
from search.generation.extractive.outstanding.words import known_around, said_by
from search.question_language import language_of

_ASKS_FOR_YEAR = re.compile(r"\b(?:year|jahr|geschäftsjahr|année|exercice|año|ejercicio)\b", re.IGNORECASE)


def years_of_row(asked: Superlative, table: Sequence[Context]) -> list[RankedRow]:
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
        if said_by(asked, fact.context) <= known_around(fact.context) | {*fact.measure, *_of_lines(asked)}
    ]


def _of_lines(asked: Superlative) -> Iterator[str]:
    """Yield the words that name a line of a statement, which may be called otherwise there."""
    for _, match in lines_named(asked.rest):
        yield from terms(match[0], language_of(asked.question))
