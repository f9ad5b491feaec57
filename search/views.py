"""The pages for asking questions, and for examining searches."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts.access.identity import principal_of_user
from accounts.models import User, Workspace
from accounts.models.ledger import Balance, Charge
from accounts.pages import administered_workspace
from accounts.roles import Role
from search.web.preferences import are_web_tools_offered, is_enabled, web_search_settings
from search.web.usage.health import engine_healths
from search.web.usage.spent import PERIODS, SpendingOverview, limit_of, period


@dataclass(frozen=True, slots=True)
class WebWorkspace:
    """A workspace in which the web can or could be searched."""

    workspace: Workspace
    is_enabled: bool
    is_administered: bool
    """Whether the user can switch it on."""


@login_required
def ask(request: HttpRequest) -> HttpResponse:
    """Show the question box, the answers and the viewer; `?execution=` shows an earlier answer."""
    assert isinstance(request.user, User)
    workspaces = _web_workspaces(request.user) if are_web_tools_offered() else []
    tools = ["rag_search", "web_search"] if workspaces else ["rag_search"]
    return render(request, "search/ask.html", {"tools": tools, "web_workspaces": workspaces})


def _web_workspaces(user: User) -> list[WebWorkspace]:
    """Return the user's workspaces, the personal one first."""
    principal = principal_of_user(user)
    workspaces = Workspace.objects.filter(pk__in=principal.workspace_ids)
    return [
        WebWorkspace(
            workspace,
            is_enabled(principal, workspace.pk),
            principal.roles[workspace.pk].covers(Role.ADMIN),
        )
        for workspace in sorted(workspaces, key=lambda each: each.pk != principal.personal_workspace_id)
    ]


@login_required
def default_search_bench(request: HttpRequest) -> HttpResponse:
    """Redirect to the search bench of the personal workspace."""
    assert isinstance(request.user, User)
    return redirect("search_bench", request.user.personal_workspace.pk)


@login_required
def search_bench(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show an admin of the workspace what each stage of a search finds in it, and why."""
    workspace, workspaces = administered_workspace(request, id)
    return render(request, "search/bench.html", {"workspace": workspace, "workspaces": workspaces})


@login_required
def web_use(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show an admin what the workspace has spent, what is left, and how the search engines do."""
    assert isinstance(request.user, User)
    workspace, workspaces = administered_workspace(request, id)
    principal, now = principal_of_user(request.user), timezone.now()
    counts = web_search_settings(principal, workspace.pk)
    charges = Charge.objects.restricted_to(principal).filter(workspace=workspace)
    balances = Balance.objects.restricted_to(principal).filter(workspace=workspace)
    shown = {
        "workspace": workspace,
        "workspaces": workspaces,
        "is_enabled": counts.enabled,
        "spent": SpendingOverview.of(charges, period(request.GET.get("days")), now.date()),
        "limit": limit_of(balances, counts.max_cost),
        "periods": PERIODS,
        "healths": engine_healths(now) if are_web_tools_offered() else [],
    }
    return render(request, "search/web_use.html", shown)
