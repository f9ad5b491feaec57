"""Mail about documents: one for all that a user's uploads have come to.

A job looks every minute for notifications that nobody has settled. It waits for more, but not for ever.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from email.utils import formataddr

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMessage
from django.db.models import Max, Min
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from procrastinate.contrib.django import app

from accounts.access.identity import principal_of_user
from accounts.models import Notification, NotificationKind, User
from accounts.people.reader_language import user_language
from accounts.preferences import SettingSource, change_model, change_preferences
from kb.models import FINISHED, Document
from kb.notifications.listing import documents_of, notifications_of
from kb.notifications.preferences import FIELD, NAME, MailChoice, mail_choice

logger = logging.getLogger(__name__)
QUIET = timedelta(minutes=2)
"""So long there must have been no new notification."""
LONGEST_WAIT = timedelta(hours=1)
TOO_OLD = timedelta(days=1)
"""What is older is mailed no more, as after a time without a mail server."""
MOST_NAMED = 20
SALT = "kb.notifications.unsubscribe"
UNSUBSCRIBE_DAYS = 365


@dataclass(frozen=True, slots=True)
class MailedDocument:
    """A line of a mail."""

    name: str
    link: str
    message: str
    """Why it failed."""


@app.periodic(cron="* * * * *")
@app.task(name="mail_notifications", queueing_lock="mail_notifications")
def mail_notifications(timestamp: int) -> None:
    """Mail the notifications of users whose uploads have come to an end."""
    now = timezone.now()
    waiting = Notification.unscoped.filter(mail_settled_at=None, document_id__isnull=False)
    waiting.filter(created_at__lt=now - TOO_OLD).update(mail_settled_at=now)
    spans = waiting.values("user_id").annotate(first=Min("created_at"), last=Max("created_at"))
    for user_id, first, last in spans.values_list("user_id", "first", "last"):
        is_quiet = last <= now - QUIET and not _is_at_work_for(user_id)
        if is_quiet or first <= now - LONGEST_WAIT:
            _settle(User.objects.get(pk=user_id))


def _is_at_work_for(user_id: int) -> bool:
    """Tell whether documents of a user are still being read; one that has waited for long does not count."""
    recent = timezone.now() - LONGEST_WAIT
    unfinished = Document.unscoped.filter(uploaded_by=user_id, queued_at__gt=recent)
    return unfinished.exclude(status__in=FINISHED).exists()


def _settle(user: User) -> None:
    """Send one mail about what the user wants to know and has not read; note that all of it is settled."""
    waiting = Notification.unscoped.filter(user=user, mail_settled_at=None, document_id__isnull=False)
    ids = list(waiting.values_list("pk", flat=True))
    if settings.EMAIL_HOST and settings.PUBLIC_URL and user.is_active:
        principal = principal_of_user(user)
        unread = notifications_of(principal).filter(pk__in=ids, read_at=None)
        choices = {
            id: mail_choice(principal, id) for id in set(unread.values_list("workspace_id", flat=True))
        }
        wanted = [each for each in unread if _is_wanted(choices[each.workspace_id], each)]
        documents = documents_of(principal, {each.document_id for each in wanted if each.document_id})
        failed, ready = (
            [
                documents[each.document_id]
                for each in wanted
                if each.kind == kind and each.document_id in documents
            ]
            for kind in (NotificationKind.DOCUMENT_FAILED, NotificationKind.DOCUMENT_INDEXED)
        )
        if failed or ready:
            _mail(user, failed, ready)
    Notification.unscoped.filter(pk__in=ids).update(mail_settled_at=timezone.now())


def _is_wanted(choice: MailChoice, notification: Notification) -> bool:
    has_failed = notification.kind == NotificationKind.DOCUMENT_FAILED
    return choice == MailChoice.LONG or (choice == MailChoice.FAILURES and has_failed)


def _mail(user: User, failed: Sequence[Document], ready: Sequence[Document]) -> None:
    unsubscribe = settings.PUBLIC_URL + unsubscribe_path(user.pk)
    shown = {
        "failed": _lines(failed),
        "ready": _lines(ready),
        "failed_count": len(failed),
        "ready_count": len(ready),
        "failed_more": len(failed) - MOST_NAMED,
        "ready_more": len(ready) - MOST_NAMED,
        "documents_link": settings.PUBLIC_URL + reverse("documents"),
        "preferences_link": settings.PUBLIC_URL + reverse("preferences"),
        "unsubscribe_link": unsubscribe,
    }
    with translation.override(user_language(user)):
        subject = render_to_string("kb/email/documents_subject.txt", shown)
        text = render_to_string("kb/email/documents_message.txt", shown)
    message = EmailMessage(
        " ".join(subject.split()),
        text,
        to=[formataddr((user.name, user.email))],
        headers={
            "List-Unsubscribe": f"<{unsubscribe}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Auto-Submitted": "auto-generated",
        },
    )
    try:
        message.send()
    except OSError as error:
        # The bell has it, too: a mail server that fails must not be asked every minute.
        logger.warning("A mail about documents could not be sent: %s", type(error).__name__)


def _lines(documents: Sequence[Document]) -> list[MailedDocument]:
    return [
        MailedDocument(
            each.name, settings.PUBLIC_URL + reverse("document", kwargs={"id": each.pk}), each.error_message
        )
        for each in documents[:MOST_NAMED]
    ]


# --- Unsubscribing -----------------------------------------------------------------------------------------


def unsubscribe_path(user_id: int) -> str:
    """Return the address that ends a user's mail; its signature is the right to do so."""
    return reverse("unsubscribe", kwargs={"token": signing.dumps(user_id, salt=SALT)})


def user_to_unsubscribe(token: str) -> User | None:
    """Return the user of such an address, None if it is not valid any more."""
    try:
        user_id = signing.loads(token, salt=SALT, max_age=timedelta(days=UNSUBSCRIBE_DAYS))
    except signing.BadSignature:
        return None
    return User.objects.filter(pk=user_id, is_active=True).first()


def unsubscribe(user: User) -> None:
    """Prefer no mail, in every workspace."""
    change = change_model(SettingSource.USER, "Unsubscribed")
    change_preferences(user.pk, change.model_validate({NAME: {FIELD: MailChoice.NEVER}}))
