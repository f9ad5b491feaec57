"""What counts for a request: the newest version of an assistant, by the binding that reaches it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from accounts.principal import Principal
from assistants.configuration.settings import AssistantSettings, missing_models, read_settings
from assistants.models import Assistant, AssistantVersion, Binding, BindingKind
from core.errors import NotFound
from core.http.arrival import Arrival

MCP_PATH = "/mcp"


@dataclass(frozen=True, slots=True)
class ConfiguredAssistant:
    """An assistant as it answers one request."""

    id: UUID
    name: str
    version: int
    workspace_id: UUID
    settings: AssistantSettings
    binding_id: UUID | None = None
    missing_models: Sequence[str] = ()
    """Of its models, those that the deployment no longer offers."""


def visible_assistant(principal: Principal, id: UUID, param: str | None = None) -> Assistant:
    """Return an assistant that the principal may ask, or raise `NotFound`."""
    found = Assistant.objects.addressable_by(principal).filter(pk=id).first()
    if found is None:
        raise NotFound(f"There is no assistant {id} that you can see.", param=param) if param else NotFound
    return found


def version_of(assistant: Assistant, number: int) -> AssistantVersion:
    """Return a version of an assistant, or raise `NotFound`."""
    found = AssistantVersion.objects.filter(assistant=assistant, number=number).first()
    if found is None:
        raise NotFound
    return found


def configured(principal: Principal, id: UUID, arrival: Arrival) -> ConfiguredAssistant:
    """Return an assistant as it answers a request that has come this way; raise `NotFound`."""
    assistant = visible_assistant(principal, id, "assistant_id")
    binding = binding_for(principal, list(assistant.bindings.all()), arrival)
    return as_configured(assistant, version_of(assistant, assistant.version), binding)


def as_configured(
    assistant: Assistant, version: AssistantVersion, binding: Binding | None
) -> ConfiguredAssistant:
    """Return an assistant with the settings of a version, and of a binding where there is one."""
    overrides = binding.overrides if binding else None
    return ConfiguredAssistant(
        assistant.pk,
        assistant.name,
        version.number,
        assistant.workspace_id,
        read_settings(version.settings, overrides),
        binding.pk if binding else None,
        missing_models(version.settings, overrides),
    )


def binding_for(principal: Principal, bindings: Sequence[Binding], arrival: Arrival) -> Binding | None:
    """Return the binding that counts for a request; None where the assistant's own settings do.

    A widget's token names its binding, and reaches no other assistant: else raise `NotFound`. Otherwise the
    most specific way wins: the protocol, then the key, then any key.
    """
    if principal.binding_id is not None:
        for binding in bindings:
            if binding.kind == BindingKind.WIDGET and binding.pk == principal.binding_id:
                return binding
        raise NotFound
    for kind, key_id in _ways(principal, arrival):
        for binding in bindings:
            if (binding.kind, binding.key_id) == (kind, key_id):
                return binding
    return None


def _ways(principal: Principal, arrival: Arrival) -> list[tuple[BindingKind, UUID | None]]:
    """Return the kinds of bindings for a request, the one that counts most first, with the key of each."""
    if principal.key_id is None:
        return [(BindingKind.PAGE, None)]
    ways: list[tuple[BindingKind, UUID | None]] = []
    if arrival.path.rstrip("/") == MCP_PATH:
        ways.append((BindingKind.MCP, None))
    if arrival.protocol == "websocket":
        ways.append((BindingKind.WEBSOCKET, None))
    return [*ways, (BindingKind.API_KEY, principal.key_id), (BindingKind.API_KEY, None)]
