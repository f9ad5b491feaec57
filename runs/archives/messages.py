"""Messages of conversations in archives. The app that has their table is above this one, and registers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.models import User, Workspace
from runs.archives.layout import MessageLine


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """A message with the ids that everything has here."""

    id: UUID
    session_id: UUID
    parent_id: UUID | None
    content: str
    document_ids: Sequence[UUID] | None
    created_at: datetime
    answers: Sequence[str]
    """Executions."""


Exporter = Callable[[Workspace, User], Iterator[MessageLine]]
Importer = Callable[[Workspace, User, ImportedMessage], None]
exporters: list[Exporter] = []
"""Yield the messages of a user's conversations in a workspace, each after its parent."""
importers: list[Importer] = []
"""Store a message, unless an earlier attempt has."""
