"""Events of workspaces become deliveries, in the transaction of what happened."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import Webhook, WebhookDelivery, WebhookEvent
from core.jobs import FETCHING, defer_job
from core.row_access import as_system

TASK = "deliver_webhook"


@dataclass(frozen=True, slots=True)
class EmittedEvent:
    """What has happened in a workspace; `data` are ids and states, never names or words."""

    event: WebhookEvent
    workspace_id: UUID
    data: dict[str, Any]
    private_to: int | None = None
    """The user who alone may know of it: only webhooks which that user has made are told."""


@as_system("webhooks are told of what any member has caused")
def emit(events: Iterable[EmittedEvent]) -> None:
    """Queue a delivery to each webhook that wants an event, as part of the caller's transaction."""
    events = list(events)
    by_workspace = _enabled_webhooks({each.workspace_id for each in events}) if events else {}
    for each in events:
        for webhook in by_workspace.get(each.workspace_id, ()):
            is_private = each.private_to is not None and each.private_to != webhook.made_by_id
            if each.event in webhook.events and not is_private:
                queue_delivery(webhook, each.event, each.data)


def _enabled_webhooks(workspace_ids: Iterable[UUID]) -> dict[UUID, list[Webhook]]:
    found: defaultdict[UUID, list[Webhook]] = defaultdict(list)
    rows = Webhook.unscoped.filter(
        workspace__in=workspace_ids, workspace__deleted_at=None, disabled_because=""
    )
    for webhook in rows:
        found[webhook.workspace_id].append(webhook)
    return found


def queue_delivery(webhook: Webhook, event: str, data: dict[str, Any]) -> WebhookDelivery:
    """Queue one message to a webhook."""
    message = {"type": event, "timestamp": timezone.now().isoformat(), "data": data}
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    delivery = WebhookDelivery.objects.create(webhook=webhook, event=event, body=body)
    queue_attempt(delivery)
    return delivery


def queue_attempt(delivery: WebhookDelivery, after: timedelta = timedelta()) -> None:
    """Queue the next attempt of a delivery.

    A webhook has a queue of its own among those of fetching: an address that hangs delays no other webhook
    and no document.
    """
    queue = f"{FETCHING}{delivery.webhook_id.hex}"
    options = {"schedule_in": {"seconds": int(after.total_seconds())}} if after else {}
    defer_job(TASK, {"delivery_id": str(delivery.pk)}, queue=queue, lock=str(delivery.pk), **options)
