"""The pages on which a person asks, and looks at how searching works."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.models import User
from accounts.pages import administered


@login_required
def ask(request: HttpRequest) -> HttpResponse:
    """Show the question box, the answers and the viewer; `?execution=` shows an earlier answer."""
    return render(request, "search/ask.html")


@login_required
def default_search_bench(request: HttpRequest) -> HttpResponse:
    """Lead to the search bench of the personal workspace."""
    assert isinstance(request.user, User)
    return redirect("search_bench", request.user.personal_workspace.pk)


@login_required
def search_bench(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show an admin of the workspace what each stage of a search finds in it, and why."""
    workspace, workspaces = administered(request, id)
    return render(request, "search/bench.html", {"workspace": workspace, "workspaces": workspaces})
