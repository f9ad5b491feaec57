"""What admins do with the webhooks of their workspaces."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from pydantic import JsonValue

from accounts.audit.recording import record
from accounts.models import AuditAction, DisabledBecause, Webhook, WebhookDelivery, WebhookEvent
from accounts.models.webhooks import TEST_EVENT
from accounts.people.workspaces import locked_workspace, refuse_unless_admin_key
from accounts.principal import Principal
from accounts.roles import Role
from accounts.webhooks.emitting import queue_delivery
from accounts.webhooks.signing import new_secret
from core.encryption import encrypt, renew_columns
from core.errors import Conflict, NotFound, ValidationError
from core.fetch import FetchError, web_url
from core.fetch.urls import address_of, allowed_addresses
from core.row_access import as_system

MAX_WEBHOOKS = 20
"""Of one workspace."""


def webhooks_of(principal: Principal, workspace_id: UUID) -> QuerySet[Webhook]:
    """Return the webhooks of a workspace, for its admins."""
    principal.require_workspace(workspace_id, Role.ADMIN)
    refuse_unless_admin_key(principal)
    rows = Webhook.objects.restricted_to(principal).filter(workspace=workspace_id)
    return rows.select_related("made_by")


def visible_webhook(principal: Principal, id: UUID) -> Webhook:
    """Return a webhook that the principal may manage, or raise `NotFound`."""
    webhook = Webhook.objects.restricted_to(principal).select_related("made_by").filter(pk=id).first()
    if webhook is None:
        raise NotFound
    refuse_unless_admin_key(principal)
    return webhook


def create_webhook(
    principal: Principal, workspace_id: UUID, url: str, events: Sequence[WebhookEvent], description: str
) -> tuple[Webhook, str]:
    """Create a webhook and return it with its secret."""
    address, secret = checked_address(url), new_secret()
    with locked_workspace(principal, workspace_id, Role.ADMIN):
        if webhooks_of(principal, workspace_id).count() >= MAX_WEBHOOKS:
            raise Conflict(f"A workspace has at most {MAX_WEBHOOKS} webhooks. Delete one first.")
        webhook = Webhook.unscoped.create(
            workspace_id=workspace_id,
            made_by_id=principal.user_id,
            url=address,
            description=description,
            events=_in_order(events),
            secret=encrypt(secret),
        )
        _record(AuditAction.WEBHOOK_CREATED, principal, webhook, events=list(webhook.events))
    return webhook, secret


@transaction.atomic
def change_webhook(
    principal: Principal,
    webhook: Webhook,
    *,
    url: str | None,
    events: Sequence[WebhookEvent] | None,
    description: str | None,
    is_enabled: bool | None,
) -> None:
    """Change a webhook; None keeps. Switching it on forgets its failures."""
    if url is not None:
        webhook.url = checked_address(url)
    if events is not None:
        webhook.events = _in_order(events)
    if description is not None:
        webhook.description = description
    if is_enabled is True:
        webhook.disabled_because, webhook.failures, webhook.failing_since = "", 0, None
    elif is_enabled is False and webhook.is_enabled:
        webhook.disabled_because = DisabledBecause.ADMIN
    webhook.save()
    given = {"url": url, "events": events, "description": description, "is_enabled": is_enabled}
    fields: list[JsonValue] = [name for name, value in given.items() if value is not None]
    _record(AuditAction.WEBHOOK_CHANGED, principal, webhook, fields=fields)


@transaction.atomic
def delete_webhook(principal: Principal, webhook: Webhook) -> None:
    """Delete a webhook with its deliveries."""
    _record(AuditAction.WEBHOOK_DELETED, principal, webhook)
    webhook.delete()


@transaction.atomic
def rotate_secret(principal: Principal, webhook: Webhook, overlap: timedelta) -> str:
    """Give a webhook a new secret and return it; until the overlap ends the old one signs, too."""
    secret = new_secret()
    if overlap:
        webhook.old_secret, webhook.old_secret_until = webhook.secret, timezone.now() + overlap
    else:
        webhook.old_secret, webhook.old_secret_until = "", None
    webhook.secret = encrypt(secret)
    webhook.save(update_fields=["secret", "old_secret", "old_secret_until"])
    _record(AuditAction.WEBHOOK_ROTATED, principal, webhook, overlap_secs=int(overlap.total_seconds()))
    return secret


@transaction.atomic
def send_test(webhook: Webhook) -> WebhookDelivery:
    """Queue a test message, which has one attempt; also to a webhook that is switched off."""
    return queue_delivery(webhook, TEST_EVENT, {"workspace_id": str(webhook.workspace_id)})


@as_system("the secrets of all workspaces, which nobody is shown")
def renew_secrets() -> int:
    """Encrypt the secrets with the present `ENCRYPTION_KEY`; return how many webhooks no key can decrypt."""
    return renew_columns(Webhook.unscoped.all(), "secret", "old_secret")


def checked_address(url: str) -> str:
    """Return the address in its normal form, or raise `ValidationError`.

    Only https, except for addresses in `WEB_FETCH_ALLOW`. Private addresses are refused when it is sent to.
    """
    try:
        address = web_url(url)
    except FetchError as error:
        raise ValidationError(error.message, param="url") from None
    if address.scheme != "https" and address_of(address) not in allowed_addresses():
        raise ValidationError("The address must begin with https://.", param="url")
    return str(address)


def _in_order(events: Sequence[WebhookEvent]) -> list[WebhookEvent]:
    return [event for event in WebhookEvent if event in events]


def _record(action: AuditAction, principal: Principal, webhook: Webhook, **details: JsonValue) -> None:
    record(action, principal, workspace_id=webhook.workspace_id, target=("webhook", webhook.pk), **details)
