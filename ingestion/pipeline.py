"""How a file becomes searchable, step by step.

file ──read──▶ units of elements ──structure, chunk──▶ drafts ──store──▶ chunks, found by words
         ▲          │                                                        │
         └─recognise┘ scans, speech, pictures  document ready ◀──embed────────┘ vectors, in reading order
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from pathlib import Path
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.usage.counting import UsageCount, count_usage
from core.errors import DocumentError
from core.threads import give_connection_back
from extract.base import Element
from extract.errors import Corrupted, NoText
from ingestion.attachments import add_attachments
from ingestion.captioning import caption_pictures, captioner
from ingestion.chunking import chunk_elements
from ingestion.extraction import ExtractionState
from ingestion.fetching import fetch_document
from ingestion.language import language_of
from ingestion.pictures import pictures_in, with_pictures
from ingestion.progress import UNDER_WAY, ProgressWriter, Superseded, publish_document
from ingestion.quality import is_partial, quality_of, warnings_of
from ingestion.speakers.turns import with_speakers
from ingestion.structure.elements import structure_elements
from ingestion.vectors import MissingVectors
from kb.chunks import ChunkDraft, swap_chunks
from kb.documents import FILE_LOST, has_file
from kb.embedding import embedding_model
from kb.index.merging import merge_if_due
from kb.index.segments import ScopeKey
from kb.index.writing import index_document, settle
from kb.jobs import defer_for_document
from kb.models import Chunk, Document, Modality, Searchable, Stage, Status
from kb.notifications.outcomes import report_outcome
from kb.reembedding import multilingual
from kb.storage import StoredFile

# Recognised pages become searchable this often, and this takes at most this share of the time.
PUBLISH_EVERY_SECS = 10.0
PUBLISH_SHARE = 0.1

Interruption = Callable[[], bool]


def ingest(document_id: UUID, interrupted: Interruption = lambda: False) -> None:
    """Take a document from its file to `ready` or `partial`.

    Raises `DocumentError` if it can't be ingested, `Superseded` if it was deleted, cancelled, queued again or
    finished meanwhile, and `Interrupted` once `interrupted()` is true. Running again after any of these, or
    after a crash, gives the same chunks.
    """
    if Document.unscoped.filter(pk=document_id).exclude(url="").exists():
        fetch(document_id, interrupted)
    read(document_id, interrupted)
    embed(document_id, interrupted)


def fetch(document_id: UUID, interrupted: Interruption, next_task: str | None = None) -> None:
    """Fetch the document's web page, and queue `next_task` in the transaction that stores it.

    No database connection is held while the other server answers.
    """
    writer = ProgressWriter(document_id, interrupted)
    writer.begin_or_stop(error_code="", error_message="", warnings=[])

    def check() -> None:
        writer.raise_if_stopped()
        give_connection_back()

    document = _document(document_id)
    give_connection_back()
    fetch_document(document, check)
    with transaction.atomic():
        writer.write_or_stop()
        _queue(next_task, document_id)


def read(document_id: UUID, interrupted: Interruption, next_task: str | None = None) -> None:
    """Make a document's text findable by words, and queue `next_task` in the same transaction."""
    writer = ProgressWriter(document_id, interrupted)
    writer.begin_or_stop(error_code="", error_message="", warnings=[])
    document = _document(document_id)
    document.text_ready_at = None
    if not has_file(document):
        if not document.url:
            raise Corrupted(FILE_LOST)
        fetch_document(document, writer.raise_if_stopped)
    with StoredFile.of(document).local_copy() as path, tempfile.TemporaryDirectory() as folder:
        attachments = Path(folder)
        reading = ExtractionState(document, path, writer, attachments)
        reading.read_text()
        if reading.pending or reading.pictured:
            _recognise(document, reading, writer)

        writer.enter_stage_or_stop(Stage.CHUNKING, status=Status.INDEXING)
        warnings = [*warnings_of(reading), *add_attachments(document, reading.attached, attachments)]
        language = document.language or language_of(reading.elements)
        drafts = _drafts(reading, language)
        if not drafts:
            raise NoText
        with transaction.atomic():
            _publish(document, drafts, language, reading.modality, writer)
            writer.enter_stage_or_stop(
                Stage.EMBEDDING,
                warnings=[asdict(warning) for warning in warnings],
                quality=quality_of(reading, drafts, warnings, language),
            )
            _queue(next_task, document_id)
    reading.close()


def embed(
    document_id: UUID,
    interrupted: Interruption,
    others_wait: Callable[[], bool] = lambda: False,
    next_task: str | None = None,
) -> None:
    """Embed the document's chunks that lack vectors, and mark it as finished.

    After each stored batch `others_wait` is called. If it returns True, `next_task` is queued and this job
    ends.
    """
    writer = ProgressWriter(document_id, interrupted)
    document = Document.unscoped.filter(pk=document_id, status=Status.INDEXING).first()
    if document is None:
        raise Superseded
    vectors = MissingVectors(document_id)
    vectors.find()
    note = partial(writer.progress_or_stop, Stage.EMBEDDING, unit="chunk", before=vectors.found)
    with closing(vectors.embed_rest(note)) as stored:
        for _ in stored:
            if vectors.are_missing and others_wait():
                with transaction.atomic():
                    writer.write_or_stop()
                    _queue(next_task, document_id)
                return
    if not settle(document_id):
        # The index engine does not answer. Once it has the document, this job is queued again.
        return
    with transaction.atomic():
        # A processing finishes once, however often its jobs are repeated: so its pages are counted once.
        writer.write_or_stop(
            status=Status.PARTIAL if is_partial(document.warnings) else Status.READY,
            stage=Stage.DONE,
            progress=1.0,
            activity=None,
            searchable=Searchable.FULL,
            indexed_at=timezone.now(),
        )
        pages = document.page_count or 0
        count_usage([UsageCount(document.workspace_id, document.usage_owner, pages=pages)])
        report_outcome(_document(document_id))
    merge_if_due(ScopeKey.of(document))
    multilingual.keep_up(document.language)


def fail(document_id: UUID, error: DocumentError, *, has_begun: bool = True) -> None:
    """Mark a document as failed with the error: its chunks are deleted, its file is kept.

    Does nothing if the document is gone, cancelled, or was queued again although this run `has_begun`.
    """
    statuses = UNDER_WAY if has_begun else (*UNDER_WAY, Status.QUEUED)
    with transaction.atomic():
        failed = Document.unscoped.filter(pk=document_id, status__in=statuses)
        if failed.update(
            status=Status.FAILED,
            stage=Stage.DONE,
            activity=None,
            searchable=Searchable.NONE,
            chunk_count=0,
            error_code=error.code,
            error_message=error.message,
            updated_at=timezone.now(),
        ):
            Chunk.unscoped.filter(document_id=document_id).delete()
            index_document(document_id)
            publish_document(document_id)
            report_outcome(_document(document_id))


def _document(document_id: UUID) -> Document:
    """Return the document; raise `Superseded` if it was deleted just now."""
    document = Document.unscoped.filter(pk=document_id).first()
    if document is None:
        raise Superseded
    return document


def _queue(task: str | None, document_id: UUID) -> None:
    if task:
        defer_for_document(task, document_id)


# --- The steps ---------------------------------------------------------------------------------------------


def _recognise(document: Document, reading: ExtractionState, writer: ProgressWriter) -> None:
    """Recognise scans and speech, and look for pictures; text known so far is searchable meanwhile.

    A document that is processed again keeps its old chunks until the new ones are complete.
    """
    is_new = document.indexed_at is None
    vectors = MissingVectors(document.pk)
    writer.expect_recognition()
    total = len(reading.pending) + len(reading.pictured)
    due = time.monotonic()

    def while_waiting() -> None:
        writer.raise_if_stopped()
        if is_new:
            vectors.embed_next(lambda done, total: writer.write_or_stop())

    def publish() -> None:
        language = document.language or language_of(reading.elements)
        with transaction.atomic():
            _publish(document, _drafts(reading, language), language, reading.modality, writer)
        vectors.find()

    if is_new:
        publish()
    units = chain(reading.recognise(while_waiting), reading.look_for_pictures(while_waiting))
    for done, _ in enumerate(units, start=1):
        writer.throttled_progress_or_stop(Stage.EXTRACTING, done, total, reading.unit_name)
        if is_new and time.monotonic() >= due:
            begun = time.monotonic()
            publish()
            due = time.monotonic() + max(PUBLISH_EVERY_SECS, (time.monotonic() - begun) / PUBLISH_SHARE)
    _describe(document, reading, writer)


def _describe(document: Document, reading: ExtractionState, writer: ProgressWriter) -> None:
    """Let a model describe the pictures, if the deployment names one."""
    chosen = captioner()
    areas = pictures_in(_elements(reading)) if chosen else []
    if chosen and areas:
        language = document.language or language_of(reading.elements)
        file = replace(StoredFile.of(document), copy=reading.path)
        described = caption_pictures(chosen, document, file, areas, language, writer.raise_if_stopped)
        reading.add_descriptions(*described)


def _elements(reading: ExtractionState) -> list[Element]:
    elements = with_speakers(structure_elements(reading.elements, reading.recognised))
    if not reading.is_multimodal:
        # What an author says of a picture is text like any other.
        return [replace(element, picture=None) if element.picture else element for element in elements]
    return with_pictures(elements, reading.pictures, reading.descriptions)


def _drafts(reading: ExtractionState, language: str | None) -> list[ChunkDraft]:
    return list(chunk_elements(_elements(reading), embedding_model(), language))


def _publish(
    document: Document,
    drafts: list[ChunkDraft],
    language: str | None,
    modality: Modality,
    writer: ProgressWriter,
) -> None:
    """Replace the document's chunks by these and index their words."""
    if not drafts:
        return
    if not swap_chunks(document.pk, drafts, language, modality):
        raise Superseded
    document.text_ready_at = document.text_ready_at or timezone.now()
    writer.write_or_stop(
        searchable=Searchable.WORDS,
        text_ready_at=document.text_ready_at,
        chunk_count=len(drafts),
        language=language,
    )
