"""Executions in the admin panel."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from runs.models import Execution


@admin.register(Execution)
class ExecutionAdmin(ModelAdmin):  # type: ignore[misc]
    """Who ran what, when and how it ended; questions and answers stay with those who asked."""

    list_display = [
        "id",
        "tool",
        "user",
        "workspace",
        "external_user_id",
        "status",
        "created_at",
        "finished_at",
    ]
    list_filter = ["tool", "status"]
    search_fields = ["id", "user__email", "workspace__name", "external_user_id"]
    list_select_related = ["user", "workspace", "workspace__personal_of"]
    fields = list_display
    readonly_fields = list_display
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Execution]:
        """Return executions of every tenant: the admin panel is for staff."""
        return Execution.unscoped.order_by("-created_at", "id")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: executions are created by running tools."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Execution | None = None) -> bool:
        """Refuse: the record of an execution is not edited."""
        return False
