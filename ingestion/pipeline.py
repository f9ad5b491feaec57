"""How a file becomes searchable, step by step.

file ──extract──▶ elements ──structure──▶ elements ──chunk──▶ drafts ──store──▶ chunks, found by words
                                                                                   │
                                                  document ready ◀──embed──────────┘ vectors, page by page
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePath
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from ingestion.chunking import chunked
from ingestion.errors import IngestionError, NoText
from ingestion.extract.base import Element, Opened, Progress, Warned
from ingestion.language import language_of
from ingestion.report import Report, announce_document
from ingestion.sandbox.parent import SandboxLimits, extract
from ingestion.store import swap_chunks
from ingestion.structure import structured
from kb.embedding import current_space, embedding_model
from kb.models import Chunk, ChunkVector, Document, Searchable, Stage, Status

EMBEDDED_AT_ONCE = 128
# Warnings that mean that a part of the document can't be found.
MISSING_PARTS = frozenset({"pages_unreadable", "pages_without_text"})
FILE_TYPES = {".pdf": "pdf", ".txt": "txt", ".md": "txt"}


def ingest(document_id: UUID, interrupted: Callable[[], bool] = lambda: False) -> None:
    """Take a document from its file to `ready` or `partial`.

    Raise `IngestionError` if it can't be ingested, `Abandoned` if it was deleted or cancelled meanwhile, and
    `Interrupted` once `interrupted()` is true. Running again after any of these, or after a crash, ends in
    the same chunks.
    """
    report = Report(document_id, interrupted)
    report.stage(Stage.EXTRACTING, status=Status.EXTRACTING, error_code="", error_message="", warnings=[])
    document = Document.unscoped.get(pk=document_id)
    extraction = _extract(document, report)

    report.stage(Stage.CHUNKING, status=Status.INDEXING)
    elements = structured(extraction.elements)
    language = document.language or language_of(elements)
    drafts = list(chunked(elements, embedding_model(), language))
    if not drafts:
        raise NoText

    with transaction.atomic():
        swap_chunks(document_id, drafts, language)
        report.stage(
            Stage.EMBEDDING,
            searchable=Searchable.WORDS,
            text_ready_at=timezone.now(),
            chunk_count=len(drafts),
            language=language,
            warnings=[asdict(warning) for warning in extraction.warnings],
        )
    is_partial = any(warning.code in MISSING_PARTS for warning in extraction.warnings)
    del extraction, elements, drafts  # the boxes of every word: nobody needs them while embedding

    _embed(document_id, report)
    report.update(
        status=Status.PARTIAL if is_partial else Status.READY,
        stage=Stage.DONE,
        progress=1.0,
        searchable=Searchable.FULL,
        indexed_at=timezone.now(),
    )


def fail(document_id: UUID, error: IngestionError) -> None:
    """Mark a document as failed: no chunks, the file kept, and why. Quiet if the document is gone."""
    with transaction.atomic():
        failed = Document.unscoped.filter(pk=document_id).exclude(status=Status.CANCELLED)
        if failed.update(
            status=Status.FAILED,
            stage=Stage.DONE,
            searchable=Searchable.NONE,
            chunk_count=0,
            error_code=error.code,
            error_message=error.message,
            updated_at=timezone.now(),
        ):
            Chunk.unscoped.filter(document_id=document_id).delete()
            announce_document(document_id)


# --- The steps ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Extraction:
    """What the sandbox found."""

    elements: list[Element] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)


def _extract(document: Document, report: Report) -> _Extraction:
    limits = SandboxLimits(
        settings.EXTRACTION_TIMEOUT_SECS, settings.EXTRACTION_MEMORY_BYTES, settings.MAX_PAGES
    )
    extraction = _Extraction()
    for finding in extract(Path(document.file.path), limits):
        match finding:
            case Element():
                extraction.elements.append(finding)
            case Progress(done, total):
                report.progress_now_and_then(Stage.EXTRACTING, done, total)
            case Warned():
                extraction.warnings.append(finding)
            case Opened(file_type, mime_type, page_count):
                report.update(file_type=file_type, mime_type=mime_type, page_count=page_count)
                extraction.warnings += _name_mismatch(document.name, file_type)
    return extraction


def _name_mismatch(name: str, file_type: str) -> list[Warned]:
    promised = FILE_TYPES.get(PurePath(name.lower()).suffix)
    if promised in (None, file_type):
        return []
    return [
        Warned(
            "name_mismatch", f"The name promises {promised}, but the content is {file_type}: read as such."
        )
    ]


def _embed(document_id: UUID, report: Report) -> None:
    """Add the vectors that the document's chunks lack in the current space, in reading order."""
    model, space = embedding_model(), current_space()
    chunks = Chunk.unscoped.filter(document_id=document_id, replaced_by=None)
    missing = list(chunks.exclude(vectors__space=space).order_by("ordinal").values_list("pk", flat=True))
    for start in range(0, len(missing), EMBEDDED_AT_ONCE):
        batch = list(chunks.filter(pk__in=missing[start : start + EMBEDDED_AT_ONCE]).only("headings", "text"))
        vectors = model.embed_documents([chunk.text_to_embed for chunk in batch])
        with transaction.atomic():
            report.progress(Stage.EMBEDDING, start + len(batch), len(missing))
            ChunkVector.objects.bulk_create(
                [
                    ChunkVector(chunk=chunk, space=space, embedding=vector)
                    for chunk, vector in zip(batch, vectors, strict=True)
                ],
                ignore_conflicts=True,
            )
