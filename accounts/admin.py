"""Users, workspaces with their members, and API keys in the admin panel."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from allauth.account.models import EmailAddress
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin, TabularInline
from unfold.forms import (
    AdminPasswordChangeForm,
    PaginationInlineFormSet,
    UserChangeForm,
    UserCreationForm,
)

from accounts.access.keys import bound_made_keys
from accounts.addresses import vouch_for_address
from accounts.admin_deletion import DeletionByName
from accounts.models import ApiKey, Membership, Preferences, User, Workspace
from accounts.roles import Role

# Groups are not used, and an e-mail address is edited with its user.
admin.site.unregister(Group)
admin.site.unregister(EmailAddress)


class NewUserForm(UserCreationForm):  # type: ignore[misc]
    """A new user has an e-mail address for a name."""

    class Meta:
        model = User
        fields = ("email",)


class MembershipFormSet(PaginationInlineFormSet):  # type: ignore[misc]
    """Memberships that change together: afterwards each workspace must still have an owner."""

    def clean(self) -> None:
        """Raise `ValidationError` with the names of workspaces that would have no owner."""
        super().clean()
        if any(self.errors):
            return
        if ownerless := [str(workspace) for workspace in self._touched() if not self._has_owner(workspace)]:
            raise ValidationError(f"A workspace needs an owner: {', '.join(ownerless)}")
        for form in self.forms:
            form.instance.is_checked_alone = False

    def _touched(self) -> list[Workspace]:
        if isinstance(self.instance, Workspace):
            return [self.instance]
        ids = {form.instance.workspace_id for form in self._filled()}
        ids |= {form.initial.get("workspace") for form in self._filled()}
        return list(Workspace.objects.filter(pk__in=ids))

    def _has_owner(self, workspace: Workspace) -> bool:
        kept = (form for form in self._filled() if not self._should_delete_form(form))
        if any(
            form.instance.role == Role.OWNER and form.instance.workspace_id == workspace.pk for form in kept
        ):
            return True
        shown = [form.instance.pk for form in self.forms if form.instance.pk]
        owners = Membership.objects.filter(workspace=workspace.pk, role=Role.OWNER)
        return owners.exclude(pk__in=shown).exists()

    def _filled(self) -> list[Any]:
        return [form for form in self.forms if form.instance.pk or form.has_changed()]


class MembershipInline(TabularInline):  # type: ignore[misc]
    """The members and their roles."""

    model = Membership
    formset = MembershipFormSet
    extra = 0
    autocomplete_fields = ["user", "workspace"]


@admin.register(User)
class UserAdmin(DeletionByName, DjangoUserAdmin, ModelAdmin):  # type: ignore[misc, type-arg]
    """People with a login."""

    form = UserChangeForm
    add_form = NewUserForm
    change_password_form = AdminPasswordChangeForm
    list_display = [
        *("email", "first_name", "last_name", "is_active", "is_staff", "is_address_verified", "last_login")
    ]
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
        """Show memberships only for an existing user."""
        return self.inlines if obj else []

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Query the verified addresses together with the users."""
        users: QuerySet[User] = super().get_queryset(request)
        verified = EmailAddress.objects.filter(user=OuterRef("pk"), email=OuterRef("email"), verified=True)
        return users.annotate(has_verified_address=Exists(verified))

    @admin.display(description="address verified", boolean=True)
    def is_address_verified(self, user: Any) -> bool:
        """Return whether the address is verified."""
        return bool(user.has_verified_address)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Save; an address that an administrator enters counts as verified."""
        super().save_model(request, obj, form, change)
        if not change or "email" in form.changed_data:
            vouch_for_address(obj)

    def what_goes(self, obj: User) -> tuple[list[UUID], list[int]]:
        """Return the user; the personal workspace goes along."""
        return [], [obj.pk]

    def name_of(self, obj: User) -> str:
        """Return the address."""
        return obj.email

    def reasons_against(self, request: HttpRequest, obj: User) -> list[str]:
        """Name the workspaces that have no other owner; users can't delete themselves."""
        reasons = [
            f"{workspace} has no other owner. Make somebody else its owner, or delete it first."
            for workspace in Workspace.objects.filter(
                personal_of=None, memberships__user=obj, memberships__role=Role.OWNER
            )
            if not workspace.memberships.filter(role=Role.OWNER).exclude(user=obj).exists()
        ]
        return reasons + (["You cannot delete yourself."] if obj == request.user else [])


@admin.register(Workspace)
class WorkspaceAdmin(DeletionByName, ModelAdmin):  # type: ignore[misc]
    """Workspaces and their members."""

    list_display = ["name", "owner", "members_count", "share_with_external_users", "created_at"]
    list_filter = ["share_with_external_users"]
    search_fields = ["name", "personal_of__email"]
    # Settings are changed where they are validated: on their page or over the API.
    readonly_fields = ["id", "personal_of", "settings", "created_at"]
    fields = ["name", "share_with_external_users", "settings", "personal_of", "id", "created_at"]
    inlines = [MembershipInline]

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

    def what_goes(self, obj: Workspace) -> tuple[list[UUID], list[int]]:
        """Return the workspace."""
        return [obj.pk], []

    def name_of(self, obj: Workspace) -> str:
        """Return the name."""
        return obj.name

    def reasons_against(self, request: HttpRequest, obj: Workspace) -> list[str]:
        """Return the reason why a personal workspace can't be deleted without its user."""
        if obj.personal_of is None:
            return []
        return [f"This is the personal workspace of {obj.personal_of.email}. It is deleted with the user."]


@admin.register(Preferences)
class PreferencesAdmin(ModelAdmin):  # type: ignore[misc]
    """Users' preferences, for diagnosis; only users change them."""

    list_display = ["user", "values"]
    search_fields = ["user__email"]
    list_select_related = ["user"]
    ordering = ["user__email"]
    fields = list_display
    readonly_fields = list_display

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: only users create their preferences."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Preferences | None = None) -> bool:
        """Refuse: preferences can only be deleted, and then inherit everything again."""
        return False


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):  # type: ignore[misc]
    """API keys. Users create them and alone see the secret; administrators can narrow and revoke them."""

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
        """Save, and remove lost rights from the keys that this one made."""
        super().save_related(request, form, formsets, change)
        bound_made_keys(form.instance)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: only the user of a key may see its secret."""
        return False
