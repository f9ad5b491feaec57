"""The shapes of assistants and bindings in the API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from accounts.principal import Principal
from assistants.configuration.assistants import may_change
from assistants.configuration.bindings import checked_origin
from assistants.configuration.resolving import ConfiguredAssistant
from assistants.configuration.settings import AssistantSettings, BindingOverrides, read_settings
from assistants.models import Assistant, AssistantVersion, Binding, BindingKind, Visibility
from core.api.lists import ListPage, ListQuery
from core.api.validation import ABSENT, ApiModel
from core.text.storable import is_storable
from core.text.visible_text import one_line


def _visible(value: str) -> str:
    if not one_line(value):
        raise ValueError("must have a visible character")
    return one_line(value)


def _storable(value: str) -> str:
    if not is_storable(value):
        raise ValueError("must not hold characters that can't be stored")
    return value


AssistantName = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=100), AfterValidator(_visible)
]
Description = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=300), AfterValidator(_storable)
]
Origin = Annotated[str, StringConstraints(max_length=255), AfterValidator(checked_origin)]


class AssistantsQuery(ListQuery):
    """Which assistants are listed."""

    workspace_id: UUID | None = None


class AssistantPatch(ApiModel):
    """What may be changed of an assistant; `settings` replace the ones before, and make a new version."""

    name: AssistantName = ABSENT
    description: Description = ABSENT
    visibility: Annotated[Visibility, Field(description="`mine`, or `workspace` for all its members.")] = (
        ABSENT
    )
    settings: AssistantSettings = ABSENT

    def columns(self) -> dict[str, Any]:
        """Return the columns to set."""
        names = self.model_fields_set & {"name", "description", "visibility"}
        return {name: getattr(self, name) for name in names}


class NewAssistant(AssistantPatch):
    """An assistant to be made."""

    name: AssistantName
    settings: AssistantSettings = Field(default_factory=AssistantSettings)
    workspace_id: UUID | None = Field(None, description="By default as for new documents.")


class AssistantDetails(ApiModel):
    """An assistant, with the settings of its newest version."""

    id: UUID
    name: str
    description: str
    workspace_id: UUID
    visibility: Visibility
    is_own: bool = Field(description="Whether you have made it.")
    may_change: bool
    version: int
    settings: AssistantSettings | None = Field(description="Null for external users.")
    starters: list[str] = Field(description="Questions to begin with.")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, principal: Principal, row: Assistant, version: AssistantVersion) -> Self:
        """Return an assistant as a principal may see it."""
        settings = read_settings(version.settings)
        return cls(
            id=row.pk,
            name=row.name,
            description=row.description,
            workspace_id=row.workspace_id,
            visibility=Visibility(row.visibility),
            is_own=row.user_id == principal.user_id and principal.external_user_id is None,
            may_change=may_change(principal, row),
            version=row.version,
            settings=None if principal.external_user_id is not None else settings,
            starters=settings.starters,
            created_at=row.created_at,
            updated_at=row.updated_at,
        )


class AssistantList(ListPage[AssistantDetails]):
    """A page of assistants, by name."""


class AssistantVersionDetails(ApiModel):
    """What an assistant was set to."""

    number: int
    name: str
    settings: AssistantSettings
    created_at: datetime

    @classmethod
    def of(cls, row: AssistantVersion) -> Self:
        """Return a version."""
        settings = read_settings(row.settings)
        return cls(number=row.number, name=row.name, settings=settings, created_at=row.created_at)


class AssistantVersionList(ListPage[AssistantVersionDetails]):
    """A page of versions, newest first."""


class ResolvedQuery(ListQuery):
    """By which binding the settings are resolved."""

    binding_id: UUID | None = None


class ResolvedSettings(ApiModel):
    """What counts for a request by one binding, or by none."""

    assistant_id: UUID
    version: int
    binding_id: UUID | None
    settings: AssistantSettings
    overridden: list[str] = Field(description="The settings that are the binding's own.")

    @classmethod
    def of(cls, found: ConfiguredAssistant, binding: Binding | None) -> Self:
        """Return what counts."""
        return cls(
            assistant_id=found.id,
            version=found.version,
            binding_id=found.binding_id,
            settings=found.settings,
            overridden=sorted(binding.overrides) if binding else [],
        )


class BindingPatch(ApiModel):
    """What may be changed of a binding; `overrides` replace the ones before."""

    allowed_origins: Annotated[
        list[Origin], Field(max_length=50, description="Of a widget: the sites that may embed it.")
    ] = ABSENT
    overrides: BindingOverrides = ABSENT

    def columns(self) -> dict[str, Any]:
        """Return the columns to set."""
        return {"origins": self.allowed_origins} if "allowed_origins" in self.model_fields_set else {}


class NewBinding(BindingPatch):
    """A binding to be made."""

    kind: BindingKind
    key_id: UUID | None = Field(None, description="Of kind api_key: this key of yours alone.")
    overrides: BindingOverrides = Field(default_factory=BindingOverrides)

    def columns(self) -> dict[str, Any]:
        """Return the columns to set."""
        return super().columns() | {"kind": self.kind, "key_id": self.key_id}


class BindingDetails(ApiModel):
    """A way in which an assistant is reached."""

    id: UUID
    kind: BindingKind
    key_id: UUID | None
    allowed_origins: list[str]
    overrides: BindingOverrides
    created_at: datetime

    @classmethod
    def of(cls, row: Binding) -> Self:
        """Return a binding."""
        offered = read_settings({}, row.overrides)
        own = {
            name: getattr(offered, name) for name in row.overrides if name in BindingOverrides.model_fields
        }
        return cls(
            id=row.pk,
            kind=BindingKind(row.kind),
            key_id=row.key_id,
            allowed_origins=row.origins,
            overrides=BindingOverrides.model_construct(**own),
            created_at=row.created_at,
        )


class BindingList(ListPage[BindingDetails]):
    """A page of bindings, oldest first."""
