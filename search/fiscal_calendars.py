"""When the fiscal years of the documents found end, for questions about a fiscal year.

“What was net income in fiscal 2022?” means a column that says “52 Weeks Ended January 28, 2023”: the first
pages of the report tell so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from accounts.principal import Principal
from core.text.fiscal import FiscalCalendar, calendar_of
from kb.models import Chunk
from search.contexts import ChunkContext
from search.generation.extractive.periods import PeriodReading, reading_of

FIRST_CHUNKS = 60
"""So many of a document are read for it."""


def with_calendars(
    principal: Principal, question: str, contexts: Sequence[ChunkContext]
) -> list[ChunkContext]:
    """Return the contexts with the calendars of their documents, if the question names a fiscal year."""
    if reading_of(question) is not PeriodReading.FISCAL:
        return list(contexts)
    found = calendars_of(principal, {context.document_id for context in contexts})
    return [replace(context, calendar=found.get(context.document_id)) for context in contexts]


def calendars_of(principal: Principal, documents: set[UUID]) -> dict[UUID, FiscalCalendar]:
    """Return the calendars of those documents that tell one."""
    live = Chunk.objects.restricted_to(principal).filter(document_id__in=documents, replaced_by=None)
    first = live.filter(ordinal__lt=FIRST_CHUNKS).order_by("document_id", "ordinal")
    texts: defaultdict[UUID, list[str]] = defaultdict(list)
    for document, text in first.values_list("document_id", "text"):
        texts[document].append(text)
    found = {document: calendar_of(of_one) for document, of_one in texts.items()}
    return {document: calendar for document, calendar in found.items() if calendar is not None}
