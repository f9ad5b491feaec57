"""Mail about documents: one for a whole upload, to those who want it, and an end to it by one click."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Membership, Notification, NotificationKind, User
from accounts.notifications.creating import notify
from kb.models import Document, Status
from kb.notifications.mail import LONGEST_WAIT, QUIET, mail_notifications
from tests.conftest import Cast
from tests.factories import indexed_document

pytestmark = pytest.mark.django_db
LATER = QUIET + timedelta(seconds=1)


@pytest.fixture(autouse=True)
def mail_server(settings: Settings) -> None:
    settings.EMAIL_HOST, settings.PUBLIC_URL = "mail.example.org", "https://locus.example.org"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"


def told(cast: Cast, number: int = 1, user: User | None = None, *, failed: bool = False) -> list[Document]:
    kind = NotificationKind.DOCUMENT_FAILED if failed else NotificationKind.DOCUMENT_INDEXED
    documents = [indexed_document(cast.team, f"{n}", name=f"Report {n}.pdf") for n in range(number)]
    for document in documents:
        notify([(user or cast.alice).pk], cast.team.pk, kind, document.pk)
    return documents


def pass_time(by: timedelta) -> None:
    for each in Notification.unscoped.all():
        Notification.unscoped.filter(pk=each.pk).update(created_at=each.created_at - by)


def mailed() -> list[Any]:
    mail_notifications(0)
    sent = list(mail.outbox)
    mail.outbox.clear()
    return sent


def prefer(cast: Cast, value: str | None, who: str = "alice", address: str = "preferences") -> None:
    body = {"notifications": {"mail": value}}
    headers = cast.headers(who)
    response = Client().patch(f"/api/v1/{address}", body, content_type="application/json", headers=headers)
    assert response.status_code == 200, response.content


def test_an_upload_of_50_files_is_one_mail(cast: Cast) -> None:
    prefer(cast, "long")
    told(cast, 48)
    told(cast, 2, failed=True)
    assert mailed() == [], "others may follow at once"
    pass_time(LATER)
    [message] = mailed()
    assert message.to == ["alice@example.org"]
    assert message.subject == "[Locus] 2 documents could not be read, 48 documents ready"
    assert message.body.count("- Report") == 22
    assert "and 28 more: https://locus.example.org/documents/" in message.body
    assert mailed() == []


def test_it_has_the_language_of_its_reader(cast: Cast) -> None:
    User.objects.filter(pk=cast.alice.pk).update(language="de")
    told(cast, 1, failed=True)
    pass_time(LATER)
    [message] = mailed()
    assert message.subject == "[Locus] 1 Dokument konnte nicht gelesen werden"
    assert "Konnten nicht gelesen werden:" in message.body


def test_it_waits_while_documents_are_read_but_not_for_ever(cast: Cast) -> None:
    prefer(cast, "long")
    told(cast)
    unfinished = indexed_document(cast.team)
    Document.unscoped.filter(pk=unfinished.pk).update(status=Status.INDEXING, uploaded_by=cast.alice)
    pass_time(LATER)
    assert mailed() == []
    pass_time(LONGEST_WAIT)
    assert len(mailed()) == 1


@pytest.mark.parametrize(
    ("choice", "failed", "is_mailed"),
    [
        ("never", True, False),
        ("failures", True, True),
        ("failures", False, False),
        ("long", True, True),
        ("long", False, True),
        (None, True, True),
        (None, False, False),
    ],
)
def test_preferences(cast: Cast, choice: str | None, failed: bool, is_mailed: bool) -> None:
    prefer(cast, choice)
    told(cast, failed=failed)
    pass_time(LATER)
    assert bool(mailed()) is is_mailed
    assert not Notification.unscoped.filter(mail_settled_at=None).exists()


def test_a_workspace_may_choose_for_those_who_have_not(cast: Cast) -> None:
    prefer(cast, "never", address=f"workspaces/{cast.team.pk}/settings")
    told(cast, failed=True)
    told(cast, user=cast.bob, failed=True)
    prefer(cast, "failures", "bob")
    pass_time(LATER)
    [message] = mailed()
    assert message.to == ["bob@example.org"]


def test_what_was_read_or_is_no_longer_seen_is_not_mailed(cast: Cast) -> None:
    told(cast, failed=True)
    Notification.unscoped.update(read_at=timezone.now())
    told(cast, user=cast.bob, failed=True)
    Membership.objects.get(user=cast.bob, workspace=cast.team).delete()
    pass_time(LATER)
    assert mailed() == []


def test_without_a_mail_server_nothing_is_sent_nor_kept_for_later(cast: Cast, settings: Settings) -> None:
    settings.EMAIL_HOST = ""
    told(cast, failed=True)
    pass_time(LATER)
    assert mailed() == []
    settings.EMAIL_HOST = "mail.example.org"
    assert mailed() == []


def test_one_click_ends_it(cast: Cast, plain_static_files: None) -> None:
    told(cast, failed=True)
    pass_time(LATER)
    [message] = mailed()
    address = message.extra_headers["List-Unsubscribe"].strip("<>").removeprefix("https://locus.example.org")
    assert message.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert address in message.body
    # Programs that follow each link of a mail end nothing.
    assert b"Send no more mail" in Client().get(address).content
    told(cast, failed=True)
    pass_time(LATER)
    assert len(mailed()) == 1
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(address, {"List-Unsubscribe": "One-Click"}).status_code == 200
    told(cast, failed=True)
    pass_time(LATER)
    assert mailed() == []
    assert Client().post(address[:-3] + "abc").status_code == 404
