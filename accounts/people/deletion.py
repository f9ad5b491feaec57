"""Deletion of workspaces and people: one way for the API, the admin panel and commands.

Some data is not in rows that refer to them, such as files of documents and quotes in other people's stored
answers. The apps that own this data remove it: they append a function to `removers`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext, ngettext

from accounts.models import User, Workspace
from core.languages.numbers import grouped, size_in_words
from core.row_access import as_system

Remover = Callable[[Collection[UUID], Collection[int]], Mapping[str, int]]
"""Removes what belongs to workspaces or people, by their ids, before these are deleted; returns counts."""
# The worker deletes anything larger.
MAX_DOCUMENTS, MAX_CHUNKS = 100, 10_000
removers: list[Remover] = []
counters: list[Remover] = []
"""Counts what a remover would remove."""
stoppers: list[Callable[[Collection[UUID]], None]] = []
"""Ends what runs in workspaces that were just hidden, such as the processing of documents."""
resumers: list[Callable[[Collection[UUID], datetime], None]] = []
"""Takes up again, in workspaces that were restored, what has been ended since a moment."""

WORDS: dict[str, Callable[[int], str]] = {
    "workspaces": lambda count: ngettext("%(count)s workspace", "%(count)s workspaces", count),
    "documents": lambda count: ngettext("%(count)s document", "%(count)s documents", count),
    "chunks": lambda count: ngettext("%(count)s chunk", "%(count)s chunks", count),
    "vectors": lambda count: ngettext("%(count)s vector", "%(count)s vectors", count),
    "files": lambda count: ngettext("%(count)s file", "%(count)s files", count),
    "keys": lambda count: ngettext("%(count)s API key", "%(count)s API keys", count),
    "programs": lambda count: ngettext("%(count)s connected program", "%(count)s connected programs", count),
}


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


@as_system("counts rows of all members and external users")
def count_of(workspace_ids: Collection[UUID], user_ids: Collection[int]) -> dict[str, int]:
    """Return counts of what would be deleted with workspaces or people, cheaply: `documents`, `chunks`,
    `bytes`."""
    personal = Workspace.objects.filter(personal_of__in=user_ids).values_list("pk", flat=True)
    counts: Counter[str] = Counter()
    for count in counters:
        counts.update(count([*workspace_ids, *personal], user_ids))
    return dict(counts)


def is_large(counts: Mapping[str, int]) -> bool:
    """Return whether a deletion would take longer than a browser should wait."""
    return counts.get("documents", 0) > MAX_DOCUMENTS or counts.get("chunks", 0) > MAX_CHUNKS


def in_words(counts: Mapping[str, int], nothing: str = "") -> str:
    """Return counts of a deletion as `1 document, 273 chunks, 474 kB`, or what is said for none."""
    parts = [
        words(counts[kind]) % {"count": grouped(counts[kind])}
        for kind, words in WORDS.items()
        if counts.get(kind)
    ]
    if counts.get("bytes"):
        parts.append(size_in_words(counts["bytes"]))
    return ", ".join(parts) or nothing or gettext("nothing else")


@as_system("deletes rows of all members and external users")
def _delete(workspace_ids: Collection[UUID], user_ids: Collection[int]) -> dict[str, int]:
    gone = Counter(workspaces=len(workspace_ids), users=len(user_ids))
    for remove in removers:
        gone.update(remove(workspace_ids, user_ids))
    with transaction.atomic():
        # Documents added meanwhile are deleted by the cascade, which the apps' signals handle.
        Workspace.objects.filter(pk__in=workspace_ids).delete()
        User.objects.filter(pk__in=user_ids).delete()
    return dict(gone)
