"""Making a document's summary when it is first asked for, and keeping where its sentences stand.

A summary belongs to one state of a document: after new processing it is made anew.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np

from accounts.principal import Principal
from core.errors import Overloaded
from kb.access import live_chunks
from kb.embedding import ModelUnavailable, active_space, model_of
from kb.embedding.base import Vectors
from kb.embedding.calibration import calibration_of
from kb.models import Chunk, ChunkVector, Document, EmbeddingSpace, Modality, Searchable
from kb.summaries.extractive import Extracted, Place, SummaryChunk, extract_summary

VERSION = 1
"""To be raised with every change that chooses other sentences."""
MOST_CHUNKS = 1000
"""Of a longer document so many are looked at, evenly spread."""
AT_ONCE = 1
LONGEST_WAIT_SECS = 20.0

_making = threading.BoundedSemaphore(AT_ONCE)


@dataclass(frozen=True, slots=True)
class PlacedSentence:
    """A sentence of a summary, by its chunk and its offsets in the chunk's text."""

    chunk: Chunk
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SummaryOfDocument:
    """The sentences of a summary in reading order; none where the document is too short for one."""

    abstract: tuple[PlacedSentence, ...]
    key_points: tuple[PlacedSentence, ...]


def summary_of(principal: Principal, document: Document) -> SummaryOfDocument | None:
    """Return the summary as far as the principal may read it, made now if there is none yet.

    None while the document has no vectors. Raise `Overloaded` if too many wait for theirs.
    """
    if document.searchable != Searchable.FULL or document.indexed_at is None:
        return None
    if not _is_current(document):
        _make(principal, document)
    return _read(principal, document.summary) if document.summary else None


def _state(document: Document) -> dict[str, Any]:
    assert document.indexed_at is not None
    return {"version": VERSION, "indexed_at": document.indexed_at.isoformat()}


def _is_current(document: Document) -> bool:
    stored = document.summary or {}
    return all(stored.get(name) == value for name, value in _state(document).items())


def _make(principal: Principal, document: Document) -> None:
    """Choose sentences and keep them; nothing is kept while the embedding model can't be used."""
    with _turn():
        # Another request may have made it meanwhile.
        document.refresh_from_db(fields=["summary", "indexed_at"])
        if document.indexed_at is None or _is_current(document):
            return
        try:
            chunks, extracted = _extract(principal, document)
        except ModelUnavailable:
            document.summary = None
            return
        document.summary = _state(document) | {
            "abstract": _stored(chunks, extracted.abstract),
            "key_points": _stored(chunks, extracted.key_points),
        }
        # Only of this state: the document may be processed again just now.
        state = Document.objects.addressable_by(principal).filter(
            pk=document.pk, indexed_at=document.indexed_at
        )
        state.update(summary=document.summary)


@contextmanager
def _turn() -> Iterator[None]:
    if not _making.acquire(timeout=LONGEST_WAIT_SECS):
        raise Overloaded
    try:
        yield
    finally:
        _making.release()


def _extract(principal: Principal, document: Document) -> tuple[list[Chunk], Extracted]:
    space = active_space()
    model = model_of(space)
    live = live_chunks(principal, document)
    ids = list(live.order_by("ordinal").values_list("pk", flat=True))
    step = -(-len(ids) // MOST_CHUNKS) or 1
    fields = ("text", "headings", "sentences", "modality")
    by_id = {chunk.pk: chunk for chunk in live.filter(pk__in=ids[::step]).only(*fields)}
    vectors = _vectors(space, list(by_id))
    chunks = [by_id[id] for id in ids[::step] if id in by_id and id in vectors]
    if not chunks:
        return [], Extracted()
    stacked = np.stack([vectors[chunk.pk] for chunk in chunks])
    read, calibration = list(map(_summary_chunk, chunks)), calibration_of(model.name)
    return chunks, extract_summary(read, stacked, calibration, model.embed_documents)


def _vectors(space: EmbeddingSpace, ids: list[UUID]) -> dict[UUID, Vectors]:
    rows = ChunkVector.objects.filter(space=space, chunk_id__in=ids).values_list("chunk_id", "embedding")
    return {id: _unit(embedding) for id, embedding in rows}


def _unit(vector: list[float]) -> Vectors:
    exact = np.asarray(vector, np.float32)
    unit: Vectors = exact / max(float(np.linalg.norm(exact)), 1e-9)
    return unit


def _summary_chunk(chunk: Chunk) -> SummaryChunk:
    return SummaryChunk(
        chunk.text,
        chunk.headings,
        [(start, end) for start, end in chunk.sentences],
        is_text=chunk.modality in (Modality.TEXT, Modality.AUDIO, Modality.VIDEO),
    )


def _stored(chunks: list[Chunk], places: tuple[Place, ...]) -> list[list[object]]:
    return [[str(chunks[place.chunk].pk), place.start, place.end] for place in places]


def _read(principal: Principal, stored: dict[str, Any]) -> SummaryOfDocument:
    """Return the sentences with their chunks, those alone that the principal may still read."""
    ids = {UUID(id) for part in ("abstract", "key_points") for id, _, _ in stored[part]}
    chunks = {chunk.pk: chunk for chunk in Chunk.objects.addressable_by(principal).filter(pk__in=ids)}

    def placed(part: str) -> tuple[PlacedSentence, ...]:
        return tuple(
            PlacedSentence(chunks[UUID(id)], start, end)
            for id, start, end in stored[part]
            if UUID(id) in chunks
        )

    return SummaryOfDocument(placed("abstract"), placed("key_points"))
