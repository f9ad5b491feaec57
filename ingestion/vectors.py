"""The vectors that a document's chunks lack, made batch by batch in reading order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from uuid import UUID

from django.db import transaction

from kb.embedding import model_of, spaces_to_fill
from kb.embedding.base import EmbeddingModel, Vectors
from kb.index.writing import index_vectors
from kb.models import Chunk, ChunkVector, EmbeddingSpace

BATCH = 128
# So many batches are computed at once. While one is stored, or its last texts keep one core busy, the other
# one uses the rest of the machine.
AT_ONCE = 2

Note = Callable[[int, int], None]
"""`note(done, total)` is called in the transaction that stores vectors. It must update the document's row, so
that a deletion waits."""


@dataclass(frozen=True, slots=True)
class _Batch:
    """Chunks that lack a vector in one space, their texts, and the model that makes it."""

    space: EmbeddingSpace
    model: EmbeddingModel
    ids: list[UUID]
    texts: list[str]


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

    def embed_next(self, note: Note) -> bool:
        """Embed the next batch; return whether there was one."""
        batches = self._batches_at(self._done)
        if batches:
            self._store(batches, _compute(batches), note)
        return bool(batches)

    def embed_rest(self, note: Note) -> Generator[None, None, None]:
        """Embed all that is missing; yield after each stored batch. To stop there keeps what is stored."""
        starts = iter(range(self._done, len(self._missing), BATCH))
        with ThreadPoolExecutor(AT_ONCE, "embedding") as threads:
            begin = partial(self._begin, threads)
            running = deque(map(begin, islice(starts, AT_ONCE)))
            while running:
                batches, computed = running.popleft()
                vectors = computed.result()
                running.extend(map(begin, islice(starts, 1)))
                self._store(batches, vectors, note)
                yield

    def _begin(self, threads: ThreadPoolExecutor, start: int) -> tuple[list[_Batch], Future[list[Vectors]]]:
        batches = self._batches_at(start)
        return batches, threads.submit(_compute, batches)

    def _batches_at(self, start: int) -> list[_Batch]:
        """Return what is missing from `start` on, at most `BATCH` chunks, by space."""
        missing = self._missing[start : start + BATCH]
        return [_batch(space, [id for _, id in group]) for space, group in groupby(missing, itemgetter(0))]

    def _store(self, batches: Sequence[_Batch], vectors: Sequence[Vectors], note: Note) -> None:
        """Store the vectors of the next batches, in one transaction."""
        done = min(self._done + BATCH, len(self._missing))
        with transaction.atomic():
            note(self.found + done, self.found + len(self._missing))
            for batch, computed in zip(batches, vectors, strict=True):
                _store_vectors(self._document_id, batch, computed)
        self._done = done


def _batch(space: EmbeddingSpace, ids: list[UUID]) -> _Batch:
    chunks = list(Chunk.unscoped.filter(pk__in=ids).only("headings", "text", "modality"))
    texts = [chunk.text_to_embed for chunk in chunks]
    return _Batch(space, model_of(space), [chunk.pk for chunk in chunks], texts)


def _compute(batches: Sequence[_Batch]) -> list[Vectors]:
    """Return the vectors of each batch; runs in threads, which have no connection to the database."""
    return [batch.model.embed_documents(batch.texts) for batch in batches]


def _store_vectors(document_id: UUID, batch: _Batch, vectors: Vectors) -> None:
    rows = [
        ChunkVector(chunk_id=id, space=batch.space, embedding=vector)
        for id, vector in zip(batch.ids, vectors, strict=True)
    ]
    ChunkVector.objects.bulk_create(rows, ignore_conflicts=True)
    index_vectors(document_id, batch.space, batch.ids, vectors)
