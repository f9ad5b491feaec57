"""Pictures as chunks: where a workspace wants them, found by their words, and gone where it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import pymupdf
import pytest
from django.test import Client

from accounts.access.identity import principal_of_user
from core.locations import Box
from extract.errors import OutOfMemory
from extract.sandbox import parent
from kb.documents import reprocess
from kb.models import Chunk, Document, Modality, Status
from search.questions import Question
from search.retrieval import rank
from tests.conftest import Cast
from tests.ingestion import pictured as sample
from tests.ingestion.conftest import Upload
from tests.ingestion.test_pipeline import chunks_of, ingested
from tests.testing.paths import SAMPLES
from tests.testing.payments import UNRECORDED

pytestmark = pytest.mark.django_db


def switch(cast: Cast, *, on: bool) -> None:
    cast.team.settings = {"rag": {"multimodal": on}}
    cast.team.save()


@pytest.fixture
def multimodal(cast: Cast) -> Cast:
    """The cast, with a team workspace that wants pictures."""
    switch(cast, on=True)
    return cast


@pytest.fixture
def report(tmp_path: Path) -> bytes:
    return sample.write_report(tmp_path / "report.pdf").read_bytes()


def pictures_of(document: Document) -> list[Chunk]:
    return [chunk for chunk in chunks_of(document) if chunk.shown]


def ids_of(document: Document) -> list[UUID]:
    return [chunk.pk for chunk in chunks_of(document)]


def told(cast: Cast, chunk: Chunk) -> Any:
    return Client().get(f"/chunks/{chunk.pk}", headers=cast.headers("bob")).json()


# --- In a PDF ----------------------------------------------------------------------------------------------


def test_each_picture_is_a_chunk_of_its_own(multimodal: Cast, upload: Upload, report: bytes) -> None:
    document = ingested(upload("report.pdf", report))
    assert (document.status, document.warnings) == (Status.READY, [])
    photo, chart = pictures_of(document)
    assert photo.text == f"{sample.PHOTO_CAPTION}\n\n{sample.SIGN}"
    assert chart.text.startswith(sample.CHART_CAPTION)
    assert {photo.modality, chart.modality} == {Modality.IMAGE}
    assert photo.headings == ["The harbour in 2022"]
    body = told(multimodal, photo)
    assert body["page_number"] == 1
    area, *lines = [box["bbox"] for box in body["bbox"]]
    assert area == pytest.approx([60.2, 200, 339.8, 330], abs=1)
    # Below it, the line of the caption.
    assert len(lines) == 1 and lines[0][1] > 330
    assert body["metadata"]["picture"] == body["bbox"][0]
    assert "machine_made" not in body["metadata"]


def test_nothing_is_said_twice_and_nothing_lost(multimodal: Cast, upload: Upload, report: bytes) -> None:
    document = ingested(upload("report.pdf", report))
    words = " ".join(chunk.text for chunk in chunks_of(document)).split()
    with pymupdf.open(stream=report) as pdf:
        on_page = pdf[0].get_text().split()
    assert sorted(words) == sorted([*on_page, *sample.SIGN.split()])


def test_a_picture_is_found_by_what_is_written_in_it(multimodal: Cast, upload: Upload, report: bytes) -> None:
    document = ingested(upload("report.pdf", report))
    photo, chart = pictures_of(document)
    alice = principal_of_user(multimodal.alice)
    for query, chunk in (("when does the ferry depart", photo), ("ships that called in 2020", chart)):
        assert rank(alice, Question(query), limit=1, payment=UNRECORDED).results[0].chunk.pk == chunk.pk


def test_a_word_in_a_picture_has_its_own_place(multimodal: Cast, upload: Upload, report: bytes) -> None:
    photo, _ = pictures_of(ingested(upload("report.pdf", report)))
    at = photo.text.index(sample.SIGN)
    [box] = photo.located.boxes(at, at + len(sample.SIGN))
    sign = Box(60 + 30 / 2, 200 + 80 / 2, 60 + 530 / 2, 200 + 180 / 2)
    assert sign.x1 <= box.box.x1 and box.box.x2 <= sign.x2
    assert sign.y1 <= box.box.y1 and box.box.y2 <= sign.y2


# --- Wanted or not -----------------------------------------------------------------------------------------


def test_where_they_are_not_wanted_nothing_changes(cast: Cast, upload: Upload, report: bytes) -> None:
    document = ingested(upload("report.pdf", report))
    before = ids_of(document)
    assert pictures_of(document) == []
    assert Chunk.unscoped.filter(document=document, picture__isnull=False).count() == 0
    assert sample.SIGN not in " ".join(chunk.text for chunk in chunks_of(document))

    switch(cast, on=True)
    # A change of the setting alone changes no document.
    assert ids_of(document) == before
    reprocess(document)
    with_pictures = ids_of(ingested(document))
    assert len(pictures_of(document)) == 2

    reprocess(document)
    assert ids_of(ingested(document)) == with_pictures

    switch(cast, on=False)
    reprocess(document)
    assert ids_of(ingested(document)) == before
    for gone in set(with_pictures) - set(before):
        assert Chunk.unscoped.get(pk=gone).replaced_by is not None


def test_other_workspaces_are_left_alone(multimodal: Cast, report: bytes) -> None:
    from tests.ingestion.conftest import upload_to

    document = ingested(upload_to(multimodal.alice.personal_workspace, report, "report.pdf"))
    assert pictures_of(document) == []


# --- Other kinds -------------------------------------------------------------------------------------------


def test_a_photo_with_a_sign_is_a_picture(multimodal: Cast, upload: Upload, tmp_path: Path) -> None:
    photo = sample.write_photo(tmp_path / "quay.png").read_bytes()
    [chunk] = chunks_of(ingested(upload("quay.png", photo)))
    assert chunk.text == sample.SIGN
    with pymupdf.open(stream=photo) as image:
        width, height = image[0].rect.width, image[0].rect.height
    shown = told(multimodal, chunk)["metadata"]["picture"]
    assert shown["bbox"] == [0, 0, shown["layout_width"], shown["layout_height"]]
    assert shown["layout_width"] / shown["layout_height"] == pytest.approx(width / height)


def test_a_scanned_letter_is_text(multimodal: Cast, upload: Upload) -> None:
    document = ingested(upload("scans.tiff"))
    assert document.status == Status.READY
    assert pictures_of(document) == []


def test_the_words_for_a_picture_on_a_slide(multimodal: Cast, upload: Upload, tmp_path: Path) -> None:
    from pptx import Presentation
    from pptx.util import Inches

    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "The harbour"
    added = slide.shapes.add_picture(
        str(sample.write_photo(tmp_path / "quay.png")), Inches(1), Inches(2), width=Inches(4)
    )
    added._element.nvPicPr.cNvPr.set("descr", "A white sign on the quay")
    deck.save(tmp_path / "deck.pptx")
    document = ingested(upload("deck.pptx", (tmp_path / "deck.pptx").read_bytes()))
    [picture] = pictures_of(document)
    # What an author wrote about it, and what is read in it.
    assert picture.text.split("\n\n") == ["A white sign on the quay", "FERRY DEPARTS 0930"]
    assert picture.modality == Modality.IMAGE
    body = told(multimodal, picture)
    assert (body["bbox"], body["metadata"]["picture"], body["metadata"]["slides"]) == (None, None, [1])


# --- What goes wrong ---------------------------------------------------------------------------------------


def test_pictures_that_kill_their_reader_cost_no_text(
    multimodal: Cast, upload: Upload, report: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = parent.extract

    def extract(*args: Any, pictures: bool = False, **options: Any) -> Any:
        if pictures:
            raise OutOfMemory
        return real(*args, **options)

    monkeypatch.setattr("ingestion.extraction.extract", extract)
    document = ingested(upload("report.pdf", report))
    assert document.status == Status.READY
    assert [warning["code"] for warning in document.warnings] == ["pictures_unread"]
    assert "Not all pictures were read." in document.warnings[0]["message"]
    assert sample.BEFORE.split(",")[0][:40] in chunks_of(document)[0].text


def test_a_document_of_text_alone_has_none(multimodal: Cast, upload: Upload) -> None:
    document = ingested(upload("report.pdf", (SAMPLES / "report.pdf").read_bytes()))
    assert (document.status, pictures_of(document)) == (Status.READY, [])
