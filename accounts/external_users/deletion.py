"""Deletes an external user from workspaces: what belongs to it goes, what was counted stays without its id.

Each step is a transaction that also adds to the receipt. After a crash, `resume` goes on where it stopped,
and the receipt is whole. The apps that own rows of external users append a function to `removers`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.audit.recording import record
from accounts.models import AuditAction, ExternalUserDeletion, Session
from accounts.principal import Principal
from accounts.usage.forgetting import forget_external_user
from core.row_access import as_system


@dataclass(frozen=True, slots=True)
class Removed:
    """What a step removed: rows that are gone, and rows that lost words of deleted documents, by kind."""

    deleted: Mapping[str, int] = field(default_factory=dict)
    scrubbed: Mapping[str, int] = field(default_factory=dict)


Remover = Callable[[Collection[UUID], str], Removed | None]
"""Removes some hundred rows of an external user in these workspaces; returns None once there are none."""
removers: list[Remover] = []


def _remove_sessions(workspace_ids: Collection[UUID], external_user_id: str) -> Removed | None:
    own = Session.unscoped.filter(workspace__in=workspace_ids, external_user_id=external_user_id)
    count = own.count()
    own.delete()
    return Removed({"sessions": count}) if count else None


def begin_deletion(
    principal: Principal, workspace_ids: Collection[UUID], external_user_id: str
) -> ExternalUserDeletion:
    """Create the receipt of a deletion, which `resume` then carries out. The caller checks the right."""
    return ExternalUserDeletion.unscoped.create(
        user_id=principal.user_id,
        key_id=principal.key_id,
        workspace_ids=list(workspace_ids),
        external_user_id=external_user_id,
    )


@as_system("rows of an external user, asked for by an admin")
def resume(deletion: ExternalUserDeletion) -> None:
    """Delete what is left of the external user, and finish the receipt."""
    workspaces, external_user_id = deletion.workspace_ids, deletion.external_user_id
    if deletion.finished_at is not None:
        return
    # What was registered last is built on what was registered before, and goes first. Conversations go last:
    # documents and executions are attached to them.
    for remove in (*reversed(removers), _remove_sessions):
        while _step(deletion, remove, workspaces, external_user_id):
            pass
    with transaction.atomic():
        forget_external_user(workspaces, external_user_id)
        deletion.external_user_id, deletion.finished_at = "", timezone.now()
        deletion.save(update_fields=["external_user_id", "finished_at"])
        _record(deletion)


@transaction.atomic
def _step(
    deletion: ExternalUserDeletion, remove: Remover, workspaces: Collection[UUID], external_user_id: str
) -> bool:
    """Do one step and add it to the receipt; return whether there may be more."""
    removed = remove(workspaces, external_user_id)
    if removed is None:
        return False
    deletion.deleted = dict(Counter(deletion.deleted) + Counter(removed.deleted))
    deletion.scrubbed = dict(Counter(deletion.scrubbed) + Counter(removed.scrubbed))
    deletion.save(update_fields=["deleted", "scrubbed"])
    return True


def _record(deletion: ExternalUserDeletion) -> None:
    """Write the audit log: by the deletion's id, since the external user's own is to be forgotten."""
    actor = Principal(deletion.user_id, {}, key_id=deletion.key_id) if deletion.user_id else None
    for workspace_id in deletion.workspace_ids:
        record(
            AuditAction.EXTERNAL_USER_DELETED,
            actor,
            workspace_id=workspace_id,
            target=("external_user_deletion", deletion.pk),
            **deletion.deleted,
        )
