"""Tables that a named measure is worked out from, where the words of the question don't find them.

“What was the gross margin?” finds what is said about margins. The income statement says nothing of them, so
it is looked for by the names of its lines, in the documents that the question has found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from accounts.principal import Principal
from core.llm.payment import Payment
from core.text.tables import cells_of, is_table
from search.generation.extractive.measures import LINES, NAMES, Measure, lines_of, measure_of, plain_name
from search.retrieval import Question, RankedChunk, RankingSettings, rank

LOOKED_AT = 20
"""So many chunks are looked at for the lines of a statement."""
MOST_DOCUMENTS = 2
MOST_TABLES = 3
"""Of each statement; its continuation is another table."""


def with_operand_tables(
    principal: Principal,
    question: Question,
    found: Sequence[RankedChunk],
    limit: int,
    settings: RankingSettings,
    payment: Payment,
) -> list[RankedChunk]:
    """Return what was found and, if the question names a measure, the tables that hold its lines.

    At most `limit` chunks; the tables take the places of the last ones.
    """
    named = measure_of(question.text)
    if named is None or not found:
        return list(found)
    given = {each.chunk.pk for each in found}
    tables = [
        replace(each, score=found[-1].score)
        for each in _tables(principal, question, found, named[0], settings, payment)
    ]
    new = [each for each in tables if each.chunk.pk not in given][: limit // 2]
    return [*found[: limit - len(new)], *new]


def _tables(
    principal: Principal,
    question: Question,
    found: Sequence[RankedChunk],
    measure: Measure,
    settings: RankingSettings,
    payment: Payment,
) -> Iterator[RankedChunk]:
    """Yield the best tables of each statement that has lines of the measure, in the first documents."""
    keys = list(dict.fromkeys(key for way in measure.ways for key in lines_of(way)))
    documents = list(dict.fromkeys(each.chunk.document_id for each in found))[:MOST_DOCUMENTS]
    for kind in dict.fromkeys(LINES[key].kind for key in keys):
        lines = [key for key in keys if LINES[key].kind is kind]
        words = f"consolidated {kind} {', '.join(LINES[key].label for key in lines)}"
        asked = replace(question, text=words, document_ids=tuple(documents))
        results = rank(principal, asked, limit=LOOKED_AT, settings=settings, payment=payment).results
        holding = [(_lines_in(each.chunk.text, lines), each) for each in results]
        holding.sort(key=lambda pair: -pair[0])
        yield from [each for count, each in holding if count][:MOST_TABLES]


def _lines_in(text: str, keys: Sequence[str]) -> int:
    """Return how many of some lines a table has."""
    if not is_table(text):
        return 0
    names = {plain_name(cells[0]) for row in text.splitlines() if (cells := cells_of(row))}
    return sum(any(name.fullmatch(each) for name in NAMES[key] for each in names) for key in keys)
