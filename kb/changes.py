"""Changes of a document: its name, tags, metadata and workspace, and the cancellation of its ingestion.

Each change locks the document's row first, as the worker does when it swaps chunks: neither sees half of the
other's work.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q
from procrastinate.contrib.django import app as jobs

from accounts.principal import Principal
from accounts.roles import Role
from core.errors import Conflict, NotFound
from core.pubsub import WITHDRAWN, document_topic, publish
from kb.documents import record_change, reprocess
from kb.index.writing import index_document
from kb.models import FINISHED, Chunk, ChunkVector, Document, Searchable, Stage, Status
from kb.storage_quota import require_storage


@dataclass(frozen=True, slots=True)
class Changes:
    """The new values; None keeps a field unchanged."""

    name: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    external_id: str | None = None
    collection_ids: list[UUID] | None = None
    workspace_id: UUID | None = None

    def fields(self) -> dict[str, Any]:
        """Return the new values of the document's own row, without the workspace."""
        values = {
            "name": self.name,
            "tags": self.tags,
            "metadata": self.metadata,
            "external_id": self.external_id,
            "collection_ids": self.collection_ids,
        }
        return {name: value for name, value in values.items() if value is not None}


def change(
    principal: Principal,
    document: Document,
    changes: Changes | Callable[[Document], Changes],
    check: Callable[[Document], None] = lambda document: None,
) -> Document:
    """Change a document that the principal may change; return it as it is now.

    New values that follow from present ones, such as a list with one more, are made by a function of the
    locked row: of two such requests at once neither undoes the other's. `check` may raise to refuse the
    change, given the document's present state. Raises `NotFound` or `Forbidden` for a workspace that it may
    not be moved to, `Conflict` if the target already has it.
    """
    with transaction.atomic():
        row = _lock_document(document)
        wanted = changes(row) if callable(changes) else changes
        target = wanted.workspace_id
        if target is not None:
            principal.require_workspace(target, Role.EDITOR)
        check(row)
        fields = wanted.fields()
        for name, value in fields.items():
            setattr(row, name, value)
        if wanted.external_id is not None:
            _refuse_second(row, row.workspace_id)
        try:
            with transaction.atomic():
                row.save(update_fields=[*fields, "updated_at"])
        except IntegrityError:
            # An upload took the external id between our check and our update.
            _refuse_second(row, row.workspace_id)
            raise
        if target is not None and target != row.workspace_id:
            _move(row, target)
            fields["workspace_id"] = target
        record_change(principal, row, *fields)
        publish(document_topic(row.workspace_id), str(row.pk))
    return row


def cancel(document: Document) -> Document:
    """End a document's ingestion; return its present state. A finished document is unchanged.

    A document that was never ready loses its chunks. One that was being processed again keeps its chunks,
    unless its content was replaced. The worker sees the cancellation at its next step.
    """
    with transaction.atomic():
        row = _lock_document(document)
        if row.is_finished:
            return row
        _forget_queued_jobs(row)
        if row.indexed_at is None:
            Chunk.unscoped.filter(document_id=row.pk).delete()
            index_document(row.pk)
            row.text_ready_at = row.quality = None
        elif row.text_ready_at is None and row.quality is None:
            # The chunks belong to replaced content: their places are in a file that is gone.
            ChunkVector.objects.filter(chunk__in=_live(row)).delete()
            _live(row).update(replaced_by=[])
            index_document(row.pk)
        row.status, row.stage, row.activity = Status.CANCELLED, Stage.DONE, None
        row.chunk_count = _live(row).count()
        row.searchable = _searchable(row)
        # A new run clears the warnings at its start, but the chunks may still be those of the previous run.
        row.warnings = (row.quality or {}).get("warnings", [])
        row.save()
        publish(document_topic(row.workspace_id), str(row.pk))
    return row


def cancel_ingestion_of(workspace_ids: Collection[UUID]) -> None:
    """Cancel the documents of workspaces that are being processed; for `accounts.people.deletion`."""
    unfinished = Document.unscoped.filter(workspace__in=workspace_ids).exclude(status__in=FINISHED)
    for document in unfinished.iterator():
        with suppress(NotFound):  # deleted meanwhile
            cancel(document)


def resume_ingestion_of(workspace_ids: Collection[UUID], since: datetime) -> None:
    """Process the documents of workspaces again that were cancelled since a moment."""
    cancelled = Document.unscoped.filter(
        workspace__in=workspace_ids, status=Status.CANCELLED, updated_at__gte=since
    )
    for document in cancelled.iterator():
        with suppress(NotFound, Conflict):  # deleted meanwhile, or without a file
            reprocess(document)


def _lock_document(document: Document) -> Document:
    row = Document.unscoped.select_for_update().filter(pk=document.pk).first()
    if row is None:
        raise NotFound
    return row


def _live(document: Document) -> Any:
    return Chunk.unscoped.filter(document_id=document.pk, replaced_by=None)


def _searchable(document: Document) -> Searchable:
    if not document.chunk_count:
        return Searchable.NONE
    has_all_vectors = not _live(document).exclude(vectors__space__is_active=True).exists()
    return Searchable.FULL if has_all_vectors else Searchable.WORDS


def _forget_queued_jobs(document: Document) -> None:
    """Delete jobs that no worker has started: another processing must not run twice."""
    for job in jobs.job_manager.list_jobs(lock=str(document.pk), status="todo"):
        jobs.job_manager.cancel_job_by_id(job.id, delete_job=True)  # type: ignore[arg-type]


def _move(document: Document, workspace_id: UUID) -> None:
    """Move a document, its attachments, and their chunks; the document it is attached to is not moved."""
    before = document.workspace_id
    document.attached_to = None
    for one in [document, *_attachments(document)]:
        _refuse_second(one, workspace_id)
        require_storage(workspace_id, 1, one.size)
        one.workspace_id = workspace_id
        one.collection_ids = []  # those of the workspace it leaves
        try:
            with transaction.atomic():
                one.save(update_fields=["workspace", "attached_to", "collection_ids", "updated_at"])
        except IntegrityError:
            _refuse_second(one, workspace_id)
            raise
        Chunk.unscoped.filter(document_id=one.pk).update(workspace_id=workspace_id)
        index_document(one.pk)
        publish(document_topic(before), str(one.pk))
        publish(document_topic(workspace_id), str(one.pk))
        publish(WITHDRAWN, str(one.pk))


def _attachments(document: Document) -> Iterator[Document]:
    for attached in Document.unscoped.select_for_update().filter(attached_to=document.pk):
        yield attached
        yield from _attachments(attached)


def _refuse_second(document: Document, workspace_id: UUID) -> None:
    """Raise `Conflict` if a workspace already has the content or the external id, for the same user there."""
    place = Document.unscoped.filter(
        Q(session_id=document.session_id),
        workspace_id=workspace_id,
        external_user_id=document.external_user_id,
    ).exclude(pk=document.pk)
    if place.filter(identity=document.identity).exists():
        raise Conflict(f"The workspace already has the content of “{document.name}”.", param="workspace_id")
    if document.external_id is not None and place.filter(external_id=document.external_id).exists():
        raise Conflict(
            f"The external_id “{document.external_id}” names another document there.", param="external_id"
        )
