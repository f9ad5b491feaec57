"""From a question to ranked chunks: by words and by meaning, fused.

    question ─┬─ words   (PostgreSQL text search)  ─┐
              └─ meaning (pgvector)                 ─┴─ fuse ─ best first

Both searches run inside the caller's scope; there is no way to call them without a principal. Scores of
the two are put on one scale by standardising each over its own hits, because adding standardised scores
ranks better than fusing ranks (docs/adr/0006).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, pstdev
from uuid import UUID

from django.contrib.postgres.search import SearchQuery, SearchRank
from django.db.models import F, QuerySet
from pgvector.django import CosineDistance

from accounts.principal import Principal
from kb.embedding import ModelUnavailable, active_space, model_of
from kb.languages import text_search_config
from kb.models import Chunk, Document

CANDIDATES = 50
"""How many chunks each search contributes to the fusion."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and to what it is narrowed: None is no narrowing, an empty tuple leaves nothing."""

    text: str
    document_ids: tuple[UUID, ...] | None = None
    workspace_ids: tuple[UUID, ...] | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk with its scores; a score is None if that search did not find it."""

    chunk: Chunk
    words: float | None
    vector: float | None
    fused: float


def retrieve(principal: Principal, question: Question) -> list[Found]:
    """Return the chunks that words or meaning find, best first; ties are broken by id."""
    chunks = _in_scope(principal, question)
    words = _by_words(chunks, question.text, _languages(principal, question))
    vector = _by_meaning(chunks, question.text)
    fused = fuse(words, vector)
    found = {chunk.pk: chunk for chunk in chunks.filter(pk__in=fused).select_related("document")}
    ranked = sorted(found, key=lambda id: (-fused[id], id))
    return [Found(found[id], words.get(id), vector.get(id), fused[id]) for id in ranked]


def fuse(*searches: Mapping[UUID, float]) -> dict[UUID, float]:
    """Return the sum of standardised scores; a chunk that a search missed gets that search's lowest score."""
    fused: dict[UUID, float] = dict.fromkeys((id for scores in searches for id in scores), 0.0)
    for scores in searches:
        standard = _standardise(scores)
        lowest = min(standard.values(), default=0.0)
        for id in fused:
            fused[id] += standard.get(id, lowest)
    return fused


def _standardise(scores: Mapping[UUID, float]) -> dict[UUID, float]:
    """Return z-scores: (score - mean) / standard deviation; all 0 where there is no spread."""
    if not scores:
        return {}
    mean, spread = fmean(scores.values()), pstdev(scores.values())
    return {id: (score - mean) / spread if spread else 0.0 for id, score in scores.items()}


def _in_scope(principal: Principal, question: Question) -> QuerySet[Chunk]:
    chunks = Chunk.objects.restricted_to(principal).filter(replaced_by=None)
    if question.document_ids is not None:
        chunks = chunks.filter(document_id__in=question.document_ids)
    if question.workspace_ids is not None:
        chunks = chunks.filter(workspace_id__in=question.workspace_ids)
    return chunks


def _languages(principal: Principal, question: Question) -> set[str | None]:
    documents = Document.objects.restricted_to(principal)
    if question.document_ids is not None:
        documents = documents.filter(pk__in=question.document_ids)
    return set(documents.order_by().values_list("language", flat=True).distinct())


def _by_words(chunks: QuerySet[Chunk], text: str, languages: set[str | None]) -> dict[UUID, float]:
    # Any word may match, and more of them rank higher: people ask whole questions.
    any_word = " | ".join(f"'{word}'" for word in re.findall(r"\w+", text))
    if not any_word:
        return {}
    configs = sorted({text_search_config(language) for language in languages} or {"simple"})
    query = SearchQuery(any_word, config=configs[0], search_type="raw")
    for config in configs[1:]:
        query |= SearchQuery(any_word, config=config, search_type="raw")
    hits = chunks.filter(words=query).annotate(rank=SearchRank(F("words"), query, normalization=1))
    return dict(hits.order_by("-rank", "pk").values_list("pk", "rank")[:CANDIDATES])


def _by_meaning(chunks: QuerySet[Chunk], text: str) -> dict[UUID, float]:
    # While documents are embedded again for another model, questions still go with the old one.
    space = active_space()
    try:
        vector = model_of(space).embed_query(text)
    except ModelUnavailable:
        # Reported at the start and in the log; words still find, and the vectors to come will.
        return {}
    hits = chunks.filter(vectors__space=space).annotate(distance=CosineDistance("vectors__embedding", vector))
    rows = hits.order_by("distance", "pk").values_list("pk", "distance")[:CANDIDATES]
    return {id: 1.0 - distance for id, distance in rows}
