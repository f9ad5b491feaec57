"""The visitors of widgets: external users of a key, each with one conversation."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid4

from django.db import transaction

from accounts.access.identity import narrowed
from accounts.models import Session
from accounts.principal import Principal
from accounts.roles import KeyScope
from assistants.configuration.resolving import as_configured, version_of
from assistants.configuration.settings import AssistantSettings
from assistants.conversations import assistant_of, session_of
from assistants.models import Assistant, Binding, BindingKind, SessionAssistant
from core.errors import NotFound, ValidationError

NO_WIDGET = "binding_id"


def bound_to_widget(principal: Principal, binding_id: UUID) -> Principal:
    """Return the principal of a key as a visitor of a widget: it reads, within the widget's workspaces.

    Raise `NotFound` for a binding of an assistant that it can't ask, `ValidationError` for one that is no
    widget, without an external user, or in a conversation with another assistant.
    """
    binding = visible_binding(principal, binding_id)
    if binding.kind != BindingKind.WIDGET:
        raise ValidationError("This binding is no widget.", param=NO_WIDGET)
    if principal.external_user_id is None:
        raise ValidationError("Name the visitor of the widget.", param="external_user_id")
    if principal.session_id is not None:
        _require_same_assistant(principal, binding)
    settings = settings_of(binding)
    # Without a scope of its own a widget reads its own workspace, not all that its key does.
    workspaces = {binding.assistant.workspace_id, *(settings.scope.workspace_ids or ())}
    return replace(
        narrowed(principal, workspaces),
        scopes=frozenset({KeyScope.READ.value}),
        session_id=principal.session_id or uuid4(),
        binding_id=binding.pk,
    )


def visible_binding(principal: Principal, id: UUID) -> Binding:
    """Return a binding of an assistant that the principal may ask, or raise `NotFound`."""
    assistants = Assistant.objects.addressable_by(principal)
    found = Binding.objects.filter(pk=id, assistant__in=assistants).select_related("assistant").first()
    if found is None:
        raise NotFound(f"There is no binding {id} that you can see.", param=NO_WIDGET)
    return found


def settings_of(binding: Binding) -> AssistantSettings:
    """Return what counts for a widget."""
    assistant = binding.assistant
    return as_configured(assistant, version_of(assistant, assistant.version), binding).settings


def _require_same_assistant(principal: Principal, binding: Binding) -> None:
    session = session_of(principal)
    if assistant_of(principal, session) != binding.assistant_id:
        raise ValidationError("Another assistant answers in this conversation.", param="session_id")


def conversation_of(principal: Principal) -> Session | None:
    """Return a visitor's conversation; None before its first question."""
    assert principal.session_id is not None, "a widget's token names its conversation"
    return Session.objects.restricted_to(principal).filter(pk=principal.session_id).first()


@transaction.atomic
def begun_conversation(principal: Principal, binding: Binding) -> Session:
    """Return a visitor's conversation; the first question makes it, under the id that the token names."""
    found = conversation_of(principal)
    if found is not None:
        return found
    row = Session(
        id=principal.session_id,
        user_id=principal.user_id,
        workspace_id=binding.assistant.workspace_id,
        external_user_id=principal.external_user_id,
    )
    # Two first questions at once make one.
    Session.unscoped.bulk_create([row], ignore_conflicts=True)
    link = SessionAssistant(session_id=row.pk, assistant_id=binding.assistant_id)
    SessionAssistant.objects.bulk_create([link], ignore_conflicts=True)
    made = conversation_of(principal)
    if made is None:
        raise NotFound
    return made
