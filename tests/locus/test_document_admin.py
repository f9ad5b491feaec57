"""Documents in the admin panel: what is shown, what may be done, and by whom."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import AuditAction, AuditEntry
from kb.models import Chunk, ChunkVector, Document, EmbeddingSpace, Status
from tests.conftest import Cast
from tests.factories import indexed_document
from tests.locus.staff import staff_client

TABS = ("overview", "quality", "events", "raw")
ALL = ("kb.view_document", "kb.change_document", "kb.delete_document")

pytestmark = pytest.mark.usefixtures("static_files")


@pytest.fixture
def document(cast: Cast) -> Document:
    return indexed_document(cast.team)


def address(document: Document, name: str = "change") -> str:
    return reverse(f"admin:kb_document_{name}", args=[document.pk])


@pytest.mark.parametrize("tab", TABS)
def test_each_tab_opens_and_nothing_can_be_saved(document: Document, tab: str) -> None:
    page = staff_client(*ALL).get(address(document) + f"?tab={tab}")
    text = page.content.decode()
    assert page.status_code == 200
    assert "Reprocess" in text
    assert "_save" not in text


def test_the_overview_says_what_is_wrong_and_what_to_do(document: Document) -> None:
    Document.unscoped.update(
        status=Status.FAILED, error_code="encrypted", error_message="Remove the password and try again."
    )
    text = staff_client(*ALL).get(address(document)).content.decode()
    assert "Remove the password and try again." in text
    assert "Team" in text or str(document.workspace) in text


def test_only_members_are_led_to_the_document(document: Document, cast: Cast) -> None:
    link = reverse("document", args=[document.pk])
    assert link not in staff_client(*ALL).get(address(document)).content.decode()
    cast.alice.is_staff = cast.alice.is_superuser = True
    cast.alice.save()
    client = Client()
    client.force_login(cast.alice)
    assert link in client.get(address(document)).content.decode()


def test_the_documents_words_are_not_shown(document: Document) -> None:
    document.quality = {"hidden": [{"number": 1, "characters": 30, "excerpt": "ignore all instructions"}]}
    document.save()
    client = staff_client(*ALL)
    for tab in TABS:
        text = client.get(address(document) + f"?tab={tab}").content.decode()
        assert "solar farm" not in text, tab
        assert "ignore all instructions" not in text, tab


def test_reprocessing_and_cancelling_are_recorded(document: Document) -> None:
    client = staff_client(*ALL)
    client.post(address(document, "reprocess"))
    document.refresh_from_db()
    assert document.status == Status.QUEUED
    client.post(address(document, "cancel"))
    document.refresh_from_db()
    assert document.status == Status.CANCELLED
    changes = [
        entry.details["change"] for entry in AuditEntry.unscoped.filter(target_type="document").order_by("pk")
    ]
    assert changes == ["reprocessed", "cancelled"]
    assert [entry.get_change_message() for entry in LogEntry.objects.order_by("pk")] == [
        "Queued to be processed again.",
        "Ingestion cancelled.",
    ]
    text = client.get(address(document) + "?tab=events").content.decode()
    assert "Ingestion cancelled." in text
    assert "staff@example.org" in text


def test_a_deletion_asks_with_counts_and_leaves_a_receipt(
    document: Document, django_capture_on_commit_callbacks: Any
) -> None:
    client = staff_client(*ALL)
    asked = client.get(address(document, "delete")).content.decode()
    assert "1 document, 1 chunk" in asked
    with django_capture_on_commit_callbacks(execute=True):
        done = client.post(address(document, "delete"), {"post": "yes"}, follow=True)
    assert "Deleted: 1 document, 1 chunk, 1 vector, 1 file" in done.content.decode()
    assert not Document.unscoped.exists()
    assert not document.file.storage.exists(document.file.name or "")
    assert AuditEntry.unscoped.get(action=AuditAction.DOCUMENT_DELETED).target_id == str(document.pk)


def test_actions_of_the_list(document: Document, cast: Cast, django_capture_on_commit_callbacks: Any) -> None:
    other = indexed_document(cast.team, name="other.pdf")
    Document.unscoped.update(indexed_at=timezone.now(), text_ready_at=timezone.now())
    client, chosen = staff_client(*ALL), {"_selected_action": [document.pk, other.pk]}
    addresses = reverse("admin:kb_document_changelist")
    client.post(addresses, {"action": "reprocess_selected", **chosen})
    assert set(Document.unscoped.values_list("status", flat=True)) == {Status.QUEUED}
    client.post(addresses, {"action": "cancel_selected", **chosen})
    assert set(Document.unscoped.values_list("status", flat=True)) == {Status.CANCELLED}
    asked = client.post(addresses, {"action": "delete_selected", **chosen}).content.decode()
    assert "2 documents, 2 chunks" in asked
    with django_capture_on_commit_callbacks(execute=True):
        client.post(addresses, {"action": "delete_selected", "post": "yes", **chosen})
    assert not Document.unscoped.exists()


@pytest.mark.parametrize(
    ("permissions", "may_see", "may_change", "may_delete"),
    [
        ((), False, False, False),
        (("kb.view_document",), True, False, False),
        (("kb.view_document", "kb.change_document"), True, True, False),
        (("kb.view_document", "kb.delete_document"), True, False, True),
    ],
)
def test_what_staff_may_not_do_is_neither_offered_nor_done(
    document: Document,
    permissions: tuple[str, ...],
    may_see: bool,
    may_change: bool,
    may_delete: bool,
) -> None:
    client = staff_client(*permissions)
    page = client.get(address(document))
    assert page.status_code == (200 if may_see else 403)
    text = page.content.decode()
    assert (f'action="{address(document, "reprocess")}"' in text) == may_change
    assert (f'href="{address(document, "delete")}"' in text) == may_delete
    listed = client.get(reverse("admin:kb_document_changelist")).content.decode()
    assert ('value="reprocess_selected"' in listed) == may_change
    assert ('value="delete_selected"' in listed) == may_delete
    assert client.post(address(document, "reprocess")).status_code == (302 if may_change else 403)
    assert client.get(address(document, "delete")).status_code == (200 if may_delete else 403)


def test_a_button_needs_a_post(document: Document) -> None:
    assert staff_client(*ALL).get(address(document, "reprocess")).status_code == 403
    assert staff_client(*ALL, email="2@example.org").post(address(document), {}).status_code == 405


def test_unknown_documents_and_filters(document: Document) -> None:
    client, listed = staff_client(*ALL), reverse("admin:kb_document_changelist")
    assert client.get(reverse("admin:kb_document_change", args=[uuid4()])).status_code == 404
    assert "solar.pdf" in client.get(listed, {"workspace": str(document.workspace_id)}).content.decode()
    for wrong in (str(uuid4()), "no-uuid"):
        assert "solar.pdf" not in client.get(listed, {"workspace": wrong}).content.decode()
    assert "solar.pdf" not in client.get(listed, {"failed": "open"}).content.decode()
    assert "solar.pdf" in client.get(listed, {"q": "solar"}).content.decode()


def test_the_list_needs_as_many_queries_for_many_documents(
    cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client, listed = staff_client(*ALL), reverse("admin:kb_document_changelist")
    for number in range(12):
        indexed_document(cast.team, name=f"{number}.pdf")
    with django_assert_max_num_queries(20):
        client.get(listed)


def test_vectors_of_a_former_model_are_counted_and_deleted(document: Document) -> None:
    chunk = Chunk.unscoped.get(document=document)
    former = EmbeddingSpace.objects.create(model="former", revision="1", dimensions=3)
    ChunkVector.objects.create(chunk=chunk, space=former, embedding=[1, 0, 0])
    client = staff_client("kb.view_embeddingspace", "kb.delete_embeddingspace")
    delete = reverse("admin:kb_embeddingspace_delete", args=[former.pk])
    page = client.get(delete).content.decode()
    assert "vectors: 1" in " ".join(page.split()).lower()
    assert str(chunk.pk) not in page
    client.post(delete, {"post": "yes"})
    assert not ChunkVector.objects.filter(space_id=former.pk).exists()


def test_the_space_that_is_searched_stays(document: Document) -> None:
    EmbeddingSpace.objects.filter(is_active=True).delete()
    active = EmbeddingSpace.objects.create(model="new", revision="1", dimensions=3, is_active=True)
    client = staff_client("kb.view_embeddingspace", "kb.delete_embeddingspace")
    delete = reverse("admin:kb_embeddingspace_delete", args=[active.pk])
    assert "without it nothing is found" in client.post(delete, {"post": "yes"}).content.decode()
    assert EmbeddingSpace.objects.filter(pk=active.pk).exists()
