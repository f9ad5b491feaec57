"""What an answer needs beside what the words of the question find, from the same documents.

“What was the gross margin?” finds what is said about margins. The income statement says nothing of them, so
it is looked for by the names of its lines. “What does TAM stand for?” finds whatever is called TAM; it is
spelt out once, before parentheses. “Which city has the most inhabitants?” finds some rows of a long table;
all of its rows are looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import islice
from operator import or_
from uuid import UUID

from django.db.models import Q

from accounts.principal import Principal
from core.llm.payment import Payment
from core.text.tables import cells_of, header_of, is_table
from kb.chunk_size import shorten
from kb.models import Chunk, Modality
from search.contexts import ChunkContext, context_of_chunk
from search.document_openings import with_openings
from search.generation.extractive.asked_formulas import formula_asked
from search.generation.extractive.authors import CHUNKS_OF_HEAD, asks_for_authors
from search.generation.extractive.business_segments import (
    asks_for_segment,
    business_segment_of,
    holds_figures_of,
)
from search.generation.extractive.calculations import CalculationKind, calculation_of
from search.generation.extractive.cash_flows import ACTIVITIES, compares_activities
from search.generation.extractive.expected import abbreviation_of
from search.generation.extractive.figures import holds_shares
from search.generation.extractive.line_names import LINES, StatementKind
from search.generation.extractive.lines import (
    NAMES,
    holds_balances,
    is_part_of,
    is_statement,
    lines_named,
    plain_name,
)
from search.generation.extractive.listed.naming import names_in
from search.generation.extractive.measures import lines_of, measures_of
from search.generation.extractive.outstanding import RankedRow, best_rows
from search.generation.extractive.outstanding.superlatives import Superlative, superlatives_of
from search.generation.extractive.parts_of_lines import holds_part_of_line
from search.generation.extractive.periods import years_in
from search.generation.extractive.reasons import asks_why
from search.generation.extractive.side_by_side import one_by_one
from search.question_language import in_language_of
from search.questions import Question, RankingSettings
from search.retrieval import RankedChunk, Scores, rank

LOOKED_AT = 20
"""So many chunks are looked at for the lines of a statement."""
MOST_DOCUMENTS = 2
MOST_TABLES = 3
"""Of each statement; its continuation on the next page is another table."""
MOST_PARTS_OF_STATEMENT = 10
MOST_SPELLINGS = 2
MOST_TABLES_OF_SEGMENT = 2
MOST_TABLES_OF_NAMES = 2
MOST_NAMES = 4
"""So many names of a question are looked for in rows of tables."""
MOST_PARTS_OF_LINES = 1
MOST_WHOLE_TABLES = 6
MOST_PARTS = 300
"""Of a table: chunks that are read for the row that has the most of something."""
KEPT_BEFORE = 2
"""So many of the chunks found stand before what is added."""


def with_companions(
    principal: Principal,
    question: Question,
    found: Sequence[RankedChunk],
    limit: int,
    settings: RankingSettings,
    payment: Payment,
) -> tuple[list[RankedChunk], bool]:
    """Return what was found and the tables of a measure or of a business segment, where an abbreviation is
    spelt out, or the row that has the most of something.

    A table that has the part of a line comes to the front: “data center revenue”.
    At most `limit` chunks: what is added stands behind the first ones, and takes the places of the last. Also
    return whether there is anything of the kind: then the question is about these documents.
    """
    if not found:
        return [], False
    far, found = found[limit:], found[:limit]
    kept_before = KEPT_BEFORE
    headings = [each.chunk.headings[-1] for each in [*found, *far] if each.chunk.headings]
    questions = one_by_one(question.text) or [question.text]
    segments = [
        (segment, replace(question, text=rest))
        for segment, rest in (business_segment_of(each, headings) for each in questions)
        if segment is not None
    ]
    if segments:
        of_each = (_of_segment(principal, asked, found, name, settings, payment) for name, asked in segments)
        beside = [each for of_one in of_each for each in of_one]
    else:
        beside = list(islice(_with_parts_of_lines(questions, [*found, *far]), MOST_PARTS_OF_LINES))
    if not segments and not beside and (keys := _lines_wanted(question.text)):
        needed, spare = _tables(principal, question, found, keys, settings, payment)
        beside += [*(replace(each, is_needed=True) for each in needed), *spare]
        kept_before = max(1, min(KEPT_BEFORE, limit - len(needed)))
    if not segments and not beside and calculation_of(question.text) is not None:
        beside += _other_parts(principal, found)
    of_names = _tables_of_names(principal, question.text, found) if _asks_for_figure(question.text) else []
    if (short := abbreviation_of(question.text)) is not None:
        beside += _spellings(principal, found, short)
    if asks_for_authors(question.text):
        beside += _heads(principal, found)
    if wanted := superlatives_of(question.text):
        beside += _decisive_parts(principal, [*found, *far], question.text, wanted)
    return _joined(found, [*beside, *of_names], kept_before, limit), bool(beside)


def _joined(
    found: Sequence[RankedChunk], beside: Sequence[RankedChunk], kept_before: int, limit: int
) -> list[RankedChunk]:
    """Return what was found with what is added behind the first ones, in place of the last."""
    first = found[:kept_before]
    added = list({each.chunk.pk: each for each in beside}.values())[: limit - 1]
    # What was found far behind, too, comes to the front: else what is added would push it out.
    moved = {each.chunk.pk for each in added} - {each.chunk.pk for each in first}
    kept = [
        *first,
        *(replace(each, score=first[-1].score) for each in added if each.chunk.pk in moved),
        *(each for each in found[kept_before:] if each.chunk.pk not in moved),
    ]
    return _marked(kept[:limit], {each.chunk.pk for each in beside if each.is_decisive})


def _with_parts_of_lines(questions: Sequence[str], found: Sequence[RankedChunk]) -> Iterator[RankedChunk]:
    """Yield the chunks with a table that has the part of a line: “data center revenue”."""
    for each in found:
        table = _table(each)
        if any(holds_part_of_line(question, table) for question in questions):
            yield each


def _asks_for_figure(question: str) -> bool:
    """Tell whether a question wants something computed, or the figure of a statement, and not its cause."""
    wants_figure = calculation_of(question) is not None or bool(lines_named(question))
    return wants_figure and not asks_why(question)


def _tables_of_names(principal: Principal, question: str, found: Sequence[RankedChunk]) -> list[RankedChunk]:
    """Return the tables of the documents found with a row for a name of the question, the best ones first.

    Who asks how much the revenue of a product has grown finds much that is said of it, and not the long table
    of all products. The company itself, whose name reports have, is no row of theirs.
    """
    issuers = " ".join({each.chunk.document.name.casefold() for each in found})
    names = [name for name in names_in(question) if name.casefold() not in issuers][:MOST_NAMES]
    years = years_in(question)
    if not names:
        return []
    live = Chunk.objects.restricted_to(principal).filter(
        document_id__in=_documents(found), replaced_by=None, modality=Modality.TABLE
    )
    rows = [f"\n| {name}" for name in names]
    has_row = reduce(or_, (Q(text__contains=row) for row in rows))
    tables = list(live.filter(has_row).only("text", "ordinal").order_by("ordinal")[:LOOKED_AT])

    def worth(table: Chunk) -> tuple[int, int]:
        """How many of the names have a row, and how many of the years a column."""
        return sum(row in table.text for row in rows), len(years & years_in(header_of(table.text)))

    best = [table.pk for table in sorted(tables, key=worth, reverse=True)[:MOST_TABLES_OF_NAMES]]
    whole = Chunk.objects.restricted_to(principal).select_related("document").in_bulk(best)
    return [replace(found[-1], chunk=shorten(whole[id]), scores=Scores()) for id in best if id in whole]


def _of_segment(
    principal: Principal,
    question: Question,
    found: Sequence[RankedChunk],
    segment: str,
    settings: RankingSettings,
    payment: Payment,
) -> list[RankedChunk]:
    """Return the tables with the lines of a business segment that are asked for, or with any if none is."""
    keys = _lines_wanted(question.text) or [key for key, _ in lines_named(question.text)]
    words = ", ".join([f"{segment} segment", *(LINES[key].label for key in keys)])
    asked = replace(question, text=words, document_ids=tuple(_documents(found)))
    # The reader itself tells which of them has the figures.
    steps = replace(settings, rerank=0.0)
    results = rank(principal, asked, limit=LOOKED_AT, settings=steps, payment=payment).results
    of_segment = (each for each in results if holds_figures_of(segment, keys, _table(each)))
    return [replace(each, is_needed=True) for each in islice(of_segment, MOST_TABLES_OF_SEGMENT)]


def _marked(kept: Sequence[RankedChunk], decisive: set[UUID]) -> list[RankedChunk]:
    """Mark the chunks that decide, if none is missing: the second best row would be taken for the best."""
    if not decisive <= {each.chunk.pk for each in kept}:
        decisive = set()
    return [replace(each, is_decisive=each.chunk.pk in decisive) for each in kept]


def _lines_wanted(question: str) -> list[str]:
    """Return the keys of the lines that a formula, a measure or a calculation of a question takes."""
    if (formula := formula_asked(question)) is not None:
        return formula.keys
    if compares_activities(question):
        return list(ACTIVITIES)
    if named := measures_of(question):
        return list(
            dict.fromkeys(key for measure, _ in named for way in measure.ways for key in lines_of(way))
        )
    asked = calculation_of(question)
    # What is part of a line stands in another table, which must keep its place.
    is_of_lines = asked is not None and asked.kind in (CalculationKind.GROWTH, CalculationKind.DIFFERENCE)
    keys = [key for key, _ in lines_named(question)]
    return keys if is_of_lines or (asked is not None and len(keys) > 1) else []


def _spellings(principal: Principal, found: Sequence[RankedChunk], short: str) -> list[RankedChunk]:
    """Return the first chunks of the documents found that have an abbreviation in parentheses."""
    documents = _documents(found)
    live = Chunk.objects.restricted_to(principal).filter(document_id__in=documents, replaced_by=None)
    chunks = live.filter(text__contains=f"({short}").select_related("document").order_by("ordinal")
    return [replace(found[-1], chunk=shorten(chunk), scores=Scores()) for chunk in chunks[:MOST_SPELLINGS]]


def _heads(principal: Principal, found: Sequence[RankedChunk]) -> list[RankedChunk]:
    """Return how the best document begins: its authors stand there."""
    document = found[0].chunk.document_id
    live = Chunk.objects.restricted_to(principal).filter(document_id=document, replaced_by=None)
    first = live.filter(ordinal__lt=CHUNKS_OF_HEAD).select_related("document").order_by("ordinal")
    return [replace(found[0], chunk=shorten(chunk), scores=Scores()) for chunk in first]


def _decisive_parts(
    principal: Principal, found: Sequence[RankedChunk], question: str, wanted: Sequence[Superlative]
) -> list[RankedChunk]:
    """Return the chunks with the rows that have the most, of the first table that tells for sure."""
    for asked in wanted:
        for each, parts in _whole_tables(principal, found, question):
            rows = best_rows(asked, parts)
            if not rows or not _are_segments_if_asked(principal, question, each.chunk, rows):
                continue
            chunk_ids = {part.rank: part.chunk_id for part in parts}
            ranks = (rank for row in rows for rank in (row.context.rank, *sorted(row.proof)))
            ids = list(dict.fromkeys(chunk_ids[rank] for rank in ranks))
            whole = Chunk.objects.restricted_to(principal).select_related("document").in_bulk(ids)
            return [
                replace(each, chunk=shorten(whole[id]), scores=Scores(), is_decisive=True, is_needed=True)
                for id in ids
                if id in whole
            ]
    return []


def _whole_tables(
    principal: Principal, found: Sequence[RankedChunk], question: str
) -> Iterator[tuple[RankedChunk, list[ChunkContext]]]:
    """Yield the best tables found, each with the contexts of all its parts."""
    seen: set[UUID] = set()
    for each in [each for each in found if is_table(each.chunk.text)][:MOST_WHOLE_TABLES]:
        if each.chunk.pk not in seen:
            parts = with_openings(principal, question, _parts_of_table(principal, each))
            seen.update(part.chunk_id for part in parts)
            yield each, in_language_of(question, parts)


def _other_parts(principal: Principal, found: Sequence[RankedChunk]) -> list[RankedChunk]:
    """Return the parts right before and behind the best table found: its total, or another year's balance."""
    best = next((each for each in found[:KEPT_BEFORE] if is_table(each.chunk.text)), None)
    if best is None:
        return []
    parts = [part.chunk_id for part in _parts_of_table(principal, best)]
    at = parts.index(best.chunk.pk) if best.chunk.pk in parts else 0
    near = [id for id in parts[max(0, at - 1) : at + 2] if id != best.chunk.pk]
    whole = Chunk.objects.restricted_to(principal).select_related("document").in_bulk(near)
    return [replace(best, chunk=shorten(whole[id]), scores=Scores()) for id in near if id in whole]


def _are_segments_if_asked(
    principal: Principal, question: str, chunk: Chunk, rows: Sequence[RankedRow]
) -> bool:
    """Tell whether a document calls each of the best rows a segment, if that is what is asked for.

    Below “Segment information” stand tables of countries and products, too.
    """
    if asks_for_segment(question):
        live = Chunk.objects.restricted_to(principal).filter(document_id=chunk.document_id, replaced_by=None)
        return all(live.filter(text__icontains=f"{row.name} segment").exists() for row in rows)
    return True


def _parts_of_table(principal: Principal, found: RankedChunk) -> list[ChunkContext]:
    """Return the parts of the table that a chunk is one of, in their order, with texts but without places.

    They follow each other below the same headings, and begin with the same header. Nothing is returned for a
    table without one, whose parts can't be told from others, and for one of too many parts.
    """
    part = found.chunk
    header = header_of(part.text)
    if not header:
        return []
    live = Chunk.objects.restricted_to(principal).filter(document_id=part.document_id, replaced_by=None)
    first, last = part.ordinal - MOST_PARTS, part.ordinal + MOST_PARTS
    near = live.filter(ordinal__gte=first, ordinal__lte=last, modality=Modality.TABLE).order_by("ordinal")
    # The places of all words would be ten times as much as the texts.
    beside = list(near.only("text", "ordinal", "headings", "language"))
    at = next((number for number, each in enumerate(beside) if each.pk == part.pk), None)
    if at is None:
        return []
    start = end = at
    while start > 0 and _goes_on(beside[start - 1], beside[start], header):
        start -= 1
    while end + 1 < len(beside) and _goes_on(beside[end], beside[end + 1], header):
        end += 1
    return [
        ChunkContext(
            rank=number,
            text=each.text,
            document_name=part.document.name,
            score=found.score,
            headings=tuple(each.headings),
            language=each.language,
            chunk_id=each.pk,
            document_id=part.document_id,
        )
        for number, each in enumerate(beside[start : end + 1])
        if end - start < MOST_PARTS
    ]


def _goes_on(one: Chunk, other: Chunk, header: str) -> bool:
    """Tell whether two chunks, one after the other, are parts of a table with this header."""
    return (
        other.ordinal == one.ordinal + 1
        and one.headings == other.headings
        and header_of(one.text) == header_of(other.text) == header
    )


def _table(found: RankedChunk) -> ChunkContext:
    return context_of_chunk(1, found.chunk, found.chunk.document.name, found.score)


def _documents(found: Sequence[RankedChunk]) -> list[UUID]:
    return list(dict.fromkeys(each.chunk.document_id for each in found))[:MOST_DOCUMENTS]


def _tables(
    principal: Principal,
    question: Question,
    found: Sequence[RankedChunk],
    keys: Sequence[str],
    settings: RankingSettings,
    payment: Payment,
) -> tuple[list[RankedChunk], list[RankedChunk]]:
    """Return the tables of the first documents that have these lines of statements, and others like them."""
    documents = _documents(found)
    needed: list[RankedChunk] = []
    spare: list[RankedChunk] = []
    for kind in dict.fromkeys(LINES[key].kind for key in keys):
        lines = [key for key in keys if LINES[key].kind is kind]
        words = f"consolidated {kind} {', '.join(LINES[key].label for key in lines)}"
        asked = replace(question, text=words, document_ids=tuple(documents))
        results = rank(principal, asked, limit=LOOKED_AT, settings=settings, payment=payment).results
        missing = set(lines)
        for each, held in _with_lines(_with_other_parts(principal, results, kind), kind, lines):
            (needed if held & missing else spare).append(each)
            missing -= held
    return needed, spare


def _with_other_parts(
    principal: Principal, results: Sequence[RankedChunk], kind: StatementKind
) -> list[RankedChunk]:
    """Return chunks with the other parts of the best statement of the whole company among them.

    A part that says nothing of the lines that were looked for by name may hold another one.
    """
    best = next((each for each in results if is_statement(kind, each.chunk.headings, each.chunk.text)), None)
    if best is None:
        return list(results)
    known = {each.chunk.pk for each in results}
    live = Chunk.objects.restricted_to(principal).filter(
        document_id=best.chunk.document_id, headings=best.chunk.headings, replaced_by=None
    )
    tables = live.filter(modality=Modality.TABLE).select_related("document").order_by("ordinal")
    others = [chunk for chunk in tables[:MOST_PARTS_OF_STATEMENT] if chunk.pk not in known]
    return [*results, *(replace(best, chunk=shorten(chunk), scores=Scores()) for chunk in others)]


def _with_lines(
    results: Sequence[RankedChunk], kind: StatementKind, lines: Sequence[str]
) -> list[tuple[RankedChunk, set[str]]]:
    """Return the best tables of a statement, each with the lines that it has."""
    held = {each.chunk.pk: _lines_in(each.chunk, kind, lines) for each in results}
    # What stands below the same headings is one statement, on one page or two.
    of_statement: defaultdict[tuple[object, ...], set[str]] = defaultdict(set)
    for each in results:
        of_statement[_place(each)] |= held[each.chunk.pk]
    holding = [each for each in results if held[each.chunk.pk]]
    whole = {_place(each) for each in holding if is_statement(kind, each.chunk.headings, each.chunk.text)}
    # The parts of the best one come together: each may hold one line.
    places = sorted(
        dict.fromkeys(map(_place, holding)),
        key=lambda place: (place not in whole, -len(of_statement[place])),
    )
    holding.sort(key=lambda each: places.index(_place(each)))
    return [(each, held[each.chunk.pk]) for each in holding[:MOST_TABLES]]


def _place(found: RankedChunk) -> tuple[object, ...]:
    return found.chunk.document_id, *found.chunk.headings


def _lines_in(chunk: Chunk, kind: StatementKind, keys: Sequence[str]) -> set[str]:
    """Return which of some lines of a statement a table has."""
    if not is_table(chunk.text) or holds_shares(chunk.text):
        return set()
    if kind is StatementKind.BALANCE and not holds_balances(chunk.headings, header_of(chunk.text)):
        return set()
    rows = filter(None, map(cells_of, chunk.text.splitlines()))
    # Without figures it is a heading: “Cash flows from operating activities:”.
    names = {plain_name(name) for name, *values in rows if any(map(str.isdigit, "".join(values)))}
    return {
        key
        for key in keys
        if any(name.fullmatch(each) for name in NAMES[key] for each in names)
        or sum(is_part_of(key, each) for each in names) > 1
    }
