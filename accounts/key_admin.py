"""API keys in the admin panel: their users alone see the secrets; administrators narrow and revoke."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from accounts.access.keys import bound_made_keys
from accounts.audit.recording import record
from accounts.models import ApiKey, AuditAction, User
from accounts.roles import KeyScope

WORDS = {
    KeyScope.READ: "read: read and ask",
    KeyScope.WRITE: "write: also add, change and delete documents",
    KeyScope.ADMIN: "admin: also manage members, settings and keys",
}


class KeyForm(forms.ModelForm):  # type: ignore[type-arg]
    """A key's rights, as checkboxes."""

    scopes = forms.TypedMultipleChoiceField(
        choices=list(WORDS.items()),
        coerce=str,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="What programs with this key may do.",
    )

    class Meta:
        model = ApiKey
        fields = ("name", "scopes", "narrowed", "workspaces", "expires_at")


class ValidityFilter(admin.SimpleListFilter):
    """Keys that work, and keys that have expired."""

    title = "validity"
    parameter_name = "validity"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return the choices."""
        return [("valid", "valid"), ("expired", "expired"), ("unused", "never used")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> QuerySet[ApiKey]:
        """Return those of the choice."""
        now = timezone.now()
        chosen = {
            "valid": Q(expires_at=None) | Q(expires_at__gt=now),
            "expired": Q(expires_at__lte=now),
            "unused": Q(last_used_at=None),
        }
        return queryset.filter(chosen.get(self.value() or "", Q()))


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):  # type: ignore[misc]
    """API keys, without their secrets."""

    form = KeyForm
    list_display = [*("name", "prefix", "user", "scopes_in_words", "reach", "expires_at", "last_used_at")]
    list_filter = [ValidityFilter]
    search_fields = ["name", "prefix", "user__email"]
    list_select_related = ["user"]
    list_per_page = 50
    show_full_result_count = False
    readonly_fields = ["user", "prefix", "last_used_at", "created_at"]
    fields = [
        *("name", "user", "prefix", "scopes", "narrowed", "workspaces"),
        *("expires_at", "last_used_at", "created_at"),
    ]
    autocomplete_fields = ["workspaces"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        """Read the workspaces of a page of keys in one query."""
        keys: QuerySet[ApiKey] = super().get_queryset(request)
        return keys.prefetch_related("workspaces__personal_of")

    @admin.display(description="may")
    def scopes_in_words(self, key: ApiKey) -> str:
        """Return the scopes."""
        return ", ".join(scope for scope in KeyScope if scope in key.scopes)

    @admin.display(description="reaches")
    def reach(self, key: ApiKey) -> str:
        """Return the workspaces that the key may use."""
        if not key.narrowed:
            return "all of its user"
        return ", ".join(str(workspace) for workspace in key.workspaces.all()) or "none"

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        """Save and record it."""
        super().save_model(request, obj, form, change)
        if form.changed_data:
            _record(AuditAction.KEY_CHANGED, request, obj, fields=list(form.changed_data))

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Save, and remove lost rights from the keys that this one made."""
        super().save_related(request, form, formsets, change)
        bound_made_keys(form.instance)

    def delete_model(self, request: HttpRequest, obj: ApiKey) -> None:
        """Revoke the key and those that it made, and record it."""
        _record(AuditAction.KEY_REVOKED, request, obj)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """Revoke several."""
        for key in queryset:
            self.delete_model(request, key)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: only the user of a key may see its secret."""
        return False


def _record(action: AuditAction, request: HttpRequest, key: ApiKey, **details: Any) -> None:
    actor = request.user if isinstance(request.user, User) else None
    record(action, actor, target=("key", key.pk), of_user=key.user_id, **details)
