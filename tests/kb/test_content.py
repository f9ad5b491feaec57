"""A document's content without a file, under an id of the caller's own, and replaced by another."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

import pymupdf
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob

from ingestion.pipeline import ingest
from kb.documents import document_folder
from kb.models import Chunk, ChunkVector, Document, Status
from tests.conftest import Cast
from tests.factories import TEXT, chunk_id, indexed_document, pdf_of
from tests.testing.stored import is_stored, names_beside, stored_bytes

API = "/api/v1/documents"
OTHER = "The wind park near Tarifa was closed in 2024, because its cables had been stolen."


def post(cast: Cast, body: Any, name: str = "alice", **headers: str) -> Any:
    return Client().post(API, body, "application/json", headers=cast.headers(name, **headers))


def put(cast: Cast, document: Document, content: bytes, kind: str = "application/pdf", **headers: str) -> Any:
    path = f"{API}/{document.pk}/file"
    return Client().generic("PUT", path, content, kind, headers=cast.headers("alice", **headers))


def upload(cast: Cast, content: bytes, **form: Any) -> Any:
    file = SimpleUploadedFile("a.txt", content)
    return Client().post(API, {"files": file} | form, headers=cast.headers("alice"))


def listed(cast: Cast, **query: Any) -> list[str]:
    reply = Client().get(API, query, headers=cast.headers("alice"))
    assert reply.status_code == 200, reply.content
    return [one["name"] for one in reply.json()["results"]]


def hits(cast: Cast, query: str, **body: Any) -> list[dict[str, Any]]:
    reply = Client().post(
        "/api/v1/search", {"query": query} | body, "application/json", headers=cast.headers("alice")
    )
    assert reply.status_code == 200, reply.content
    results: list[dict[str, Any]] = reply.json()["results"]
    return results


def test_what_both_versions_say_is_of_the_new_one(
    cast: Cast, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    document = indexed_document(cast.team)
    Document.unscoped.update(status=Status.QUEUED)
    ingest(document.pk)
    [same] = Chunk.unscoped.filter(replaced_by=None).values_list("pk", flat=True)
    with pymupdf.open(stream=pdf_of(TEXT), filetype="pdf") as pdf, django_capture_on_commit_callbacks():
        pdf.set_metadata({"title": "Another file with the same words"})
        assert put(cast, document, pdf.tobytes()).status_code == 202
    assert Chunk.unscoped.get(pk=same).file_replaced_at is not None
    ingest(document.pk)
    chunk = Chunk.unscoped.get(pk=same)
    assert (chunk.replaced_by, chunk.file_replaced_at) == (None, None)


class TestText:
    def test_a_text_and_a_json_value_become_documents(self, cast: Cast) -> None:
        said = {"name": "note.md", "tags": ["a", "b"], "metadata": {"year": 2024}, "language": "EN"}
        reply = post(cast, {"text": f"# Wind\n\n{OTHER}"} | said)
        [document] = reply.json()["documents"]
        assert (reply.status_code, document["duplicate"], document["status"]) == (202, False, "queued")
        assert reply["Location"] == f"http://testserver{API}/{document['id']}"
        assert [document[key] for key in ("name", "tags", "metadata", "language")] == [
            *("note.md", ["a", "b"], {"year": 2024}, "en")
        ]
        ingest(Document.unscoped.get().pk)
        assert hits(cast, "Tarifa wind park")[0]["document_id"] == document["id"]
        [table] = post(cast, {"json": [{"city": "Ålesund"}]}).json()["documents"]
        stored = Document.unscoped.get(pk=table["id"])
        assert (stored.name, json.loads(stored_bytes(stored))) == (
            "data.json",
            [{"city": "Ålesund"}],
        )
        again = post(cast, {"text": f"# Wind\n\n{OTHER}"})
        assert (again.status_code, again.json()["documents"][0]["duplicate"]) == (200, True)

    def test_bad_bodies(self, cast: Cast) -> None:
        for body, code, param in [
            ({}, "validation_error", "text"),
            ({"text": "a", "json": 1}, "validation_error", "text"),
            ({"text": 1}, "validation_error", "text"),
            ({"text": "a", "titel": "b"}, "unknown_field", "titel"),
            ({"text": "a", "external_id": " "}, "validation_error", "external_id"),
            ({"text": "a", "external_id": "x" * 256}, "validation_error", "external_id"),
            ({"text": "a", "language": "english"}, "validation_error", "language"),
            ({"text": "a", "metadata": []}, "validation_error", "metadata"),
            ({"text": "a", "tags": ["x" * 101]}, "validation_error", "tags"),
            ([], "validation_error", None),
        ]:
            reply = post(cast, body)
            error = reply.json()["error"]
            assert (reply.status_code, error["code"], error.get("param")) == (400, code, param), body
        assert post(cast, {"text": "a", "workspace_id": str(uuid4())}).status_code == 404
        assert not Document.unscoped.exists()

    def test_the_same_key_is_one_request(self, cast: Cast) -> None:
        first, again = (post(cast, {"text": "a"}, **{"Idempotency-Key": "k"}) for _ in range(2))
        other = post(cast, {"text": "b"}, **{"Idempotency-Key": "k"})
        assert (first.status_code, again.status_code, other.status_code) == (202, 202, 409)
        assert first.json() == again.json()


class TestExternalId:
    def test_it_names_one_document_of_its_place(self, cast: Cast) -> None:
        [first] = upload(cast, b"one", external_id="e-1").json()["documents"]
        assert (first["external_id"], first["duplicate"]) == ("e-1", False)
        same = upload(cast, b"one", external_id="e-1")
        assert (same.status_code, same.json()["documents"][0]["id"]) == (200, first["id"])
        refused = upload(cast, b"two", external_id="e-1")
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "conflict")
        assert refused.json()["error"]["param"] == "external_id"
        assert first["id"] in refused.json()["error"]["message"]
        assert upload(cast, b"one", external_id="e-2").status_code == 400
        for place in ({"workspace_id": str(cast.team.pk)}, {"external_user_id": "x"}):
            assert upload(cast, b"two", external_id="e-1", **place).status_code == 202
        assert Document.unscoped.count() == 3

    def test_one_that_has_none_yet_takes_it(self, cast: Cast) -> None:
        upload(cast, b"one")
        [again] = upload(cast, b"one", external_id="e-1").json()["documents"]
        assert (again["duplicate"], again["external_id"]) == (True, "e-1")
        assert listed(cast, external_id="e-1") == ["a.txt"]
        assert listed(cast, external_id="E-1") == []

    def test_it_belongs_to_one_file(self, cast: Cast) -> None:
        files = [SimpleUploadedFile(name, name.encode()) for name in ("a.txt", "b.txt")]
        reply = Client().post(API, {"files": files, "external_id": "e"}, headers=cast.headers("alice"))
        assert (reply.status_code, reply.json()["error"]["param"]) == (400, "external_id")

    def test_neither_a_change_nor_a_move_makes_a_second(self, cast: Cast) -> None:
        upload(cast, b"one", external_id="e-1")
        [other] = upload(cast, b"two").json()["documents"]
        [there] = upload(cast, b"three", external_id="e-1", workspace_id=str(cast.team.pk)).json()[
            "documents"
        ]
        for id, body in (
            (other["id"], {"external_id": "e-1"}),
            (there["id"], {"workspace_id": str(cast.alice.personal_workspace.pk)}),
        ):
            reply = Client().patch(f"{API}/{id}", body, "application/json", headers=cast.headers("alice"))
            assert (reply.status_code, reply.json()["error"]["param"]) == (400, "external_id")


class TestList:
    def test_filters(self, cast: Cast) -> None:
        for name, metadata, language in (
            ("a", {"year": 2023, "public": True}, "en"),
            ("b", {"year": 2024}, "de"),
            ("c", {}, "en"),
        ):
            indexed_document(cast.team, name=name)
            Document.unscoped.filter(name=name).update(metadata=metadata, language=language)
        day = timezone.now().replace(year=2020)
        Document.unscoped.filter(name="a").update(created_at=day, updated_at=day)
        ids = {one.name: str(one.pk) for one in Document.unscoped.all()}
        by_name = {"ordering": "name"}
        for query, expected in [
            ({"metadata": '{"year": 2023}'}, ["a"]),
            ({"metadata": '{"year": [2023, 2024]}'}, ["a", "b"]),
            ({"metadata": '{"year": [2023, 2024], "public": true}'}, ["a"]),
            ({"created_before": "2021-01-01"}, ["a"]),
            ({"created_after": "2021-01-01T00:00:00Z"}, ["b", "c"]),
            ({"updated_before": "2021-01-01T00:00:00+02:00"}, ["a"]),
            ({"updated_after": "2021-01-01"}, ["b", "c"]),
            ({"language": "de"}, ["b"]),
            ({"id": [ids["a"], ids["c"]]}, ["a", "c"]),
            ({"workspace_id": str(cast.team.pk)}, ["a", "b", "c"]),
            ({"workspace": str(cast.team.pk), "workspace_id": str(cast.team.pk)}, ["a", "b", "c"]),
        ]:
            assert listed(cast, **query, **by_name) == expected, query

    def test_several_uploads_are_found_at_their_location(self, cast: Cast) -> None:
        files = [SimpleUploadedFile(name, name.encode()) for name in ("a.txt", "b.txt")]
        reply = Client().post(API, {"files": files}, headers=cast.headers("alice"))
        found = Client().get(reply["Location"], headers=cast.headers("alice")).json()["results"]
        assert {one["name"] for one in found} == {"a.txt", "b.txt"}


class TestSearch:
    def test_scores_and_documents_can_be_limited(self, cast: Cast) -> None:
        from tests.factories import add_chunk, located_words

        first = indexed_document(cast.team, name="first.pdf")
        for number in range(1, 4):
            add_chunk(first, located_words(pdf_of(f"{TEXT} Part {number}.")), number)
        indexed_document(cast.team, f"{TEXT} It shines.", name="second.pdf")
        # What is reranked depends on the time there is, and so do the scores.
        search = partial(hits, cast, "solar farm Almería", rerank=False)
        whole = search()
        assert len(whole) == 5
        best = search(per_document=1)
        assert [hit["document_name"] for hit in best] in (
            ["first.pdf", "second.pdf"],
            ["second.pdf", "first.pdf"],
        )
        assert [hit["rank"] for hit in best] == [1, 2]
        bar = whole[2]["score"]
        assert [hit["chunk_id"] for hit in search(min_score=bar)] == [
            hit["chunk_id"] for hit in whole if hit["score"] >= bar
        ]
        for bad in ({"min_score": "high"}, {"per_document": 0}, {"per_document": 1.5}):
            reply = Client().post(
                "/api/v1/search", {"query": "a"} | bad, "application/json", headers=cast.headers("alice")
            )
            assert (reply.status_code, reply.json()["error"]["param"]) == (400, next(iter(bad)))


class TestReplace:
    def test_the_content_is_replaced_and_its_old_chunks_stay_readable(
        self, cast: Cast, django_capture_on_commit_callbacks: Callable[..., Any]
    ) -> None:
        document = indexed_document(cast.team, name="old.pdf")
        Document.unscoped.update(indexed_at=timezone.now(), text_ready_at=timezone.now())
        old_chunk = chunk_id(document)
        Client().get(f"{API}/{document.pk}/pages/1", headers=cast.headers("alice"))
        content = pdf_of(OTHER)
        with django_capture_on_commit_callbacks(execute=True):
            reply = put(cast, document, content, **{"Content-Disposition": 'attachment; filename="new.pdf"'})
        body = reply.json()
        assert (reply.status_code, body["id"], body["status"]) == (202, str(document.pk), "queued")
        assert (body["name"], body["size"]) == ("new.pdf", len(content))
        assert body["sha256"] != document.sha256
        assert reply["Location"] == f"http://testserver{API}/{document.pk}"
        assert not is_stored(document)
        # Until the new text is read the old one is found.
        assert [hit["chunk_id"] for hit in hits(cast, "solar farm Almería")] == [str(old_chunk)]
        ingest(document.pk)
        assert Client().get(f"{API}/{document.pk}", headers=cast.headers("alice")).json()["status"] == "ready"
        found = {hit["text"] for hit in hits(cast, "solar farm Almería wind park Tarifa")}
        assert len(found) == 1
        assert "Tarifa" in found.pop()
        stale = Client().get(f"/chunks/{old_chunk}", headers=cast.headers("alice")).json()
        assert (stale["text"], "replaced_by" in stale) == (TEXT, True)
        assert stale["file_replaced_at"]
        assert list(Chunk.unscoped.filter(replaced_by=None).values_list("file_replaced_at")) == [(None,)]
        stored = Document.unscoped.get()
        assert stored_bytes(stored) == content
        assert {f"{document_folder(stored.pk)}/{name}" for name in names_beside(stored)} == {stored.file.name}

    def test_a_form_and_the_same_content(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

        content = pdf_of(OTHER)
        for status in (202, 200):
            form = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("new.pdf", content)})
            assert put(cast, document, form, MULTIPART_CONTENT).status_code == status
            Document.unscoped.update(status=Status.READY)
        assert ProcrastinateJob.objects.count() == 1
        assert Document.unscoped.get().name == "new.pdf"

    def test_what_is_refused(self, cast: Cast, settings: Any) -> None:
        document, other = indexed_document(cast.team), indexed_document(cast.team, OTHER)
        Document.unscoped.filter(pk=other.pk).update(identity="c" * 64)
        before = Document.unscoped.get(pk=document.pk).file.name
        from hashlib import sha256

        taken = pdf_of("Taken.")
        Document.unscoped.filter(pk=other.pk).update(identity=sha256(taken).hexdigest())
        for content, kind, headers, status, code in [
            (b"", "", {}, 400, "validation_error"),
            (taken, "application/pdf", {}, 400, "conflict"),
            (b"x", "application/pdf", {"If-Match": '"old"'}, 412, "precondition_failed"),
        ]:
            reply = put(cast, document, content, kind, **headers)
            assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
        settings.MAX_UPLOAD_BYTES = 10
        assert put(cast, document, b"x" * 11).status_code == 413
        path = f"{API}/{document.pk}/file"
        for name, status in (("bob", 403), ("charlie", 404)):
            reply = Client().generic("PUT", path, b"x", "text/plain", headers=cast.headers(name))
            assert reply.status_code == status
        Document.unscoped.filter(pk=document.pk).update(url="https://example.org/")
        assert put(cast, document, b"x").json()["error"]["code"] == "conflict"
        kept = Document.unscoped.get(pk=document.pk)
        assert kept.file.name == before
        assert names_beside(kept) == {"original"}

    def test_a_cancel_leaves_no_passages_of_the_old_content(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        Document.unscoped.update(indexed_at=timezone.now(), text_ready_at=timezone.now())
        old = chunk_id(document)
        put(cast, document, pdf_of(OTHER))
        path = f"{API}/{document.pk}/cancel"
        body = Client().post(path, headers=cast.headers("alice")).json()
        assert (body["status"], body["searchable"], body["chunk_count"]) == ("cancelled", "none", 0)
        assert hits(cast, "solar farm Almería") == []
        assert not ChunkVector.objects.exists()
        assert Client().get(f"/chunks/{old}", headers=cast.headers("alice")).json()["replaced_by"] == []
        assert Chunk.unscoped.count() == 1


def test_a_key_that_is_made_says_where_it_is(cast: Cast) -> None:
    client, headers = Client(), cast.headers("alice")
    reply = client.post("/api/v1/api-keys", {"name": "k"}, "application/json", headers=headers)
    assert (reply.status_code, reply["Location"]) == (
        201,
        f"http://testserver/api/v1/api-keys/{reply.json()['id']}",
    )
    assert client.delete(reply["Location"], headers=headers).status_code == 204
