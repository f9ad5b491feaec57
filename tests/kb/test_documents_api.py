"""`documents` and `chunks` over HTTP: shapes, codes, and what a delete leaves behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pymupdf
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient, Client
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.models import Session
from kb.api.filtering import DocumentQuery
from kb.api.uploads import NewFiles
from kb.models import Chunk, ChunkVector, Document, Status
from tests.conftest import Cast
from tests.factories import TEXT, chunk_id, indexed_document, pdf_of
from tests.testing.stored import is_stored, stored_bytes

API = "/api/v1/documents"
DOCUMENT_KEYS = {
    *("id", "name", "workspace_id", "external_user_id", "session_id", "status", "stage", "progress"),
    *("searchable", "error", "warnings", "file_type", "mime_type", "size", "sha256", "page_count"),
    *("duration", "chunk_count", "language", "tags", "metadata", "created_at", "updated_at"),
    *("text_ready_at", "indexed_at", "activity", "url", "attached_to", "external_id", "delete_at"),
    "collection_ids",
}


def pdf(text: str = TEXT, name: str = "a.pdf") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, pdf_of(text), content_type="application/pdf")


def upload(cast: Cast, name: str = "alice", headers: dict[str, str] | None = None, **form: Any) -> Any:
    return Client().post(API, form, headers=cast.headers(name, **(headers or {})))


class TestUpload:
    def test_a_new_file_is_accepted_and_queued(self, cast: Cast) -> None:
        response = upload(cast, files=pdf(), tags="a, b", metadata='{"year": 2023}', language="EN")
        [document] = response.json()["documents"]
        assert response.status_code == 202
        assert set(document) == DOCUMENT_KEYS | {"duplicate"}
        assert (document["status"], document["duplicate"], document["name"]) == ("queued", False, "a.pdf")
        assert (document["tags"], document["metadata"], document["language"]) == (
            ["a", "b"],
            {"year": 2023},
            "en",
        )
        assert document["workspace_id"] == str(cast.alice.personal_workspace.pk)
        job = ProcrastinateJob.objects.get()
        assert (job.task_name, job.args) == ("ingest_document", {"document_id": document["id"]})

    def test_the_same_upload_with_the_same_key_is_one(self, cast: Cast) -> None:
        content, headers = pdf_of(TEXT), {"Idempotency-Key": "k"}
        first, again = (
            upload(cast, headers=headers, files=SimpleUploadedFile("a.pdf", content), tags="a")
            for _ in range(2)
        )
        assert first.status_code == again.status_code == 202
        assert first.json() == again.json()
        assert Document.unscoped.count() == 1
        for tag, other in (("b", content), ("a", pdf_of("Something else."))):
            reply = upload(cast, headers=headers, files=SimpleUploadedFile("a.pdf", other), tags=tag)
            assert (reply.status_code, reply.json()["error"]["code"]) == (409, "idempotency_conflict")
        assert upload(cast, "charlie", headers=headers, files=pdf()).status_code == 202

    def test_tags_may_be_repeated_and_each_is_checked(self, cast: Cast) -> None:
        [document] = upload(cast, files=pdf(), tags=["a, b", "b", " c "]).json()["documents"]
        assert document["tags"] == ["a", "b", "c"]
        for bad in (["\x00", "b"], ["x" * 101, "b"], [",".join(map(str, range(101)))]):
            response = upload(cast, files=pdf(), tags=bad)
            assert (response.status_code, response.json()["error"]["param"]) == (400, "tags"), bad

    def test_fields_that_nobody_filled_in_are_absent(self, cast: Cast) -> None:
        blank = upload(cast, files=pdf(), workspace_id="", session_id="", language="")
        [document] = blank.json()["documents"]
        assert (blank.status_code, document["workspace_id"]) == (202, str(cast.alice.personal_workspace.pk))
        named = upload(cast, files=pdf(), external_user_id="")
        assert (named.status_code, named.json()["error"]["param"]) == (400, "external_user_id")

    def test_two_values_where_one_can_be_contradict_each_other(self, cast: Cast) -> None:
        refused = upload(cast, files=pdf(), language=["en", "de"])
        error = refused.json()["error"]
        assert (refused.status_code, error["code"], error["param"]) == (400, "conflict", "language")

    def test_several_files_come_back_in_order(self, cast: Cast) -> None:
        response = Client().post(
            API,
            {"files": [pdf("one", "1.pdf"), pdf("two", "2.pdf")], "files[]": pdf("three", "3.pdf")},
            headers=cast.headers("alice"),
        )
        assert [d["name"] for d in response.json()["documents"]] == ["1.pdf", "2.pdf", "3.pdf"]

    def test_the_same_bytes_in_the_same_place_are_one_document(self, cast: Cast) -> None:
        content = pdf_of(TEXT)
        first, again = (upload(cast, files=SimpleUploadedFile(n, content)) for n in ("a.pdf", "b.pdf"))
        assert (again.status_code, again.json()["documents"][0]["duplicate"]) == (200, True)
        assert again.json()["documents"][0]["id"] == first.json()["documents"][0]["id"]
        assert ProcrastinateJob.objects.count() == 1

    def test_another_place_is_another_document(self, cast: Cast) -> None:
        content = pdf_of(TEXT)
        places: list[dict[str, Any]] = [
            {},
            {"workspace_id": str(cast.team.pk)},
            {"external_user_id": "x"},
            {"session_id": str(Session.unscoped.create(user=cast.alice, workspace=cast.team).pk)},
        ]
        ids = {
            upload(cast, files=SimpleUploadedFile("a.pdf", content), **place).json()["documents"][0]["id"]
            for place in places
        }
        assert len(ids) == len(places)

    def test_a_failed_document_is_processed_again(self, cast: Cast) -> None:
        content = pdf_of(TEXT)
        upload(cast, files=SimpleUploadedFile("a.pdf", content))
        Document.unscoped.update(status=Status.FAILED, error_code="timeout", error_message="Too slow.")
        ProcrastinateJob.objects.all().delete()
        [document] = upload(cast, files=SimpleUploadedFile("a.pdf", content)).json()["documents"]
        assert (document["status"], document["error"], document["duplicate"]) == ("queued", None, True)
        assert ProcrastinateJob.objects.count() == 1

    def test_an_empty_file_is_stored_too(self, cast: Cast) -> None:
        """What is wrong with a content is the document's business, not the request's."""
        assert upload(cast, files=SimpleUploadedFile("a.pdf", b"")).status_code == 202

    def test_a_name_is_kept_but_never_a_path(self, cast: Cast) -> None:
        upload(cast, files=SimpleUploadedFile("../../etc/passwd", b"x"))
        document = Document.unscoped.get()
        assert document.name == "passwd"
        assert document.file.name == f"documents/{document.pk}/original"

    @pytest.mark.parametrize(
        ("form", "status", "code", "param"),
        [
            ({}, 400, "validation_error", "files"),
            ({"file": "x"}, 400, "unknown_field", "file"),
            ({"metadata": "{"}, 400, "validation_error", "metadata"),
            ({"metadata": "[]"}, 400, "validation_error", "metadata"),
            ({"language": "english"}, 400, "validation_error", "language"),
            ({"workspace_id": "x"}, 400, "validation_error", "workspace_id"),
            ({"workspace_id": "00000000-0000-4000-8000-000000000000"}, 404, "not_found", "workspace_id"),
            ({"session_id": "00000000-0000-4000-8000-000000000000"}, 404, "not_found", "session_id"),
            ({"external_user_id": " "}, 400, "validation_error", "external_user_id"),
        ],
        ids=str,
    )
    def test_bad_requests(self, cast: Cast, form: dict[str, str], status: int, code: str, param: str) -> None:
        files = {} if not form or "file" in form else {"files": pdf()}
        response = upload(cast, **files, **form)
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["param"]) == (status, code, param)
        assert not Document.unscoped.exists()

    def test_a_file_over_the_limit_is_413(self, cast: Cast, settings: Any) -> None:
        settings.MAX_UPLOAD_BYTES = 100
        response = upload(cast, files=pdf())
        assert (response.status_code, response.json()["error"]["code"]) == (413, "too_large")

    def test_what_is_neither_form_nor_json_is_not_an_upload(self, cast: Cast) -> None:
        for kind in ("text/plain", "application/octet-stream"):
            response = Client().post(API, "{}", content_type=kind, headers=cast.headers("alice"))
            assert (response.status_code, response.json()["error"]["param"]) == (400, "files")

    def test_two_external_users_in_one_request_are_refused(self, cast: Cast) -> None:
        response = upload(cast, files=pdf(), external_user_id="x", headers={"X-External-User-Id": "y"})
        assert (response.status_code, response.json()["error"]["param"]) == (400, "external_user_id")

    def test_a_viewer_may_not_upload(self, cast: Cast) -> None:
        assert upload(cast, "bob", files=pdf(), workspace_id=str(cast.team.pk)).status_code == 403

    def test_a_key_without_write_may_not_upload(self, cast: Cast) -> None:
        from accounts.access.keys import create_key

        _, secret = create_key(cast.alice, "reader", scopes=["read"])
        response = Client().post(API, {"files": pdf()}, headers={"X-API-KEY": secret})
        assert (response.status_code, response.json()["error"]["code"]) == (403, "forbidden")

    def test_a_browser_needs_its_csrf_token(self, cast: Cast) -> None:
        client = Client(enforce_csrf_checks=True)
        client.force_login(cast.alice)
        response = client.post(API, {"files": pdf()})
        assert (response.status_code, response.json()["error"]["code"]) == (403, "forbidden")


class TestList:
    @pytest.fixture(autouse=True)
    def _three(self, cast: Cast) -> None:
        for name in ("alpha.pdf", "beta.pdf", "gamma.pdf"):
            indexed_document(cast.team, name=name)
        Document.unscoped.filter(name="beta.pdf").update(status=Status.FAILED, tags=["old"])

    def names(self, cast: Cast, **query: str) -> list[str]:
        response = Client().get(API, query, headers=cast.headers("alice"))
        assert response.status_code == 200, response.content
        return [d["name"] for d in response.json()["results"]]

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ({}, ["gamma.pdf", "beta.pdf", "alpha.pdf"]),
            ({"ordering": "name"}, ["alpha.pdf", "beta.pdf", "gamma.pdf"]),
            ({"ordering": "-name"}, ["gamma.pdf", "beta.pdf", "alpha.pdf"]),
            ({"status": "failed"}, ["beta.pdf"]),
            ({"tag": "old"}, ["beta.pdf"]),
            ({"type": "pdf", "search": "ALPHA"}, ["alpha.pdf"]),
        ],
        ids=str,
    )
    def test_filters(self, cast: Cast, query: dict[str, str], expected: list[str]) -> None:
        assert self.names(cast, **query) == expected

    def test_pages(self, cast: Cast) -> None:
        client, headers = Client(), cast.headers("alice")
        first = client.get(API, {"limit": "2"}, headers=headers).json()
        second = client.get(first["next"], headers=headers).json()
        assert [len(first["results"]), len(second["results"])] == [2, 1]
        assert (first["previous"], second["next"]) == (None, None)

    @pytest.mark.parametrize(
        ("query", "code", "param"),
        [
            ({"limit": "0"}, "validation_error", "limit"),
            ({"limit": "201"}, "validation_error", "limit"),
            ({"cursor": "garbage"}, "validation_error", "cursor"),
            ({"ordering": "password"}, "validation_error", "ordering"),
            ({"workspace": "x"}, "validation_error", "workspace"),
            ({"statsu": "failed"}, "unknown_field", "statsu"),
        ],
        ids=str,
    )
    def test_bad_queries(self, cast: Cast, query: dict[str, str], code: str, param: str) -> None:
        response = Client().get(API, query, headers=cast.headers("alice"))
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["param"]) == (400, code, param)


def test_a_chunk_has_exactly_the_contracts_shape(cast: Cast) -> None:
    document = indexed_document(cast.team)
    bodies = [
        Client().get(f"{prefix}/{chunk_id(document)}", headers=cast.headers("alice")).json()
        for prefix in ("/chunks", "/api/v1/chunks")
    ]
    assert bodies[0] == bodies[1]
    chunk = bodies[0]
    boxes = chunk.pop("bbox")
    assert chunk == {
        "id": str(chunk_id(document)),
        "document_id": str(document.pk),
        "text": TEXT,
        "page_number": 1,
        "start_time": None,
        "end_time": None,
        "metadata": {"filename": "solar.pdf", "languages": ["eng"], "modality": "text", "headings": []},
    }
    assert len(boxes) == 2  # the text takes two lines
    for box in boxes:
        x1, y1, x2, y2 = box["bbox"]
        assert 0 <= x1 < x2 <= box["layout_width"] == 400
        assert 0 <= y1 < y2 <= box["layout_height"] == 300
        assert box["page_number"] == 1


def test_a_replaced_chunk_is_still_there_and_says_by_what(cast: Cast) -> None:
    document = indexed_document(cast.team)
    old = chunk_id(document)
    Chunk.unscoped.filter(pk=old).update(replaced_by=[document.pk])
    body = Client().get(f"/chunks/{old}", headers=cast.headers("alice")).json()
    assert (body["text"], body["replaced_by"]) == (TEXT, [str(document.pk)])
    listed = Client().get(f"{API}/{document.pk}/chunks", headers=cast.headers("alice")).json()
    assert listed["results"] == []


@pytest.mark.parametrize("id", ["x", "00000000-0000-4000-8000-000000000000", "%00"])
def test_an_unknown_or_malformed_id_is_404(cast: Cast, id: str) -> None:
    for path in (f"{API}/{id}", f"/chunks/{id}", f"/api/v1/executions/{id}"):
        response = Client().get(path, headers=cast.headers("alice"))
        assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize("width", [1, 333, 1000, 4000])
def test_a_page_image_has_exactly_the_width_asked_for(cast: Cast, width: int) -> None:
    document = indexed_document(cast.team)
    response = Client().get(f"{API}/{document.pk}/pages/1?width={width}", headers=cast.headers("alice"))
    image = pymupdf.Pixmap(response.content)
    assert response["Content-Type"] == "image/png"
    assert (image.width, image.height) == (width, max(1, round(width * 300 / 400)))


@pytest.mark.parametrize(
    ("page", "query", "status"),
    [
        ("0", "", 404),
        ("2", "", 404),
        ("x", "", 404),
        ("9" * 5000, "", 404),
        ("1", "?width=0", 400),
        ("1", "?width=4001", 400),
        ("1", "?width=" + "9" * 5000, 400),
    ],
)
def test_pages_that_are_not_there(cast: Cast, page: str, query: str, status: int) -> None:
    document = indexed_document(cast.team)
    response = Client().get(f"{API}/{document.pk}/pages/{page}{query}", headers=cast.headers("alice"))
    assert response.status_code == status


@pytest.mark.django_db(transaction=True)
class TestFile:
    @pytest.fixture
    def get(self, transactional_db: None) -> Callable[..., Any]:
        from tests.conftest import make_cast

        cast = make_cast()
        document = indexed_document(cast.team, name="Überblick.pdf")
        self.content = stored_bytes(document)

        async def get(**headers: str) -> Any:
            return await AsyncClient().get(
                f"{API}/{document.pk}/file", headers=cast.headers("alice", **headers)
            )

        return get

    async def test_the_whole_file_comes_with_its_name(self, get: Callable[..., Any]) -> None:
        response = await get()
        body = b"".join([block async for block in response.streaming_content])
        assert (response.status_code, body, response["Content-Type"]) == (
            200,
            self.content,
            "application/pdf",
        )
        assert "%C3%9Cberblick.pdf" in response["Content-Disposition"]
        assert response["X-Content-Type-Options"] == "nosniff"

    @pytest.mark.parametrize(
        ("asked", "part"),
        [("bytes=0-9", slice(0, 10)), ("bytes=5-", slice(5, None)), ("bytes=-7", slice(-7, None))],
    )
    async def test_a_range(self, get: Callable[..., Any], asked: str, part: slice) -> None:
        response = await get(Range=asked)
        body = b"".join([block async for block in response.streaming_content])
        assert (response.status_code, body) == (206, self.content[part])

    async def test_a_range_beyond_the_end_is_416(self, get: Callable[..., Any]) -> None:
        assert (await get(Range="bytes=99999999-")).status_code == 416


def test_a_delete_leaves_nothing_and_says_what_it_took(
    cast: Cast, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    document = indexed_document(cast.team)
    size = document.size
    Client().get(f"{API}/{document.pk}/pages/1", headers=cast.headers("alice"))
    with django_capture_on_commit_callbacks(execute=True):
        response = Client().delete(f"{API}/{document.pk}", headers=cast.headers("alice"))
    assert response.json() == {
        "deleted": {"documents": 1, "chunks": 1, "vectors": 1, "files": 1, "bytes": size}
    }
    assert not is_stored(document)
    assert not Chunk.unscoped.exists()
    assert not ChunkVector.objects.exists()
    assert Client().get(f"{API}/{document.pk}", headers=cast.headers("alice")).status_code == 404


def test_unknown_addresses_and_methods_answer_in_json(cast: Cast) -> None:
    unknown = Client().get("/api/v1/nothing", headers=cast.headers("alice"))
    wrong = Client().put(API, json.dumps({}), content_type="application/json", headers=cast.headers("alice"))
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "not_found")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "method_not_allowed")


def test_the_schema_describes_every_address(cast: Cast) -> None:
    from locus.urls import api

    schema = Client().get("/api/schema", {"format": "json"}).json()
    assert schema["openapi"].startswith("3.1")
    paths = {path for path in schema["paths"] if path.startswith("/api/v1/")}
    assert len(paths) == len(api)


def test_the_schema_says_what_the_documents_addresses_take_and_answer(cast: Cast) -> None:
    schema = Client().get("/api/schema", {"format": "json"}).json()
    paths, shapes = schema["paths"], schema["components"]["schemas"]
    listing, adding = paths["/api/v1/documents"]["get"], paths["/api/v1/documents"]["post"]
    assert {one["name"] for one in listing["parameters"]} == {
        *DocumentQuery.model_fields,
        "X-External-User-Id",
    }
    bodies = {kind: one["schema"]["$ref"] for kind, one in adding["requestBody"]["content"].items()}
    assert bodies == {
        "multipart/form-data": "#/components/schemas/NewFiles",
        "application/json": "#/components/schemas/NewText",
    }
    assert set(shapes["NewFiles"]["properties"]) == set(NewFiles.model_fields)
    assert set(adding["responses"]) >= {"200", "202", "400", "401", "403", "404", "413", "429"}
    one = paths["/api/v1/documents/{id}"]
    assert set(one["delete"]["responses"]) >= {"200", "404", "412"}
    assert {"202", "404"} <= set(paths["/api/v1/documents/{id}/reprocess"]["post"]["responses"])
