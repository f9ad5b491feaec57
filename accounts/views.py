"""Pages for API keys, preferences, and the settings of workspaces."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.models import User, Workspace
from accounts.preferences import Section, SettingSource, sections_of
from accounts.roles import Role
from accounts.workspace_frame import open_workspace


@login_required
def keys(request: HttpRequest) -> HttpResponse:
    """Show the API keys page; its data comes from the API."""
    return render(request, "accounts/keys.html")


@login_required
def preferences(request: HttpRequest) -> HttpResponse:
    """Show the preferences page; its data comes from the API."""
    assert isinstance(request.user, User)
    shown = {
        "workspace": request.user.personal_workspace,
        "workspaces": Workspace.objects.filter(members=request.user, deleted_at=None),
        "level": SettingSource.USER,
        "sections": _sections(SettingSource.USER),
    }
    return render(request, "accounts/preferences.html", shown)


@login_required
def default_workspace_settings(request: HttpRequest) -> HttpResponse:
    """Redirect to the settings of the personal workspace."""
    assert isinstance(request.user, User)
    return redirect("workspace_settings", request.user.personal_workspace.pk)


@login_required
def workspace_settings(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show an admin the settings of a workspace; their data comes from the API."""
    shown = {
        "frame": open_workspace(request, id, Role.ADMIN),
        "level": SettingSource.WORKSPACE,
        "sections": _sections(SettingSource.WORKSPACE),
    }
    return render(request, "accounts/workspace_settings.html", shown)


def _sections(level: SettingSource) -> list[Section]:
    return [section for section, _ in sections_of(level).values()]
