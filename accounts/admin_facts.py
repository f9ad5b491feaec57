"""What the admin panel's pages about users and workspaces say besides their forms.

Apps above this one add what they know: they append a function to `workspace_facts` or `user_facts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import OperationalError
from django.db.models import Q, QuerySet, Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from accounts.admin_records import RecordFact
from accounts.models import ApiKey, Membership, User, Workspace
from accounts.models.ledger import Charge
from accounts.models.usage import DailyUsage
from accounts.preferences import Layer, SettingSource, resolve, sections_of, settings_of
from accounts.roles import Role
from core.limited import limited_statements

LONGEST_SECS = 1.0
DAYS = 30


@dataclass(frozen=True, slots=True)
class FactGroup:
    """Facts under a title, for those with the permission; `note` is one sentence below them."""

    title: str
    permission: str
    facts: list[RecordFact]
    note: str = ""
    note_link: str = ""


WorkspaceFacts = Callable[[Workspace, HttpRequest], FactGroup]
UserFacts = Callable[[User, HttpRequest], FactGroup]


def groups_about(
    sources: Iterable[Callable[[Any, HttpRequest], FactGroup]], obj: Any, request: HttpRequest
) -> list[FactGroup]:
    """Return what the user may see; a source that takes too long says so."""
    groups = []
    for source in sources:
        try:
            with limited_statements(LONGEST_SECS):
                group = source(obj, request)
        except OperationalError:
            group = FactGroup("Not counted", "", [], "Counting took too long.")
        if not group.permission or request.user.has_perm(group.permission):
            groups.append(group)
    return groups


# --- Workspaces --------------------------------------------------------------------------------------------


def _settings_in_words(workspace: Workspace, request: HttpRequest) -> FactGroup:
    own = settings_of(workspace.pk)
    facts = []
    for name, (section, _) in sections_of(SettingSource.WORKSPACE).items():
        for field, setting in resolve(name, [Layer(SettingSource.WORKSPACE, own[name])]).items():
            is_own = setting.source is SettingSource.WORKSPACE
            value = value_in_words(setting.value) + ("" if is_own else " (inherited)")
            facts.append(RecordFact(section.labels[field], value))
    user = request.user
    is_admin = isinstance(user, User) and _administers(user, workspace)
    note = "Its admins change them on its settings page."
    link = reverse("workspace_settings", args=[workspace.pk]) if is_admin else ""
    return FactGroup("Settings", "accounts.view_workspace", facts, note, link)


def value_in_words(value: Any) -> str:
    """Return a setting or preference as the panel shows it."""
    if value is None:
        return "none"
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _administers(user: User, workspace: Workspace) -> bool:
    roles = [role for role in Role if role.covers(Role.ADMIN)]
    return Membership.objects.filter(user=user, workspace=workspace, role__in=roles).exists()


def _usage_of_workspace(workspace: Workspace, request: HttpRequest) -> FactGroup:
    rows = DailyUsage.unscoped.filter(workspace_id=workspace.pk)
    return FactGroup(
        f"Use in {DAYS} days", "accounts.view_workspace", _usage(rows, Q(workspace=workspace.pk))
    )


def _access_to_workspace(workspace: Workspace, request: HttpRequest) -> FactGroup:
    narrowed = ApiKey.objects.filter(narrowed=True, workspaces=workspace.pk).count()
    whole = ApiKey.objects.filter(narrowed=False, user__memberships__workspace=workspace.pk).count()
    facts = [
        RecordFact("API keys narrowed to it and others", f"{narrowed:,}"),
        RecordFact("API keys of members that reach all their workspaces", f"{whole:,}"),
        RecordFact("External users who asked or added something", f"{_external_users(workspace):,}"),
    ]
    return FactGroup("Access by programs", "accounts.view_apikey", facts)


def _external_users(workspace: Workspace) -> int:
    rows = DailyUsage.unscoped.filter(workspace_id=workspace.pk).exclude(external_user_id=None)
    return rows.exclude(external_user_id="").values("external_user_id").distinct().count()


# --- Users -------------------------------------------------------------------------------------------------


def _usage_of_user(user: User, request: HttpRequest) -> FactGroup:
    facts = _usage(DailyUsage.unscoped.filter(user_id=user.pk), Q(workspace__personal_of=user))
    return FactGroup(f"Use in {DAYS} days", "accounts.view_user", facts)


def _keys_of_user(user: User, request: HttpRequest) -> FactGroup:
    link = f"{reverse('admin:accounts_apikey_changelist')}?user__id__exact={user.pk}"
    facts = [RecordFact("API keys", f"{user.api_keys.count():,}", link)]
    return FactGroup("Programs", "accounts.view_apikey", facts)


def _usage(rows: QuerySet[DailyUsage], charged: Q) -> list[RecordFact]:
    now = timezone.now()
    since = now - timedelta(days=DAYS - 1)
    columns = ("questions", "input_tokens", "output_tokens", "pages", "documents")
    sums = rows.filter(day__gte=since.date()).aggregate(**{name: Sum(name) for name in columns})
    charges = Charge.unscoped.filter(charged, created_at__gte=since, settled_at__isnull=False)
    cost = charges.aggregate(cost=Sum("amount"))["cost"] or 0
    words = (
        "Questions",
        "Tokens read by models",
        "Tokens written by models",
        "Pages read",
        "Documents added",
    )
    return [
        *(RecordFact(word, f"{sums[name] or 0:,}") for word, name in zip(words, columns, strict=True)),
        RecordFact("Spent", f"${cost:,.2f}"),
    ]


workspace_facts: list[WorkspaceFacts] = [_settings_in_words, _usage_of_workspace, _access_to_workspace]
user_facts: list[UserFacts] = [_usage_of_user, _keys_of_user]
