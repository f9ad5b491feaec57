"""What a pipeline is told of the execution it runs for."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a tool; the workspace decides the settings and pays."""

    execution_id: str
    workspace_id: UUID
