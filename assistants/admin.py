"""Assistants in the admin panel: whose they are and how they are reached; what they say is content."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from assistants.models import Assistant


@admin.register(Assistant)
class AssistantAdmin(ModelAdmin):  # type: ignore[misc]
    """Assistants of every workspace, without their instructions; their makers change them."""

    list_display = [
        *("name", "workspace", "user", "visibility", "version", "binding_count", "updated_at"),
    ]
    list_filter = ["visibility", "updated_at"]
    search_fields = ["name", "workspace__name", "user__email"]
    list_select_related = ["user", "workspace", "workspace__personal_of"]
    list_per_page = 50
    show_full_result_count = False
    fields = [
        *("name", "description", "workspace", "user", "visibility", "version", "created_at", "updated_at"),
    ]
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Assistant]:
        """Return the assistants of every tenant: the admin panel is for staff."""
        return Assistant.unscoped.annotate(bound=Count("bindings")).order_by("name", "pk")

    @admin.display(description="bindings", ordering="bound")
    def binding_count(self, assistant: Any) -> int:
        """Return how many bindings it has."""
        count: int = assistant.bound
        return count

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: who uses an assistant makes it."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Assistant | None = None) -> bool:
        """Refuse: a change is a version of its makers."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Assistant | None = None) -> bool:
        """Refuse: its makers delete it."""
        return False
