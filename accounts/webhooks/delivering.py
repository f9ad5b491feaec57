"""Sends deliveries: with growing pauses between attempts, until they arrive or are given up."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from procrastinate.contrib.django import app

from accounts.models import DeliveryStatus, DisabledBecause, NotificationKind, Webhook, WebhookDelivery
from accounts.models.webhooks import TEST_EVENT
from accounts.notifications.creating import notify_admins
from accounts.webhooks.emitting import TASK, queue_attempt
from accounts.webhooks.signing import signature_headers
from core.encryption import Undecryptable, decrypt
from core.fetch import BlockedUrl, FetchError, post
from core.threads import give_connection_back

PAUSES = [
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=10),
]
"""Before the second attempt, the third, and so on: eight attempts in 28 hours."""
TIMEOUT_SECS = 15.0
GONE = 410
BLOCKED = "This address may not be reached: it must lie in the public web."
MOST_FAILURES = 20
FAILING_FOR = timedelta(days=1)
"""A webhook that has failed so often and for so long is switched off."""


class Attempt(NamedTuple):
    """What came of one attempt: the status of the response, or why there was none."""

    response_code: int | None
    error: str
    duration: timedelta

    @property
    def has_arrived(self) -> bool:
        """Whether the receiver has taken the message."""
        return self.response_code is not None and 200 <= self.response_code < 300


@app.task(name=TASK)
def deliver_webhook(delivery_id: str) -> None:
    """Make one attempt of a delivery, and queue the next one if it fails."""
    rows = WebhookDelivery.objects.select_related("webhook__workspace")
    delivery = rows.filter(pk=UUID(delivery_id), status=DeliveryStatus.WAITING).first()
    if delivery is None:
        return
    webhook, is_test = delivery.webhook, delivery.event == TEST_EVENT
    if webhook.workspace.deleted_at is not None or not (webhook.is_enabled or is_test):
        delivery.status, delivery.error = DeliveryStatus.FAILED, "The webhook is switched off."
        delivery.next_attempt_at = None
        delivery.save(update_fields=["status", "error", "next_attempt_at"])
        return
    attempt = _attempt(delivery)
    with transaction.atomic():
        _note(delivery, attempt)
        _judge(webhook, attempt, is_test=is_test)


def _attempt(delivery: WebhookDelivery) -> Attempt:
    """Send the message once. No database connection is held while the other server answers."""
    webhook = delivery.webhook
    began = time.monotonic()
    try:
        used = [decrypt(webhook.secret)]
        if webhook.old_secret_signs():
            used.append(decrypt(webhook.old_secret))
        headers = signature_headers(str(delivery.pk), int(time.time()), delivery.body, used)
        headers["Content-Type"] = "application/json"
        give_connection_back()
        status = asyncio.run(post(webhook.url, delivery.body.encode(), headers, timeout_secs=TIMEOUT_SECS))
        return Attempt(status, "", timedelta(seconds=time.monotonic() - began))
    except Undecryptable:
        error = "The secret can't be read with this ENCRYPTION_KEY. Rotate it."
    except BlockedUrl:
        error = BLOCKED
    except FetchError as failure:
        error = failure.message
    return Attempt(None, error[:300], timedelta(seconds=time.monotonic() - began))


def _note(delivery: WebhookDelivery, attempt: Attempt) -> None:
    """Store what came of an attempt, and queue the next one; a test has only one."""
    delivery.attempts += 1
    delivery.attempted_at = timezone.now()
    delivery.response_code, delivery.error, delivery.duration = attempt
    delivery.next_attempt_at = None
    if attempt.has_arrived:
        delivery.status = DeliveryStatus.DELIVERED
    elif delivery.event == TEST_EVENT or delivery.attempts > len(PAUSES) or attempt.response_code == GONE:
        delivery.status = DeliveryStatus.FAILED
    else:
        pause = PAUSES[delivery.attempts - 1]
        delivery.next_attempt_at = delivery.attempted_at + pause
        queue_attempt(delivery, pause)
    delivery.save()


def _judge(webhook: Webhook, attempt: Attempt, *, is_test: bool) -> None:
    """Count an attempt for or against its webhook; switch off one that has failed for long, or is gone."""
    mine = Webhook.unscoped.filter(pk=webhook.pk)
    if attempt.has_arrived:
        mine.update(failures=0, failing_since=None)
        return
    if is_test:
        return
    mine.filter(failing_since=None).update(failing_since=timezone.now())
    mine.update(failures=F("failures") + 1)
    is_hopeless = mine.filter(
        failures__gte=MOST_FAILURES, failing_since__lt=timezone.now() - FAILING_FOR
    ).exists()
    if attempt.response_code == GONE or is_hopeless:
        reason = DisabledBecause.GONE if attempt.response_code == GONE else DisabledBecause.FAILURES
        if mine.filter(disabled_because="").update(disabled_because=reason):
            notify_admins(webhook.workspace_id, NotificationKind.WEBHOOK_DISABLED)


@app.periodic(cron="19 3 * * *")
@app.task(name="delete_old_deliveries", queueing_lock="delete_old_deliveries")
def delete_old_deliveries(timestamp: int) -> None:
    """Delete the deliveries of some days ago."""
    before = timezone.now() - timedelta(days=settings.WEBHOOK_DELIVERY_DAYS)
    WebhookDelivery.objects.filter(created_at__lt=before).delete()
