"""One action on many documents: each has its own transaction, check of rights, and failure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal
from uuid import UUID

from django.db import transaction

from accounts.principal import Principal
from core.errors import LocusError
from kb.access import require_changeable
from kb.changes import Changes, cancel, change
from kb.collections import with_collection, without_collection
from kb.deletion import Receipt, delete_document, record_deletion
from kb.documents import record_change, reprocess
from kb.models import Document, DocumentCollection
from kb.scheduled_deletion import mark_for_deletion, unmark

MAX_TAGS = 100
BulkActionName = Literal[
    "add_tags",
    "remove_tags",
    "add_to_collection",
    "remove_from_collection",
    "move",
    "reprocess",
    "cancel",
    "delete",
    "restore",
]


@dataclass(frozen=True, slots=True)
class BulkAction:
    """What to do with each document, and what that action needs."""

    name: BulkActionName
    tags: Sequence[str] = ()
    workspace_id: UUID | None = None
    collection: DocumentCollection | None = None
    delay_secs: int = 0
    """Of a deletion: so long it can be undone."""


@dataclass(slots=True)
class BulkOutcome:
    """What became of the documents of one request."""

    changed: list[UUID] = field(default_factory=list)
    failed: list[tuple[UUID, LocusError]] = field(default_factory=list)
    receipt: Receipt = field(default_factory=Receipt)


def change_many(principal: Principal, documents: Sequence[Document], action: BulkAction) -> BulkOutcome:
    """Do one action on each document; what fails for one document does not stop the others."""
    outcome = BulkOutcome()
    act: Callable[[Document], Receipt | None] = partial(_ACTIONS[action.name], principal, action)
    for document in documents:
        try:
            require_changeable(principal, document)
            with transaction.atomic():
                receipt = act(document)
        except LocusError as error:
            outcome.failed.append((document.pk, error))
        else:
            outcome.changed.append(document.pk)
            outcome.receipt += receipt or Receipt()
    if action.name == "delete" and action.delay_secs and outcome.changed:
        mark_for_deletion(principal, outcome.changed, action.delay_secs)
    return outcome


def _add_tags(principal: Principal, action: BulkAction, document: Document) -> None:
    def more(row: Document) -> Changes:
        return Changes(tags=list(dict.fromkeys([*row.tags, *action.tags]))[:MAX_TAGS])

    if more(document).tags != document.tags:
        change(principal, document, more)


def _remove_tags(principal: Principal, action: BulkAction, document: Document) -> None:
    def fewer(row: Document) -> Changes:
        return Changes(tags=[tag for tag in row.tags if tag not in action.tags])

    if fewer(document).tags != document.tags:
        change(principal, document, fewer)


def _add_to_collection(principal: Principal, action: BulkAction, document: Document) -> None:
    collection = action.collection
    assert collection is not None
    if with_collection(document, collection) != document.collection_ids:
        change(principal, document, lambda row: Changes(collection_ids=with_collection(row, collection)))


def _remove_from_collection(principal: Principal, action: BulkAction, document: Document) -> None:
    assert action.collection is not None
    id = action.collection.pk
    if id in document.collection_ids:
        change(principal, document, lambda row: Changes(collection_ids=without_collection(row, id)))


def _move(principal: Principal, action: BulkAction, document: Document) -> None:
    if document.workspace_id != action.workspace_id:
        change(principal, document, Changes(workspace_id=action.workspace_id))


def _reprocess(principal: Principal, action: BulkAction, document: Document) -> None:
    reprocess(document)
    record_change(principal, document, "processing")


def _cancel(principal: Principal, action: BulkAction, document: Document) -> None:
    if not document.is_finished:
        cancel(document)
        record_change(principal, document, "processing")


def _delete(principal: Principal, action: BulkAction, document: Document) -> Receipt | None:
    if action.delay_secs:
        return None  # all of the request share one job
    receipt = delete_document(document)
    record_deletion(principal, document, receipt)
    return receipt


def _restore(principal: Principal, action: BulkAction, document: Document) -> None:
    unmark(principal, document)


_ACTIONS: dict[BulkActionName, Callable[[Principal, BulkAction, Document], Receipt | None]] = {
    "add_tags": _add_tags,
    "remove_tags": _remove_tags,
    "add_to_collection": _add_to_collection,
    "remove_from_collection": _remove_from_collection,
    "move": _move,
    "reprocess": _reprocess,
    "cancel": _cancel,
    "delete": _delete,
    "restore": _restore,
}
