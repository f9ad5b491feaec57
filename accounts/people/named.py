"""Users and workspaces by the names that people type on a command line."""

from __future__ import annotations

from uuid import UUID

from accounts.models import User, Workspace
from core.errors import NotFound


def user_named(email: str) -> User:
    """Return the user with this address, or raise `NotFound`."""
    user = User.objects.filter(email__iexact=email).first()
    if user is None:
        raise NotFound(f"There is no user {email}.")
    return user


def workspace_named(user: User | None, wanted: str) -> Workspace:
    """Return the one workspace with this id or name, of a user or of all, or raise `NotFound`."""
    workspaces = Workspace.objects.filter(deleted_at=None)
    if user is not None:
        workspaces = workspaces.filter(members=user)
    try:
        found = list(workspaces.filter(pk=UUID(wanted)))
    except ValueError:
        found = list(workspaces.filter(name=wanted)[:20])
    if not found:
        raise NotFound(f"There is no workspace “{wanted}”{f' of {user}' if user else ''}.")
    if len(found) > 1:
        several = "\n".join(f"  {workspace.pk}  {workspace}" for workspace in found)
        raise NotFound(f"Several workspaces are called “{wanted}”. Name one by its id:\n{several}")
    return found[0]
