"""The search field of the admin panel: users, workspaces, documents and executions by name or id.

Only names and ids are searched and shown, never content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from uuid import UUID

from django.contrib.admin.utils import quote
from django.contrib.auth.models import AnonymousUser
from django.db import OperationalError
from django.db.models import Q
from django.urls import reverse

from accounts.models import ApiKey, User, Workspace
from core.limited import limited_statements
from kb.models import Document
from runs.models import Execution

MOST_OF_A_KIND = 8
LONGEST_SECS = 1.0
SHORTEST = 2
"""Characters; a single one would match nearly everything."""


@dataclass(frozen=True, slots=True)
class AdminHit:
    """What was found: its name, what tells it from others of that name, and its page."""

    name: str
    detail: str
    address: str


@dataclass(frozen=True, slots=True)
class HitGroup:
    """The hits of one kind; `hits` is None if the search took too long."""

    kind: str
    hits: list[AdminHit] | None
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    permission: str
    page: str
    find: Callable[[str], Iterator[tuple[object, str, str]]]
    """Yields primary key, name and detail, bounded."""


def find_everywhere(term: str, user: User | AnonymousUser) -> list[HitGroup]:
    """Return what the user may see, by kind; kinds without a hit are left out."""
    term = term.strip()
    if len(term) < SHORTEST:
        return []
    groups = (_group(kind, term) for kind in KINDS if user.has_perm(kind.permission))
    return [group for group in groups if group.hits is None or group.hits]


def _group(kind: _Kind, term: str) -> HitGroup:
    try:
        with limited_statements(LONGEST_SECS):
            rows = list(kind.find(term))
    except OperationalError:
        return HitGroup(kind.name, None)
    hits = [AdminHit(name, detail, reverse(kind.page, args=[quote(str(pk))])) for pk, name, detail in rows]
    return HitGroup(kind.name, hits[:MOST_OF_A_KIND], len(hits) > MOST_OF_A_KIND)


def _users(term: str) -> Iterator[tuple[object, str, str]]:
    matching = Q(email__icontains=term) | Q(name__icontains=term)
    for user in User.objects.filter(matching).order_by("email")[: MOST_OF_A_KIND + 1]:
        yield user.pk, user.email, user.name


def _workspaces(term: str) -> Iterator[tuple[object, str, str]]:
    matching = Q(name__icontains=term) | Q(personal_of__email__icontains=term) | _by_id(term)
    rows = Workspace.objects.filter(matching).select_related("personal_of").order_by("name", "pk")
    for workspace in rows[: MOST_OF_A_KIND + 1]:
        yield workspace.pk, str(workspace), str(workspace.pk)


def _documents(term: str) -> Iterator[tuple[object, str, str]]:
    by_id = _by_id(term)
    matching = by_id or Q(name__icontains=term)
    rows = Document.unscoped.filter(matching).select_related("workspace", "workspace__personal_of")
    columns = rows.only("name", "status", "workspace__name", "workspace__personal_of__email").order_by()
    for document in columns[: MOST_OF_A_KIND + 1]:
        yield document.pk, document.name, f"{document.status}, {document.workspace}"


def _executions(term: str) -> Iterator[tuple[object, str, str]]:
    rows = Execution.unscoped.filter(pk=term).select_related("user").only("tool", "status", "user__email")
    for execution in rows:
        yield execution.pk, execution.pk, f"{execution.tool}, {execution.status}, {execution.user.email}"


def _keys(term: str) -> Iterator[tuple[object, str, str]]:
    matching = Q(name__icontains=term) | Q(prefix__startswith=term.removeprefix("locus_")[:10])
    for key in ApiKey.objects.filter(matching).select_related("user").order_by("name")[: MOST_OF_A_KIND + 1]:
        yield key.pk, str(key), key.user.email


def _by_id(term: str) -> Q:
    try:
        return Q(pk=UUID(term))
    except ValueError:
        return Q()


KINDS = [
    _Kind("Users", "accounts.view_user", "admin:accounts_user_change", _users),
    _Kind("Workspaces", "accounts.view_workspace", "admin:accounts_workspace_change", _workspaces),
    _Kind("API keys", "accounts.view_apikey", "admin:accounts_apikey_change", _keys),
    _Kind("Documents", "kb.view_document", "admin:kb_document_change", _documents),
    _Kind("Executions", "search.view_execution", "admin:search_execution_change", _executions),
]
