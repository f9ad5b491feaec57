"""What the side of the admin panel lists: pages by what an administrator wants to do, not by tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse


@dataclass(frozen=True, slots=True)
class AdminPage:
    """A line of the navigation; staff without the permission do not see it."""

    title: str
    icon: str
    """Of Material Symbols, the admin theme's icons."""
    url_name: str
    permission: str = ""
    """As `User.has_perm` takes it; empty for a page of all staff."""


PAGES: dict[str, tuple[AdminPage, ...]] = {
    "": (AdminPage("Dashboard", "monitoring", "admin:index"),),
    "People": (
        AdminPage("Users", "person", "admin:accounts_user_changelist", "accounts.view_user"),
        AdminPage(
            "Workspaces", "workspaces", "admin:accounts_workspace_changelist", "accounts.view_workspace"
        ),
        AdminPage("API keys", "key", "admin:accounts_apikey_changelist", "accounts.view_apikey"),
    ),
    "Knowledge base": (
        AdminPage("Documents", "description", "admin:kb_document_changelist", "kb.view_document"),
        AdminPage(
            "Failed work",
            "report",
            "admin:locus_queuedjob_changelist",
            "locus.view_queuedjob",
        ),
    ),
    "Answers": (
        AdminPage("Executions", "forum", "admin:search_execution_changelist", "search.view_execution"),
        AdminPage(
            "Assistants", "smart_toy", "admin:assistants_assistant_changelist", "assistants.view_assistant"
        ),
        AdminPage("Audit log", "policy", "admin:accounts_auditentry_changelist", "accounts.view_auditentry"),
        AdminPage("Spending", "payments", "admin:kb_charge_changelist", "kb.view_charge"),
    ),
    "Installation": (
        AdminPage("Providers and models", "smart_toy", "admin:components", "locus.view_components"),
        AdminPage("Health", "health_and_safety", "admin:health", "locus.view_health"),
    ),
}


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the groups as the admin theme takes them."""
    return [{"title": title, "items": [_item(page) for page in pages]} for title, pages in PAGES.items()]


def _item(page: AdminPage) -> dict[str, Any]:
    return {
        "title": page.title,
        "icon": page.icon,
        "link": reverse(page.url_name),
        "permission": _permission(page.permission),
    }


def _permission(name: str) -> Callable[[HttpRequest], bool]:
    return lambda request: not name or request.user.has_perm(name)
