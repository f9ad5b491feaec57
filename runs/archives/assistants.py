"""Assistants in archives. The app that has their tables is above this one, and registers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from accounts.models import User, Workspace
from runs.archives.layout import AssistantLine


@dataclass(frozen=True, slots=True)
class ImportedAssistant:
    """An assistant with the ids that everything has here."""

    id: UUID
    line: AssistantLine
    workspaces: Mapping[UUID, UUID]
    documents: Mapping[UUID, UUID]
    collections: Mapping[UUID, UUID]
    sessions: Mapping[UUID, UUID]
    bindings: Mapping[UUID, UUID]
    """All by the ids in the archive."""


Exporter = Callable[[Workspace, User], Iterator[AssistantLine]]
Importer = Callable[[Workspace, User, ImportedAssistant], None]
exporters: list[Exporter] = []
"""Yield the assistants of a workspace that a user can see."""
importers: list[Importer] = []
"""Store an assistant, unless an earlier attempt has; raise `InvalidArchive` for settings that are none."""
