"""Collections: named groups of documents, for lists, questions and conversations."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import Workspace
from kb.collections import MOST_COLLECTIONS
from kb.deletion import delete_documents_of_external_user
from kb.models import Document, DocumentCollection
from tests.conftest import Cast
from tests.factories import indexed_document

pytestmark = pytest.mark.django_db
API = "/api/v1"
JSON = "application/json"


def call(cast: Cast, method: str, path: str, body: Any = None, who: str = "alice", **headers: str) -> Any:
    return Client().generic(
        method,
        f"{API}/{path}",
        *(() if body is None else (json.dumps(body), JSON)),
        headers=cast.headers(who, **headers),
    )


def made(cast: Cast, name: str = "Harbour", who: str = "alice", **headers: str) -> str:
    reply = call(
        cast, "POST", "collections", {"name": name, "workspace_id": str(cast.team.pk)}, who, **headers
    )
    assert reply.status_code == 201, reply.content
    return str(reply.json()["id"])


def collect(cast: Cast, collection: str, *documents: Document, action: str = "add_to_collection") -> Any:
    ids = [str(document.pk) for document in documents]
    return call(cast, "POST", "documents/bulk", {"action": action, "collection_id": collection, "ids": ids})


class TestCollections:
    def test_documents_are_put_in_listed_counted_and_taken_out(self, cast: Cast) -> None:
        quay, crane = (indexed_document(cast.team, f"The {word}.", name=word) for word in ("quay", "crane"))
        indexed_document(cast.team, "The mountain.", name="mountain")
        harbour, heavy = made(cast), made(cast, "Heavy")
        assert collect(cast, harbour, quay, crane).json()["changed"]
        collect(cast, heavy, crane)
        listed = call(cast, "GET", f"documents?collection_id={harbour}&ordering=name").json()["results"]
        assert [one["name"] for one in listed] == ["crane", "quay"]
        assert set(listed[0]["collection_ids"]) == {harbour, heavy}
        shown = call(cast, "GET", f"collections?workspace_id={cast.team.pk}").json()["results"]
        assert [(one["name"], one["documents"]) for one in shown] == [("Harbour", 2), ("Heavy", 1)]
        collect(cast, harbour, crane, action="remove_from_collection")
        assert call(cast, "GET", f"collections/{harbour}").json()["documents"] == 1

    def test_a_deleted_collection_leaves_its_documents(self, cast: Cast) -> None:
        quay = indexed_document(cast.team, "The quay.")
        harbour, other = made(cast), made(cast, "Other")
        collect(cast, harbour, quay)
        collect(cast, other, quay)
        assert call(cast, "DELETE", f"collections/{harbour}").status_code == 204
        quay.refresh_from_db()
        assert [str(id) for id in quay.collection_ids] == [other]
        assert call(cast, "GET", f"collections/{harbour}").status_code == 404
        assert call(cast, "GET", f"documents?collection_id={harbour}").status_code == 404

    def test_names_are_unique_visible_and_can_change(self, cast: Cast) -> None:
        harbour = made(cast)
        body = {"name": "Harbour", "workspace_id": str(cast.team.pk)}
        assert call(cast, "POST", "collections", body).json()["error"]["code"] == "conflict"
        for name in ("", "  ", "\u200b", "x" * 101, 1):
            assert call(cast, "POST", "collections", {**body, "name": name}).status_code == 400
        made(cast, "Port")
        assert call(cast, "PATCH", f"collections/{harbour}", {"name": "Port"}).status_code == 400
        assert call(cast, "PATCH", f"collections/{harbour}", {"name": "Pier"}).json()["name"] == "Pier"

    def test_there_is_a_most(self, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
        assert MOST_COLLECTIONS == 1000
        monkeypatch.setattr("kb.collections.MOST_COLLECTIONS", 1)
        made(cast)
        body = {"name": "Second", "workspace_id": str(cast.team.pk)}
        assert call(cast, "POST", "collections", body).status_code == 400

    def test_viewers_see_them_and_strangers_do_not(self, cast: Cast) -> None:
        harbour = made(cast)
        assert call(cast, "GET", f"collections/{harbour}", who="bob").status_code == 200
        for method, body in (("PATCH", {"name": "Mine"}), ("DELETE", None)):
            assert call(cast, method, f"collections/{harbour}", body, "bob").status_code == 403
            assert call(cast, method, f"collections/{harbour}", body, "charlie").status_code == 404
        body = {"name": "New", "workspace_id": str(cast.team.pk)}
        assert call(cast, "POST", "collections", body, "bob").status_code == 403

    def test_each_external_user_has_its_own(self, cast: Cast) -> None:
        harbour = made(cast, **{"X-External-User-Id": "x"})
        made(cast)  # the same name, at another place
        assert call(cast, "GET", f"collections/{harbour}").status_code == 404
        of_x = indexed_document(cast.team, "The quay of x.", external_user_id="x")
        assert collect(cast, harbour, of_x).status_code == 404
        delete_external_user_rows(cast, "x")
        assert [one.external_user_id for one in DocumentCollection.unscoped.all()] == [None]

    def test_a_document_of_another_workspace_is_refused(self, cast: Cast) -> None:
        other = Workspace.create_for(cast.alice, name="Other")
        quay = indexed_document(other, "The quay.")
        [failure] = collect(cast, made(cast), quay).json()["failed"]
        assert failure["code"] == "conflict"

    def test_a_moved_document_leaves_the_collections_of_its_workspace(self, cast: Cast) -> None:
        other = Workspace.create_for(cast.alice, name="Other")
        quay = indexed_document(cast.team, "The quay.")
        collect(cast, made(cast), quay)
        call(cast, "PATCH", f"documents/{quay.pk}", {"workspace_id": str(other.pk)})
        quay.refresh_from_db()
        assert (quay.workspace_id, quay.collection_ids) == (other.pk, [])

    def test_uploads_go_into_one(self, cast: Cast) -> None:
        harbour = made(cast)

        def send(content: bytes, **form: str) -> Any:
            file = SimpleUploadedFile("a.txt", content)
            place = {"workspace_id": str(cast.team.pk)} | form
            return Client().post(f"{API}/documents", {"files": file} | place, headers=cast.headers("alice"))

        [added] = send(b"One.", collection_id=harbour).json()["documents"]
        assert added["collection_ids"] == [harbour]
        send(b"Two.")
        [again] = send(b"Two.", collection_id=harbour).json()["documents"]
        assert (again["duplicate"], again["collection_ids"]) == (True, [harbour])
        personal = str(cast.alice.personal_workspace.pk)
        assert send(b"Three.", collection_id=harbour, workspace_id=personal).status_code == 400
        assert send(b"Three.", collection_id=str(uuid4())).status_code == 404


class TestQuestions:
    def test_a_search_is_narrowed_to_collections(self, cast: Cast) -> None:
        quay = indexed_document(cast.team, "The harbour has a quay.", name="quay")
        indexed_document(cast.team, "The harbour has a crane.", name="crane")
        harbour = made(cast)
        collect(cast, harbour, quay)

        def names(who: str = "alice", **filters: Any) -> list[str]:
            body = {"query": "harbour", "filters": filters} if filters else {"query": "harbour"}
            return [one["document_name"] for one in call(cast, "POST", "search", body, who).json()["results"]]

        assert set(names()) == {"quay", "crane"}
        assert names(collection_ids=[harbour]) == ["quay"]
        assert names("bob", collection_ids=[harbour]) == ["quay"]
        empty = made(cast, "Empty")
        assert names(collection_ids=[empty]) == []

    def test_one_that_is_not_seen_is_named(self, cast: Cast) -> None:
        harbour = made(cast)
        for path, body in (
            ("search", {"query": "quay", "filters": {"collection_ids": [harbour]}}),
            ("tools/rag_search", {"query": "quay", "filters": {"collection_ids": [harbour]}}),
        ):
            reply = call(cast, "POST", path, body, "charlie")
            assert (reply.status_code, reply.json()["error"]["param"]) == (404, "filters.collection_ids[0]")

    @pytest.mark.django_db(transaction=True)
    def test_a_conversation_asks_one_collection(self, cast: Cast) -> None:
        quay = indexed_document(cast.team, "The harbour has a quay of granite.", name="quay")
        indexed_document(cast.team, "The harbour has a quay of timber.", name="timber")
        harbour = made(cast)
        collect(cast, harbour, quay)
        scope = {"collection_ids": [harbour]}
        session = call(cast, "POST", "sessions", {"scope": scope, "workspace_id": str(cast.team.pk)}).json()
        assert session["scope"]["collection_ids"] == [harbour]
        reply = call(cast, "POST", f"sessions/{session['id']}/messages", {"content": "What is the quay of?"})
        assert {one["document_name"] for one in reply.json()["contexts"]} == {"quay"}
        other = call(cast, "POST", "sessions", {"scope": scope}, "charlie")
        assert (other.status_code, other.json()["error"]["param"]) == (404, "scope.collection_ids[0]")


def delete_external_user_rows(cast: Cast, external_user_id: str) -> None:
    """Delete what an external user has left in the team, as the job of its deletion does."""
    while delete_documents_of_external_user([cast.team.pk], external_user_id) is not None:
        pass
