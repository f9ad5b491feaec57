"""What happens to a document after its upload: cancelled, renamed, tagged, moved, and reported on."""

from __future__ import annotations

import threading
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.models import Membership, Workspace
from accounts.roles import Role
from core.errors import NotFound
from core.locations import InFile, InTime, LocatedText, Span
from ingestion.pipeline import ingest
from ingestion.progress import Superseded
from kb.changes import cancel
from kb.chunks import swap_chunks
from kb.documents import reprocess
from kb.models import Chunk, ChunkVector, Document, Modality, Searchable, Stage, Status
from tests.conftest import Cast, make_cast
from tests.factories import TEXT, add_chunk, chunk_id, indexed_document, pdf_of

API = "/api/v1/documents"


def call(cast: Cast, method: str, path: str, body: Any = None, name: str = "alice") -> Any:
    """Call the API as somebody."""
    return getattr(Client(), method)(
        f"{API}/{path}", body, content_type="application/json", headers=cast.headers(name)
    )


def uploaded(cast: Cast, text: str = TEXT) -> Document:
    """Upload a document, for which a job then waits."""
    from django.core.files.uploadedfile import SimpleUploadedFile

    form = {"files": SimpleUploadedFile("a.pdf", pdf_of(text)), "workspace_id": str(cast.team.pk)}
    body = Client().post(API, form, headers=cast.headers("alice")).json()
    return Document.unscoped.get(pk=body["documents"][0]["id"])


class TestCancel:
    def test_a_waiting_document_leaves_nothing_but_its_file(self, cast: Cast) -> None:
        document = uploaded(cast)
        response = call(cast, "post", f"{document.pk}/cancel")
        body = response.json()
        assert response.status_code == 200
        assert [body[key] for key in ("status", "stage", "searchable", "chunk_count", "activity")] == [
            *("cancelled", "done", "none", 0, None)
        ]
        assert not ProcrastinateJob.objects.exists()
        assert Document.unscoped.get().file.storage.exists(document.file.name)

    def test_what_was_searchable_early_goes(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        Document.unscoped.update(
            status=Status.INDEXING, stage=Stage.EMBEDDING, searchable="words", text_ready_at=timezone.now()
        )
        body = call(cast, "post", f"{document.pk}/cancel").json()
        assert (body["status"], body["searchable"], body["text_ready_at"]) == ("cancelled", "none", None)
        assert not Chunk.unscoped.exists()
        assert not ChunkVector.objects.exists()

    @pytest.mark.parametrize("vectors", [True, False], ids=["with vectors", "with words only"])
    def test_a_document_that_was_ready_stays_findable(self, cast: Cast, vectors: bool) -> None:
        document = indexed_document(cast.team)
        warning = {"code": "pages_unreadable", "message": "1 of 2 pages could not be read: 2."}
        Document.unscoped.update(
            status=Status.EXTRACTING,
            stage=Stage.EXTRACTING,
            indexed_at=timezone.now(),
            quality={"warnings": [warning]},
        )
        if not vectors:
            ChunkVector.objects.all().delete()
        body = call(cast, "post", f"{document.pk}/cancel").json()
        assert (body["status"], body["stage"], body["chunk_count"]) == ("cancelled", "done", 1)
        assert body["searchable"] == ("full" if vectors else "words")
        # The run that was cancelled had cleared them, but they are about the chunks that stay.
        assert body["warnings"] == [warning]
        assert Chunk.unscoped.count() == 1

    @pytest.mark.parametrize("status", [Status.READY, Status.PARTIAL, Status.FAILED, Status.CANCELLED])
    def test_a_finished_document_stays_as_it_is(self, cast: Cast, status: Status) -> None:
        document = indexed_document(cast.team)
        Document.unscoped.update(status=status)
        before = call(cast, "get", str(document.pk)).json()
        response = call(cast, "post", f"{document.pk}/cancel")
        assert (response.status_code, response.json()) == (200, before)

    def test_a_cancelled_document_can_be_processed_again(self, cast: Cast) -> None:
        document = uploaded(cast)
        call(cast, "post", f"{document.pk}/cancel")
        with pytest.raises(Superseded):
            ingest(document.pk)
        response = call(cast, "post", f"{document.pk}/reprocess")
        assert (response.status_code, response.json()["status"]) == (202, "queued")
        assert ProcrastinateJob.objects.count() == 1
        ingest(document.pk)
        assert call(cast, "get", str(document.pk)).json()["status"] == "ready"

    def test_processing_again_forgets_no_change_made_meanwhile(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        call(cast, "patch", str(document.pk), {"title": "new name"})
        Document.unscoped.update(activity={"done": 1})
        reprocess(document)
        assert (document.name, document.activity) == ("new name", None)
        assert Document.unscoped.get().name == "new name"

    def test_a_deleted_document_is_not_brought_back(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        Document.unscoped.all().delete()
        with pytest.raises(NotFound):
            reprocess(document)
        with pytest.raises(NotFound):
            cancel(document)
        assert not Document.unscoped.exists()

    def test_a_viewer_may_not_cancel(self, cast: Cast) -> None:
        document = uploaded(cast)
        assert call(cast, "post", f"{document.pk}/cancel", name="bob").status_code == 403
        assert call(cast, "post", f"{document.pk}/cancel", name="charlie").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_a_cancellation_waits_for_a_swap_and_then_removes_what_it_brought() -> None:
    cast = make_cast()
    document = indexed_document(cast.team)
    Document.unscoped.update(status=Status.EXTRACTING, indexed_at=None)
    answers: list[int] = []

    def cancel() -> None:
        answers.append(call(cast, "post", f"{document.pk}/cancel").status_code)
        connection.close()

    other = threading.Thread(target=cancel)
    with transaction.atomic():
        swap_chunks(document.pk, [], "en")
        other.start()
        while not _waits_for_a_lock():
            pass
        add_chunk(document, LocatedText("brought by the swap"))
    other.join()
    assert answers == [200]
    assert not Chunk.unscoped.exists()
    assert Document.unscoped.get().chunk_count == 0


def _waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        # Within a transaction the server goes on telling what it told first.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock')"
        )
        return bool(cursor.fetchone()[0])


class TestPatch:
    def test_title_tags_and_metadata(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        body = {"title": " Solar 2023 ", "tags": ["energy", "town", "energy"], "metadata": {"year": 2023}}
        response = call(cast, "patch", str(document.pk), body)
        assert response.status_code == 200
        changed = response.json()
        assert (changed["name"], changed["tags"], changed["metadata"]) == (
            "Solar 2023",
            ["energy", "town"],
            {"year": 2023},
        )
        assert call(cast, "get", str(document.pk)).json() == changed
        chunk = Client().get(f"/chunks/{chunk_id(document)}", headers=cast.headers("alice")).json()
        assert chunk["metadata"]["filename"] == "Solar 2023"

    def test_what_is_not_named_stays(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        Document.unscoped.update(tags=["a"], metadata={"b": 1}, progress=0.25)
        changed = call(cast, "patch", str(document.pk), {"name": "new"}).json()
        assert (changed["tags"], changed["metadata"], changed["progress"]) == (["a"], {"b": 1}, 0.25)
        assert call(cast, "patch", str(document.pk), {}).status_code == 200
        assert call(cast, "patch", str(document.pk), {"tags": [], "metadata": {}}).json()["tags"] == []

    @pytest.mark.parametrize(
        ("body", "code", "param"),
        [
            ({"titel": "x"}, "unknown_field", "titel"),
            ({"language": "de"}, "unknown_field", "language"),
            ({"title": ""}, "validation_error", "title"),
            ({"title": "  "}, "validation_error", "title"),
            ({"title": 5}, "validation_error", "title"),
            ({"title": None}, "validation_error", "title"),
            ({"title": "x" * 501}, "validation_error", "title"),
            ({"title": "a\0b"}, "validation_error", "title"),
            ({"title": "a", "name": "b"}, "conflict", "name"),
            ({"tags": "a"}, "validation_error", "tags"),
            ({"tags": ["a", 1]}, "validation_error", "tags[1]"),
            ({"tags": ["x" * 101]}, "validation_error", "tags[0]"),
            ({"tags": None}, "validation_error", "tags"),
            ({"metadata": []}, "validation_error", "metadata"),
            ({"metadata": {"a": {"b": "\0"}}}, "validation_error", "metadata.a.b"),
            ({"workspace_id": "x"}, "validation_error", "workspace_id"),
            ({"workspace_id": 7}, "validation_error", "workspace_id"),
            ([], "validation_error", None),
        ],
        ids=str,
    )
    def test_bad_requests(self, cast: Cast, body: Any, code: str, param: str | None) -> None:
        document = indexed_document(cast.team)
        response = call(cast, "patch", str(document.pk), body)
        error = response.json()["error"]
        assert (response.status_code, error["code"], error.get("param")) == (400, code, param)
        assert Document.unscoped.get().name == "solar.pdf"

    def test_a_lone_surrogate_is_refused(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        response = call(cast, "patch", str(document.pk), '{"title": "\\ud800"}')
        assert (response.status_code, response.json()["error"]["param"]) == (400, "title")

    def test_a_viewer_may_not_change(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        assert call(cast, "patch", str(document.pk), {"title": "x"}, "bob").status_code == 403
        assert call(cast, "patch", str(document.pk), {"title": "x"}, "charlie").status_code == 404


class TestMove:
    def test_its_chunks_and_attachments_move_along(self, cast: Cast) -> None:
        mail, attached = (indexed_document(cast.team, name=name) for name in ("mail.eml", "a.pdf"))
        Document.unscoped.filter(pk=attached.pk).update(attached_to=mail)
        home = cast.alice.personal_workspace
        body = call(cast, "patch", str(mail.pk), {"workspace_id": str(home.pk)}).json()
        assert body["workspace_id"] == str(home.pk)
        assert set(Document.unscoped.values_list("workspace_id", flat=True)) == {home.pk}
        assert set(Chunk.unscoped.values_list("workspace_id", flat=True)) == {home.pk}
        assert Document.unscoped.get(pk=attached.pk).attached_to_id == mail.pk
        assert call(cast, "get", str(mail.pk), name="bob").status_code == 404
        assert Client().get(f"/chunks/{chunk_id(mail)}", headers=cast.headers("bob")).status_code == 404

    def test_an_attachment_leaves_its_mail_behind(self, cast: Cast) -> None:
        mail, attached = (indexed_document(cast.team, name=name) for name in ("mail.eml", "a.pdf"))
        Document.unscoped.filter(pk=attached.pk).update(attached_to=mail)
        body = call(cast, "patch", str(attached.pk), {"workspace": str(cast.alice.personal_workspace.pk)})
        assert body.json()["attached_to"] is None
        assert Document.unscoped.get(pk=mail.pk).workspace_id == cast.team.pk

    def test_the_same_content_is_there_already(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        twin = indexed_document(cast.alice.personal_workspace)
        Document.unscoped.filter(pk=twin.pk).update(identity=document.identity)
        response = call(
            cast, "patch", str(document.pk), {"workspace_id": str(twin.workspace_id), "name": "x"}
        )
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["param"]) == (400, "conflict", "workspace_id")
        unmoved = Document.unscoped.get(pk=document.pk)
        assert (unmoved.workspace_id, unmoved.name) == (cast.team.pk, "solar.pdf")

    @pytest.mark.parametrize(
        ("role", "status"), [(None, 404), (Role.VIEWER, 403), (Role.EDITOR, 200)], ids=str
    )
    def test_it_takes_an_editor_in_both(self, cast: Cast, role: Role | None, status: int) -> None:
        document = indexed_document(cast.team)
        target = Workspace.create_for(cast.charlie, name="Elsewhere")
        if role:
            Membership.objects.create(workspace=target, user=cast.alice, role=role)
        response = call(cast, "patch", str(document.pk), {"workspace_id": str(target.pk)})
        assert response.status_code == status
        moved_to = Document.unscoped.get().workspace_id
        assert moved_to == (target.pk if status == 200 else cast.team.pk)


class TestQuality:
    def test_before_there_is_a_report_its_shape_is_there(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        body = call(cast, "get", f"{document.pk}/quality").json()
        assert (body["document_id"], body["units"], body["unreadable"]) == (str(document.pk), None, [])

    def test_the_report(self, cast: Cast) -> None:
        document = uploaded(cast)
        ingest(document.pk)
        body = call(cast, "get", f"{document.pk}/quality").json()
        empty = call(cast, "get", f"{indexed_document(cast.team).pk}/quality").json()
        assert (body["unit"], body["units"]["total"], body["units"]["text"]) == ("page", 1, 1)
        assert body["characters"] > 0
        assert set(body) == set(empty)

    def test_a_failed_document_has_none(self, cast: Cast) -> None:
        document = indexed_document(cast.team)
        Document.unscoped.update(status=Status.FAILED, quality={"unit": "page", "units": {"total": 3}})
        assert call(cast, "get", f"{document.pk}/quality").json()["units"] is None


class TestJson:
    def test_a_document_says_what_is_being_done_and_where_it_came_from(self, cast: Cast) -> None:
        mail, attached = (indexed_document(cast.team, name=name) for name in ("mail.eml", "a.pdf"))
        activity = {"done": 12, "total": 40, "unit": "page", "seconds_left": 61.5}
        Document.unscoped.filter(pk=attached.pk).update(
            attached_to=mail, url="https://example.org/a.pdf", activity=activity
        )
        body = call(cast, "get", str(attached.pk)).json()
        assert (body["activity"], body["url"], body["attached_to"]) == (
            activity,
            "https://example.org/a.pdf",
            str(mail.pk),
        )
        listed = Client().get(API, {"attached_to": str(mail.pk)}, headers=cast.headers("alice")).json()
        assert [one["id"] for one in listed["results"]] == [str(attached.pk)]

    @pytest.mark.parametrize(
        ("places", "expected"),
        [
            ([InFile(lines=(10, 12)), InFile(lines=(30, 34))], {"lines": [10, 34]}),
            ([InFile(slide=3), InFile(slide=2), InFile(slide=3)], {"slides": [2, 3]}),
            (
                [InFile(sheet="Sales", cells=(1, 1, 1, 3)), InFile(sheet="Sales", cells=(2, 1, 7, 2))],
                {"sheet": "Sales", "cells": "A1:C7"},
            ),
            ([InFile(sheet="Sales", cells=(5, 28, 5, 28))], {"sheet": "Sales", "cells": "AB5"}),
            ([InFile()], {}),
            ([InTime(1.0, 2.0)], {}),
        ],
        ids=["lines", "slides", "cells", "one cell far out", "nowhere", "in time"],
    )
    def test_a_chunk_says_where_in_its_file_it_stands(
        self, cast: Cast, places: list[Any], expected: dict[str, Any]
    ) -> None:
        document = indexed_document(cast.team, name="book.xlsx")
        spans = tuple(Span(i, i + 1, place) for i, place in enumerate(places))
        chunk = add_chunk(document, LocatedText.of_spans("one two three", spans), ordinal=1)
        Chunk.unscoped.filter(pk=chunk.pk).update(modality=Modality.TABLE, headings=["2023"])
        body = Client().get(f"/chunks/{chunk.pk}", headers=cast.headers("alice")).json()
        assert body["metadata"] == {
            "filename": "book.xlsx",
            "languages": ["eng"],
            "modality": "table",
            "headings": ["2023"],
            **expected,
        }
        assert body["bbox"] is None


def test_searchable_has_the_words_of_the_contract() -> None:
    assert set(Searchable.values) == {"none", "words", "full"}


@pytest.mark.parametrize("action", ["cancel", "quality", "events"])
def test_an_unknown_document_is_404(cast: Cast, action: str) -> None:
    response = call(cast, "post" if action == "cancel" else "get", f"{uuid4()}/{action}")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")
