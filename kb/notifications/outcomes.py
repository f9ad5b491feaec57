"""The end of a document's processing, told to whoever added it and to webhooks."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts.models import NotificationKind, Session, WebhookEvent
from accounts.notifications.creating import forget_notifications_of, notify
from accounts.webhooks.emitting import EmittedEvent, emit
from kb.models import Document, Status


def report_outcome(document: Document) -> None:
    """Notify the uploader of a failure, or of the end of long work, as part of the caller's transaction.

    `document` is a finished one, as stored. A notification of its earlier outcome is deleted. Documents of
    external users notify nobody: the program that serves them has webhooks, which are told of all.
    """
    forget_notifications_of([document.pk])
    has_failed = document.status == Status.FAILED
    emit_events(WebhookEvent.DOCUMENT_FAILED if has_failed else WebhookEvent.DOCUMENT_INDEXED, [document])
    if document.uploaded_by_id is None or document.external_user_id is not None:
        return
    if has_failed:
        kind = NotificationKind.DOCUMENT_FAILED
    elif _took_long(document):
        kind = NotificationKind.DOCUMENT_INDEXED
    else:
        return
    notify([document.uploaded_by_id], document.workspace_id, kind, document.pk)


def emit_events(event: WebhookEvent, documents: Iterable[Document]) -> None:
    """Tell webhooks of documents; of those in a conversation only webhooks that its user has made.

    Whose conversation it is must be known here: otherwise no webhook is told.
    """
    documents = list(documents)
    sessions = Session.unscoped.filter(pk__in={each.session_id for each in documents if each.session_id})
    users = dict(sessions.values_list("pk", "user_id"))
    emit(
        EmittedEvent(
            event,
            document.workspace_id,
            _data_of(document, is_deleted=event == WebhookEvent.DOCUMENT_DELETED),
            private_to=users[document.session_id] if document.session_id else None,
        )
        for document in documents
        if document.session_id is None or document.session_id in users
    )


def _data_of(document: Document, *, is_deleted: bool) -> dict[str, Any]:
    data: dict[str, Any] = {
        "id": str(document.pk),
        "workspace_id": str(document.workspace_id),
        "external_user_id": document.external_user_id,
        "external_id": document.external_id,
        "session_id": str(document.session_id) if document.session_id else None,
    }
    state = {"status": document.status, "error_code": document.error_code or None}
    return data if is_deleted else data | state


def _took_long(document: Document) -> bool:
    """Tell whether the uploader had to wait long, in the queue too."""
    return timezone.now() - document.queued_at > timedelta(seconds=settings.LONG_WORK_SECS)
