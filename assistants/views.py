"""The page of a conversation: a new one, or one at its address."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.access.identity import principal_of_user
from accounts.models import Session, User, Workspace
from accounts.principal import Principal
from accounts.roles import Role
from assistants.configuration.assistants import listed_assistants
from assistants.configuration.resolving import version_of
from assistants.configuration.settings import read_settings
from assistants.conversations import listed_sessions, visible_session
from assistants.models import Assistant
from core.errors import NotFound
from kb.models import Document
from search.web.preferences import are_web_tools_offered, is_enabled

LISTED = 30
"""So many conversations are on the page from the start."""


@dataclass(frozen=True, slots=True)
class WebWorkspace:
    """A workspace in which the web can or could be searched."""

    workspace: Workspace
    is_enabled: bool
    is_administered: bool
    """Whether the user can switch it on."""


@login_required
def ask(request: HttpRequest) -> HttpResponse:
    """Show the page for a new conversation; `?execution=` shows an answer from before there were any."""
    return _page(request, None)


@login_required
def conversation(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show a conversation of one's own, or one that a member shares."""
    assert isinstance(request.user, User)
    try:
        session = visible_session(principal_of_user(request.user), id)
    except NotFound:
        raise Http404 from None
    return _page(request, session)


def _page(request: HttpRequest, session: Session | None) -> HttpResponse:
    assert isinstance(request.user, User)
    principal = principal_of_user(request.user)
    listed = listed_sessions(principal, None).order_by("-pinned", "-updated_at", "id")[: LISTED + 1]
    shown = {
        "session": session,
        "is_own": session is None or session.user_id == request.user.pk,
        "attached": _attached(principal, session) if session else [],
        "sessions": listed[:LISTED],
        "assistants": _assistants(principal),
        "has_more": len(listed) > LISTED,
        "web_workspaces": _web_workspaces(principal) if are_web_tools_offered() else [],
    }
    return render(request, "assistants/ask.html", shown)


def _assistants(principal: Principal) -> list[tuple[Assistant, list[str]]]:
    """Return the assistants that may be asked, by name, with the questions to begin with."""
    rows = listed_assistants(principal).order_by("name", "pk")
    return [(row, read_settings(version_of(row, row.version).settings).starters) for row in rows]


def _attached(principal: Principal, session: Session) -> list[Document]:
    """Return the files of one's own conversation, oldest first."""
    if session.user_id != principal.user_id:
        return []
    return list(
        Document.objects.addressable_by(principal).filter(session=session).order_by("created_at", "pk")
    )


def _web_workspaces(principal: Principal) -> list[WebWorkspace]:
    """Return the user's workspaces, the personal one first."""
    workspaces = Workspace.objects.filter(pk__in=principal.workspace_ids)
    return [
        WebWorkspace(
            workspace,
            is_enabled(principal, workspace.pk),
            principal.roles[workspace.pk].covers(Role.ADMIN),
        )
        for workspace in sorted(workspaces, key=lambda each: each.pk != principal.personal_workspace_id)
    ]
