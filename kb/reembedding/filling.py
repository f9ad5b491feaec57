"""Fills a space and makes it the active one.

Every step may be interrupted and repeated. Missing vectors are queried again, a vector is stored once, and
the change of the active space is one transaction. The old space keeps its vectors until it is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Count, QuerySet

from kb.embedding.spaces import active_space, model_of, multilingual_space
from kb.index.writing import complete
from kb.models import Chunk, ChunkVector, EmbeddingSpace

CHUNKS_AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class FillProgress:
    """How many of the live chunks have a vector in a space."""

    done: int
    total: int

    @property
    def is_complete(self) -> bool:
        """Whether no live chunk lacks a vector."""
        return self.done >= self.total


def live_chunks() -> QuerySet[Chunk]:
    """Return the chunks that search can find, of all tenants: an embedding space belongs to no tenant."""
    return Chunk.unscoped.filter(replaced_by=None)


def missing(space: EmbeddingSpace) -> QuerySet[Chunk]:
    """Return the live chunks without a vector in `space`."""
    return live_chunks().exclude(vectors__space=space)


def fill_progress(space: EmbeddingSpace) -> FillProgress:
    """Count the live chunks, and those with a vector in `space`."""
    total = live_chunks().count()
    return FillProgress(total - missing(space).count(), total)


def fill(space: EmbeddingSpace, *, backwards: bool = False) -> Iterator[int]:
    """Embed the chunks without a vector in `space`, in batches; yield the number of new vectors after each.

    Two simultaneous calls, one of them backwards, share the work. Raises `ModelUnavailable`.
    """
    model = model_of(space)
    after: UUID | None = None
    while batch := _next_batch(space, after, backwards):
        after = batch[-1].pk
        vectors = model.embed_documents([chunk.text_to_embed for chunk in batch])
        with transaction.atomic():
            # A document may be deleted while its chunks are embedded; the other vectors must be stored.
            ids = [chunk.pk for chunk in batch]
            alive = set(
                Chunk.unscoped.filter(pk__in=ids)
                .order_by("pk")
                .select_for_update(no_key=True)
                .values_list("pk", flat=True)
            )
            ChunkVector.objects.bulk_create(
                [
                    ChunkVector(chunk_id=id, space=space, embedding=vector)
                    for id, vector in zip(ids, vectors, strict=True)
                    if id in alive
                ],
                ignore_conflicts=True,
            )
        yield len(alive)


def activate(space: EmbeddingSpace) -> None:
    """Make `space` the active one, for searches from the next question on."""
    complete(space)
    with transaction.atomic():
        # Lock all rows in one order, so that two simultaneous activations wait for each other.
        list(EmbeddingSpace.objects.select_for_update().order_by("pk"))
        EmbeddingSpace.objects.filter(is_active=True).exclude(pk=space.pk).update(is_active=False)
        EmbeddingSpace.objects.filter(pk=space.pk).update(is_active=True)


def previous_space() -> EmbeddingSpace | None:
    """Return the space for a roll-back: the newest that holds vectors, of those that no search uses."""
    used = [space.pk for space in (active_space(), multilingual_space()) if space]
    others = EmbeddingSpace.objects.exclude(pk__in=used).order_by("-created_at", "-pk")
    return next((space for space in others if ChunkVector.objects.filter(space=space).exists()), None)


def vectors_by_space() -> dict[int, int]:
    """Return the number of stored vectors by space id, those of replaced chunks included."""
    counts = ChunkVector.objects.values("space_id").annotate(vectors=Count("pk")).order_by()
    return {row["space_id"]: row["vectors"] for row in counts}


def _next_batch(space: EmbeddingSpace, after: UUID | None, backwards: bool) -> list[Chunk]:
    chunks = missing(space).only("pk", "headings", "text", "modality").order_by("-pk" if backwards else "pk")
    if after is not None:
        chunks = chunks.filter(pk__lt=after) if backwards else chunks.filter(pk__gt=after)
    return list(chunks[:CHUNKS_AT_ONCE])
