"""`/api/v1/preferences` and `/api/v1/workspaces/{id}/settings`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db import transaction
from pydantic import Field, JsonValue, create_model
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.audit.recording import record
from accounts.models import AuditAction
from accounts.preferences import (
    Layer,
    SettingSource,
    Values,
    change_model,
    change_preferences,
    change_settings,
    preferences_of,
    resolve,
    sections_of,
    settings_of,
)
from accounts.principal import Principal
from accounts.roles import KeyScope, Role
from core.api.operations import ApiQuery, ReadBody, operation
from core.api.validation import ApiModel
from core.errors import NotFound


class PreferencesQuery(ApiQuery):
    """In which workspace preferences are read."""

    workspace_id: UUID | None = Field(
        None, description="Whose settings are inherited; the workspace of questions without one"
    )


class SettingShape(ApiModel):
    """A value that counts, and who gave it."""

    value: JsonValue
    source: SettingSource


class SettingsShape(ApiModel):
    """By section: what is given here, what counts, and what would count if nothing were given."""

    effective: dict[str, dict[str, SettingShape]]
    inherited: dict[str, dict[str, SettingShape]]
    choices: dict[str, dict[str, list[str]]]


class _OfUser(SettingsShape):
    workspace_id: UUID | None


def _shape(name: str, level: SettingSource, base: type[SettingsShape]) -> type[SettingsShape]:
    """Return a reply's model: it has a field for each section that a level has."""
    sections: dict[str, Any] = {name: (shape, ...) for name, (_, shape) in sections_of(level).items()}
    return create_model(name, __base__=base, __doc__=SettingsShape.__doc__, **sections)


PreferencesShape = _shape("PreferencesShape", SettingSource.USER, _OfUser)
WorkspaceSettingsShape = _shape("WorkspaceSettingsShape", SettingSource.WORKSPACE, SettingsShape)
PreferencesChange = change_model(SettingSource.USER, "PreferencesChange")
WorkspaceSettingsChange = change_model(SettingSource.WORKSPACE, "WorkspaceSettingsChange")


class PreferencesView(APIView):
    """What the caller prefers."""

    @operation(
        "preferences_read",
        tag="Account",
        query=PreferencesQuery,
        answers={200: PreferencesShape},
        fails=(404,),
    )
    def get(self, request: Request, query: PreferencesQuery) -> SettingsShape:
        """Return the caller's preferences, what counts in a workspace, and who gave each value."""
        principal = principal_of(request)
        return _preferences(principal, _inherited_workspace(principal, query))

    @operation(
        "preferences_change",
        tag="Account",
        query=PreferencesQuery,
        body=PreferencesChange,
        answers={200: PreferencesShape},
        fails=(404,),
    )
    def patch(
        self, request: Request, query: PreferencesQuery, read_body: ReadBody[ApiModel]
    ) -> SettingsShape:
        """Change some preferences: a value replaces, null inherits again."""
        principal = principal_of(request)
        principal.refuse_external_user("has no preferences")
        workspace_id = _inherited_workspace(principal, query)
        change_preferences(principal.user_id, read_body())
        return _preferences(principal, workspace_id)


class WorkspaceSettingsView(APIView):
    """What a workspace sets for those who ask in it and prefer nothing else."""

    @operation(
        "workspace_settings_read", tag="Workspaces", answers={200: WorkspaceSettingsShape}, fails=(404,)
    )
    def get(self, request: Request, id: UUID) -> SettingsShape:
        """Return the workspace's settings, what counts in it, and who gave each value."""
        principal_of(request).require_workspace(id)
        return _settings(id)

    @operation(
        "workspace_settings_change",
        tag="Workspaces",
        body=WorkspaceSettingsChange,
        answers={200: WorkspaceSettingsShape},
        fails=(404,),
    )
    def patch(self, request: Request, id: UUID, read_body: ReadBody[ApiModel]) -> SettingsShape:
        """Change some settings, as an admin of the workspace: a value replaces, null inherits again."""
        principal = principal_of(request)
        principal.require_workspace(id, Role.ADMIN)
        principal.require_scope(KeyScope.ADMIN)
        principal.refuse_external_user("can't change settings")
        change = read_body()
        with transaction.atomic():
            change_settings(id, change)
            record(AuditAction.SETTINGS_CHANGED, principal, workspace_id=id, settings=_named_settings(change))
        return _settings(id)


def _named_settings(change: ApiModel) -> list[JsonValue]:
    """Return which settings a change names, such as `web_search.enabled`, without their values."""
    sections = change.as_json().items()
    return [f"{name}.{field}" for name, fields in sections for field in fields or ["*"]]


def _inherited_workspace(principal: Principal, query: PreferencesQuery) -> UUID | None:
    """Return the workspace the query names, or that of questions without one; None if there is none."""
    if query.workspace_id is not None:
        principal.require_workspace(query.workspace_id)
        return query.workspace_id
    with suppress(NotFound):
        return principal.default_workspace_id()
    return None


def _preferences(principal: Principal, workspace_id: UUID | None) -> SettingsShape:
    inherited = {} if workspace_id is None else settings_of(workspace_id)
    below = [(SettingSource.WORKSPACE, inherited)]
    values = _values(SettingSource.USER, preferences_of(principal), below)
    return PreferencesShape(**values | {"workspace_id": workspace_id})


def _settings(workspace_id: UUID) -> SettingsShape:
    return WorkspaceSettingsShape(**_values(SettingSource.WORKSPACE, settings_of(workspace_id), []))


def _values(
    level: SettingSource, own: Values, below: Sequence[tuple[SettingSource, Values]]
) -> dict[str, Any]:
    """Return what a level gives, what counts there, and what would count if it gave nothing."""
    return {
        **own,
        "effective": _resolved(level, [(level, own), *below]),
        "inherited": _resolved(level, below),
        "choices": {name: section.choices() for name, (section, _) in sections_of(level).items()},
    }


def _resolved(level: SettingSource, given: Sequence[tuple[SettingSource, Values]]) -> dict[str, Any]:
    """Return `{section: {field: {"value", "source"}}}`."""
    return {name: _resolved_section(name, given) for name in sections_of(level)}


def _resolved_section(name: str, given: Sequence[tuple[SettingSource, Values]]) -> dict[str, Any]:
    layers = [Layer(source, values.get(name, {})) for source, values in given]
    return {field: asdict(setting) for field, setting in resolve(name, layers).items()}
