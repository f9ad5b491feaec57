"""Another file in place of a document's: a new version, or the same file without its password."""

from __future__ import annotations

from collections.abc import Callable

from django.core.files.base import File
from django.core.files.storage import Storage
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.principal import Principal
from core.errors import Conflict, NotFound
from core.pubsub import document_topic, publish
from kb.documents import (
    QUEUED,
    document_name,
    has_file,
    queue_ingestion,
    record_change,
    remove_page_images,
    sha256_of,
)
from kb.jobs import INGEST_TASK, defer_for_document
from kb.models import Chunk, Document, Status
from kb.storage_quota import require_storage

Check = Callable[[Document], None]


def replace_content(
    document: Document,
    upload: File[bytes],
    name: str | None,
    check: Check = lambda document: None,
    *,
    principal: Principal | None = None,
) -> bool:
    """Give a document another content, and queue its ingestion; return False if it has that one already.

    Its chunks serve on until those of the new content replace them, in one transaction. `check` may raise
    what forbids to change the document as it has become meanwhile. Raise `Conflict` for a web page, and if
    another document at the same place has the content.
    """
    if document.url:
        raise Conflict("This document is a web page. Process it again to fetch it anew.", param="file")
    digest = sha256_of(upload)

    def switch(row: Document, stored: str) -> bool:
        check(row)
        if digest in (row.sha256, row.identity) and has_file(row) and row.status != Status.FAILED:
            return False
        row.identity = digest
        row.name = row.name if name is None else document_name(name, row.name)
        try:
            _take_file(row, stored, upload.size or 0, digest)
        except IntegrityError:
            raise Conflict("Another document here has this content already.", param="file") from None
        # So a citation of them can say that they are from an earlier version.
        Chunk.unscoped.filter(document_id=row.pk, file_replaced_at=None).update(
            file_replaced_at=timezone.now()
        )
        queue_ingestion(row)
        record_change(principal, row, "file")
        return True

    return _store_in_place(document, upload, switch)


def replace_by_unlocked(
    principal: Principal, document: Document, unlocked: File[bytes], check: Check
) -> None:
    """Keep a document's file without its password, and queue its ingestion.

    The bytes that were uploaded still identify it: whoever uploads them again finds this document.
    """
    digest = sha256_of(unlocked)

    def switch(row: Document, stored: str) -> bool:
        check(row)
        _take_file(row, stored, unlocked.size or 0, digest)
        # A web page is not fetched again: that would bring back the protected file.
        defer_for_document(INGEST_TASK, row.pk)
        publish(document_topic(row.workspace_id), str(row.pk))
        record_change(principal, row, "file")
        return True

    _store_in_place(document, unlocked, switch)


def _store_in_place(document: Document, file: File[bytes], switch: Callable[[Document, str], bool]) -> bool:
    """Store a file, and let `switch` make it that of the locked row, or return False to change nothing."""
    storage = document.file.storage
    document.file.save("original", file, save=False)
    new = document.file.name or ""
    try:
        with transaction.atomic():
            row = Document.unscoped.select_for_update().filter(pk=document.pk).first()
            if row is None:
                raise NotFound
            superseded = row.file.name or ""
            is_switched = switch(row, new)
    except BaseException:
        storage.delete(new)
        raise
    if not is_switched:
        storage.delete(new)
        return False
    # A file that was lost and the new one have one name.
    old = superseded if superseded != new else ""
    transaction.on_commit(lambda: _forget_content(storage, old, document))
    return True


def _take_file(row: Document, stored: str, size: int, digest: str) -> None:
    """Make a stored file that of a row that is to be read again; raise `IntegrityError` for a second one."""
    require_storage(row.workspace_id, 0, size - row.size)
    row.file.name, row.size, row.sha256 = stored, size, digest
    row.text_ready_at = row.quality = None
    row.warnings = []
    for name, value in QUEUED.items():
        setattr(row, name, value)
    row.queued_at = timezone.now()
    with transaction.atomic():
        row.save()


def _forget_content(storage: Storage, superseded: str, document: Document) -> None:
    if superseded:
        storage.delete(superseded)
    remove_page_images(document)
