"""Deletions that can be undone: a document is marked, and a job deletes it a little later (ADR 45).

A marked document is in no list and no search. Whoever has its id still sees it, with `delete_at`, because it
is not deleted yet.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from procrastinate.contrib.django import app

from accounts.models import User
from accounts.principal import Principal
from core.errors import NotFound
from core.jobs import defer_job
from core.pubsub import document_topic, publish
from core.row_access import as_system
from kb.deletion import delete_document, record_deletion
from kb.documents import record_change
from kb.models import Document

NOT_MARKED = Q(delete_at=None)
LATE_SECS = 60
"""A mark that is this much overdue has lost its job: the nightly clean-up deletes the document."""


def mark_for_deletion(principal: Principal, ids: Collection[UUID], secs: int) -> None:
    """Delete documents in so many seconds, unless `unmark` is called before; with their attachments."""
    at = timezone.now() + timedelta(seconds=secs)
    with transaction.atomic():
        for document in Document.unscoped.select_for_update().filter(pk__in=ids).order_by("pk"):
            _set_mark(principal, document, at)
        arguments = {"document_ids": [str(id) for id in ids], "user_id": principal.user_id}
        defer_job("delete_marked_documents", arguments, schedule_in={"seconds": secs})


def unmark(principal: Principal, document: Document) -> None:
    """Withdraw a deletion; raise `NotFound` if the document is gone already."""
    with transaction.atomic():
        row = Document.unscoped.select_for_update().filter(pk=document.pk).first()
        if row is None:
            raise NotFound
        if row.delete_at is not None:
            _set_mark(principal, row, None)


def _set_mark(principal: Principal, document: Document, at: object) -> None:
    Document.unscoped.filter(pk=document.pk).update(delete_at=at, updated_at=timezone.now())
    record_change(principal, document, "delete_at")
    publish(document_topic(document.workspace_id), str(document.pk))


@app.task(name="delete_marked_documents")
@as_system("deletes what somebody with the right to do so has marked")
def delete_marked_documents(document_ids: list[str], user_id: int | None) -> None:
    """Delete the documents that are still marked, and whose time has come."""
    user = User.objects.filter(pk=user_id).first() if user_id else None
    # A mark may be renewed meanwhile: it has a job of its own.
    for document in Document.unscoped.filter(pk__in=document_ids, delete_at__lte=timezone.now()):
        _delete(document, user)


@as_system("deletes what somebody with the right to do so has marked")
def delete_overdue() -> int:
    """Delete marked documents whose job was lost; return how many."""
    overdue = Document.unscoped.filter(delete_at__lt=timezone.now() - timedelta(seconds=LATE_SECS))
    count = 0
    for document in overdue:
        _delete(document, None)
        count += 1
    return count


def _delete(document: Document, user: User | None) -> None:
    with transaction.atomic():
        row = Document.unscoped.select_for_update().filter(pk=document.pk).first()
        if row is None or row.delete_at is None:
            return
        receipt = delete_document(row)
        record_deletion(user, row, receipt)
