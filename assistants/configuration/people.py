"""What becomes of assistants when who made them takes their data, or leaves for good."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any
from uuid import UUID

from django.db.models import F, OuterRef, Subquery

from accounts.access.identity import principal_of_user
from accounts.models import Membership, User
from accounts.people.export import lines
from accounts.roles import Role
from assistants.models import Assistant, Visibility
from core.http.zip_stream import Member


def export_assistants(user: User) -> Iterator[Member]:
    """Yield the assistants that a person has made, with all their versions."""

    def shown(row: Assistant) -> dict[str, Any]:
        names = ("id", "workspace_id", "name", "description", "visibility", "created_at")
        versions = [{"number": each.number, "settings": each.settings} for each in row.versions.all()]
        return {name: getattr(row, name) for name in names} | {"versions": versions}

    own = Assistant.objects.restricted_to(principal_of_user(user)).filter(user=user)
    yield "assistants.jsonl", lines(own.prefetch_related("versions"), shown)


def hand_over_assistants(workspace_ids: Collection[UUID], user_ids: Collection[int]) -> Mapping[str, int]:
    """Give the assistants that all members use to an owner of their workspace; return no counts.

    `people.deletion.removers` call this before people are deleted: what is only theirs goes with them.
    """
    owners = Membership.objects.filter(workspace=OuterRef("workspace"), role=Role.OWNER)
    staying = owners.exclude(user__in=user_ids).order_by("pk").values("user")[:1]
    shared = Assistant.unscoped.filter(user__in=user_ids, visibility=Visibility.WORKSPACE)
    shared = shared.exclude(workspace__in=workspace_ids).annotate(heir=Subquery(staying))
    shared.filter(heir__isnull=False).update(user=F("heir"))
    return {}
