"""Documents of every kind as the worker would leave them, for pages that show them."""

from __future__ import annotations

import io
import math
import struct
import wave
from typing import Any

import pymupdf
from django.core.files.base import ContentFile

from accounts.models import Workspace
from core.locations import Box, InFile, InTime, LocatedText, OnPage, Page, Span
from kb.models import Chunk, Document, Modality, Searchable, Stage, Status
from tests.factories import indexed_document, stored_document

RATE = 8000
SPOKEN = [
    "Good morning and welcome to the harbour council.",
    "The lighthouse was lit for the first time on 4 August 1868.",
    "The next meeting is on Thursday at noon.",
]
SECS_EACH = 4.0
SIGN = "FERRY DEPARTS 09:30"
SHEET = "| Town | Ships |\n| --- | --- |\n| Almería | 42 |\n| Punta Brava | 17 |"


def everywhere(text: str, place: Any) -> LocatedText:
    """Return a text of which every word stands at one place."""
    return LocatedText.of_spans(text, [Span(0, len(text), place)])


def notes(workspace: Workspace) -> Document:
    """Two chunks of a text file, with their lines."""
    places = [InFile(lines=(1, 9)), InFile(lines=(10, 34))]
    texts = ["The harbour master keeps a book of arrivals.", "The ferry leaves at noon. It is blue."]
    located = [everywhere(text, place) for text, place in zip(texts, places, strict=True)]
    document = stored_document(
        workspace, "notes.md", b"notes", located, file_type="md", mime_type="text/markdown"
    )
    Chunk.unscoped.filter(document=document, ordinal=1).update(headings=["Harbour", "Ferries"])
    return document


def workbook(workspace: Workspace) -> Document:
    """A sheet with a table."""
    place = InFile(sheet="Sales", cells=(1, 1, 7, 3))
    document = stored_document(
        workspace, "sales.xlsx", b"sheet", [everywhere(SHEET, place)], file_type="xlsx", mime_type=_XLSX
    )
    Chunk.unscoped.filter(document=document).update(modality=Modality.TABLE)
    return document


_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def photo(workspace: Workspace) -> Document:
    """A picture of a sign, with the box of its line."""
    page = Page(1, 640, 400)
    line = OnPage(page, 0, Box(80, 150, 560, 250))
    document = stored_document(
        workspace, "sign.png", _picture(), [everywhere(SIGN, line)], page_count=1, file_type="png"
    )
    Chunk.unscoped.filter(document=document).update(modality=Modality.IMAGE)
    document.mime_type = "image/png"
    document.save()
    return document


def _picture() -> bytes:
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=640, height=400)
        page.draw_rect(page.rect, fill=(0.93, 0.95, 0.9))
        page.insert_text((80, 220), SIGN, fontsize=44)
        return bytes(page.get_pixmap().tobytes("png"))


def recording(workspace: Workspace) -> Document:
    """Three sentences of a recording, with the times of their words."""
    located = []
    for number, text in enumerate(SPOKEN):
        start, words = SECS_EACH * number, text.split()
        step = SECS_EACH / len(words)
        times = [(word, InTime(start + i * step, start + (i + 1) * step)) for i, word in enumerate(words)]
        located.append(LocatedText.of_words(times))
    secs = SECS_EACH * len(SPOKEN)
    document = stored_document(
        workspace, "council.wav", _tone(secs), located, file_type="wav", mime_type="audio/wav", duration=secs
    )
    Chunk.unscoped.filter(document=document).update(modality=Modality.AUDIO)
    heard = {"units": {"total": 1, "text": 0, "speech": 1}, "recognised": [{"number": 1, "confidence": 0.87}]}
    seconds = {"total": secs, "speech": 10.0, "without_speech": 2.0}
    return reported(document, unit="part", seconds=seconds, **heard)


def _tone(secs: float) -> bytes:
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        samples = (int(6000 * math.sin(i * 440 * math.tau / RATE)) for i in range(int(secs * RATE)))
        file.writeframes(b"".join(struct.pack("<h", sample) for sample in samples))
    return written.getvalue()


def scanned(workspace: Workspace, pages: int = 40) -> Document:
    """A long report that is partly scanned, with every kind of page in its quality report."""
    document = indexed_document(workspace, name="town archive 1868–1902.pdf")
    with document.file.open("rb") as file:
        content = file.read()
    with pymupdf.open(stream=content, filetype="pdf") as pdf:
        for _ in range(pages - 1):
            pdf.new_page()
        document.file.save("original", ContentFile(pdf.tobytes(use_objstms=1)), save=False)
    document.page_count, document.size = pages, document.file.size
    warning = {"code": "pages_unreadable", "message": f"1 of {pages} pages could not be read: {pages}."}
    document.status, document.warnings = Status.PARTIAL, [warning]
    recognised = [{"number": n, "confidence": 0.97 - (n % 7) * 0.03} for n in range(13, 31)]
    recognised[4]["confidence"] = 0.52
    counts = {"total": pages, "text": pages - 21, "ocr": 18, "speech": 0, "blank": 2, "unreadable": 1}
    return reported(
        document,
        units=counts,
        unreadable=[pages],
        without_text=[12, 31],
        recognised=recognised,
        tables=3,
        pictures=7,
        characters=84_211,
        warnings=[warning],
    )


def reported(document: Document, **report: Any) -> Document:
    """Give a document a quality report: an empty one, but for what is named."""
    empty: dict[str, Any] = {
        "unit": "page",
        "units": {"total": 1, "text": 1},
        "unreadable": [],
        "without_text": [],
        "recognised": [],
        "characters": 180,
        "tables": 0,
        "pictures": 0,
        "seconds": None,
        "language": "en",
        "warnings": [],
    }
    document.quality = empty | report
    document.save()
    return document


def being_recognised(workspace: Workspace, name: str = "minutes.pdf") -> Document:
    """A document in the middle of its recognition, found by words already."""
    document = indexed_document(workspace, name=name)
    document.status, document.stage, document.searchable = (
        Status.EXTRACTING,
        Stage.EXTRACTING,
        Searchable.WORDS,
    )
    document.progress, document.page_count = 0.3, 40
    document.activity = {"done": 12, "total": 40, "unit": "page", "seconds_left": 61.0}
    document.save()
    return document


def mail(workspace: Workspace) -> tuple[Document, Document]:
    """An e-mail and what is attached to it."""
    message = stored_document(
        workspace, "Fwd: harbour plans", b"mail", file_type="eml", mime_type="message/rfc822"
    )
    attached = indexed_document(workspace, name="plan.pdf")
    attached.attached_to = message
    attached.save()
    return message, attached
