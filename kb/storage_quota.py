"""The quotas of documents and storage, which hold however many uploads come at once.

What a workspace holds is computed from its documents, so a deletion gives back by itself. Whoever adds to a
workspace with such a quota locks it until its own transaction ends, and counts then: two uploads never both
see the last free place. Workspaces without a quota are not locked.
"""

from __future__ import annotations

from uuid import UUID

from django.db import connection
from django.db.models import Count, Sum

from accounts.quotas.limits import QuotaLimits, quota_error, quota_limits
from accounts.usage.storage import StoredAmount
from core.row_access import as_system
from kb.models import Document

LOCK = "SELECT pg_advisory_xact_lock(hashtext('storage quota'), hashtext(%s))"


@as_system("documents of external users and conversations count, too")
def stored_in(workspace_id: UUID) -> StoredAmount:
    """Return how much a workspace holds."""
    documents = Document.unscoped.filter(workspace_id=workspace_id)
    return StoredAmount(**documents.aggregate(documents=Count("pk"), bytes=Sum("size", default=0)))


def require_storage(workspace_id: UUID, documents: int, size: int) -> None:
    """Raise `QuotaExceeded` unless a workspace may hold so many more documents, and `size` more bytes.

    Call it in the transaction that stores them, before they are stored; it locks the workspace's quota.
    """
    limits = quota_limits(workspace_id)
    if _is_limited(limits):
        with connection.cursor() as cursor:
            cursor.execute(LOCK, [str(workspace_id)])
        _require(limits, workspace_id, documents, size)


def expect_storage(workspace_id: UUID, documents: int, size: int) -> None:
    """Raise `QuotaExceeded` if there is no room now, without a lock: before a file is written in vain."""
    limits = quota_limits(workspace_id)
    if _is_limited(limits):
        _require(limits, workspace_id, documents, size)


def _is_limited(limits: QuotaLimits) -> bool:
    return limits.documents is not None or limits.storage_bytes is not None


def _require(limits: QuotaLimits, workspace_id: UUID, documents: int, size: int) -> None:
    held = stored_in(workspace_id)
    if documents > 0 and limits.documents is not None and held.documents + documents > limits.documents:
        message = (
            f"This workspace has reached its limit of documents: {held.documents:,} of {limits.documents:,}. "
        )
        raise quota_error("documents", limits.documents, held.documents, message + MORE)
    if size > 0 and limits.storage_bytes is not None and held.bytes + size > limits.storage_bytes:
        message = (
            f"This workspace may hold {limits.storage_bytes:,} bytes and has {held.bytes:,}; "
            f"this needs {size:,} more. "
        )
        raise quota_error("storage_bytes", limits.storage_bytes, held.bytes, message + MORE)


MORE = "Delete documents that are no longer needed, or ask an administrator of this server for more."
