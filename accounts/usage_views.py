"""Pages for usage, of a workspace and of a user, and for what happened in a workspace."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.dateparse import parse_date

from accounts.access.identity import principal_of_user
from accounts.audit.describing import described_entries
from accounts.models import AuditAction, AuditEntry, User
from accounts.quotas.standing import quota_standings
from accounts.roles import Role
from accounts.usage.reading import Period, UsageGrouping, UsageRows, sees_all
from accounts.usage_presentation import PERIODS, UsageOverview, days_of, quota_bars
from accounts.workspace_frame import open_workspace

ENTRIES_OF_A_PAGE = 50


@login_required
def workspace_usage(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show what was used in a workspace: admins see all of it and the quotas, members their own."""
    frame = open_workspace(request, id)
    principal, period = frame.principal, Period.of_days(days_of(request.GET.get("days")))
    whole = sees_all(principal, id)
    by = [UsageGrouping.USER, UsageGrouping.KEY, UsageGrouping.EXTERNAL_USER]
    rows = UsageRows.of_workspace(principal, id, period)
    shown = {
        "frame": frame,
        "whole": whole,
        "usage": UsageOverview.of(principal, rows, period, by if whole else by[1:]),
        "quotas": quota_bars(quota_standings(id)) if whole else [],
        **_periods(request),
    }
    return render(request, "accounts/workspace_usage.html", shown)


@login_required
def own_usage(request: HttpRequest) -> HttpResponse:
    """Show what the user has used in all workspaces."""
    assert isinstance(request.user, User)
    principal, period = principal_of_user(request.user), Period.of_days(days_of(request.GET.get("days")))
    by = [UsageGrouping.WORKSPACE, UsageGrouping.KEY, UsageGrouping.EXTERNAL_USER]
    usage = UsageOverview.of(principal, UsageRows.of_principal(principal, period), period, by)
    return render(request, "accounts/account_usage.html", {"usage": usage, **_periods(request)})


@login_required
def workspace_activity(request: HttpRequest, id: UUID) -> HttpResponse:
    """Show the workspace's audit log to its admins, newest first, by action and day."""
    frame = open_workspace(request, id, Role.ADMIN)
    rows = AuditEntry.objects.restricted_to(frame.principal).filter(workspace_id=id).select_related("user")
    action, day = request.GET.get("action", ""), parse_date_or_none(request.GET.get("day", ""))
    if action in AuditAction.values:
        rows = rows.filter(action=action)
    if day is not None:
        rows = rows.filter(at__date=day)
    page = Paginator(rows, ENTRIES_OF_A_PAGE).get_page(request.GET.get("page"))
    shown = {
        "frame": frame,
        "entries": described_entries(page.object_list),
        "page": page,
        "actions": sorted(AuditAction.choices, key=lambda choice: choice[1]),
        "action": action,
        "day": "" if day is None else day.isoformat(),
    }
    return render(request, "accounts/workspace_activity.html", shown)


def parse_date_or_none(text: str) -> Any:
    """Return the day that a form names; None for none, and for nonsense."""
    try:
        return parse_date(text)
    except ValueError:
        return None


def _periods(request: HttpRequest) -> dict[str, Any]:
    return {"periods": PERIODS, "days": days_of(request.GET.get("days"))}
