"""Filters of lists in the admin panel."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.models import Workspace

LISTED = 50


class WorkspaceFilter(admin.SimpleListFilter):
    """Rows of one workspace, of a table with a column `workspace_id`: the newest ones, and the chosen one."""

    title = "workspace"
    parameter_name = "workspace"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return ids and names of workspaces."""
        rows = Workspace.objects.select_related("personal_of").order_by("-created_at")
        found = {str(row.pk): str(row) for row in rows[:LISTED]}
        chosen = self.value()
        if chosen and chosen not in found and (named := rows.filter(pk__in=_uuids(chosen)).first()):
            found[chosen] = str(named)
        return sorted(found.items(), key=lambda item: item[1].lower())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows of the chosen workspace."""
        chosen = self.value()
        return queryset.filter(workspace_id__in=_uuids(chosen)) if chosen else queryset


def _uuids(text: str) -> list[UUID]:
    """Return the id that a parameter holds; nothing if it is none."""
    try:
        return [UUID(text)]
    except ValueError:
        return []
