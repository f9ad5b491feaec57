"""Assistants in archives of workspaces: with versions and bindings, and nothing that opens a door."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from pydantic import JsonValue, ValidationError

from accounts.access.identity import principal_of_user
from accounts.models import User, Workspace
from assistants.configuration.bindings import checked_origin
from assistants.configuration.settings import (
    BINDING_SETTINGS,
    AssistantSettings,
    model_names_of,
    read_settings,
)
from assistants.models import Assistant, AssistantVersion, Binding, BindingKind, SessionAssistant
from runs.archives.assistants import ImportedAssistant
from runs.archives.layout import AssistantLine, AssistantVersionLine, BindingLine, InvalidArchive

INVALID = "The settings of an assistant in the archive are damaged."


def archived_assistants(workspace: Workspace, user: User) -> Iterator[AssistantLine]:
    """Yield the assistants of a workspace that its admin can see. Bindings of single keys are left out."""
    rows = Assistant.objects.restricted_to(principal_of_user(user)).filter(workspace=workspace)
    for row in rows.prefetch_related("versions", "bindings"):
        linked = SessionAssistant.objects.filter(assistant=row, session__user=user)
        own = linked.filter(session__workspace=workspace, session__external_user_id=None)
        yield AssistantLine(
            id=row.pk,
            workspace_id=workspace.pk,
            name=row.name,
            description=row.description,
            visibility=row.visibility,
            created_at=row.created_at,
            versions=[_version_line(each) for each in reversed(row.versions.all())],
            bindings=[_binding_line(each) for each in row.bindings.all() if each.key_id is None],
            session_ids=list(own.values_list("session_id", flat=True)),
        )


def _version_line(row: AssistantVersion) -> AssistantVersionLine:
    return AssistantVersionLine(
        number=row.number, name=row.name, settings=row.settings, created_at=row.created_at
    )


def _binding_line(row: Binding) -> BindingLine:
    return BindingLine(
        id=row.pk, kind=row.kind, origins=row.origins, overrides=row.overrides, created_at=row.created_at
    )


def import_assistant(workspace: Workspace, user: User, found: ImportedAssistant) -> None:
    """Store an assistant with its versions and bindings, unless an earlier attempt has."""
    line = found.line
    row = Assistant(
        id=found.id,
        workspace=workspace,
        user=user,
        name=line.name,
        description=line.description,
        visibility=line.visibility,
        version=len(line.versions),
    )
    versions = [_version(found, user, each) for each in line.versions]
    bindings = [_binding(found, each) for each in line.bindings]
    Assistant.unscoped.bulk_create([row], ignore_conflicts=True)
    Assistant.unscoped.filter(pk=found.id).update(created_at=line.created_at)
    AssistantVersion.objects.bulk_create(versions, ignore_conflicts=True)
    Binding.objects.bulk_create(bindings, ignore_conflicts=True)
    sessions = [found.sessions[id] for id in line.session_ids if id in found.sessions]
    links = [SessionAssistant(session_id=id, assistant_id=found.id) for id in sessions]
    SessionAssistant.objects.bulk_create(links, ignore_conflicts=True)
    for version in line.versions:
        AssistantVersion.objects.filter(assistant=found.id, number=version.number).update(
            created_at=version.created_at
        )


def _version(found: ImportedAssistant, user: User, line: AssistantVersionLine) -> AssistantVersion:
    return AssistantVersion(
        assistant_id=found.id,
        number=line.number,
        name=line.name,
        settings=_settings(found, line.settings),
        made_by=user,
    )


def _settings(found: ImportedAssistant, stored: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Return settings with the ids that things have here; models keep their names, offered or not."""
    return _read(stored).as_stored() | _models(stored) | {"scope": _scope(found, _read(stored))}


def _binding(found: ImportedAssistant, line: BindingLine) -> Binding:
    unknown = line.overrides.keys() - BINDING_SETTINGS
    if (
        line.kind not in BindingKind.values
        or (line.kind == BindingKind.WIDGET) != bool(line.origins)
        or unknown
    ):
        raise InvalidArchive("A binding of an assistant in the archive is damaged.")
    settings = _settings(found, line.overrides)
    return Binding(
        id=found.bindings[line.id],
        assistant_id=found.id,
        kind=line.kind,
        origins=[_origin(each) for each in line.origins],
        overrides={name: settings[name] for name in line.overrides},
    )


def _read(stored: Mapping[str, JsonValue]) -> AssistantSettings:
    try:
        return read_settings(stored)
    except (ValidationError, TypeError, ValueError):
        raise InvalidArchive(INVALID) from None


def _models(stored: Mapping[str, JsonValue]) -> dict[str, Any]:
    try:
        return model_names_of(stored)
    except ValidationError:
        raise InvalidArchive(INVALID) from None


def _scope(found: ImportedAssistant, settings: AssistantSettings) -> dict[str, Any]:
    """Return the scope with the ids here. What did not come along is left out, and never widens it."""
    scope = settings.scope
    return scope.model_dump(mode="json") | {
        "workspace_ids": _present(scope.workspace_ids, found.workspaces),
        "document_ids": _present(scope.document_ids, found.documents),
        "collection_ids": _present(scope.collection_ids, found.collections),
    }


def _present(ids: Iterable[UUID] | None, known: Mapping[UUID, UUID]) -> list[str] | None:
    return None if ids is None else [str(known[id]) for id in ids if id in known]


def _origin(value: str) -> str:
    try:
        return checked_origin(value)
    except ValueError:
        raise InvalidArchive("A site of a widget in the archive is damaged.") from None
