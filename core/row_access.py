"""Whose rows PostgreSQL shows to the code that runs now: the second wall behind `accounts.scope` (ADR 39).

The value belongs to the context of a request, task or thread. The database backend (`core.database`) sends it
to PostgreSQL before a statement. Code that never said for whom it works gets nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from uuid import UUID


@dataclass(frozen=True, slots=True)
class RowAccess:
    """The rows of one principal, of nobody (without workspaces), or of everybody."""

    user_id: int | None = None
    workspace_ids: frozenset[UUID] = frozenset()
    open_workspace_ids: frozenset[UUID] = frozenset()
    """Workspaces that also show rows without an external user to `external_user_id`."""
    external_user_id: str | None = None
    is_system: bool = False

    def covers(self, other: RowAccess) -> bool:
        """Return whether every row of `other` is also one of these."""
        return self.is_system or (
            self.user_id == other.user_id
            and self.external_user_id == other.external_user_id
            and other.workspace_ids <= self.workspace_ids
            and other.open_workspace_ids & other.workspace_ids <= self.open_workspace_ids
        )


NOTHING = RowAccess()
SYSTEM = RowAccess(is_system=True)
_default = NOTHING
_current: ContextVar[RowAccess | None] = ContextVar("row_access", default=None)


def current_access() -> RowAccess:
    """Return the access of this context."""
    return _current.get() or _default


def set_access(access: RowAccess) -> None:
    """Set the access for the rest of this context: a request, a task, or what a thread was given to do."""
    _current.set(access)


@contextmanager
def with_access(access: RowAccess) -> Iterator[None]:
    """Set the access for a block, or for a function that this decorates."""
    # A value of its own, by which a copy of this context knows that the block is this one.
    mine = replace(access)
    before = _current.get()
    token = _current.set(mine)
    try:
        yield
    finally:
        try:
            _current.reset(token)
        except ValueError:
            # A generator's block may end in another context than it began in: in a copy, or wherever the
            # garbage collector closes it. That one works for somebody else and keeps its access.
            if _current.get() is mine:
                _current.set(before)


@contextmanager
def as_system(reason: str) -> Iterator[None]:
    """Show all rows to a block or function; `reason` says to the reader why no principal's rows will do."""
    with with_access(SYSTEM):
        yield


def continue_as_system(reason: str) -> None:
    """Show all rows to the rest of this request or task."""
    set_access(SYSTEM)


def act_as_system_in_this_process() -> None:
    """Make all rows the default of this process: of a worker, a command, a migration."""
    global _default
    _default = SYSTEM
