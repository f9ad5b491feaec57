"""What the first pages of the documents found tell about them: who has issued them, when fiscal years end.

“What was Ulta's net income in fiscal 2022?” means the column “52 Weeks Ended January 28, 2023” of a file that
may be called “report.pdf”.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from accounts.principal import Principal
from core.text.fiscal import calendar_of
from kb.models import Chunk
from search.contexts import ChunkContext
from search.generation.extractive.asked_formulas import formula_asked
from search.generation.extractive.calculations import calculation_of
from search.generation.extractive.measures import measure_of
from search.generation.extractive.outstanding.superlatives import superlatives_of
from search.generation.extractive.periods import PeriodReading, reading_of

CHUNKS_OF_CALENDAR = 60
CHUNKS_OF_OPENING = 3
"""So many of the first chunks of a document are read."""
OPENING_CHARS = 2000


def with_openings(
    principal: Principal, question: str, contexts: Sequence[ChunkContext]
) -> list[ChunkContext]:
    """Return contexts with what the openings of their documents tell, if the question asks for figures."""
    is_fiscal = reading_of(question) is PeriodReading.FISCAL
    asks = (measure_of, formula_asked, calculation_of, superlatives_of)
    if not is_fiscal and not any(each(question) for each in asks):
        return list(contexts)
    documents = {context.document_id for context in contexts}
    read = _first_texts(principal, documents, CHUNKS_OF_CALENDAR if is_fiscal else CHUNKS_OF_OPENING)
    openings = {id: " ".join(texts[:CHUNKS_OF_OPENING])[:OPENING_CHARS] for id, texts in read.items()}
    calendars = {id: calendar_of(texts) for id, texts in read.items()} if is_fiscal else {}
    return [
        replace(
            context,
            opening=openings.get(context.document_id, ""),
            calendar=calendars.get(context.document_id),
        )
        for context in contexts
    ]


def _first_texts(principal: Principal, documents: set[UUID], count: int) -> dict[UUID, list[str]]:
    live = Chunk.objects.restricted_to(principal).filter(document_id__in=documents, replaced_by=None)
    first = live.filter(ordinal__lt=count).order_by("document_id", "ordinal")
    texts: defaultdict[UUID, list[str]] = defaultdict(list)
    for document, text in first.values_list("document_id", "text"):
        texts[document].append(text)
    return texts
