"""Documents and collections as OpenAI's clients know them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Func, Sum

from accounts.principal import Principal
from kb.models import Document, DocumentCollection, Status
from kb.scheduled_deletion import NOT_MARKED

Json = dict[str, Any]
PURPOSE = "assistants"
"""Of every file: its purpose is to be searched."""
WAITS = "in_progress"
IN_STORE = {
    Status.READY: "completed",
    Status.PARTIAL: "completed",
    Status.FAILED: "failed",
    Status.CANCELLED: "cancelled",
}
"""By our status, theirs of a file in a store; any other waits."""
OF_FILE = {"completed": "processed", "failed": "error", "cancelled": "error", WAITS: "uploaded"}
"""The same of a file by itself."""
OF_SERVER = ("internal", "timeout", "out_of_memory", "unreachable_url", "blocked_url")
MOST_ATTRIBUTES = 16


def state_in_store(document: Document) -> str:
    """Return the status of a document as that of a file in a store."""
    return IN_STORE.get(Status(document.status), WAITS)


def file_json(document: Document) -> Json:
    """Return a document as a file."""
    return {
        "id": str(document.pk),
        "object": "file",
        "bytes": document.size,
        "created_at": _seconds(document),
        "filename": document.name,
        "purpose": PURPOSE,
        "status": OF_FILE[state_in_store(document)],
        "status_details": document.error_message or None,
        "expires_at": None,
    }


def file_of_store_json(document: Document, store_id: UUID) -> Json:
    """Return a document as a file of a store."""
    return {
        "id": str(document.pk),
        "object": "vector_store.file",
        "created_at": _seconds(document),
        "vector_store_id": str(store_id),
        "status": state_in_store(document),
        "last_error": _last_error(document),
        "usage_bytes": document.size,
        "attributes": attributes_of(document),
        "chunking_strategy": {"type": "other"},
    }


def attributes_of(document: Document) -> Json:
    """Return the metadata of a document that their clients can read: single values."""
    plain = {key: value for key, value in document.metadata.items() if isinstance(value, (str, int, float))}
    return dict(list(plain.items())[:MOST_ATTRIBUTES])


def _last_error(document: Document) -> Json | None:
    if document.status != Status.FAILED:
        return None
    code = "server_error" if document.error_code in OF_SERVER else "invalid_file"
    code = "unsupported_file" if document.error_code == "unsupported_type" else code
    return {"code": code, "message": document.error_message}


@dataclass(slots=True)
class StoreContent:
    """What a store holds: files by their status there, and bytes."""

    files: Counter[str] = field(default_factory=Counter)
    bytes: int = 0

    @property
    def state(self) -> str:
        """Whether files are still being read."""
        return WAITS if self.files[WAITS] else "completed"

    def counts_json(self) -> Json:
        """Return the numbers of files by status, and in all."""
        counts = {name: self.files[name] for name in (WAITS, "completed", "failed", "cancelled")}
        return counts | {"total": sum(counts.values())}


def contents_of(principal: Principal, ids: Sequence[UUID]) -> Mapping[UUID, StoreContent]:
    """Return what stores hold of what the principal may list."""
    rows = (
        Document.objects.restricted_to(principal)
        .filter(NOT_MARKED, collection_ids__overlap=list(ids))
        .order_by()
        .annotate(within=Func(F("collection_ids"), function="unnest"))
        .values_list("within", "status")
        .annotate(Count("pk"), Sum("size"))
    )
    contents = {id: StoreContent() for id in ids}
    for id, status, files, size in rows:
        if id in contents:
            contents[id].files[IN_STORE.get(Status(status), WAITS)] += files
            contents[id].bytes += size
    return contents


def store_json(store: DocumentCollection, content: StoreContent) -> Json:
    """Return a collection as a vector store."""
    return {
        "id": str(store.pk),
        "object": "vector_store",
        "created_at": _seconds(store),
        "name": store.name,
        "status": content.state,
        "file_counts": content.counts_json(),
        "usage_bytes": content.bytes,
        "last_active_at": None,
        "expires_after": None,
        "expires_at": None,
        "metadata": {},
    }


def deleted_json(id: UUID, kind: str) -> Json:
    """Return what is said of a thing that is gone."""
    return {"id": str(id), "object": kind, "deleted": True}


def _seconds(row: Document | DocumentCollection) -> int:
    return int(row.created_at.timestamp())
