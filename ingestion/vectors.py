"""The vectors that a document's chunks lack, made batch by batch in reading order."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from operator import itemgetter
from uuid import UUID

from django.db import transaction

from kb.embedding import model_of, spaces_to_fill
from kb.embedding.base import Vectors
from kb.index.segments import index_vectors
from kb.models import Chunk, ChunkVector, EmbeddingSpace

BATCH = 128


class MissingVectors:
    """Embeds one document; `find` queries again after its chunks have changed."""

    def __init__(self, document_id: UUID) -> None:
        self._document_id = document_id
        self._missing: list[tuple[EmbeddingSpace, UUID]] = []
        self._done = 0
        self.found = 0
        """The number of vectors that existed when `find` was called."""

    @property
    def are_missing(self) -> bool:
        """Whether there is more to embed."""
        return self._done < len(self._missing)

    def find(self) -> None:
        """Query the live chunks without a vector, in each space that is to be filled."""
        live = Chunk.unscoped.filter(document_id=self._document_id, replaced_by=None).order_by("ordinal")
        spaces = list(spaces_to_fill())
        self._missing = [
            (space, id)
            for space in spaces
            for id in live.exclude(vectors__space=space).values_list("pk", flat=True)
        ]
        self.found = live.count() * len(spaces) - len(self._missing)
        self._done = 0

    def embed_next(self, note: Callable[[int, int], None]) -> bool:
        """Embed the next batch; return whether there was one.

        `note(done, total)` is called in the transaction that stores the vectors. It must update the
        document's row, so that a deletion waits.
        """
        batch = self._missing[self._done : self._done + BATCH]
        if not batch:
            return False
        embedded = [
            _embed_batch(space, [id for _, id in group]) for space, group in groupby(batch, key=itemgetter(0))
        ]
        with transaction.atomic():
            note(self.found + self._done + len(batch), self.found + len(self._missing))
            for space, ids, vectors in embedded:
                _store(self._document_id, space, ids, vectors)
        self._done += len(batch)
        return True


def _embed_batch(space: EmbeddingSpace, ids: list[UUID]) -> tuple[EmbeddingSpace, list[UUID], Vectors]:
    chunks = list(Chunk.unscoped.filter(pk__in=ids).only("headings", "text", "modality"))
    vectors = model_of(space).embed_documents([chunk.text_to_embed for chunk in chunks])
    return space, [chunk.pk for chunk in chunks], vectors


def _store(document_id: UUID, space: EmbeddingSpace, ids: list[UUID], vectors: Vectors) -> None:
    rows = [
        ChunkVector(chunk_id=id, space=space, embedding=vector)
        for id, vector in zip(ids, vectors, strict=True)
    ]
    ChunkVector.objects.bulk_create(rows, ignore_conflicts=True)
    index_vectors(document_id, space, ids, vectors)
