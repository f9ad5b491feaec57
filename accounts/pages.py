"""What the pages of several apps have in common."""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest

from accounts.access.identity import principal_of_user
from accounts.models import User, Workspace
from accounts.roles import Role
from core.errors import Forbidden, NotFound


def administered(request: HttpRequest, id: UUID) -> tuple[Workspace, QuerySet[Workspace]]:
    """Return the workspace that a page is about, and all those that its reader administers.

    Raise `Http404` if the reader does not see it, `PermissionDenied` if he is no admin of it.
    """
    assert isinstance(request.user, User)
    principal = principal_of_user(request.user)
    try:
        principal.require_workspace(id, Role.ADMIN)
    except NotFound:
        raise Http404 from None
    except Forbidden as error:
        raise PermissionDenied(error.message) from None
    workspaces = Workspace.objects.filter(
        pk__in=[id for id, role in principal.roles.items() if role.covers(Role.ADMIN)]
    )
    return workspaces.get(pk=id), workspaces
