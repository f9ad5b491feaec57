"""Users, workspaces with their members, and API keys in the admin panel."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.contrib.auth.models import Group
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin, TabularInline
from unfold.forms import AdminPasswordChangeForm, UserChangeForm

from accounts.keys import bound_made_keys
from accounts.models import ApiKey, Membership, Preferences, User, Workspace

# Groups are not used, and an e-mail address is edited with its user.
admin.site.unregister(Group)
admin.site.unregister(EmailAddress)


class NewUserForm(AdminUserCreationForm):  # type: ignore[type-arg]
    """A new user has an e-mail address for a name."""

    class Meta:
        model = User
        fields = ("email",)


class MembershipInline(TabularInline):  # type: ignore[misc]
    """Who is a member, and with what role."""

    model = Membership
    extra = 0
    autocomplete_fields = ["user", "workspace"]


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ModelAdmin):  # type: ignore[misc, type-arg]
    """People with a login."""

    form = UserChangeForm
    add_form = NewUserForm
    change_password_form = AdminPasswordChangeForm
    list_display = ["email", "first_name", "last_name", "is_active", "is_staff", "last_login"]
    list_filter = ["is_active", "is_staff"]
    search_fields = ["email", "first_name", "last_name"]
    ordering = ["email"]
    fieldsets = [
        (None, {"fields": ["email", "password"]}),
        ("Person", {"fields": ["first_name", "last_name"]}),
        ("Access", {"fields": ["is_active", "is_staff", "is_superuser"]}),
        ("Dates", {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [(None, {"fields": ["email", "usable_password", "password1", "password2"]})]
    readonly_fields = ["last_login", "date_joined"]
    filter_horizontal = ()
    inlines = [MembershipInline]

    def get_inlines(self, request: HttpRequest, obj: User | None) -> list[Any]:
        """Show memberships once there is a user to have them."""
        return self.inlines if obj else []


@admin.register(Workspace)
class WorkspaceAdmin(ModelAdmin):  # type: ignore[misc]
    """Workspaces and their members."""

    list_display = ["name", "owner", "members_count", "share_with_external_users", "created_at"]
    list_filter = ["share_with_external_users"]
    search_fields = ["name", "personal_of__email"]
    # Settings are changed where they are checked: on their page or over the API.
    readonly_fields = ["id", "personal_of", "settings", "created_at"]
    fields = ["name", "share_with_external_users", "settings", "personal_of", "id", "created_at"]
    inlines = [MembershipInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Workspace]:
        """Count the members in the same query."""
        workspaces: QuerySet[Workspace] = super().get_queryset(request)
        return workspaces.select_related("personal_of").annotate(members_total=Count("memberships"))

    @admin.display(description="personal workspace of")
    def owner(self, workspace: Workspace) -> str:
        """Return whose personal workspace it is."""
        return workspace.personal_of.email if workspace.personal_of else ""

    @admin.display(description="members", ordering="members_total")
    def members_count(self, workspace: Any) -> int:
        """Return how many members it has."""
        return int(workspace.members_total)


@admin.register(Preferences)
class PreferencesAdmin(ModelAdmin):  # type: ignore[misc]
    """What users prefer, to look at when somebody asks why; they alone change it."""

    list_display = ["user", "values"]
    search_fields = ["user__email"]
    list_select_related = ["user"]
    ordering = ["user__email"]
    fields = list_display
    readonly_fields = list_display

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: preferences are made by those who have them."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Preferences | None = None) -> bool:
        """Refuse: they can be deleted, which lets everything be inherited again."""
        return False


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):  # type: ignore[misc]
    """API keys. They are made by their users, who alone see the secret; staff can narrow and revoke them."""

    list_display = ["name", "prefix", "user", "scopes", "expires_at", "last_used_at", "created_at"]
    search_fields = ["name", "prefix", "user__email"]
    list_select_related = ["user"]
    readonly_fields = ["user", "prefix", "last_used_at", "created_at"]
    fields = [
        "name",
        "user",
        "prefix",
        "scopes",
        "narrowed",
        "workspaces",
        "expires_at",
        "last_used_at",
        "created_at",
    ]
    autocomplete_fields = ["workspaces"]

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Save, and take from the keys that this one made what it no longer has."""
        super().save_related(request, form, formsets, change)
        bound_made_keys(form.instance)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: a key made here would have nobody to show its secret to."""
        return False
