"""Writing the audit log."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Model
from django.http import HttpRequest
from pydantic import JsonValue

from accounts.models import AuditAction, AuditEntry, User
from accounts.principal import Principal
from core.http.client_address import current_address
from core.http.request_id import current_request_id
from core.row_access import as_system


@as_system("an entry may belong to no workspace, and its writer may not read it")
def record(
    action: AuditAction,
    actor: Principal | User | None,
    *,
    workspace_id: UUID | None = None,
    target: tuple[str, object] = ("", ""),
    **details: JsonValue,
) -> None:
    """Write an entry, in the caller's transaction: what is rolled back is not in the log.

    `actor` is None for a job, a command, or somebody unknown. `target` is a type and an id, such as
    `("document", document.pk)`. `details` hold ids, counts and settings, never words of documents or secrets.
    """
    principal = actor if isinstance(actor, Principal) else None
    kind, id = target
    AuditEntry.unscoped.create(
        action=action,
        user_id=_user_id(actor),
        key_id=principal.key_id if principal else None,
        external_user_id=principal.external_user_id if principal else None,
        workspace_id=workspace_id,
        target_type=kind,
        target_id=str(id)[:255],
        address=current_address(),
        request_id=current_request_id(),
        details=details,
    )


def record_view(request: HttpRequest, viewed: Model, **details: JsonValue) -> None:
    """Record that staff look at somebody's content, such as a document or an execution in the admin panel.

    Call it in the view that shows the content, once it is known that the user may see it.
    """
    assert isinstance(request.user, User)
    record(
        AuditAction.CONTENT_VIEWED,
        request.user,
        workspace_id=getattr(viewed, "workspace_id", None),
        target=(viewed._meta.model_name or "", viewed.pk),
        **details,
    )


def _user_id(actor: Principal | User | None) -> int | None:
    if actor is None:
        return None
    return actor.user_id if isinstance(actor, Principal) else actor.pk
