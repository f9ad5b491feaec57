"""What can be done with documents: add files and web pages, find by id, process again."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.base import File
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.audit.recording import record
from accounts.models import AuditAction
from accounts.principal import Principal
from accounts.roles import Role
from accounts.usage.counting import UsageCount, count_usage
from core.errors import Conflict, NotFound
from core.fetch import name_of_url, web_url
from core.pubsub import document_topic, publish
from core.text.visible_text import one_line
from kb.jobs import FETCH_TASK, INGEST_TASK, defer_for_document
from kb.models import Document, DocumentCollection, Searchable, Stage, Status
from kb.storage import StoredFile
from kb.storage_quota import expect_storage, require_storage

MAX_NAME = 500
MAX_EXTERNAL_ID = 255
QUEUED = {
    "status": Status.QUEUED,
    "stage": Stage.QUEUED,
    "progress": 0.0,
    "activity": None,
    "error_code": "",
    "error_message": "",
    "failure_dismissed_at": None,
}
FILE_LOST = "The stored file is lost. Upload the same file again."


def _no_unlocking(upload: File[bytes]) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Details:
    """What an upload says about its documents, besides the bytes."""

    workspace_id: UUID
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    language: str | None = None
    external_id: str | None = None
    collection: DocumentCollection | None = None


def add_document(
    principal: Principal,
    upload: File[bytes],
    details: Details,
    unlock: Callable[[File[bytes]], AbstractContextManager[File[bytes] | None]] = _no_unlocking,
) -> tuple[Document, bool]:
    """Store an upload and queue its ingestion; return the document and whether it was there already.

    The same bytes at the same place (workspace, external user, session) are one document; one that had
    failed, or whose file was lost, is processed again. `unlock` may open the file without its password: that
    is stored then, and the bytes that were uploaded still identify the document.
    """
    principal.require_workspace(details.workspace_id, Role.EDITOR)
    digest = sha256_of(upload)
    document = _new_document(principal, details, upload.name or "untitled", digest)
    with unlock(upload) as unlocked:
        kept = upload if unlocked is None else unlocked
        document.size, document.sha256 = kept.size, digest if unlocked is None else sha256_of(unlocked)
        return _add(principal, document, kept)


def add_url(principal: Principal, url: str, details: Details) -> tuple[Document, bool]:
    """Queue the fetching and ingestion of a web page; return as `add_document` does.

    Raise `core.fetch.InvalidUrl` if it is none. What only the fetch can tell becomes the document's error.
    """
    principal.require_workspace(details.workspace_id, Role.EDITOR)
    normal = str(web_url(url))
    # The prefix: a text file that holds nothing but the URL is not the page.
    identity = hashlib.sha256(b"url\0" + normal.encode()).hexdigest()
    document = _new_document(principal, details, normal, identity)
    document.size, document.url = 0, normal
    return _add(principal, document, None)


def attach(parent: Document, name: str, content: File[bytes]) -> bool:
    """Make a file found inside a document a document of its own at the same place; False if it was there."""
    digest = sha256_of(content)
    document = Document(
        workspace_id=parent.workspace_id,
        external_user_id=parent.external_user_id,
        session_id=parent.session_id,
        uploaded_by_id=parent.uploaded_by_id,
        attached_to=parent,
        name=document_name(name, "attachment"),
        size=content.size,
        sha256=digest,
        identity=digest,
        tags=parent.tags,
        collection_ids=parent.collection_ids,
    )
    try:
        _store(document, content)
    except IntegrityError:
        return False
    return True


def document_name(given: str, otherwise: str = "untitled") -> str:
    """Return a name as it is stored: one visible line, not too long."""
    return one_line(given)[:MAX_NAME] or otherwise


def store_fetched(document: Document, page: File[bytes], mime_type: str) -> bool:
    """Make a fetched page the document's file; return whether the document is still there.

    Whoever reads meanwhile finds the old file or the new one, never half of one.
    """
    old, storage = document.file.name, document.file.storage
    digest, size = sha256_of(page), page.size
    document.file.save("original", page, save=False)
    document.size, document.sha256, document.mime_type = size, digest, mime_type
    try:
        is_there = _update_fetched(document)
    except BaseException:
        storage.delete(document.file.name or "")
        raise
    new = document.file.name
    superseded = old if is_there else new
    # A file that was lost and the new one have one name.
    if superseded and not (is_there and superseded == new):
        storage.delete(superseded)
    remove_page_images(document)
    return is_there


def original_file(document: Document) -> StoredFile:
    """Return the document's file, or raise `NotFound` saying why there is none."""
    if has_file(document):
        return StoredFile.of(document)
    if document.url:
        raise NotFound("The page has not been fetched, so there is no file of it.")
    raise NotFound(FILE_LOST)


def has_file(document: Document) -> bool:
    """Tell whether the document's file is there; that of a web page comes with the fetch."""
    return bool(document.file) and document.file.storage.exists(document.file.name or "")


def reprocess(document: Document) -> None:
    """Queue a document's ingestion once more; its chunks serve on until new ones replace them.

    Raise `Conflict` if its file is known to be lost.
    """
    if not document.file and not document.url:
        raise Conflict(FILE_LOST)
    with transaction.atomic():
        # Nothing but these: it may have been renamed, or indexed further, since it was read.
        now = timezone.now()
        if not Document.unscoped.filter(pk=document.pk).update(**QUEUED, queued_at=now, updated_at=now):
            raise NotFound
        document.refresh_from_db()
        queue_ingestion(document)


def record_change(principal: Principal | None, document: Document, *fields: str) -> None:
    """Write into the audit log which fields of a document were changed."""
    record(
        AuditAction.DOCUMENT_CHANGED,
        principal,
        workspace_id=document.workspace_id,
        target=("document", document.pk),
        fields=list(fields),
    )


def document_folder(id: UUID) -> str:
    """Return where the storage keeps what belongs to a document; see `kb.models.document_path`."""
    return f"documents/{id}"


def page_cache(document: Document) -> Path:
    """Return the folder of the page images of a document's present file.

    Each host has its own. What another host has of an earlier file is in a folder of another name.
    """
    return _page_caches() / f"{document.pk}.{document.sha256[:16]}"


def remove_page_images(document: Document) -> None:
    """Remove the images of all files that a document has had, from this host."""
    for cache in _page_caches().glob(f"{document.pk}*"):
        remove_cache(cache)


def _page_caches() -> Path:
    return Path(settings.DATA_DIR) / "cache" / "pages"


def remove_cache(cache: Path) -> None:
    """Remove a file or folder of `DATA_DIR/cache`, if it is there; each is named after its document."""
    if cache.is_dir():
        shutil.rmtree(cache, ignore_errors=True)
    else:
        cache.unlink(missing_ok=True)


def documents_by_id(
    principal: Principal, ids: Iterable[UUID], param: str = "document_ids"
) -> dict[UUID, Document]:
    """Return the named documents, or raise `NotFound` naming the first that isn't visible."""
    wanted = list(ids)
    found = {d.pk: d for d in Document.objects.addressable_by(principal).filter(pk__in=wanted)}
    for index, id in enumerate(wanted):
        if id not in found:
            raise NotFound(f"There is no document {id} that you can see.", param=f"{param}[{index}]")
    return found


def sha256_of(upload: File[bytes]) -> str:
    """Return the hexadecimal digest of a file's content; the file is at its beginning again."""
    digest = hashlib.sha256()
    for block in upload.chunks():
        digest.update(block)
    upload.seek(0)
    return digest.hexdigest()


def _put_into_collections(document: Document, ids: Sequence[UUID]) -> None:
    """Put a document into more collections; two that do so at once wait for each other."""
    with transaction.atomic():
        rows = Document.unscoped.select_for_update().filter(pk=document.pk)
        for present in rows.values_list("collection_ids", flat=True):
            document.collection_ids = list(dict.fromkeys([*present, *ids]))
            document.save(update_fields=["collection_ids", "updated_at"])


def _add(principal: Principal, document: Document, upload: File[bytes] | None) -> tuple[Document, bool]:
    """Store a new document, unless its place already has the same.

    Raise `Conflict` if its external id names another one there.
    """
    existing = _find_same(principal, document)
    if existing is None:
        _refuse_other(principal, document)
        try:
            _store(document, upload, principal)
        except IntegrityError:
            # Another request stored the same between our look and our insert.
            existing = _find_same(principal, document)
            if existing is None:
                _refuse_other(principal, document)
                raise
        else:
            return document, False
    _adopt_external_id(principal, existing, document.external_id)
    if set(document.collection_ids) - set(existing.collection_ids):
        _put_into_collections(existing, document.collection_ids)
    if existing.delete_at is not None:
        # Whoever adds it again wants to keep it.
        existing.delete_at = None
        existing.save(update_fields=["delete_at", "updated_at"])
    is_unlocked = document.sha256 != document.identity
    if upload is not None and (not has_file(existing) or (existing.status == Status.FAILED and is_unlocked)):
        _store_again(existing, document, upload)
        reprocess(existing)
    elif existing.status == Status.FAILED:
        reprocess(existing)
    return existing, True


def _store_again(existing: Document, document: Document, upload: File[bytes]) -> None:
    """Store the file of a document whose file was lost, or could not be opened."""
    storage, old = existing.file.storage, existing.file.name or ""
    existing.file.save("original", upload, save=False)
    existing.size, existing.sha256 = document.size, document.sha256
    existing.save(update_fields=["file", "size", "sha256"])
    if old and old != existing.file.name:
        transaction.on_commit(lambda: storage.delete(old))


def _find_same(principal: Principal, document: Document) -> Document | None:
    return _place(principal, document).filter(identity=document.identity).first()


def _place(principal: Principal, document: Document) -> QuerySet[Document]:
    """Return the documents at the place of a new one: its workspace, external user and session."""
    rows = Document.objects.restricted_to(principal).filter(Q(session_id=principal.session_id))
    return rows.filter(workspace_id=document.workspace_id, external_user_id=principal.external_user_id)


def _refuse_other(principal: Principal, document: Document) -> None:
    """Raise `Conflict` if the external id of a document names another one at its place."""
    if document.external_id is None:
        return
    other = (
        _place(principal, document).filter(external_id=document.external_id).exclude(pk=document.pk).first()
    )
    if other is not None:
        raise Conflict(
            f"The external_id “{document.external_id}” names document {other.pk}, which has another content. "
            f"Replace its content by PUT /api/v1/documents/{other.pk}/file.",
            param="external_id",
        )


def _adopt_external_id(principal: Principal, existing: Document, external_id: str | None) -> None:
    """Give a document that is uploaded again the external id it lacks; raise `Conflict` if it has another."""
    if external_id is None or existing.external_id == external_id:
        return
    if existing.external_id is not None:
        raise Conflict(
            f"Document {existing.pk} has this content, and another external_id.", param="external_id"
        )
    existing.external_id = external_id
    _refuse_other(principal, existing)
    try:
        with transaction.atomic():
            existing.save(update_fields=["external_id", "updated_at"])
    except IntegrityError:
        # Another upload took it between our look and our update.
        _refuse_other(principal, existing)
        raise


def _new_document(principal: Principal, details: Details, name: str, identity: str) -> Document:
    return Document(
        workspace_id=details.workspace_id,
        external_user_id=principal.external_user_id,
        session_id=principal.session_id,
        uploaded_by_id=principal.user_id,
        name=document_name(name),
        external_id=details.external_id,
        identity=identity,
        searchable=Searchable.NONE,
        tags=details.tags,
        metadata=details.metadata,
        language=details.language,
        collection_ids=[details.collection.pk] if details.collection else [],
    )


def _store(document: Document, upload: File[bytes] | None, principal: Principal | None = None) -> None:
    expect_storage(document.workspace_id, 1, document.size)
    if upload is not None:
        document.file.save("original", upload, save=False)
    try:
        with transaction.atomic():
            require_storage(document.workspace_id, 1, document.size)
            document.save(force_insert=True)
            queue_ingestion(document)
            _record_added(document, principal)
    except BaseException:
        # A file without a row would never be found again.
        if upload is not None:
            document.file.storage.delete(document.file.name or "")
        raise


def _record_added(document: Document, principal: Principal | None) -> None:
    """Write a new document into the audit log and the usage; without a principal, it came with another."""
    record(
        AuditAction.DOCUMENT_ADDED,
        principal,
        workspace_id=document.workspace_id,
        target=("document", document.pk),
        bytes=document.size,
        **({"attached_to": str(document.attached_to_id)} if document.attached_to_id else {}),
    )
    owner = principal.usage_owner if principal else document.usage_owner
    count_usage([UsageCount(document.workspace_id, owner, documents=1)])


def _update_fetched(document: Document) -> bool:
    rows = Document.unscoped.filter(pk=document.pk)
    with transaction.atomic():
        for workspace_id, size in rows.select_for_update().values_list("workspace_id", "size"):
            require_storage(workspace_id, 0, document.size - size)
        is_there = rows.update(
            file=document.file.name,
            size=document.size,
            sha256=document.sha256,
            mime_type=document.mime_type,
            updated_at=timezone.now(),
        )
        # A name that somebody gave stays.
        name = name_of_url(document.url)[:MAX_NAME]
        if rows.filter(name=document.url[:MAX_NAME]).update(name=name):
            document.name = name
        publish(document_topic(document.workspace_id), str(document.pk))
    return bool(is_there)


def queue_ingestion(document: Document) -> None:
    """Queue the first job of a document."""
    defer_for_document(FETCH_TASK if document.url else INGEST_TASK, document.pk)
    publish(document_topic(document.workspace_id), str(document.pk))
