"""The files inside an e-mail become documents of their own, where the e-mail is and for whom it is."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from ingestion import pipeline
from kb.documents import reprocess
from kb.models import Document, Status
from tests.ingestion.conftest import Upload
from tests.ingestion.test_worker import now, wait_until, worker


def letter(*attached: tuple[str, bytes], subject: str = "The log of the light") -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "quist@example.org", "office@example.org", subject
    message.set_content("The log of the last winter is attached. The lamp was out for one night only.")
    for name, content in attached:
        message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return message.as_bytes()


LOG = ("log.txt", b"On the third of January the lamp went out at two in the morning.")


def attached_to(document: Document) -> list[Document]:
    return list(Document.unscoped.filter(attached_to=document))


@pytest.mark.django_db
def test_an_attachment_has_the_place_of_its_mail_and_comes_only_once(upload: Upload) -> None:
    mail = upload("letter.eml", letter(LOG))
    Document.unscoped.filter(pk=mail.pk).update(external_user_id="customer", tags=["winter"])
    pipeline.ingest(mail.pk)
    (log,) = attached_to(mail)
    assert (log.name, log.workspace_id, log.external_user_id) == ("log.txt", mail.workspace_id, "customer")
    assert (log.tags, log.status) == (["winter"], Status.QUEUED)
    reprocess(now(mail))
    pipeline.ingest(mail.pk)
    assert attached_to(mail) == [log]


@pytest.mark.django_db
def test_mails_in_mails_end_somewhere(upload: Upload) -> None:
    content = letter(LOG)
    for depth in range(6):
        content = letter((f"{depth}.eml", content), subject=f"Forwarded {depth} times")
    chain = [upload("outer.eml", content)]
    for document in chain:
        pipeline.ingest(document.pk)
        chain += attached_to(document)
    assert len(chain) == 4
    assert [warning["code"] for warning in now(chain[-1]).warnings] == ["attachments_left_out"]


@pytest.mark.django_db(transaction=True)
def test_a_worker_reads_the_attachments_too(upload: Upload) -> None:
    mail = upload("letter.eml", letter(LOG))
    with worker():
        wait_until(lambda: [now(d).status for d in [mail, *attached_to(mail)]] == [Status.READY] * 2)
