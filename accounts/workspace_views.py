"""Pages for workspaces: their list, what one is called, its members, and accepting an invitation."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access.identity import principal_of_user
from accounts.models import Invitation, User, Workspace
from accounts.people.deletion import count_of, in_words
from accounts.people.invitations import (
    SESSION_NAME,
    accept_invitation,
    open_invitation,
    unknown_secrets_counted,
)
from accounts.people.workspaces import deleted_workspaces, erased_workspaces, restorable_until
from accounts.principal import Principal
from accounts.roles import Role
from accounts.workspace_frame import open_workspace
from core.errors import LocusError
from core.http.error_pages import page_of

ROLES = [
    (Role.VIEWER, gettext_lazy("reads and asks")),
    (Role.EDITOR, gettext_lazy("also adds, changes and deletes documents")),
    (Role.ADMIN, gettext_lazy("also manages members and settings")),
    (Role.OWNER, gettext_lazy("also hands the workspace over, or deletes it")),
]
"""The roles in words, from least to most."""


@dataclass(frozen=True, slots=True)
class WorkspaceRow:
    """A line in the list of workspaces."""

    workspace: Workspace
    role: Role
    people: int
    is_personal: bool

    @property
    def role_name(self) -> str:
        """The role in one word."""
        return self.role.short_name


@login_required
def workspaces(request: HttpRequest) -> HttpResponse:
    """Show the user's workspaces, and the deleted ones that can still be restored."""
    assert isinstance(request.user, User)
    principal = principal_of_user(request.user)
    shown = {
        "rows": _rows(principal),
        "deleted": [(one, restorable_until(one)) for one in deleted_workspaces(principal).order_by("name")],
        "erased": [one | {"words": in_words(one)} for one in erased_workspaces(principal)],
    }
    return render(request, "accounts/workspaces.html", shown)


def _rows(principal: Principal) -> list[WorkspaceRow]:
    """Return the list of workspaces, the personal one first."""
    found = Workspace.objects.filter(pk__in=principal.workspace_ids).annotate(people=Count("memberships"))
    rows = [
        WorkspaceRow(one, principal.roles[one.pk], one.people, one.pk == principal.personal_workspace_id)
        for one in found
    ]
    return sorted(rows, key=lambda row: (not row.is_personal, row.workspace.name.casefold()))


@login_required
def workspace(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show what a workspace is called and what its members may do; its owners delete it here."""
    frame = open_workspace(request, id)
    members = frame.workspace.memberships
    shown = {
        "frame": frame,
        "roles": ROLES,
        "is_last_owner": frame.is_owner and members.filter(role=Role.OWNER).count() == 1,
    }
    if frame.is_owner:
        shown |= {
            "heirs": members.exclude(user=frame.principal.user_id).select_related("user"),
            "counts": in_words(count_of([id], []), nothing=gettext("nothing")),
            "grace_days": settings.WORKSPACE_GRACE_DAYS,
            # Grammar counts in whole days.
            "whole_days": ceil(settings.WORKSPACE_GRACE_DAYS),
        }
    return render(request, "accounts/workspace.html", shown)


@login_required
def members(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show the members of a workspace, and its invitations to admins; the data comes from the API."""
    frame = open_workspace(request, id)
    return render(
        request,
        "accounts/workspace_members.html",
        {"frame": frame, "roles": ROLES, "mails": bool(settings.EMAIL_HOST)},
    )


@never_cache
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Show who invites to what with which role; accept by POST, once logged in."""
    try:
        with unknown_secrets_counted(request):
            found = open_invitation(secret)
            if request.method == "POST" and isinstance(request.user, User):
                return _accepted(request, request.user, secret)
    except LocusError as error:
        request.session.pop(SESSION_NAME, None)
        return page_of(request, error)
    # A new person needs it while signing up, and is led back here.
    request.session[SESSION_NAME] = secret
    return _offer(request, found)


def _accepted(request: HttpRequest, user: User, secret: str) -> HttpResponse:
    member = accept_invitation(principal_of_user(user), secret)
    request.session.pop(SESSION_NAME, None)
    joined = gettext("You are a member of %(workspace)s now.")
    messages.success(request, joined % {"workspace": member.workspace.name})
    return redirect("workspace", member.workspace_id)


def _offer(request: HttpRequest, found: Invitation) -> HttpResponse:
    is_wrong_address = bool(
        found.email and isinstance(request.user, User) and request.user.email != found.email
    )
    shown = {
        "invitation": found,
        "layout": "base.html" if request.user.is_authenticated else "allauth/layouts/base.html",
        "role_name": Role(found.role).short_name,
        "role_words": dict(ROLES)[Role(found.role)],
        "is_wrong_address": is_wrong_address,
        "may_sign_up": settings.SIGNUP_OPEN or bool(found.email),
    }
    return render(request, "accounts/invitation.html", shown)


@login_required
def external_users(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show an admin the external users of a workspace; their data comes from the API."""
    frame = open_workspace(request, id, Role.ADMIN)
    return render(request, "accounts/external_users.html", {"frame": frame})


@login_required
def webhooks(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show an admin the webhooks of a workspace; their data comes from the API."""
    frame = open_workspace(request, id, Role.ADMIN)
    return render(request, "accounts/workspace_webhooks.html", {"frame": frame})
