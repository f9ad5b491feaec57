"""Deletes documents: one way for the API, the admin panel, and deletions of workspaces and people.

  lock the rows ─ index, chunks, vectors, rows ─ scrub what was made from them ─ after the commit: files

Other apps scrub what they made from documents, such as stored answers: they append a function to `scrubbers`,
which is called inside the transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.storage import Storage
from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum

from accounts.audit.recording import record
from accounts.external_users.deletion import Removed
from accounts.external_users.listing import activity
from accounts.idempotency import forget_outcomes_of
from accounts.models import AuditAction, User, WebhookEvent
from accounts.notifications.creating import forget_notifications_of
from accounts.principal import Principal
from core.pubsub import WITHDRAWN, document_topic, publish
from core.row_access import as_system
from kb.documents import document_folder, has_file, remove_cache
from kb.index.purging import purge_if_due
from kb.index.segments import ScopeKey, lock
from kb.index.writing import forget
from kb.models import Chunk, ChunkVector, Document, DocumentCollection
from kb.notifications.outcomes import emit_events

AT_ONCE = 200
"""So many documents are deleted in one transaction."""

Scrubber = Callable[[Collection[UUID]], Mapping[str, int]]
"""Removes the words of documents from rows of its app; returns the number of changed rows of each kind."""
scrubbers: list[Scrubber] = []


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a deletion removed; `bytes` counts the files' contents."""

    documents: int = 0
    chunks: int = 0
    vectors: int = 0
    files: int = 0
    bytes: int = 0
    scrubbed: Mapping[str, int] = field(default_factory=dict)
    """By kind, the number of rows that lost the documents' words and stayed: `executions`, `events`."""

    def __add__(self, other: Receipt) -> Receipt:
        """Return the sum of two receipts."""
        counts = {name: count + other.counts[name] for name, count in self.counts.items()}
        return Receipt(**counts, scrubbed=_sum([self.scrubbed, other.scrubbed]))

    @property
    def counts(self) -> dict[str, int]:
        """The number of deleted objects of each kind."""
        return {name: getattr(self, name) for name in ("documents", "chunks", "vectors", "files", "bytes")}

    def as_json(self) -> dict[str, Any]:
        """Return `{"deleted": {…}, "scrubbed"?: {…}}` (contract §3)."""
        scrubbed = {"scrubbed": dict(self.scrubbed)} if any(self.scrubbed.values()) else {}
        return {"deleted": self.counts} | scrubbed


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total)


def delete_document(document: Document) -> Receipt:
    """Delete a document with everything made from it; see `delete_documents`."""
    return delete_documents([document.pk])


@as_system("removes other users' chunks of the same documents, and their stored answers")
def delete_documents(ids: Iterable[UUID]) -> Receipt:
    """Delete documents, with their attachments, and return a receipt.

    Everything that holds their words is removed: chunks, vectors, index, stored answers and their events, and
    after the commit files, page images and other caches. The caller checks the right to delete. Some hundred
    documents share a transaction, so a crash leaves whole documents: call this again for the rest. If a
    caller's transaction is rolled back, nothing is lost. Unknown ids are skipped.
    """
    left = iter(_with_attachments(ids))
    receipt = Receipt()
    while batch := list(islice(left, AT_ONCE)):
        receipt += _delete(batch)
    return receipt


def record_deletion(actor: Principal | User | None, document: Document, receipt: Receipt) -> None:
    """Write a deletion into the audit log, with its counts."""
    record(
        AuditAction.DOCUMENT_DELETED,
        actor,
        workspace_id=document.workspace_id,
        target=("document", document.pk),
        **receipt.counts,
    )


@as_system("documents of all members and external users")
def delete_documents_of(workspace_ids: Collection[UUID], user_ids: Collection[int]) -> Mapping[str, int]:
    """Delete the documents of workspaces, and those attached to conversations of users or of workspaces.

    For `accounts.people.deletion`, before workspaces and people are deleted; returns the counts of a receipt.
    """
    return delete_documents(_documents_of(workspace_ids, user_ids).values_list("pk", flat=True)).counts


def delete_documents_of_external_user(
    workspace_ids: Collection[UUID], external_user_id: str
) -> Removed | None:
    """Delete some documents of an external user: in workspaces, and attached to its conversations there.

    For `accounts.external_users.deletion`.
    """
    here = Q(workspace__in=workspace_ids, external_user_id=external_user_id)
    attached = Q(session__workspace__in=workspace_ids, session__external_user_id=external_user_id)
    ids = list(Document.unscoped.filter(here | attached).values_list("pk", flat=True)[:AT_ONCE])
    if not ids:
        DocumentCollection.unscoped.filter(here).delete()
        return None
    receipt = delete_documents(ids)
    forget_outcomes_of(external_user_id, {str(id) for id in ids})
    return Removed(receipt.counts, receipt.scrubbed)


def documents_of_external_users(workspace_ids: Collection[UUID]) -> QuerySet[Any, Any]:
    """Return documents and bytes of each external user of workspaces."""
    rows = Document.unscoped.filter(workspace__in=workspace_ids)
    return activity(rows, documents=Count("pk"), bytes=Sum("size"))


@as_system("documents of all members and external users")
def count_documents_of(workspace_ids: Collection[UUID], user_ids: Collection[int]) -> Mapping[str, int]:
    """Count what `delete_documents_of` would delete, by the documents' own columns."""
    totals = _documents_of(workspace_ids, user_ids).aggregate(
        documents=Count("pk"), chunks=Sum("chunk_count", default=0), bytes=Sum("size", default=0)
    )
    return dict(totals)


def _documents_of(workspace_ids: Collection[UUID], user_ids: Collection[int]) -> QuerySet[Document]:
    going = Q(workspace__in=workspace_ids) | Q(session__workspace__in=workspace_ids)
    return Document.unscoped.filter(going | Q(session__user__in=user_ids))


def withdraw(document: Document) -> None:
    """Do what a deletion by cascade would miss, within its transaction.

    The signal for deletions that bypass `delete_documents` calls this.
    """
    _withdraw([document])
    _scrub([document.pk])


def _with_attachments(ids: Iterable[UUID]) -> list[UUID]:
    """Return the ids, each after those of its attachments at any depth, each once."""
    found = dict.fromkeys(ids)
    level = list(found)
    while level:
        attached = Document.unscoped.filter(attached_to__in=level).values_list("pk", flat=True)
        level = [id for id in attached if id not in found]
        found |= dict.fromkeys(level)
    return list(reversed(found))


@transaction.atomic
def _delete(ids: Sequence[UUID]) -> Receipt:
    # In one order, so that two deletions of the same documents can't deadlock.
    documents = list(Document.unscoped.select_for_update().filter(pk__in=ids).order_by("pk"))
    if not documents:
        return Receipt()
    ids = [document.pk for document in documents]
    with_files = [document for document in documents if has_file(document)]
    _withdraw(documents)
    # Not `delete()`, which would read all chunks first, and send the signal for deletions that bypass this.
    vectors = ChunkVector.objects.filter(chunk__document__in=ids)._raw_delete("default")
    chunks = Chunk.unscoped.filter(document__in=ids)._raw_delete("default")
    Document.unscoped.filter(attached_to__in=ids).update(attached_to=None)
    Document.unscoped.filter(pk__in=ids)._raw_delete("default")
    return Receipt(
        documents=len(documents),
        chunks=chunks,
        vectors=vectors,
        files=len(with_files),
        bytes=sum(document.size for document in with_files),
        # Last, because it locks rows of answers that are being written.
        scrubbed=_scrub(ids),
    )


def _scrub(ids: Collection[UUID]) -> Mapping[str, int]:
    return _sum(scrub(ids) for scrub in scrubbers)


def _withdraw(documents: Sequence[Document]) -> None:
    """Remove documents from the index, publish their withdrawal, and remove their files after the commit."""
    ids = [document.pk for document in documents]
    forget_notifications_of(ids)
    emit_events(WebhookEvent.DOCUMENT_DELETED, documents)
    # A merge of their segments at the same time would bring them back.
    keys = sorted({ScopeKey.of(document) for document in documents}, key=str)
    for key in keys:
        lock(key)
    forget(ids)
    for key in keys:
        purge_if_due(key)
    for document in documents:
        publish(document_topic(document.workspace_id), str(document.pk))
        publish(WITHDRAWN, str(document.pk))
        _remove_after_commit(document)


def _remove_after_commit(document: Document) -> None:
    storage, id = document.file.storage, document.pk
    # The row is gone by then: the doctor reports a file that can't be removed, the caller need not know.
    transaction.on_commit(lambda: _remove_files(storage, id), robust=True)


def _remove_files(storage: Storage, id: UUID) -> None:
    folder = document_folder(id)
    try:
        _, names = storage.listdir(folder)
    except FileNotFoundError:
        names = []
    for name in names:
        storage.delete(f"{folder}/{name}")
    # Where the storage has folders; elsewhere there is nothing of this name.
    storage.delete(folder)
    for cache in (Path(settings.DATA_DIR) / "cache").glob(f"*/{id}*"):
        remove_cache(cache)
