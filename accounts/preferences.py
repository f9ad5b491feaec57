"""Preferences of users and settings of workspaces, in sections that apps declare.

  request ─▶ preference of the user ─▶ setting of the workspace ─▶ deployment

The first value in this order counts; null inherits from the next. Only given values are stored, as `{section:
{field: value}}`. A stored value that the deployment no longer accepts is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import transaction
from pydantic import BaseModel, TypeAdapter, ValidationError, create_model

from accounts.models import Preferences, Workspace
from accounts.principal import Principal
from core.api.validation import ApiModel

Values = dict[str, dict[str, Any]]


class SettingSource(StrEnum):
    """The source of a value, in the order in which they are asked."""

    REQUEST = "request"
    USER = "user"
    WORKSPACE = "workspace"
    DEPLOYMENT = "deployment"


@dataclass(frozen=True, slots=True)
class Section:
    """Settings that belong together; in the models every field may be null, and no other is accepted."""

    name: str
    of_users: type[BaseModel] | None
    """The shape of users' preferences; None if users have none in this section."""
    of_workspaces: type[BaseModel]
    deployment: Callable[[], Mapping[str, Any]]
    """Returns the deployment's value of every field."""
    choices: Callable[[], Mapping[str, Sequence[str]]]
    """Returns the allowed values of fields that name something."""
    template: str
    """The template of the page's form; gets `level`, a `SettingSource`."""
    labels: Mapping[str, str]
    """What the admin panel calls each field."""

    def shape(self, level: SettingSource) -> type[BaseModel] | None:
        """Return the shape of a level's values."""
        return self.of_users if level is SettingSource.USER else self.of_workspaces


@dataclass(frozen=True, slots=True)
class Layer:
    """The values of one source for a section; null or absent means none."""

    source: SettingSource
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """An effective value, and its source."""

    value: Any
    source: SettingSource


_sections: dict[str, Section] = {}


def declare(section: Section) -> None:
    """Register a section; apps do so in `ready`."""
    _sections[section.name] = section


def sections_of(level: SettingSource) -> dict[str, tuple[Section, type[BaseModel]]]:
    """Return the sections of a level by name, each with its shape there."""
    shapes = ((section, section.shape(level)) for section in _sections.values())
    return {section.name: (section, shape) for section, shape in shapes if shape}


def change_model(level: SettingSource, name: str) -> type[ApiModel]:
    """Return the model of a change: sections to change, with the fields to change; null clears."""
    fields: dict[str, Any] = {name: (shape | None, None) for name, (_, shape) in sections_of(level).items()}
    return create_model(name, __base__=ApiModel, __doc__="A value replaces, null inherits again.", **fields)


# --- Reading ---------------------------------------------------------------------------------------------


def preferences_of(principal: Principal) -> Values:
    """Return the user's preferences; an external user is another person and has none."""
    stored: Values | None = None
    if principal.external_user_id is None:
        stored = Preferences.objects.filter(pk=principal.user_id).values_list("values", flat=True).first()
    return accepted_values(SettingSource.USER, stored or {})


def settings_of(workspace_id: UUID) -> Values:
    """Return the settings of a workspace."""
    stored = Workspace.objects.filter(pk=workspace_id).values_list("settings", flat=True).first()
    return accepted_values(SettingSource.WORKSPACE, stored or {})


@dataclass(frozen=True, slots=True)
class WorkspaceSetting:
    """One field of a section that a lower app needs, declared in that app."""

    section: str
    field: str
    shape: Any
    """Its type, as the section's model annotates it."""
    deployment: Callable[[], Any]

    def value_in(self, workspace_id: UUID) -> Any:
        """Return the value that counts in a workspace, for all users."""
        path = f"settings__{self.section}__{self.field}"
        given = Workspace.objects.filter(pk=workspace_id).values_list(path, flat=True).first()
        try:
            value = TypeAdapter(self.shape).validate_python(given)
        except ValidationError:
            value = None
        return self.deployment() if value is None else value


def accepted_values(level: SettingSource, stored: Values) -> Values:
    """Return every field of every section of a level: null if no stored value is valid."""
    return {
        name: _accepted_fields(shape, stored.get(name, {})) for name, (_, shape) in sections_of(level).items()
    }


def _accepted_fields(shape: type[BaseModel], stored: Mapping[str, Any]) -> dict[str, Any]:
    return {field: _accepted_value(shape, field, stored.get(field)) for field in shape.model_fields}


def _accepted_value(shape: type[BaseModel], field: str, value: Any) -> Any:
    try:
        shape.model_validate({field: value})
    except ValidationError:
        return None
    return value


def resolve(section: str, layers: Iterable[Layer]) -> dict[str, Setting]:
    """Return the first value given for each field of a section; the deployment, asked last, may give null."""
    deployment = Layer(SettingSource.DEPLOYMENT, _sections[section].deployment())
    asked = [*layers, deployment]
    return {field: _first_given(field, asked) for field in deployment.values}


def _first_given(field: str, layers: Iterable[Layer]) -> Setting:
    given = (Setting(layer.values.get(field), layer.source) for layer in layers)
    return next((one for one in given if one.value is not None), Setting(None, SettingSource.DEPLOYMENT))


# --- Changing --------------------------------------------------------------------------------------------


@transaction.atomic
def change_preferences(user_id: int, change: ApiModel) -> None:
    """Change a user's preferences."""
    Preferences.objects.get_or_create(user_id=user_id)
    preferences = Preferences.objects.select_for_update().get(pk=user_id)
    preferences.values = merge_change(preferences.values, change.as_json())
    preferences.save()


@transaction.atomic
def change_settings(workspace_id: UUID, change: ApiModel) -> None:
    """Change a workspace's settings."""
    # The lock still allows new rows that refer to the workspace.
    workspace = Workspace.objects.select_for_update(no_key=True).get(pk=workspace_id)
    workspace.settings = merge_change(workspace.settings, change.as_json())
    workspace.save(update_fields=["settings"])


def merge_change(stored: Values, given: Mapping[str, Mapping[str, Any] | None]) -> Values:
    """Return the values to store after a change: a value replaces, null clears a field or a whole section."""
    changed = {
        name: {} if fields is None else {**stored.get(name, {}), **fields} for name, fields in given.items()
    }
    return {
        name: {field: value for field, value in fields.items() if value is not None}
        for name, fields in {**stored, **changed}.items()
    }
