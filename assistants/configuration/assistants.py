"""Assistants are made, changed, and deleted; each change of settings makes a version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from accounts.audit.recording import record
from accounts.models import AuditAction
from accounts.principal import Principal
from accounts.roles import Role
from assistants.configuration.resolving import version_of, visible_assistant
from assistants.configuration.settings import AssistantSettings, read_settings
from assistants.conversations import require_scope_visible
from assistants.models import Assistant, AssistantVersion, Visibility
from core.errors import Conflict, Forbidden, ValidationError
from search.web.preferences import are_web_tools_offered

MOST_ASSISTANTS = 200
"""In a workspace, of all members together."""


def listed_assistants(principal: Principal) -> QuerySet[Assistant]:
    """Return the assistants that the principal may ask."""
    return Assistant.objects.restricted_to(principal)


def changeable_assistant(principal: Principal, id: UUID) -> Assistant:
    """Return an assistant that the principal may change; raise `NotFound`, or `Forbidden`."""
    assistant = visible_assistant(principal, id)
    _require_changeable(principal, assistant)
    return assistant


def may_change(principal: Principal, assistant: Assistant) -> bool:
    """Tell whether a principal may change an assistant: its own, or as an admin one of the workspace."""
    if principal.external_user_id is not None:
        return False
    if assistant.visibility == Visibility.MINE:
        return bool(assistant.user_id == principal.user_id)
    return principal.roles[assistant.workspace_id].covers(Role.ADMIN)


def create_assistant(
    principal: Principal, workspace_id: UUID, facts: dict[str, Any], settings: AssistantSettings
) -> Assistant:
    """Make an assistant with its first version; `facts` are columns. Raise `NotFound` or `Forbidden`."""
    principal.require_workspace(workspace_id)
    assistant = Assistant(workspace_id=workspace_id, user_id=principal.user_id, **facts)
    _require_changeable(principal, assistant)
    _check(principal, settings)
    if Assistant.unscoped.filter(workspace=workspace_id).count() >= MOST_ASSISTANTS:
        raise Conflict(f"There can be {MOST_ASSISTANTS} assistants in a workspace. Delete one first.")
    with transaction.atomic():
        _save(assistant)
        _add_version(principal, assistant, settings)
        _record(AuditAction.ASSISTANT_CREATED, principal, assistant)
    return assistant


@transaction.atomic
def change_assistant(
    principal: Principal, assistant: Assistant, facts: dict[str, Any], settings: AssistantSettings | None
) -> Assistant:
    """Change columns of an assistant, and with `settings` make a new version; return it as it is now."""
    assistant = Assistant.objects.addressable_by(principal).select_for_update().get(pk=assistant.pk)
    for name, value in facts.items():
        setattr(assistant, name, value)
    # Who hands an own assistant to the workspace must be its admin, and the other way round.
    _require_changeable(principal, assistant)
    if settings is not None:
        _check(principal, settings, _stored_scope(assistant))
        assistant.version += 1
        _add_version(principal, assistant, settings)
    _save(assistant)
    _record(AuditAction.ASSISTANT_CHANGED, principal, assistant)
    return assistant


@transaction.atomic
def delete_assistant(principal: Principal, assistant: Assistant) -> None:
    """Delete an assistant with its versions and bindings; its conversations go on without it."""
    _record(AuditAction.ASSISTANT_DELETED, principal, assistant)
    Assistant.objects.addressable_by(principal).filter(pk=assistant.pk).delete()


def _require_changeable(principal: Principal, assistant: Assistant) -> None:
    if not may_change(principal, assistant):
        raise Forbidden("An assistant of a workspace is changed by its admins, another one by who made it.")


def _check(principal: Principal, settings: AssistantSettings, kept: Mapping[str, Any] | None = None) -> None:
    require_scope_visible(principal, settings.scope.as_column(), "settings.scope.", kept)
    if not are_web_tools_offered() and any(tool.startswith("web_") for tool in settings.tools):
        raise ValidationError("This installation does not search the web.", param="settings.tools")


def _stored_scope(assistant: Assistant) -> Mapping[str, Any]:
    return read_settings(version_of(assistant, assistant.version).settings).scope.as_column()


def _add_version(principal: Principal, assistant: Assistant, settings: AssistantSettings) -> None:
    AssistantVersion.objects.create(
        assistant=assistant,
        number=assistant.version,
        name=assistant.name,
        settings=settings.as_stored(),
        made_by_id=principal.user_id,
    )


def _save(assistant: Assistant) -> None:
    try:
        with transaction.atomic():
            assistant.save()
    except IntegrityError:
        message = f"There is an assistant “{assistant.name}” already."
        raise Conflict(message, param="name") from None


def _record(action: AuditAction, principal: Principal, assistant: Assistant) -> None:
    record(
        action,
        principal,
        workspace_id=assistant.workspace_id,
        target=("assistant", assistant.pk),
        version=assistant.version,
        visibility=assistant.visibility,
    )
