"""Retrievals in the audit log: whose documents were read, by whom, and which chunks.

An admin reads the entries of its own workspace alone. So a retrieval from several workspaces is an entry for
each of them, with the chunks of that workspace and no other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection, transaction
from pydantic import JsonValue

from accounts.models import AuditAction, AuditEntry
from accounts.principal import UsageOwner

MOST_IDS = 200
"""So many ids are stored in an entry; their number is stored anyway."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What one search or run has retrieved."""

    tool: str
    owner: UsageOwner
    workspace_id: UUID
    """The workspace that paid; it gets the entry if nothing was found."""
    searched: Collection[UUID]
    """The workspaces that were searched."""
    document_ids: Sequence[UUID] | None
    """The documents to which the search was narrowed."""
    chunks: Mapping[UUID, Sequence[UUID]]
    """By workspace, the chunks whose text was returned."""
    execution_id: str = ""
    address: str = ""
    request_id: str = ""

    def entries(self) -> Iterator[AuditEntry]:
        """Yield an entry for each workspace with chunks, or one for that which paid."""
        for workspace_id, chunk_ids in (self.chunks or {self.workspace_id: []}).items():
            yield AuditEntry(
                action=AuditAction.CHUNKS_RETRIEVED,
                user_id=self.owner.user_id,
                key_id=self.owner.key_id,
                external_user_id=self.owner.external_user_id,
                workspace_id=workspace_id,
                target_type="execution" if self.execution_id else "",
                target_id=self.execution_id,
                address=self.address,
                request_id=self.request_id,
                details=self._details(workspace_id, chunk_ids),
            )

    def _details(self, workspace_id: UUID, chunk_ids: Sequence[UUID]) -> dict[str, JsonValue]:
        details: dict[str, JsonValue] = {"tool": self.tool, "workspaces": len(self.searched)}
        if self.document_ids is not None:
            details["documents"] = len(self.document_ids)
            # Those of other workspaces are not for these admins.
            if set(self.searched) == {workspace_id}:
                details["document_ids"] = [str(id) for id in self.document_ids[:MOST_IDS]]
        ids: list[JsonValue] = [str(id) for id in chunk_ids[:MOST_IDS]]
        return details | {"chunks": len(chunk_ids), "chunk_ids": ids}


def record_search(retrieval: Retrieval) -> None:
    """Write the entries of a search without waiting for the disk.

    PostgreSQL writes them within a second. Only a crash of the database in that second loses them.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit TO off")
        record_retrievals([retrieval])


def record_retrievals(retrievals: Iterable[Retrieval]) -> None:
    """Write the entries of retrievals in one statement, in the caller's transaction."""
    entries = [entry for retrieval in retrievals for entry in retrieval.entries()]
    if entries:
        AuditEntry.unscoped.bulk_create(entries)
