"""The notifications that a principal may read, with what they are about."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.models import Notification
from accounts.notifications.creating import notification_topic
from accounts.principal import Principal
from core.errors import NotFound
from core.pubsub import publish
from kb.models import Document


def notifications_of(principal: Principal) -> QuerySet[Notification]:
    """Return the principal's notifications, without those about documents that it no longer sees."""
    visible = Document.objects.addressable_by(principal).filter(pk=OuterRef("document_id"), delete_at=None)
    rows = Notification.objects.restricted_to(principal).select_related("workspace")
    return rows.filter(Q(document_id=None) | Exists(visible))


def unread_of(principal: Principal) -> int:
    """Return how many notifications the principal has not read."""
    return notifications_of(principal).filter(read_at=None).count()


def documents_of(principal: Principal, ids: Iterable[UUID]) -> dict[UUID, Document]:
    """Return the documents that notifications are about, by id."""
    return {each.pk: each for each in Document.objects.addressable_by(principal).filter(pk__in=ids)}


def mark_read(principal: Principal, ids: list[UUID] | None) -> None:
    """Mark notifications as read, all if `ids` is None; raise `NotFound` if one is not the principal's."""
    mine = notifications_of(principal)
    if ids is not None:
        found = set(mine.filter(pk__in=ids).values_list("pk", flat=True))
        for index, id in enumerate(ids):
            if id not in found:
                raise NotFound(f"There is no notification {id} of yours.", param=f"ids[{index}]")
        mine = mine.filter(pk__in=found)
    if mine.filter(read_at=None).update(read_at=timezone.now()):
        # The other tabs of this user count again.
        publish(notification_topic(principal.user_id), "")
