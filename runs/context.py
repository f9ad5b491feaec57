"""The execution for which a pipeline runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID


@dataclass(frozen=True, slots=True)
class WritingStyle:
    """What a request or an assistant wants of the writing; a generator without a model ignores it."""

    instructions: str = field(default="", repr=False)
    """About tone, form and language. Where they contradict the rules of citing, these count."""
    temperature: float | None = None
    max_tokens: int | None = None
    """The most that a model may write; never more than the deployment allows."""


PLAIN_STYLE = WritingStyle()


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a tool; the workspace's settings apply, and it pays."""

    execution_id: str
    workspace_id: UUID
    holds_statements: bool = False
    """Whether text is held until its citations are checked: for streams that can't take anything back."""
    style: WritingStyle = PLAIN_STYLE
