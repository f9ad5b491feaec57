"""Bindings are made, changed and deleted by who may change their assistant."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts.audit.recording import record
from accounts.models import ApiKey, AuditAction
from accounts.principal import Principal
from assistants.configuration.settings import BindingOverrides
from assistants.conversations import require_scope_visible
from assistants.models import Assistant, Binding, BindingKind
from core.errors import Conflict, NotFound, ValidationError

MOST_BINDINGS = 50
"""Of an assistant."""


def binding_of(assistant: Assistant, id: UUID) -> Binding:
    """Return a binding of an assistant, or raise `NotFound`."""
    found = Binding.objects.filter(assistant=assistant, pk=id).first()
    if found is None:
        raise NotFound
    return found


def create_binding(
    principal: Principal, assistant: Assistant, facts: dict[str, Any], overrides: BindingOverrides
) -> Binding:
    """Make a binding; `facts` are columns. Raise `Conflict` where there is one already."""
    if assistant.bindings.count() >= MOST_BINDINGS:
        raise Conflict(f"An assistant can have {MOST_BINDINGS} bindings. Delete one first.")
    return _stored(principal, Binding(assistant=assistant, **facts), overrides)


def change_binding(
    principal: Principal, binding: Binding, facts: dict[str, Any], overrides: BindingOverrides | None
) -> Binding:
    """Change columns and, if given, the overrides of a binding."""
    for name, value in facts.items():
        setattr(binding, name, value)
    return _stored(principal, binding, overrides)


@transaction.atomic
def delete_binding(principal: Principal, binding: Binding) -> None:
    """Delete a binding: its way counts as any other from now on."""
    _record(principal, binding)
    binding.delete()


def _stored(principal: Principal, binding: Binding, overrides: BindingOverrides | None) -> Binding:
    if overrides is not None:
        if overrides.scope is not None:
            require_scope_visible(principal, overrides.scope.as_column(), "overrides.scope.")
        binding.overrides = overrides.as_stored()
    _check(principal, binding)
    try:
        with transaction.atomic():
            binding.save()
            _record(principal, binding)
    except IntegrityError:
        message = "There is a binding of this kind already. Change that one."
        raise Conflict(message, param="kind") from None
    return binding


def _check(principal: Principal, binding: Binding) -> None:
    if binding.key_id is not None:
        if binding.kind != BindingKind.API_KEY:
            raise ValidationError("Only a binding of kind api_key names a key.", param="key_id")
        if not ApiKey.objects.filter(pk=binding.key_id, user_id=principal.user_id).exists():
            raise NotFound(f"There is no key {binding.key_id} of yours.", param="key_id")
    if (binding.kind == BindingKind.WIDGET) != bool(binding.origins):
        raise ValidationError(
            "A widget, and nothing else, names the sites that may embed it.", param="allowed_origins"
        )


def checked_origin(value: str) -> str:
    """Return an origin as browsers write it; raise `ValueError` for anything else."""
    try:
        parts = urlsplit(value)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    host = parts.hostname or ""
    origin = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"
    if parts.scheme not in ("http", "https") or not host or value.rstrip("/") != origin:
        raise ValueError("must be an origin, as https://www.example.org")
    return origin


def _record(principal: Principal, binding: Binding) -> None:
    record(
        AuditAction.ASSISTANT_CHANGED,
        principal,
        workspace_id=binding.assistant.workspace_id,
        target=("assistant", binding.assistant_id),
        binding=str(binding.pk),
        kind=binding.kind,
    )
