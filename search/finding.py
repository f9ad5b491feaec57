"""What a question finds, with what its words alone do not: the report that it names, and what belongs to it.

rank ─▶ once more if words are misspelt (`misspelt.py`) ─▶ only in the documents named (`named_documents.py`)
or in a company's own reports, without its name (`own_reports.py`), if any ─▶ + companions (`companions.py`)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Q

from accounts.principal import Principal
from core.database.replicas import read
from core.llm.payment import Payment
from kb.models import Document, Status
from kb.scheduled_deletion import NOT_MARKED
from search.companions import with_companions
from search.contexts import context_of_chunk
from search.generation.extractive.courses import own_figure
from search.generation.extractive.line_names import LINES
from search.generation.extractive.lines import lines_named
from search.generation.extractive.measures import measure_of
from search.generation.extractive.question_parts import parts_of_question
from search.generation.extractive.reasons import asks_why
from search.misspelt import respelt, spelling
from search.named_documents import (
    asks_for_course,
    documents_named,
    names_report,
    reports_of_series,
    series_of,
)
from search.own_reports import put_to_own_report
from search.questions import DEFAULT, Question, RankingSettings
from search.retrieval import RankedChunk, Ranking, rank

LOOKED_AT = 20
"""Of so many chunks the documents may be those that are named, or are called like them."""
MOST_SERIES, MOST_NAMES = 5, 500


@dataclass(frozen=True, slots=True)
class Found:
    """The chunks found, best first, and whether any was found by a name of what it holds."""

    ranking: Ranking
    is_certain: bool
    spelling: Mapping[str, str]
    """The misspelt words of the question, each with what is meant."""


def find(
    principal: Principal,
    question: Question,
    *,
    limit: int,
    settings: RankingSettings = DEFAULT,
    payment: Payment,
) -> Found:
    """Return at most `limit` chunks for a question; `payment` pays for the reranker, if that costs money."""
    settings = replace(settings, for_tables=_asks_for_figures(question.text))
    subject = parts_of_question(question.text).subject
    searched = replace(question, text=put_to_own_report(principal, subject, question.document_ids))
    ranking = rank(principal, searched, limit=max(limit, LOOKED_AT), settings=settings, payment=payment)
    meant = spelling(question.text, ranking.words, ranking.results)
    if meant:
        question = replace(question, text=respelt(question.text, meant))
        subject = respelt(subject, meant)
        searched = replace(searched, text=respelt(searched.text, meant))
        ranking = rank(principal, searched, limit=max(limit, LOOKED_AT), settings=settings, payment=payment)
    names = _names(principal, question, ranking.results)
    if asks_for_course(question.text):
        reports = reports_of_series(question.text, names)[-limit:]
        through = list(_through(principal, question, reports, settings, payment))
        if len(through) > 1:
            known = {each.chunk.pk for each in through}
            others = [each for each in ranking.results if each.chunk.pk not in known]
            return Found(replace(ranking, results=[*through, *others][:limit]), True, meant)
    named = documents_named(question.text, names)
    is_named = bool(named) and len(named) < len(names)
    # What is found first may be in the reports of who is named alone; then all else is put aside.
    narrowed = named if is_named else {each.chunk.document_id for each in ranking.results[:limit]}
    put = put_to_own_report(principal, searched.text, narrowed)
    if is_named or put != searched.text:
        question = replace(question, document_ids=tuple(narrowed))
        searched = replace(searched, text=put, document_ids=tuple(narrowed))
        ranking = rank(principal, searched, limit=max(limit, LOOKED_AT), settings=settings, payment=payment)
    results, is_certain = with_companions(principal, question, ranking.results, limit, settings, payment)
    # Who names the company whose own reports are searched asks about them.
    is_put_to_report = searched.text != subject
    return Found(replace(ranking, results=results), is_certain or is_put_to_report, meant)


def _asks_for_figures(question: str) -> bool:
    """Tell whether a question names a measure or a line of a statement, and does not ask for its cause."""
    return not asks_why(question) and bool(measure_of(question) or lines_named(question))


def _through(
    principal: Principal,
    question: Question,
    reports: Sequence[UUID],
    settings: RankingSettings,
    payment: Payment,
) -> Iterator[RankedChunk]:
    """Yield of each report the best chunk that has the figure asked for, if it has one."""
    lines = [LINES[key] for key, _ in lines_named(question.text)]
    statements = [f"consolidated {line.kind}, {line.label}" for line in lines]
    for report in reports:
        asked = replace(question, text=", ".join([question.text, *statements]), document_ids=(report,))
        # One of many rankings: the reader itself tells which of them has the figure.
        steps = replace(settings, rerank=0.0)
        found = rank(principal, asked, limit=LOOKED_AT, settings=steps, payment=payment).results
        for each in found:
            context = context_of_chunk(1, each.chunk, each.chunk.document.name, each.score)
            if own_figure(question.text, context) is not None:
                yield each
                break


def _names(principal: Principal, question: Question, found: Sequence[RankedChunk]) -> dict[UUID, str]:
    """Return the names of the documents found, best ones first, then of those called like them.

    The latest report of a company need not be among those found first.
    """
    names = {each.chunk.document_id: each.chunk.document.name for each in found}
    series = list(dict.fromkeys(filter(None, map(series_of, names.values()))))
    if not series or not (names_report(question.text) or asks_for_course(question.text)):
        return names
    called = reduce(or_, (Q(name__icontains=word) for word in series[:MOST_SERIES]))
    visible = Document.objects.restricted_to(principal).filter(
        NOT_MARKED, question.filters.condition(), called
    )
    if question.document_ids is not None:
        visible = visible.filter(pk__in=question.document_ids)
    if question.workspace_ids is not None:
        visible = visible.filter(workspace_id__in=question.workspace_ids)
    readable = visible.exclude(status=Status.FAILED).order_by("-created_at")
    return names | dict(read(lambda: list(readable.values_list("pk", "name")[:MOST_NAMES])))
