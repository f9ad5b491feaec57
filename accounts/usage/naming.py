"""Names for groups of usage: addresses of users, prefixes of keys, names of workspaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext, gettext_lazy

from accounts.models import ApiKey, User, Workspace
from accounts.principal import Principal
from accounts.usage.forgetting import DELETED_EXTERNAL_USER
from accounts.usage.reading import Period, UsageGrouping, UsageSums

WITHOUT = {
    UsageGrouping.USER: gettext_lazy("Deleted users"),
    UsageGrouping.KEY: gettext_lazy("Without a key"),
    UsageGrouping.EXTERNAL_USER: gettext_lazy("No external user"),
    UsageGrouping.WORKSPACE: gettext_lazy("Deleted workspaces"),
}


@dataclass(frozen=True, slots=True)
class NamedUsage:
    """The usage of a group, with what to call it."""

    id: str | None
    label: str
    sums: UsageSums


def named_usage(
    principal: Principal, period: Period, by: UsageGrouping, sums: Mapping[Any, UsageSums]
) -> list[NamedUsage]:
    """Return each day of the period, or the groups with most questions first.

    `principal` may see the sums. A key of somebody else is called by its prefix and its user.
    """
    if by is UsageGrouping.DAY:
        return [
            NamedUsage(day.isoformat(), day.isoformat(), sums.get(day, UsageSums())) for day in period.days()
        ]
    names = _names(principal, by, [key for key in sums if key is not None])
    groups = [NamedUsage(*_named(by, key, names), one) for key, one in sums.items()]
    return sorted(groups, key=lambda group: (-group.sums.questions, -group.sums.cost, group.label))


def _named(by: UsageGrouping, key: Any, names: Mapping[Any, str]) -> tuple[str | None, str]:
    if key is None:
        return None, str(WITHOUT[by])
    if by is UsageGrouping.EXTERNAL_USER:
        return (None, gettext("Deleted external users")) if key == DELETED_EXTERNAL_USER else (key, key)
    return str(key), names.get(key, gettext("Deleted (%(id)s)") % {"id": str(key)[:8]})


def _names(principal: Principal, by: UsageGrouping, ids: Iterable[Any]) -> dict[Any, str]:
    match by:
        case UsageGrouping.USER:
            return dict(User.objects.filter(pk__in=ids).values_list("pk", "email"))
        case UsageGrouping.KEY:
            keys = ApiKey.objects.filter(pk__in=ids).select_related("user")
            return {key.pk: _name_of_key(principal, key) for key in keys}
        case UsageGrouping.WORKSPACE:
            readable: set[UUID] = set(principal.workspace_ids) & set(ids)
            return dict(Workspace.objects.filter(pk__in=readable).values_list("pk", "name"))
    return {}


def _name_of_key(principal: Principal, key: ApiKey) -> str:
    if key.user_id == principal.user_id:
        return f"{key.name} ({key.prefix}…)"
    return f"{key.prefix}… of {key.user.email}"
