"""From an upload to a searchable document, or to a clear reason why not."""

from __future__ import annotations

import os
from typing import Any

import pytest

from accounts.access.identity import principal_of_user
from core.errors import DocumentError
from extract.base import Warned
from extract.errors import NoText
from ingestion import pipeline
from ingestion.progress import Interrupted, Superseded
from kb.changes import cancel
from kb.documents import reprocess
from kb.embedding import active_space
from kb.models import Chunk, ChunkVector, Document, Searchable, Stage, Status
from search.questions import Question, RankingSettings
from search.retrieval import rank
from tests.conftest import Cast
from tests.ingestion.conftest import Upload
from tests.testing.payments import UNRECORDED

pytestmark = pytest.mark.django_db


def ingested(document: Document) -> Document:
    """Run the pipeline as the job does, errors written on the document; queue it if it is finished."""
    document.refresh_from_db()
    if document.is_finished:
        reprocess(document)
    try:
        pipeline.ingest(document.pk)
    except DocumentError as error:
        pipeline.fail(document.pk, error)
    return Document.unscoped.get(pk=document.pk)


def chunks_of(document: Document) -> list[Chunk]:
    return list(Chunk.unscoped.filter(document=document, replaced_by=None).order_by("ordinal"))


def test_a_report_becomes_ready_and_whole(upload: Upload) -> None:
    document = ingested(upload("report.pdf"))
    assert (document.status, document.stage, document.progress) == (Status.READY, Stage.DONE, 1.0)
    assert (document.searchable, document.language, document.page_count) == (Searchable.FULL, "en", 4)
    assert document.text_ready_at is not None and document.indexed_at is not None
    chunks = chunks_of(document)
    assert document.chunk_count == len(chunks) == 4
    assert chunks[0].headings == ["The Tower"]
    assert all(chunk.workspace_id == document.workspace_id and chunk.page_number for chunk in chunks)
    assert "short history" not in " ".join(chunk.text for chunk in chunks)  # the running head
    assert ChunkVector.objects.filter(space=active_space(), chunk__in=chunks).count() == 4


def test_it_is_found_by_another_form_of_its_words(cast: Cast, upload: Upload) -> None:
    ingested(upload("report.pdf"))
    by_words = RankingSettings(vector=0)
    found = rank(
        principal_of_user(cast.alice),
        Question("keeper baking"),
        limit=1,
        settings=by_words,
        payment=UNRECORDED,
    )
    assert [hit.chunk.page_number for hit in found.results] == [3]


BAD = [
    ("empty.pdf", b"", "empty"),
    ("blank.txt", b" \n\t\n", "empty"),
    ("encrypted.pdf", None, "encrypted"),
    ("truncated.pdf", None, "corrupted"),
    ("no_pages.pdf", None, "corrupted"),
    ("header_only.pdf", b"%PDF-1.7\n%%EOF\n", "corrupted"),
    ("random.pdf", os.urandom(4096), "unsupported_type"),
    ("scan.pdf", None, "no_text"),
]


@pytest.mark.parametrize(("name", "content", "code"), BAD, ids=[name for name, _, _ in BAD])
def test_what_cant_be_read_fails_with_its_code_and_no_chunks(
    upload: Upload, name: str, content: bytes | None, code: str
) -> None:
    document = ingested(upload(name, content))
    assert (document.status, document.error_code) == (Status.FAILED, code)
    assert document.error_message.endswith(".")
    assert (chunks_of(document), document.chunk_count, document.searchable) == ([], 0, Searchable.NONE)
    assert document.file.storage.exists(document.file.name)


def test_too_many_pages(upload: Upload, settings: Any) -> None:
    settings.MAX_PAGES = 3
    assert ingested(upload("report.pdf")).error_code == "too_many_pages"


def test_text_named_pdf_is_a_text_document_with_a_warning(upload: Upload) -> None:
    document = ingested(upload("text_named.pdf"))
    assert (document.status, document.file_type, document.mime_type) == (Status.READY, "txt", "text/plain")
    assert [warning["code"] for warning in document.warnings] == ["name_mismatch"]
    assert chunks_of(document)[0].page_number is None


def test_an_empty_user_password_opens(upload: Upload) -> None:
    assert ingested(upload("no_password.pdf")).status == Status.READY


def test_processing_again_keeps_ids_and_vectors(upload: Upload) -> None:
    document = ingested(upload("report.pdf"))
    before = set(ChunkVector.objects.values_list("pk", "chunk_id"))
    ingested(document)
    assert set(ChunkVector.objects.values_list("pk", "chunk_id")) == before
    assert Chunk.unscoped.count() == 4


def test_replaced_chunks_point_at_their_successors(upload: Upload, monkeypatch: pytest.MonkeyPatch) -> None:
    document = ingested(upload("notes.md"))
    before = chunks_of(document)
    monkeypatch.setattr("ingestion.chunking.LARGEST", 40)
    after = {chunk.pk for chunk in chunks_of(ingested(document))}
    replaced = Chunk.unscoped.filter(pk__in=[chunk.pk for chunk in before]).exclude(replaced_by=None)
    assert replaced and after.isdisjoint(chunk.pk for chunk in replaced)
    for chunk in replaced:
        assert chunk.replaced_by and set(chunk.replaced_by) <= after
    assert not ChunkVector.objects.filter(chunk__in=replaced).exists()


def test_a_changed_heading_path_is_embedded_again(upload: Upload) -> None:
    document = ingested(upload("report.pdf"))
    first = chunks_of(document)[0]
    Chunk.unscoped.filter(pk=first.pk).update(headings=["Something else"])
    old = ChunkVector.objects.get(chunk=first).pk
    ingested(document)
    assert ChunkVector.objects.get(chunk=first).pk != old


def test_a_failure_after_success_leaves_no_chunks(upload: Upload, settings: Any) -> None:
    document = ingested(upload("report.pdf"))
    settings.MAX_PAGES = 1
    assert ingested(document).status == Status.FAILED
    assert not Chunk.unscoped.filter(document=document).exists()


def test_the_run_before_does_not_end_what_was_queued_after_it(
    upload: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = upload("report.pdf")

    def meanwhile(*args: object) -> list[Warned]:
        reprocess(cancel(document))
        return []

    monkeypatch.setattr(pipeline, "add_attachments", meanwhile)
    with pytest.raises(Superseded):
        pipeline.ingest(document.pk)
    pipeline.fail(document.pk, NoText())
    document.refresh_from_db()
    assert (document.status, document.error_code, document.progress) == (Status.QUEUED, "", 0.0)
    assert not chunks_of(document)
    monkeypatch.undo()
    assert ingested(document).status == Status.READY


def test_a_job_too_many_leaves_a_finished_document_alone(upload: Upload) -> None:
    document = ingested(upload("report.pdf"))
    with pytest.raises(Superseded):
        pipeline.ingest(document.pk)
    assert Document.unscoped.get(pk=document.pk).status == Status.READY


@pytest.mark.parametrize("end", ["deleted", "cancelled"])
def test_a_document_that_goes_away_ends_the_job(upload: Upload, end: str) -> None:
    document = upload("report.pdf")
    if end == "deleted":
        document.delete()
    else:
        Document.unscoped.filter(pk=document.pk).update(status=Status.CANCELLED)
    with pytest.raises(Superseded):
        pipeline.ingest(document.pk)


def test_an_interrupted_run_is_completed_by_the_next(upload: Upload) -> None:
    document = upload("report.pdf")
    answers = iter([False, False, False, False, True])
    with pytest.raises(Interrupted):
        pipeline.ingest(document.pk, interrupted=lambda: next(answers))
    assert ingested(document).status == Status.READY
    assert len(chunks_of(document)) == ChunkVector.objects.count() == 4


@pytest.mark.parametrize(
    ("given", "kept"),
    [("light.html", "The Light"), ("The page I was looking for", "The page I was looking for")],
)
def test_a_web_page_takes_its_title_unless_somebody_named_it(
    upload: Upload, monkeypatch: pytest.MonkeyPatch, given: str, kept: str
) -> None:
    page = (
        b"<html><title>The Light</title><body><p>The lamp has burned since the year 1871.</p></body></html>"
    )
    document = upload("light.html", page)
    Document.unscoped.filter(pk=document.pk).update(url="https://example.org/light.html", name=given)
    monkeypatch.setattr(pipeline, "fetch_document", lambda document, checkpoint: None)
    assert ingested(document).name == kept
