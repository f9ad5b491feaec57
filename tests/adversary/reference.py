"""Who sees what, written once more from contract §2 alone: what `accounts/scope.py` is compared with."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Asker:
    """Who asks: a user with the workspaces that its key or login may read, perhaps for an external user."""

    user: int
    workspaces: Collection[Any]
    external: str | None = None
    session: Any = None


@dataclass(frozen=True)
class Personal:
    """A session or an execution: only its maker sees it."""

    id: Any
    user: int
    workspace: Any
    external: str | None = None


@dataclass(frozen=True)
class Paper:
    """A document, and all that is made from it."""

    id: Any
    workspace: Any
    external: str | None = None
    session: Personal | None = None


def sees(asker: Asker, thing: Personal | Paper, shared: Collection[Any] = (), *, by_id: bool = True) -> bool:
    """Return whether `asker` sees a thing, `by_id` or in lists and searches.

    `shared` are the workspaces that show documents without an external user to external users.
    """
    if thing.workspace not in asker.workspaces:
        return False
    if isinstance(thing, Personal):
        return (thing.user, thing.external) == (asker.user, asker.external)
    if thing.external != asker.external and not (thing.external is None and thing.workspace in shared):
        return False
    session = thing.session
    if session is None or session.id == asker.session:
        return True
    return by_id and asker.session is None and sees(asker, session)
