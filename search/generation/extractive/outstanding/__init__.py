"""The row of a table that has the most, or the least, of what a question names.

    “Which city has the most inhabitants?”
    ─▶ **Castor · Inhabitants: 310,000** <source_1>
       Aldhaven · Inhabitants: 120,400 <source_1>      the next one, to compare

All rows count, not only those that were found: `search/companions.py` reads the whole table, and marks the
chunks that decide. Two kinds of tables are understood. In one each row is a thing, and a column is what the
question names, or the other way round (`records.py`). In the other each column is a year, and the rows are
parts of a total (`parts.py`); these can be compared by how much they have grown, too (`changes.py`). “In
which year” compares the years of one row (`years.py`).

Refuses rather than guesses: what else the question says must be a heading, a column, the document's name, or
words of the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from search.contexts import Context
from search.generation.extractive.outstanding.changes import changes_of_parts, stated_changes
from search.generation.extractive.outstanding.parts import parts_in_columns, parts_of_total
from search.generation.extractive.outstanding.ranked import RankedRow, ranked_rows
from search.generation.extractive.outstanding.records import records, records_in_columns
from search.generation.extractive.outstanding.superlatives import Superlative, superlatives_of
from search.generation.extractive.outstanding.years import years_of_row
from search.generation.extractive.tables import FEWEST_PARTS
from search.generation.extractive.wording import escape_markdown

__all__ = ["RankedRow", "best_rows", "outstanding"]

MOST_ALIKE = 3
"""Rows that have equally much are all told, if they are so few."""


def outstanding(question: str, contexts: Sequence[Context]) -> list[str]:
    """Return the row that has most and the next one, as Markdown; nothing if it is not sure."""
    decisive = [context for context in contexts if context.is_decisive]
    ranked = next(filter(None, (best_rows(asked, decisive) for asked in superlatives_of(question))), [])
    return [_item(each, is_best=each.value == ranked[0].value) for each in ranked]


def _item(ranked: RankedRow, *, is_best: bool) -> str:
    text = ranked.formula or escape_markdown(ranked.row.rendered(ranked.cells))
    emphasis = "**" if is_best else ""
    return f"- {emphasis}{text}{emphasis} <source_{ranked.context.rank}>\n"


def best_rows(asked: Superlative, table: Sequence[Context]) -> list[RankedRow]:
    """Return the rows that have most, and the next one; nothing if it is not sure.

    `table` holds the parts of one table in their order.
    """
    if not table:
        return []
    found = next(filter(None, _comparable(asked, table)), [])
    ranked = sorted(found, key=lambda each: each.value, reverse=asked.is_of_the_highest)
    first = [each for each in ranked if each.value == ranked[0].value]
    is_clear = len(ranked) >= FEWEST_PARTS and len(first) <= MOST_ALIKE
    return ranked[: len(first) + 1] if is_clear else []


def _comparable(asked: Superlative, table: Sequence[Context]) -> Iterator[list[RankedRow]]:
    """Yield the rows that each way to read a table lets us compare."""
    if asked.change is not None:
        yield stated_changes(asked, table)
        yield changes_of_parts(asked, table)
        return
    yield records(asked, table)
    yield years_of_row(asked, table)
    parts = parts_of_total(asked, table)
    yield ranked_rows(parts.figures, parts.proof)
    yield parts_in_columns(asked, table)
    yield records_in_columns(asked, table)
