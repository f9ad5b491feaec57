"""Users in the admin panel: who they are, how they log in, and what an administrator may do about it.

Only superusers change staff: who may reset a password could otherwise take over somebody with more rights.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Permission
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldBooleanWidget

from accounts.access.second_factor import has_second_factor
from accounts.addresses import vouch_for_address
from accounts.admin_deletion import DeletionByName
from accounts.admin_facts import groups_about, user_facts
from accounts.audit.recording import record
from accounts.member_admin import MembershipInline, save_members
from accounts.models import AuditAction, User, Workspace
from accounts.people.welcoming import mail_password_link
from accounts.roles import Role

FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


class PermissionField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """Permissions of the pages of this panel, as checkboxes."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs |= {"widget": UnfoldAdminCheckboxSelectMultipleWidget, "required": False}
        super().__init__(Permission.objects.none(), **kwargs)
        self.help_text = "Staff see and do only this. A superuser may do everything."

    def label_from_instance(self, obj: Any) -> str:
        """Return its name, such as `Can view document`."""
        return str(obj.name)


def panel_permissions() -> QuerySet[Permission]:
    """Return the permissions that pages of the panel ask for.

    Most rows come from elsewhere and are not added here; logs and charges are not changed either.
    """
    shown = Q()
    for model in admin.site._registry:
        shown |= Q(content_type__app_label=model._meta.app_label, content_type__model=model._meta.model_name)
    without_table = Q(content_type__app_label="locus")
    added_elsewhere = Q(codename__startswith="add_") & ~Q(codename__in=["add_user", "add_workspace"])
    kept = Q(content_type__model__in=["auditentry", "charge"]) & ~Q(codename__startswith="view_")
    found = Permission.objects.filter(shown | without_table).exclude(added_elsewhere | kept)
    return found.order_by("content_type__app_label", "content_type__model", "name")


class ChangedUserForm(UserChangeForm):  # type: ignore[misc]
    """A user, with the permissions that mean something here."""

    user_permissions = PermissionField()

    class Meta:
        model = User
        fields = ("email", "name", "password", "is_staff", "is_superuser", "user_permissions")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "user_permissions" in self.fields:
            self.fields["user_permissions"].queryset = panel_permissions()


class NewUserForm(UserCreationForm):  # type: ignore[misc]
    """A new user has an e-mail address for a name, and a password or an invitation to choose one."""

    data: Any
    invite = forms.BooleanField(
        label="Invite by e-mail",
        required=False,
        widget=UnfoldBooleanWidget,
        help_text="Mail a link with which they choose a password. Leave both passwords empty then.",
    )

    class Meta:
        model = User
        fields = ("email", "name")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not settings.EMAIL_HOST:
            self.fields["invite"].disabled = True
            self.fields["invite"].help_text = "Needs a mail server: EMAIL_HOST."
        if self.data.get("invite") and settings.EMAIL_HOST:
            for name in ("password1", "password2"):
                self.fields[name].required = False
            self.data = self.data.copy()
            self.data["usable_password"] = "false"  # noqa: S105 - a choice


class SecondFactorFilter(admin.SimpleListFilter):
    """Users with or without a second factor."""

    title = "second factor"
    parameter_name = "second_factor"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return the two choices."""
        return [("on", "on"), ("off", "off")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return those of the choice."""
        if self.value() in ("on", "off"):
            return queryset.filter(has_factor=self.value() == "on")
        return queryset


@admin.register(User)
class UserAdmin(DeletionByName, DjangoUserAdmin, ModelAdmin):  # type: ignore[misc, type-arg]
    """People with a login."""

    form = ChangedUserForm
    add_form = NewUserForm
    change_password_form = AdminPasswordChangeForm
    list_display = [
        *("email", "name", "is_active", "is_staff", "has_second_factor", "is_address_verified", "last_login")
    ]
    list_filter = ["is_active", "is_staff", SecondFactorFilter]
    search_fields = ["email", "name"]
    list_per_page = 50
    show_full_result_count = False
    ordering = ["email"]
    fieldsets = [
        (None, {"fields": ["email", "name", "password"]}),
        ("Rights in this panel", {"fields": ["is_staff", "is_superuser", "user_permissions"]}),
    ]
    add_fieldsets = [
        (None, {"fields": ["email", "name", "invite", "usable_password", "password1", "password2"]})
    ]
    readonly_fields = ["last_login", "date_joined"]
    filter_horizontal = ()
    inlines = [MembershipInline]
    change_form_outer_after_template = "accounts/admin/user_after.html"

    # --- Who may do what -----------------------------------------------------------------------------------

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Only superusers change staff."""
        return super().has_change_permission(request, obj) and self._may_touch(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Only superusers delete staff."""
        return super().has_delete_permission(request, obj) and self._may_touch(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> list[str]:
        """Only superusers give rights."""
        rights = [] if _is_superuser(request) else ["is_staff", "is_superuser", "user_permissions"]
        return [*self.readonly_fields, *rights]

    def _may_touch(self, request: HttpRequest, obj: User | None) -> bool:
        return obj is None or not (obj.is_staff or obj.is_superuser) or _is_superuser(request)

    # --- Lists and forms -----------------------------------------------------------------------------------

    def get_inlines(self, request: HttpRequest, obj: User | None) -> list[Any]:
        """Show memberships only for an existing user."""
        return self.inlines if obj else []

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Query verified addresses and second factors together with the users."""
        users: QuerySet[User] = super().get_queryset(request)
        verified = EmailAddress.objects.filter(user=OuterRef("pk"), email=OuterRef("email"), verified=True)
        factors = Authenticator.objects.filter(user=OuterRef("pk"), type__in=FACTORS)
        return users.annotate(has_verified_address=Exists(verified), has_factor=Exists(factors))

    @admin.display(description="address verified", boolean=True)
    def is_address_verified(self, user: Any) -> bool:
        """Return whether the address is verified."""
        return bool(user.has_verified_address)

    @admin.display(description="second factor", boolean=True)
    def has_second_factor(self, user: Any) -> bool:
        """Return whether a second factor is on."""
        return bool(user.has_factor)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show what there is to know below the form, and what may be done."""
        user = self.get_object(request, object_id)
        shown = dict(extra_context or {})
        if user is not None and self.has_view_permission(request, user):
            shown |= {
                "fact_groups": groups_about(user_facts, user, request),
                "may_secure": self.has_change_permission(request, user),
                "sessions": UserSession.objects.filter(user=user).count(),
                "has_second_factor": has_second_factor(user),
                "can_mail": bool(settings.EMAIL_HOST),
            }
        response: HttpResponse = super().change_view(request, object_id, form_url, shown)
        return response

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Save and record it; an address that an administrator enters counts as verified."""
        super().save_model(request, obj, form, change)
        if not change or "email" in form.changed_data:
            vouch_for_address(obj)
        if not change:
            _record(AuditAction.USER_CREATED, request, obj)
            if form.cleaned_data.get("invite"):
                self._mail_link(request, obj)
        elif form.changed_data:
            _record(AuditAction.USER_CHANGED, request, obj, fields=list(form.changed_data))

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Save memberships and record what has changed."""
        save_members(request, formset)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """Change a password; recorded once it is done."""
        before = User.objects.filter(pk=id).values_list("password", flat=True).first()
        response = super().user_change_password(request, id, form_url)
        user = User.objects.filter(pk=id).first()
        if user is not None and user.password != before:
            _record(AuditAction.PASSWORD_CHANGED, request, user)
        return response

    # --- Buttons -------------------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        """Add the buttons' addresses."""
        views = {
            "activity": self.activity_view,
            "end_sessions": self.end_sessions_view,
            "reset_second_factor": self.reset_second_factor_view,
            "invite": self.invite_view,
        }
        own = [
            path(
                f"<path:object_id>/{name.replace('_', '-')}/",
                self.admin_site.admin_view(view),
                name=f"accounts_user_{name}",
            )
            for name, view in views.items()
        ]
        return own + super().get_urls()

    def activity_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Deactivate a user, which ends logins, streams and keys, or activate one."""
        user = self._posted_user(request, object_id)
        if user == request.user:
            raise PermissionDenied
        user.is_active = request.POST.get("active") == "yes"
        user.save(update_fields=["is_active"])
        if not user.is_active:
            _end_sessions(user)
        _record(AuditAction.USER_CHANGED, request, user, is_active=user.is_active)
        return self._done(request, user, "Activated." if user.is_active else "Deactivated and logged out.")

    def end_sessions_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Log a user out of all browsers."""
        user = self._posted_user(request, object_id)
        ended = _end_sessions(user)
        _record(AuditAction.LOGIN_ENDED, request, user, sessions=ended)
        return self._done(request, user, f"Logged out of {ended} browser{'' if ended == 1 else 's'}.")

    def reset_second_factor_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Remove a user's second factors, recovery codes included, so that the password alone suffices."""
        user = self._posted_user(request, object_id)
        Authenticator.objects.filter(user=user).delete()
        _record(AuditAction.SECOND_FACTOR_REMOVED, request, user)
        return self._done(request, user, "The second factor is removed. They can set up a new one.")

    def invite_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Mail a link with which a user chooses a password."""
        user = self._posted_user(request, object_id)
        if not settings.EMAIL_HOST or not user.is_active:
            raise Http404
        self._mail_link(request, user)
        return redirect("admin:accounts_user_change", user.pk)

    def _mail_link(self, request: HttpRequest, user: User) -> None:
        mail_password_link(request, user)
        messages.success(request, f"A link to choose a password is mailed to {user.email}.")

    def _posted_user(self, request: HttpRequest, object_id: str) -> User:
        if request.method != "POST":
            raise PermissionDenied
        user: User | None = self.get_object(request, object_id)
        if not self.has_change_permission(request, user):
            raise PermissionDenied
        if user is None:
            raise Http404
        return user

    def _done(self, request: HttpRequest, user: User, words: str) -> HttpResponse:
        messages.success(request, words)
        return redirect("admin:accounts_user_change", user.pk)

    # --- Deletion ------------------------------------------------------------------------------------------

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """Delete through the one deletion, and record it without the address: the log outlives the user."""
        _record(AuditAction.USER_DELETED, request, obj)
        super().delete_model(request, obj)

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
                personal_of=None, deleted_at=None, memberships__user=obj, memberships__role=Role.OWNER
            )
            if not workspace.memberships.filter(role=Role.OWNER).exclude(user=obj).exists()
        ]
        return reasons + (["You cannot delete yourself."] if obj == request.user else [])


def _end_sessions(user: User) -> int:
    """End all sessions of a user; return how many."""
    sessions = list(UserSession.objects.filter(user=user))
    for session in sessions:
        session.end()
    return len(sessions)


def _is_superuser(request: HttpRequest) -> bool:
    return isinstance(request.user, User) and request.user.is_superuser


def _record(action: AuditAction, request: HttpRequest, user: User, **details: Any) -> None:
    actor = request.user if isinstance(request.user, User) else None
    record(action, actor, target=("user", user.pk), **details)
