"""Which assistant, version and binding an execution has begun with: its stored inputs say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from accounts.principal import Principal
from assistants.configuration.resolving import ConfiguredAssistant, as_configured, configured, version_of
from assistants.models import Assistant, Binding
from core.http.arrival import current_arrival
from runs.models import Execution

STORED = "assistant"


def chosen(principal: Principal, assistant_id: UUID | None) -> ConfiguredAssistant | None:
    """Return the assistant of this request, as the way in which it has come binds it; raise `NotFound`."""
    return None if assistant_id is None else configured(principal, assistant_id, current_arrival())


def stored(found: ConfiguredAssistant | None) -> dict[str, Any]:
    """Return what the inputs of an execution say of its assistant."""
    if found is None:
        return {}
    binding = None if found.binding_id is None else str(found.binding_id)
    return {STORED: {"id": str(found.id), "version": found.version, "binding_id": binding}}


def configured_for(principal: Principal, execution_id: str) -> ConfiguredAssistant | None:
    """Return the assistant that an execution has begun with; None for one without, or that is gone since."""
    row = Execution.objects.restricted_to(principal).only("inputs").get(pk=execution_id)
    return configured_in(principal, row.inputs)


def configured_in(principal: Principal, inputs: Mapping[str, Any]) -> ConfiguredAssistant | None:
    """Return the same from the stored inputs of an execution."""
    named = inputs.get(STORED)
    if not named:
        return None
    assistant = Assistant.objects.addressable_by(principal).filter(pk=named["id"]).first()
    if assistant is None:
        return None
    binding = None
    if named["binding_id"]:
        binding = Binding.objects.filter(assistant=assistant, pk=named["binding_id"]).first()
    return as_configured(assistant, version_of(assistant, named["version"]), binding)
