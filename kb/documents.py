"""What can be done with documents: add, find by id, process again, delete."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.base import File
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.db.models.fields.files import FieldFile
from procrastinate.contrib.django import app as jobs

from accounts.errors import NotFound
from accounts.principal import Principal
from accounts.roles import Role
from kb.models import Chunk, ChunkVector, Document, Searchable, Stage, Status
from kb.notifications import announce, document_topic

INGEST_TASK = "ingest_document"
MAX_NAME = 500


@dataclass(frozen=True, slots=True)
class Details:
    """What an upload says about its documents, besides the bytes."""

    workspace_id: UUID
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a deletion removed; `bytes` counts the files' contents."""

    documents: int
    chunks: int
    vectors: int
    files: int
    bytes: int

    def as_json(self) -> dict[str, Any]:
        """Return `{"deleted": {…}}` (contract §3)."""
        return {"deleted": asdict(self)}


def add_document(principal: Principal, upload: File[bytes], details: Details) -> tuple[Document, bool]:
    """Store an upload and queue its ingestion; return the document and whether it was there already.

    The same bytes at the same place (workspace, external user, session) are one document; one that had
    failed is processed again.
    """
    principal.require_workspace(details.workspace_id, Role.EDITOR)
    digest = _sha256(upload)
    existing = _find_same(principal, details.workspace_id, digest)
    if existing is None:
        document = _new_document(principal, upload, details, digest)
        try:
            _store(document, upload)
        except IntegrityError:
            # Another request stored the same bytes between our look and our insert.
            existing = _find_same(principal, details.workspace_id, digest)
            if existing is None:
                raise
        else:
            return document, False
    if existing.status == Status.FAILED:
        reprocess(existing)
    return existing, True


def reprocess(document: Document) -> None:
    """Queue a document's ingestion once more; its chunks serve on until new ones replace them."""
    with transaction.atomic():
        document.status, document.stage, document.progress = Status.QUEUED, Stage.QUEUED, 0.0
        document.error_code = document.error_message = ""
        document.save()
        _queue_ingestion(document)


def delete_document(document: Document) -> Receipt:
    """Remove a document with its chunks, vectors and file, and say what was removed."""
    with transaction.atomic():
        chunks = Chunk.unscoped.filter(document_id=document.pk)
        receipt = Receipt(
            documents=1,
            chunks=chunks.count(),
            vectors=ChunkVector.objects.filter(chunk__in=chunks).count(),
            files=1,
            bytes=document.size,
        )
        file, topic, news = document.file, document_topic(document.workspace_id), str(document.pk)
        cache = page_cache(document)
        document.delete()
        announce(topic, news)
        transaction.on_commit(lambda: _remove_files(file, cache))
    return receipt


def page_cache(document: Document) -> Path:
    """Return the folder of a document's rendered page images."""
    return Path(settings.DATA_DIR) / "cache" / "pages" / str(document.pk)


def documents_by_id(principal: Principal, ids: Iterable[UUID]) -> dict[UUID, Document]:
    """Return the named documents, or raise `NotFound` naming the first that isn't visible."""
    wanted = list(ids)
    found = {d.pk: d for d in Document.objects.addressable_by(principal).filter(pk__in=wanted)}
    for index, id in enumerate(wanted):
        if id not in found:
            raise NotFound(f"There is no document {id} that you can see.", param=f"document_ids[{index}]")
    return found


def _sha256(upload: File[bytes]) -> str:
    digest = hashlib.sha256()
    for block in upload.chunks():
        digest.update(block)
    upload.seek(0)
    return digest.hexdigest()


def _find_same(principal: Principal, workspace_id: UUID, digest: str) -> Document | None:
    return (
        Document.objects.restricted_to(principal)
        .filter(
            workspace_id=workspace_id,
            external_user_id=principal.external_user_id,
            identity=digest,
        )
        .filter(Q(session_id=principal.session_id))
        .first()
    )


def _new_document(principal: Principal, upload: File[bytes], details: Details, digest: str) -> Document:
    return Document(
        workspace_id=details.workspace_id,
        external_user_id=principal.external_user_id,
        session_id=principal.session_id,
        uploaded_by_id=principal.user_id,
        name=(upload.name or "untitled")[:MAX_NAME],
        size=upload.size,
        sha256=digest,
        identity=digest,
        searchable=Searchable.NONE,
        tags=details.tags,
        metadata=details.metadata,
        language=details.language,
    )


def _store(document: Document, upload: File[bytes]) -> None:
    document.file.save("original", upload, save=False)
    try:
        with transaction.atomic():
            document.save(force_insert=True)
            _queue_ingestion(document)
    except BaseException:
        # A file without a row would never be found again.
        document.file.storage.delete(document.file.name or "")
        raise


def _remove_files(file: FieldFile, cache: Path) -> None:
    file.storage.delete(file.name or "")
    shutil.rmtree(cache, ignore_errors=True)


def _queue_ingestion(document: Document) -> None:
    jobs.configure_task(INGEST_TASK, lock=str(document.pk)).defer(document_id=str(document.pk))
    announce(document_topic(document.workspace_id), str(document.pk))
