"""Vectors are made batch by batch, some at once, and stored in order."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Barrier, Lock

import pytest

from ingestion import pipeline, vectors
from ingestion.vectors import MissingVectors
from kb.embedding import active_space
from kb.embedding.base import Vectors
from kb.embedding.hashing import HashingModel
from kb.models import Chunk, ChunkVector, Document
from tests.ingestion.conftest import Upload

pytestmark = pytest.mark.django_db
CHUNKS = 4


class PairedModel(HashingModel):
    """Computes a batch only while it computes another one: it fails if they come one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self._together, self._lock = Barrier(2, timeout=60), Lock()
        self.sizes: list[int] = []

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """See `EmbeddingModel`."""
        self._together.wait()
        with self._lock:
            self.sizes.append(len(texts))
        return super().embed_documents(texts)


@pytest.fixture
def document(upload: Upload) -> Document:
    """A document of four chunks that can be found by words."""
    document = upload("report.pdf")
    pipeline.read(document.pk, lambda: False)
    return document


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> PairedModel:
    """The model that makes the vectors, two chunks at a time."""
    model = PairedModel()
    monkeypatch.setattr(vectors, "BATCH", 2)
    monkeypatch.setattr(vectors, "model_of", lambda space: model)
    return model


def stored(document: Document) -> int:
    chunks = Chunk.unscoped.filter(document=document, replaced_by=None)
    return ChunkVector.objects.filter(space=active_space(), chunk__in=chunks).count()


def test_two_batches_are_computed_at_once(document: Document, model: PairedModel) -> None:
    missing = MissingVectors(document.pk)
    missing.find()
    noted: list[tuple[int, int]] = []
    counts = [stored(document) for _ in missing.embed_rest(lambda *done: noted.append(done))]
    assert counts == [2, CHUNKS] and noted == [(2, CHUNKS), (CHUNKS, CHUNKS)]
    assert model.sizes == [2, 2] and not missing.are_missing


def test_whoever_stops_keeps_what_is_stored(document: Document, model: PairedModel) -> None:
    missing = MissingVectors(document.pk)
    missing.find()
    batches = missing.embed_rest(lambda done, total: None)
    next(batches)
    batches.close()
    assert stored(document) == 2 and missing.are_missing
    missing.find()
    assert missing.found == 2
