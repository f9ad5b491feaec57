"""Deletion of workspaces and people: one way for the API, the admin panel and commands.

Some data is not in rows that refer to them, such as files of documents and quotes in other people's stored
answers. The apps that own this data remove it: they append a function to `removers`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from uuid import UUID

from django.db import transaction

from accounts.models import User, Workspace

Remover = Callable[[Collection[UUID], Collection[int]], Mapping[str, int]]
"""Removes what belongs to workspaces or people, by their ids, before these are deleted; returns counts."""
removers: list[Remover] = []
counters: list[Remover] = []
"""Counts what a remover would remove."""


def delete_workspaces(ids: Iterable[UUID]) -> dict[str, int]:
    """Delete workspaces with their documents, files included, and all other rows that refer to them.

    Return counts of `workspaces`, `documents`, `chunks`, `vectors`, `files`, `bytes`. The caller checks the
    right to delete. A personal workspace is deleted with its user; it raises `ValueError` here. Documents are
    deleted in transactions of some hundred: after a crash, call this again for the rest.
    """
    workspaces = Workspace.objects.filter(pk__in=list(ids))
    if workspaces.filter(personal_of__isnull=False).exists():
        raise ValueError("A personal workspace is deleted with its person.")
    return _delete(list(workspaces.values_list("pk", flat=True)), [])


def delete_users(ids: Iterable[int]) -> dict[str, int]:
    """Delete people with their personal workspaces, keys, conversations and executions.

    Documents that they uploaded to workspaces of others stay. Returns and works like `delete_workspaces`,
    with `users` too.
    """
    users = list(User.objects.filter(pk__in=list(ids)).values_list("pk", flat=True))
    personal = Workspace.objects.filter(personal_of__in=users).values_list("pk", flat=True)
    return _delete(list(personal), users)


def count_of(workspace_ids: Collection[UUID], user_ids: Collection[int]) -> dict[str, int]:
    """Return counts of what would be deleted with workspaces or people, cheaply: `documents`, `chunks`,
    `bytes`."""
    personal = Workspace.objects.filter(personal_of__in=user_ids).values_list("pk", flat=True)
    counts: Counter[str] = Counter()
    for count in counters:
        counts.update(count([*workspace_ids, *personal], user_ids))
    return dict(counts)


def _delete(workspace_ids: Collection[UUID], user_ids: Collection[int]) -> dict[str, int]:
    gone = Counter(workspaces=len(workspace_ids), users=len(user_ids))
    for remove in removers:
        gone.update(remove(workspace_ids, user_ids))
    with transaction.atomic():
        # Documents added meanwhile are deleted by the cascade, which the apps' signals handle.
        Workspace.objects.filter(pk__in=workspace_ids).delete()
        User.objects.filter(pk__in=user_ids).delete()
    return dict(gone)
