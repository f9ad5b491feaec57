"""The admin panel's pages of this room."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.models import Group
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from accounts.admin_facts import value_in_words
from accounts.audit_admin import AuditEntryAdmin as AuditEntryAdmin
from accounts.key_admin import ApiKeyAdmin as ApiKeyAdmin
from accounts.models import Preferences
from accounts.preferences import SettingSource, accepted_values, sections_of
from accounts.user_admin import UserAdmin as UserAdmin
from accounts.workspace_admin import WorkspaceAdmin as WorkspaceAdmin

# Groups are not used, an e-mail address is edited with its user, and the others hold secrets of people.
for unused in (Group, EmailAddress, Authenticator, UserSession, SocialAccount, SocialApp, SocialToken):
    admin.site.unregister(unused)


@admin.register(Preferences)
class PreferencesAdmin(ModelAdmin):  # type: ignore[misc]
    """Users' preferences, for diagnosis; only users change them."""

    list_display = ["user", "choices"]
    search_fields = ["user__email"]
    list_select_related = ["user"]
    ordering = ["user__email"]
    fields = list_display
    readonly_fields = list_display

    @admin.display(description="what they prefer")
    def choices(self, preferences: Preferences) -> str:
        """Return what they have chosen; what the deployment no longer accepts is left out."""
        accepted = accepted_values(SettingSource.USER, preferences.values)
        chosen = [
            f"{section.labels[field]}: {value_in_words(value)}"
            for name, (section, _) in sections_of(SettingSource.USER).items()
            for field, value in accepted[name].items()
            if value is not None
        ]
        return ", ".join(chosen) or "nothing"

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: only users create their preferences."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Preferences | None = None) -> bool:
        """Refuse: preferences can only be deleted, and then inherit everything again."""
        return False
