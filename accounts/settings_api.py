"""`/api/v1/preferences` and `/api/v1/workspaces/{id}/settings`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter
from pydantic import BaseModel, ConfigDict, JsonValue
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access.auth import principal_of
from accounts.preferences import (
    Layer,
    SettingSource,
    Values,
    body_of,
    change_preferences,
    change_settings,
    preferences_of,
    resolve,
    sections_of,
    settings_of,
)
from accounts.principal import Principal
from accounts.roles import KeyScope, Role
from core.api.operations import ApiView, operation
from core.api.rest import uuid_param
from core.errors import NotFound

WORKSPACE = OpenApiParameter(
    "workspace_id", UUID, description="Whose settings are inherited; the workspace of questions without one"
)


class SettingShape(BaseModel):
    """A value that counts, and who gave it."""

    value: JsonValue
    source: SettingSource


class SettingsShape(BaseModel):
    """By section: what is given here, what counts, and what would count if nothing were given."""

    model_config = ConfigDict(extra="allow")

    effective: dict[str, dict[str, SettingShape]]
    inherited: dict[str, dict[str, SettingShape]]
    choices: dict[str, dict[str, list[str]]]


class PreferencesShape(SettingsShape):
    """The same, of the caller in a workspace."""

    workspace_id: UUID | None


class PreferencesView(ApiView):
    """What the caller prefers."""

    @operation(
        "preferences_read",
        tag="Account",
        query=[WORKSPACE],
        answers={200: PreferencesShape},
        fails=(404,),
    )
    def get(self, request: Request) -> Response:
        """Return the caller's preferences, what counts in a workspace, and who gave each value."""
        return Response(_preferences(request))

    @operation(
        "preferences_change",
        tag="Account",
        query=[WORKSPACE],
        answers={200: PreferencesShape},
        fails=(404, 413, 415),
    )
    def patch(self, request: Request) -> Response:
        """Change some preferences: a value replaces, null inherits again."""
        principal = principal_of(request)
        principal.refuse_external_user("has no preferences")
        _workspace_asked_for(request, principal)
        change_preferences(principal.user_id, request.data)
        return Response(_preferences(request))

    def get_serializer(self, **_: Any) -> type[BaseModel]:
        """Return the shape of a change, for the API's schema."""
        return body_of(SettingSource.USER)


class WorkspaceSettingsView(ApiView):
    """What a workspace sets for those who ask in it and prefer nothing else."""

    @operation("workspace_settings_read", tag="Workspaces", answers={200: SettingsShape}, fails=(404,))
    def get(self, request: Request, id: UUID) -> Response:
        """Return the workspace's settings, what counts in it, and who gave each value."""
        principal_of(request).require_workspace(id)
        return Response(_settings(id))

    @operation(
        "workspace_settings_change",
        tag="Workspaces",
        answers={200: SettingsShape},
        fails=(404, 413, 415),
    )
    def patch(self, request: Request, id: UUID) -> Response:
        """Change some settings, as an admin of the workspace: a value replaces, null inherits again."""
        principal = principal_of(request)
        principal.require_workspace(id, Role.ADMIN)
        principal.require_scope(KeyScope.ADMIN)
        principal.refuse_external_user("can't change settings")
        change_settings(id, request.data)
        return Response(_settings(id))

    def get_serializer(self, **_: Any) -> type[BaseModel]:
        """Return the shape of a change, for the API's schema."""
        return body_of(SettingSource.WORKSPACE)


def _preferences(request: Request) -> dict[str, Any]:
    principal = principal_of(request)
    workspace_id = _workspace_asked_for(request, principal)
    inherited = {} if workspace_id is None else settings_of(workspace_id)
    shown = _told(SettingSource.USER, preferences_of(principal), [(SettingSource.WORKSPACE, inherited)])
    return shown | {"workspace_id": None if workspace_id is None else str(workspace_id)}


def _workspace_asked_for(request: Request, principal: Principal) -> UUID | None:
    """Return the workspace the query names, or that of questions without one; None if there is none."""
    named = request.query_params.get("workspace_id")
    if named is not None:
        workspace_id = uuid_param("workspace_id", named)
        principal.require_workspace(workspace_id)
        return workspace_id
    with suppress(NotFound):
        return principal.default_workspace_id()
    return None


def _settings(workspace_id: UUID) -> dict[str, Any]:
    return _told(SettingSource.WORKSPACE, settings_of(workspace_id), [])


def _told(level: SettingSource, own: Values, below: Sequence[tuple[SettingSource, Values]]) -> dict[str, Any]:
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
