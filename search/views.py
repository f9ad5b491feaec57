"""The pages for examining searches and what they cost."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from accounts.models.ledger import Balance, Charge
from accounts.pages import administered_workspace
from accounts.roles import Role
from accounts.workspace_frame import open_workspace
from search.web.preferences import are_web_tools_offered, web_search_settings
from search.web.usage.health import engine_healths
from search.web.usage.spent import PERIODS, SpendingOverview, limit_of, period


@login_required
def default_search_bench(request: HttpRequest) -> HttpResponse:
    """Redirect to the search bench of the personal workspace."""
    assert isinstance(request.user, User)
    # With its query: a question can be linked to.
    address = reverse("search_bench", args=[request.user.personal_workspace.pk])
    return redirect(f"{address}?{query}" if (query := request.META["QUERY_STRING"]) else address)


@login_required
def search_bench(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show an admin of the workspace what each stage of a search finds in it, and why."""
    workspace, workspaces = administered_workspace(request, id)
    return render(request, "search/bench.html", {"workspace": workspace, "workspaces": workspaces})


@login_required
def web_use(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show an admin what the workspace has spent, what is left, and how the search engines do."""
    frame = open_workspace(request, id, Role.ADMIN)
    workspace, principal, now = frame.workspace, frame.principal, timezone.now()
    counts = web_search_settings(principal, workspace.pk)
    charges = Charge.objects.restricted_to(principal).filter(workspace=workspace)
    balances = Balance.objects.restricted_to(principal).filter(workspace=workspace)
    shown = {
        "frame": frame,
        "is_enabled": counts.enabled,
        "spent": SpendingOverview.of(charges, period(request.GET.get("days")), now.date()),
        "limit": limit_of(balances, counts.max_cost),
        "periods": PERIODS,
        "healths": engine_healths(now) if are_web_tools_offered() else [],
    }
    return render(request, "search/web_use.html", shown)
