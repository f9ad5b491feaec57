"""The execution for which a pipeline runs."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a tool; the workspace's settings apply, and it pays."""

    execution_id: str
    workspace_id: UUID
    holds_statements: bool = False
    """Whether text is held until its citations are checked: for streams that can't take anything back."""
