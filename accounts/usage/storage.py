"""What a workspace holds: computed from its documents by the app that has them, never counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class StoredAmount:
    """So many documents with so many bytes of files."""

    documents: int = 0
    bytes: int = 0


measures: list[Callable[[UUID], StoredAmount]] = []
"""Functions that measure a workspace; apps add theirs in `ready`."""


def stored_amount(workspace_id: UUID) -> StoredAmount:
    """Return how much a workspace holds now."""
    amounts = [measure(workspace_id) for measure in measures]
    return StoredAmount(sum(one.documents for one in amounts), sum(one.bytes for one in amounts))
