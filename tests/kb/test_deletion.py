"""A deleted document is gone with all that was made from it, whichever way it goes."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from accounts.models import Session, User, Workspace
from accounts.people.deletion import delete_users, delete_workspaces
from kb.deletion import delete_document, delete_documents
from kb.documents import page_cache
from kb.index.switching import active_engine
from kb.models import Chunk, ChunkVector, Document, Segment
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document
from tests.testing.stored import has_folder, is_stored

pytestmark = pytest.mark.django_db(transaction=True)
API = "/api/v1/documents"


@pytest.fixture
def people() -> Cast:
    """The cast, committed."""
    return make_cast()


def with_page_image(document: Document) -> Document:
    page_cache(document).mkdir(parents=True)
    (page_cache(document) / "1-100.png").write_bytes(b"png")
    return document


def is_gone(document: Document) -> bool:
    """Whether nothing is left of a document: rows, index, file, page images."""
    rows: list[Any] = [
        Document.unscoped.filter(pk=document.pk),
        Chunk.unscoped.filter(document=document),
        ChunkVector.objects.filter(chunk__document=document),
        Segment.unscoped.filter(document=document),
    ]
    left = [each.exists() for each in rows]
    left += [has_folder(document), page_cache(document).exists()]
    return not any(left) and not active_engine().indexed_documents({document.pk})


def test_every_way_to_delete_takes_files_and_page_images_along(people: Cast) -> None:
    """Deleting a workspace, a person or a conversation left the files of their documents on the disk."""
    alice = people.alice
    session = Session.unscoped.create(user=people.bob, workspace=people.team)
    ways: list[tuple[str, Workspace, Any]] = [
        ("workspace", Workspace.create_for(alice, name="A"), lambda d: delete_workspaces([d.workspace_id])),
        ("cascade of a workspace", Workspace.create_for(alice, name="B"), lambda d: d.workspace.delete()),
        ("conversation", people.team, lambda d: session.delete()),
        ("person", people.charlie.personal_workspace, lambda d: delete_users([people.charlie.pk])),
        ("cascade of a person", people.bob.personal_workspace, lambda d: people.bob.delete()),
        ("document", people.team, delete_document),
    ]
    for name, workspace, delete in ways:
        attached = session if name == "conversation" else None
        document = with_page_image(indexed_document(workspace, session=attached))
        stays = indexed_document(people.team)
        delete(document)
        assert is_gone(document), name
        assert not is_gone(stays), name
        delete_document(stays)


def test_what_was_deleted_with_workspaces_and_people_is_counted(people: Cast) -> None:
    documents = [indexed_document(people.team) for _ in range(3)]
    gone = delete_workspaces([people.team.pk])
    assert gone == {
        "workspaces": 1,
        "users": 0,
        "documents": 3,
        "chunks": 3,
        "vectors": 3,
        "files": 3,
        "bytes": sum(document.size for document in documents),
    }
    with pytest.raises(ValueError, match="with its person"):
        delete_workspaces([people.charlie.personal_workspace.pk])
    assert delete_users([people.charlie.pk])["users"] == 1
    assert not User.objects.filter(pk=people.charlie.pk).exists()


def test_a_deletion_that_is_rolled_back_loses_nothing(people: Cast) -> None:
    document = with_page_image(indexed_document(people.team))
    for delete in (delete_document, lambda d: delete_workspaces([d.workspace_id])):
        with transaction.atomic():
            delete(document)
            transaction.set_rollback(True)
        assert is_stored(document)
        assert page_cache(document).exists()
        assert Document.unscoped.filter(pk=document.pk).exists()
        assert Chunk.unscoped.filter(document=document).exists()


def test_attachments_go_with_what_they_came_in(people: Cast) -> None:
    """What a deleted e-mail had attached was left behind, although it moves along."""
    mail, inner, log, other = [indexed_document(people.team, name=name) for name in "abcd"]
    Document.unscoped.filter(pk=inner.pk).update(attached_to=mail)
    Document.unscoped.filter(pk=log.pk).update(attached_to=inner)
    reply = Client().delete(f"{API}/{mail.pk}", headers=people.headers("alice"))
    assert (reply.status_code, reply.json()["deleted"]["documents"]) == (200, 3)
    assert all(map(is_gone, [mail, inner, log]))
    assert not is_gone(other)


def test_many_are_deleted_in_several_transactions(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb.deletion.AT_ONCE", 2)
    documents = [indexed_document(people.team) for _ in range(5)]
    receipt = delete_documents(document.pk for document in documents)
    assert (receipt.documents, receipt.chunks, receipt.files) == (5, 5, 5)
    assert all(map(is_gone, documents))
    assert delete_documents([documents[0].pk]).documents == 0
