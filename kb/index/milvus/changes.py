"""Changes of documents that Milvus has to take over: noted with the change itself, made soon afterwards.

  index_document ─▶ IndexChange (same transaction) ─▶ job ─▶ Milvus ─▶ sums in PostgreSQL, the note is deleted

A note goes only once Milvus has the document as it is: if the document changes meanwhile, its version differs
and the note stays. All steps may be repeated. While Milvus does not answer, notes wait, and with them the
ingestion of their documents.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import connection, transaction
from procrastinate.contrib.django import app
from procrastinate.exceptions import AlreadyEnqueued

from core.jobs import defer_job
from core.row_access import as_system
from kb.embedding import active_space
from kb.index.errors import EngineUnavailable
from kb.index.milvus import statistics
from kb.index.milvus.collection import IndexedChunk, MilvusCollection, all_collections, chunk_weights
from kb.index.purging import forget_terms_among
from kb.index.segments import Entry, entries, stored_vectors
from kb.jobs import EMBED_TASK, defer_for_document
from kb.models import Chunk, Document, EmbeddingSpace, IndexChange, IndexedDocument, IndexedScope, Status

logger = logging.getLogger(__name__)

TASK = "apply_index_changes"
PRIORITY = 5
SLICE_SECS = 10.0
AT_ONCE = 100
CHUNKS_AT_ONCE = 500
NOTE = """
    INSERT INTO kb_indexchange (document_id, version)
    SELECT id, (extract(epoch FROM clock_timestamp()) * 1e6)::bigint FROM unnest(%s::uuid[]) AS changed (id)
    ON CONFLICT (document_id) DO UPDATE SET version = greatest(kb_indexchange.version + 1, excluded.version)
"""
FINISH = "DELETE FROM kb_indexchange WHERE document_id = %s AND version = %s RETURNING is_awaited"


@as_system("notes are read by jobs alone and belong to nobody")
def note(document_ids: Collection[UUID], *, at_once: bool = True) -> None:
    """Note that documents have changed, in the caller's transaction; `at_once` also queues the job."""
    if not document_ids:
        return
    with connection.cursor() as cursor:
        cursor.execute(NOTE, [sorted(document_ids)])
    if at_once:
        _defer()


@app.periodic(cron="* * * * *")
@app.task(name=TASK, queueing_lock=TASK)
def apply_index_changes(timestamp: int) -> None:
    """Make noted changes for a slice of time, the oldest first, and queue what is left."""
    until, after = time.monotonic() + SLICE_SECS, 0
    document_id: UUID | None = None
    gone: set[str] = set()
    try:
        while changes := list(IndexChange.objects.filter(version__gt=after).order_by("version")[:AT_ONCE]):
            for change in changes:
                document_id = change.pk
                gone |= set(_apply_or_log(document_id))
                if time.monotonic() > until:
                    _defer()
                    return
            after = changes[-1].version
    except EngineUnavailable:
        # It is logged. The next minute's job begins with the others: Milvus may refuse this one alone.
        note([document_id] if document_id else [], at_once=False)
    finally:
        forget_terms_among(sorted(gone))


def apply(document_id: UUID) -> list[str]:
    """Make the noted change of one document, if there is one; return terms that no chunk of its scope has any
    more.

    Raises `EngineUnavailable`.
    """
    with transaction.atomic(), as_system("writes a document for whoever may find it"):
        _lock(document_id)
        change = IndexChange.objects.filter(pk=document_id).first()
        if change is None:
            return []
        document = Document.unscoped.filter(pk=document_id).first()
        written = _write(document, change.version) if document else None
        if document is None or written is None:
            gone = statistics.remove(document_id)
        else:
            gone = statistics.record(document_id, written.scope, written.terms(), written.space_ids)
        _finish(change, document)
    return gone


def settle(document_id: UUID) -> bool:
    """Make a document's change now; if Milvus does not answer, let its ingestion wait and return False."""
    try:
        forget_terms_among(apply(document_id))
    except EngineUnavailable:
        # If it was made meanwhile, there is nothing to wait for.
        return not IndexChange.objects.filter(pk=document_id).update(is_awaited=True)
    return True


def apply_all() -> None:
    """Make all noted changes; raise `EngineUnavailable`."""
    while ids := list(IndexChange.objects.order_by("version").values_list("pk", flat=True)[:AT_ONCE]):
        for id in ids:
            apply(id)


@dataclass
class _Written:
    """What was written of a document."""

    scope: IndexedScope
    chunks: int = 0
    length: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    languages: set[str] = field(default_factory=set)
    vectors: Counter[int] = field(default_factory=Counter)
    """By embedding space, how many chunks have one."""

    def add(self, found: Sequence[Entry]) -> None:
        self.chunks += len(found)
        self.length += sum(len(entry.terms) for entry in found)
        self.counts.update(statistics.count_terms(entry.terms for entry in found))
        self.languages |= {entry.language for entry in found}

    def terms(self) -> statistics.DocumentTerms:
        return statistics.DocumentTerms(self.chunks, self.length, self.counts, self.languages)

    @property
    def space_ids(self) -> list[int]:
        return [space for space, count in self.vectors.items() if count == self.chunks]


def _write(document: Document, version: int) -> _Written | None:
    """Write all live chunks of a document, then remove what was there before; None if there are none."""
    # An installation's first document is there before a space that its vectors will have.
    spaces = list(EmbeddingSpace.objects.order_by("pk")) or [active_space()]
    written = None
    for found in _entries(document.pk):
        written = written or _Written(statistics.scope_of(document))
        written.add(found)
        for space in spaces:
            chunks = _indexed(found, space)
            written.vectors[space.pk] += sum(chunk.vector is not None for chunk in chunks)
            MilvusCollection.of(space).write(
                document.pk, document.workspace_id, written.scope.pk, version, chunks
            )
    for space in spaces:
        MilvusCollection.of(space).remove(document.pk, before=version if written else None)
    return written


def _entries(document_id: UUID) -> Iterator[list[Entry]]:
    live = Chunk.unscoped.filter(document_id=document_id, replaced_by=None).order_by("ordinal")
    ids = list(live.values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNKS_AT_ONCE):
        yield entries(live.filter(pk__in=ids[start : start + CHUNKS_AT_ONCE]))


def _indexed(found: Sequence[Entry], space: EmbeddingSpace) -> list[IndexedChunk]:
    at, vectors = stored_vectors([entry.chunk_id for entry in found], space)
    by_place = dict(zip(at, vectors, strict=True))
    return [
        IndexedChunk(entry.chunk_id, len(entry.terms), chunk_weights(entry.terms), by_place.get(place))
        for place, entry in enumerate(found)
    ]


def _finish(change: IndexChange, document: Document | None) -> None:
    """Delete the note, unless the document has changed meanwhile; go on with an ingestion that waits."""
    with connection.cursor() as cursor:
        cursor.execute(FINISH, [change.pk, change.version])
        deleted = cursor.fetchone()
    if deleted and deleted[0] and document and document.status == Status.INDEXING:
        defer_for_document(EMBED_TASK, document.pk)


def _apply_or_log(document_id: UUID) -> list[str]:
    try:
        return apply(document_id)
    except EngineUnavailable:
        raise
    except Exception:
        # One document must not hold up the others. `doctor` reports it.
        logger.exception("Document %s could not be written to the search engine.", document_id)
        return []


def _lock(document_id: UUID) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"index {document_id}"])


def _defer() -> None:
    try:
        with transaction.atomic():
            defer_job(TASK, {"timestamp": 0}, queueing_lock=TASK, priority=PRIORITY)
    except AlreadyEnqueued:
        pass


@app.periodic(cron="37 3 * * *")
@app.task(name="drop_unused_collections", queueing_lock="drop_unused_collections")
def drop_unused_collections(timestamp: int) -> None:
    """Drop the collections of embedding spaces that are gone, if Milvus was ever used."""
    if not IndexedScope.unscoped.exists():
        return
    kept = set(EmbeddingSpace.objects.values_list("pk", flat=True))
    for collection in all_collections():
        if collection.space_id not in kept:
            collection.drop()


def documents_without(space: EmbeddingSpace) -> Iterable[UUID]:
    """Return the indexed documents that lack vectors of a space in Milvus."""
    lacking = IndexedDocument.objects.exclude(space_ids__contains=[space.pk])
    return lacking.values_list("pk", flat=True)
