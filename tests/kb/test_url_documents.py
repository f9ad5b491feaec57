"""Documents that are named by a URL: added like uploads, fetched by the worker."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.models import Session
from core.errors import DocumentError
from ingestion.fetching import fetch_document
from ingestion.progress import Superseded
from kb.documents import document_folder, page_cache, reprocess
from kb.models import Document, Status
from tests.conftest import Cast
from tests.factories import pdf_of
from tests.testing.stored import has_folder, lose_file, names_beside, stored_bytes
from tests.testing.web import Web, serving

API = "/api/v1/documents"
URL = "https://example.org/reports/2023.html"


def post(cast: Cast, name: str = "alice", headers: dict[str, str] | None = None, **form: Any) -> Any:
    return Client().post(API, form, headers=cast.headers(name, **(headers or {})))


def added(cast: Cast, **form: Any) -> list[dict[str, Any]]:
    response = post(cast, **form)
    assert response.status_code in (200, 202), response.content
    documents: list[dict[str, Any]] = response.json()["documents"]
    return documents


def now(document: Document) -> Document:
    return Document.unscoped.get(pk=document.pk)


class TestAdding:
    def test_a_url_is_a_document_to_be_fetched(self, cast: Cast) -> None:
        response = post(cast, urls=URL, tags="a,b", metadata='{"year": 2023}', language="en")
        [document] = response.json()["documents"]
        assert response.status_code == 202
        assert (document["name"], document["status"], document["duplicate"]) == (URL, "queued", False)
        assert (document["sha256"], document["size"], document["file_type"]) == (None, 0, None)
        assert (document["tags"], document["metadata"], document["language"]) == (
            ["a", "b"],
            {"year": 2023},
            "en",
        )
        stored = Document.unscoped.get()
        assert (stored.url, bool(stored.file)) == (URL, False)
        assert ProcrastinateJob.objects.get().args == {"document_id": document["id"]}

    def test_files_come_first_then_urls_each_as_sent(self, cast: Cast) -> None:
        form = {
            "urls": [URL, "http://example.org/"],
            "files": [SimpleUploadedFile("1.txt", b"one"), SimpleUploadedFile("2.txt", b"two")],
            "urls[]": "http://example.com/",
        }
        names = [document["name"] for document in added(cast, **form)]
        assert names == ["1.txt", "2.txt", URL, "http://example.org/", "http://example.com/"]

    @pytest.mark.parametrize(
        "again", [URL, URL + "#part", "HTTPS://EXAMPLE.org:443/reports/2023.html", f" {URL} "]
    )
    def test_the_same_url_is_one_document(self, cast: Cast, again: str) -> None:
        [first] = added(cast, urls=URL)
        response = post(cast, urls=again)
        [second] = response.json()["documents"]
        assert (response.status_code, second["id"], second["duplicate"]) == (200, first["id"], True)
        assert ProcrastinateJob.objects.count() == 1

    def test_twice_in_one_request_too(self, cast: Cast) -> None:
        first, second = added(cast, urls=[URL, URL])
        assert (first["id"], first["duplicate"], second["duplicate"]) == (second["id"], False, True)

    def test_another_place_is_another_document(self, cast: Cast) -> None:
        places: list[dict[str, Any]] = [
            {},
            {"workspace_id": str(cast.team.pk)},
            {"external_user_id": "x"},
            {"session_id": str(Session.unscoped.create(user=cast.alice, workspace=cast.team).pk)},
        ]
        documents = [added(cast, urls=URL, **place)[0] for place in places]
        assert len({document["id"] for document in documents}) == len(places)
        assert [document["external_user_id"] for document in documents] == [None, None, "x", None]
        assert [document["session_id"] is not None for document in documents] == [False, False, False, True]

    def test_a_file_that_holds_the_url_is_not_the_page(self, cast: Cast) -> None:
        page, file = added(cast, urls=URL)[0], added(cast, files=SimpleUploadedFile("a.txt", URL.encode()))[0]
        assert (file["duplicate"], page["id"] != file["id"]) == (False, True)

    def test_a_failed_one_is_processed_again(self, cast: Cast) -> None:
        added(cast, urls=URL)
        Document.unscoped.update(status=Status.FAILED, error_code="unreachable_url", error_message="Gone.")
        ProcrastinateJob.objects.all().delete()
        [document] = added(cast, urls=URL)
        assert (document["status"], document["error"], document["duplicate"]) == ("queued", None, True)
        assert ProcrastinateJob.objects.count() == 1

    @pytest.mark.parametrize(
        "url",
        [
            *(
                "",
                "example.org",
                "ftp://example.org/",
                "http://user:pw@example.org/",
                "http://example.org:22/",
            ),
            *("https://example.org/" + "a" * 2048, "http://example.org/\x07x", "http://exa mple.org/"),
        ],
    )
    def test_a_bad_url_is_named_and_nothing_is_stored(self, cast: Cast, url: str) -> None:
        response = post(cast, urls=[URL, url], files=SimpleUploadedFile("a.txt", b"x"))
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["param"]) == (400, "validation_error", "urls[1]")
        assert not Document.unscoped.exists()

    @pytest.mark.parametrize(
        "url", ["http://127.0.0.1/", "http://localhost/", "http://2130706433/", "http://[::1]/"]
    )
    def test_what_is_blocked_is_for_the_document_to_say(self, cast: Cast, url: str) -> None:
        assert post(cast, urls=url).status_code == 202

    @pytest.mark.parametrize(
        ("name", "form", "status"),
        [
            ("bob", {"workspace_id": "team"}, 403),
            ("charlie", {"workspace_id": "team"}, 404),
            ("alice", {"session_id": "00000000-0000-4000-8000-000000000000"}, 404),
            ("alice", {"url": URL}, 400),
        ],
    )
    def test_the_rules_of_uploads_hold(
        self, cast: Cast, name: str, form: dict[str, str], status: int
    ) -> None:
        form = {key: str(cast.team.pk) if value == "team" else value for key, value in form.items()}
        assert post(cast, name, urls=URL, **form).status_code == status
        assert not Document.unscoped.exists()


class TestBeforeTheFetch:
    def test_there_is_no_file_and_the_answer_says_so(self, cast: Cast) -> None:
        [document] = added(cast, urls=URL)
        response = Client().get(f"{API}/{document['id']}/file", headers=cast.headers("alice"))
        assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")
        assert "not been fetched" in response.json()["error"]["message"]

    def test_it_can_be_deleted(
        self, cast: Cast, django_capture_on_commit_callbacks: Callable[..., Any]
    ) -> None:
        [document] = added(cast, urls=URL)
        with django_capture_on_commit_callbacks(execute=True):
            response = Client().delete(f"{API}/{document['id']}", headers=cast.headers("alice"))
        assert response.json() == {
            "deleted": {"documents": 1, "chunks": 0, "vectors": 0, "files": 0, "bytes": 0}
        }
        assert not Document.unscoped.exists()


class TestFetching:
    @pytest.fixture
    def web(self, settings: Any) -> Iterator[Web]:
        with serving() as web:
            settings.WEB_FETCH_ALLOW = [web.address]
            yield web

    @pytest.fixture
    def add(self, cast: Cast) -> Callable[[str], Document]:
        return lambda url: Document.unscoped.get(pk=added(cast, urls=url)[0]["id"])

    def test_the_page_becomes_the_file(self, web: Web, add: Callable[[str], Document]) -> None:
        body = b"<title>T</title>" + b"x" * 200_000
        document = add(web.page("/a/report.html?year=2023", body))
        fetch_document(document)
        stored = now(document)
        assert stored_bytes(stored) == body
        assert (stored.size, stored.sha256) == (len(body), hashlib.sha256(body).hexdigest())
        assert (stored.name, stored.mime_type) == ("report.html", "text/html")
        assert (document.size, document.sha256, document.name) == (stored.size, stored.sha256, stored.name)
        assert document.file.name == stored.file.name

    def test_the_host_names_a_page_without_a_path(self, web: Web, add: Callable[[str], Document]) -> None:
        document = add(web.page("/"))
        fetch_document(document)
        assert now(document).name == "127.0.0.1"

    def test_a_name_that_somebody_gave_stays(self, web: Web, add: Callable[[str], Document]) -> None:
        document = add(web.page("/a"))
        Document.unscoped.update(name="Mine")
        fetch_document(document)
        assert now(document).name == "Mine"

    def test_the_file_is_served(self, web: Web, add: Callable[[str], Document], cast: Cast) -> None:
        document = add(web.page("/a", b"words", "text/plain"))
        fetch_document(document)
        response = Client().get(f"{API}/{document.pk}/file", headers=cast.headers("alice"))
        assert (response.status_code, response["Content-Type"]) == (200, "text/plain")

    def test_processing_again_fetches_anew_and_leaves_one_file(
        self, web: Web, add: Callable[[str], Document]
    ) -> None:
        document = add(web.page("/a", b"old"))
        fetch_document(document)
        page_cache(document).mkdir(parents=True)
        web.page("/a", b"new")
        reprocess(document)
        fetch_document(document)
        assert stored_bytes(now(document)) == b"new"
        assert {f"{document_folder(document.pk)}/{name}" for name in names_beside(document)} == {
            now(document).file.name
        }
        assert not page_cache(document).exists()

    def test_a_page_whose_file_was_lost_has_one_again(self, web: Web, add: Callable[[str], Document]) -> None:
        """The new file gets the name of the lost one, and was deleted in its place."""
        document = add(web.page("/a", b"words"))
        fetch_document(document)
        fetched = now(document)
        lose_file(fetched)
        fetch_document(now(document))
        assert stored_bytes(fetched) == b"words"

    def test_a_failed_fetch_leaves_the_old_file(self, web: Web, add: Callable[[str], Document]) -> None:
        document = add(web.page("/a", b"old"))
        fetch_document(document)
        web.page("/a", b"new", "image/png")
        with pytest.raises(DocumentError):
            fetch_document(document)
        assert stored_bytes(now(document)) == b"old"

    def test_errors_carry_the_codes_of_documents(
        self, web: Web, add: Callable[[str], Document], settings: Any
    ) -> None:
        settings.WEB_FETCH_MAX_BYTES = 1000
        urls = {
            "http://127.0.0.1/": "blocked_url",
            "http://localhost/": "blocked_url",
            "http://0x7f.1/": "blocked_url",
            web.redirect("/inside", "http://169.254.169.254/latest"): "blocked_url",
            web.url("/nothing"): "unreachable_url",
            web.page("/image", b"x", "image/png"): "unsupported_type",
            web.page("/large", b"x" * 1001): "too_large",
        }
        for url, code in urls.items():
            with pytest.raises(DocumentError) as failed:
                fetch_document(add(url))
            assert (failed.value.code, failed.value.message.endswith(".")) == (code, True)

    def test_no_more_is_fetched_than_may_be_uploaded(
        self, web: Web, add: Callable[[str], Document], settings: Any
    ) -> None:
        document = add(web.page("/a", b"x" * 1001))
        settings.MAX_UPLOAD_BYTES = 1000
        with pytest.raises(DocumentError) as failed:
            fetch_document(document)
        assert failed.value.code == "too_large"

    def test_a_document_deleted_meanwhile_leaves_no_file(
        self, web: Web, add: Callable[[str], Document]
    ) -> None:
        document = add(web.page("/a"))
        gone = now(document)
        Document.unscoped.filter(pk=document.pk).delete()
        with pytest.raises(Superseded):
            fetch_document(gone)
        assert names_beside(gone) == set()

    def test_deleting_removes_what_was_fetched(
        self,
        web: Web,
        add: Callable[[str], Document],
        cast: Cast,
        django_capture_on_commit_callbacks: Callable[..., Any],
    ) -> None:
        document = add(web.page("/a"))
        fetch_document(document)
        with django_capture_on_commit_callbacks(execute=True):
            receipt = Client().delete(f"{API}/{document.pk}", headers=cast.headers("alice")).json()["deleted"]
        assert (receipt["files"], receipt["bytes"]) == (1, len(b"<p>Hello</p>"))
        assert not has_folder(document)


def test_a_lost_file_comes_back_by_uploading_it_again(cast: Cast) -> None:
    content = pdf_of("words")
    [first] = added(cast, files=SimpleUploadedFile("a.pdf", content))
    document = Document.unscoped.get()
    lose_file(document)
    response = Client().get(f"{API}/{document.pk}/file", headers=cast.headers("alice"))
    assert (response.status_code, "Upload the same file again" in response.json()["error"]["message"]) == (
        404,
        True,
    )
    [again] = added(cast, files=SimpleUploadedFile("a.pdf", content))
    assert (again["id"], again["duplicate"], again["status"]) == (first["id"], True, "queued")
    assert stored_bytes(now(document)) == content


def test_without_a_file_there_is_nothing_to_process_again(cast: Cast) -> None:
    added(cast, files=SimpleUploadedFile("a.pdf", pdf_of("words")))
    Document.unscoped.update(file="", status=Status.FAILED)
    response = Client().post(f"{API}/{Document.unscoped.get().pk}/reprocess", headers=cast.headers("alice"))
    assert (response.status_code, response.json()["error"]["code"]) == (400, "conflict")
