"""Creates notifications, and publishes that a user's notifications have changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import timedelta
from uuid import UUID

from django.utils import timezone
from procrastinate.contrib.django import app

from accounts.models import Membership, Notification, NotificationKind
from accounts.roles import Role
from core.pubsub import publish
from core.row_access import as_system

KEPT = timedelta(days=90)


def notification_topic(user_id: int) -> str:
    """Return the topic of changes to a user's notifications; the message is a new one's id, or empty."""
    return f"notifications:{user_id}"


@as_system("tells users of work that others may have caused")
def notify(
    user_ids: Iterable[int], workspace_id: UUID, kind: NotificationKind, document_id: UUID | None = None
) -> None:
    """Create a notification for each user, as part of the caller's transaction."""
    for user_id in user_ids:
        made = Notification.unscoped.create(
            user_id=user_id, workspace_id=workspace_id, kind=kind, document_id=document_id
        )
        publish(notification_topic(user_id), str(made.pk))


def notify_admins(workspace_id: UUID, kind: NotificationKind) -> None:
    """Create a notification for each admin of a workspace."""
    members = Membership.objects.filter(workspace=workspace_id, user__is_active=True)
    admins = [each.user_id for each in members if Role(each.role).covers(Role.ADMIN)]
    notify(admins, workspace_id, kind)


@as_system("the notifications of all users about documents")
def forget_notifications_of(document_ids: Collection[UUID]) -> None:
    """Delete the notifications about documents that are deleted, or have another outcome now."""
    gone = Notification.unscoped.filter(document_id__in=document_ids)
    users = set(gone.values_list("user_id", flat=True))
    if gone.delete()[0]:
        for user_id in users:
            publish(notification_topic(user_id), "")


@app.periodic(cron="29 3 * * *")
@app.task(name="delete_old_notifications", queueing_lock="delete_old_notifications")
def delete_old_notifications(timestamp: int) -> None:
    """Delete the notifications of long ago."""
    Notification.unscoped.filter(created_at__lt=timezone.now() - KEPT).delete()
