"""Workspaces in the admin panel."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from unfold.admin import ModelAdmin, StackedInline

from accounts.admin_deletion import DeletionByName
from accounts.admin_facts import groups_about, workspace_facts
from accounts.audit.recording import record
from accounts.member_admin import MembershipInline, save_members
from accounts.models import AuditAction, Membership, User, Workspace
from accounts.models.usage import WorkspaceQuota
from accounts.people.deletion import count_of
from accounts.people.workspaces import restorable_until, restore_as_staff
from accounts.roles import Role
from core.errors import NotFound


class QuotaForm(forms.ModelForm):  # type: ignore[type-arg]
    """The quotas of one workspace."""

    class Meta:
        model = WorkspaceQuota
        fields = ("documents", "storage_bytes", "tokens_per_day", "runs_per_minute", "max_cost")

    def validate_unique(self) -> None:
        """Do nothing: the workspace has one row, and Django would look for another outside any scope."""


class QuotaInline(StackedInline):  # type: ignore[misc]
    """What the workspace may have and use."""

    model = WorkspaceQuota
    form = QuotaForm
    can_delete = False
    extra = 0
    max_num = 1
    verbose_name = "quotas (an empty one is the deployment's)"

    def get_queryset(self, request: HttpRequest) -> QuerySet[WorkspaceQuota]:
        """Return quotas of every workspace: the admin panel is for staff."""
        return WorkspaceQuota.unscoped.all()


@admin.register(Workspace)
class WorkspaceAdmin(DeletionByName, ModelAdmin):  # type: ignore[misc]
    """Workspaces: members, quotas, and what there is to know about them."""

    list_display = [
        *("name", "owner", "members_count", "share_with_external_users", "created_at", "deleted_at")
    ]
    list_filter = ["share_with_external_users", ("deleted_at", admin.EmptyFieldListFilter)]
    search_fields = ["name", "personal_of__email"]
    list_per_page = 50
    show_full_result_count = False
    # Settings are changed where they are validated: on their page or over the API.
    readonly_fields = ["id", "personal_of", "created_at"]
    fields = ["name", "share_with_external_users", "personal_of", "created_at", "id"]
    inlines = [MembershipInline, QuotaInline]
    change_form_outer_after_template = "accounts/admin/workspace_after.html"

    def get_inlines(self, request: HttpRequest, obj: Workspace | None) -> list[Any]:
        """Show quotas only for an existing workspace."""
        return self.inlines if obj else [MembershipInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Workspace]:
        """Count the members in the same query."""
        workspaces: QuerySet[Workspace] = super().get_queryset(request)
        return workspaces.select_related("personal_of").annotate(members_total=Count("memberships"))

    @admin.display(description="personal workspace of")
    def owner(self, workspace: Workspace) -> str:
        """Return the user whose personal workspace it is."""
        return workspace.personal_of.email if workspace.personal_of else ""

    @admin.display(description="members", ordering="members_total")
    def members_count(self, workspace: Any) -> int:
        """Return how many members it has."""
        return int(workspace.members_total)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show what there is to know below the form."""
        workspace = self.get_object(request, object_id)
        shown = dict(extra_context or {})
        if workspace is not None and self.has_view_permission(request, workspace):
            shown |= {
                "fact_groups": groups_about(workspace_facts, workspace, request),
                # The danger zone has the button.
                "show_delete": False,
                "has_owner": workspace.memberships.filter(role=Role.OWNER).exists(),
                "restorable_until": restorable_until(workspace),
            }
        response: HttpResponse = super().change_view(request, object_id, form_url, shown)
        return response

    def save_model(self, request: HttpRequest, obj: Workspace, form: Any, change: bool) -> None:
        """Save and record it."""
        super().save_model(request, obj, form, change)
        action = AuditAction.WORKSPACE_CHANGED if change else AuditAction.WORKSPACE_CREATED
        if form.changed_data or not change:
            values = {name: getattr(obj, name) for name in form.changed_data}
            _record(action, request, obj.pk, **values)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Save members and quotas, and record what has changed."""
        if formset.model is Membership:
            save_members(request, formset)
            return
        super().save_formset(request, form, formset, change)
        if changed := [name for each in formset.forms for name in each.changed_data]:
            _record(AuditAction.WORKSPACE_CHANGED, request, form.instance.pk, quotas=changed)

    def delete_model(self, request: HttpRequest, obj: Workspace) -> None:
        """Delete it through the one deletion, and record it."""
        counts = count_of([obj.pk], [])
        _record(AuditAction.WORKSPACE_DELETED, request, obj.pk, name=obj.name, **counts)
        super().delete_model(request, obj)

    def get_urls(self) -> list[URLPattern]:
        """Add the address of the button that restores."""
        view = self.admin_site.admin_view(self.restore_view)
        return [
            path("<uuid:id>/restore/", view, name="accounts_workspace_restore"),
            *super().get_urls(),
        ]

    def restore_view(self, request: HttpRequest, id: UUID) -> HttpResponse:
        """Undo a deletion before the worker erases the workspace."""
        if request.method != "POST" or not self.has_delete_permission(request):
            raise PermissionDenied
        assert isinstance(request.user, User)
        try:
            workspace = restore_as_staff(request.user, id)
        except NotFound:
            raise Http404 from None
        messages.success(request, f"“{workspace.name}” is restored.")
        return redirect("admin:accounts_workspace_change", id)

    def what_goes(self, obj: Workspace) -> tuple[list[UUID], list[int]]:
        """Return the workspace."""
        return [obj.pk], []

    def name_of(self, obj: Workspace) -> str:
        """Return the name."""
        return obj.name

    def reasons_against(self, request: HttpRequest, obj: Workspace) -> list[str]:
        """Return the reason why a personal workspace can't be deleted without its user."""
        if obj.deleted_at is not None:
            return ["It is deleted already, and hidden from everybody."]
        if obj.personal_of is None:
            return []
        return [f"This is the personal workspace of {obj.personal_of.email}. It is deleted with the user."]


def _record(action: AuditAction, request: HttpRequest, id: UUID, **details: Any) -> None:
    actor = request.user if isinstance(request.user, User) else None
    record(action, actor, workspace_id=id, target=("workspace", id), **details)
