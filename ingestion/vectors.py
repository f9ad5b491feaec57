"""The vectors that a document's chunks still lack, made batch by batch in reading order."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.db import transaction

from kb.embedding import current_space, embedding_model
from kb.models import Chunk, ChunkVector

BATCH = 64


class MissingVectors:
    """Embeds one document; `find` looks again for what is missing after its chunks have changed."""

    def __init__(self, document_id: UUID) -> None:
        self._document_id = document_id
        self._missing: list[UUID] = []
        self._done = 0

    def find(self) -> None:
        """Look for live chunks without a vector."""
        live = Chunk.unscoped.filter(document_id=self._document_id, replaced_by=None)
        lacking = live.exclude(vectors__space=current_space())
        self._missing = list(lacking.order_by("ordinal").values_list("pk", flat=True))
        self._done = 0

    def embed_next(self, note: Callable[[int, int], None]) -> bool:
        """Embed the next batch; return whether there was one.

        `note` is told how many of how many are done, in the transaction that stores the vectors: it must
        update the document, so that a deletion waits.
        """
        ids = self._missing[self._done : self._done + BATCH]
        if not ids:
            return False
        chunks = list(Chunk.unscoped.filter(pk__in=ids).only("headings", "text"))
        vectors = embedding_model().embed_documents([chunk.text_to_embed for chunk in chunks])
        space = current_space()
        rows = (
            ChunkVector(chunk=chunk, space=space, embedding=vector)
            for chunk, vector in zip(chunks, vectors, strict=True)
        )
        with transaction.atomic():
            note(self._done + len(ids), len(self._missing))
            ChunkVector.objects.bulk_create(rows, ignore_conflicts=True)
        self._done += len(ids)
        return True
