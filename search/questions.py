"""What a search is asked: a question with its restrictions, and what can be tuned about ranking."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import Q


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on documents, all of which must hold; an empty tuple or None sets none."""

    tags: tuple[str, ...] = ()
    metadata: tuple[tuple[str, tuple[object, ...]], ...] = ()
    """A key and the values it may have."""
    created_after: datetime | None = None
    created_before: datetime | None = None
    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    collection_ids: tuple[UUID, ...] = ()

    def __bool__(self) -> bool:
        return self != Filters()

    def condition(self) -> Q:
        """Return the condition on documents."""
        condition = Q()
        if self.tags:
            condition &= Q(tags__overlap=list(self.tags))
        for key, values in self.metadata:
            condition &= Q(*(Q(metadata__contains={key: value}) for value in values), _connector=Q.OR)
        if self.created_after:
            condition &= Q(created_at__gte=self.created_after)
        if self.created_before:
            condition &= Q(created_at__lt=self.created_before)
        if self.kinds:
            condition &= Q(file_type__in=self.kinds)
        if self.languages:
            condition &= Q(language__in=self.languages)
        if self.collection_ids:
            condition &= Q(collection_ids__overlap=list(self.collection_ids))
        return condition


@dataclass(frozen=True, slots=True)
class Question:
    """The question and its restrictions: None restricts nothing, an empty tuple excludes everything."""

    text: str
    document_ids: tuple[UUID, ...] | None = None
    workspace_ids: tuple[UUID, ...] | None = None
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """What can be tuned about ranking; the defaults are the product's (docs/adr/0014-ranking.md)."""

    words: float = 1.0
    """The words' scores weigh so many times what the embedding model's calibration says; 0 leaves that search
    out."""
    vector: float = 1.0
    rerank: float = 1.0
    """0 leaves the reranker out."""
    reranker: str | None = None
    """One of `offered_rerankers()`; None is the deployment's."""
    candidates: int = 100
    """How many chunks each search contributes."""
    for_tables: bool = False
    """Whether figures of tables are looked for."""
    near_duplicates: bool = True
    """False leaves out chunks that say what a better one says."""


DEFAULT = RankingSettings()
