"""Helpers shared by pages of several apps."""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest

from accounts.access.identity import principal_of_user
from accounts.models import User, Workspace
from accounts.roles import Role
from core.errors import Forbidden, NotFound


def administered_workspace(request: HttpRequest, id: UUID) -> tuple[Workspace, QuerySet[Workspace]]:
    """Return a page's workspace, and all workspaces that the user administers.

    Raises `Http404` if the user does not see the workspace, `PermissionDenied` if they do not administer it.
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
