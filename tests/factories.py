"""Indexed documents without the worker: files of any kind, their chunks with places, their vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pymupdf
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage

from accounts.models import Session, Workspace
from core.locations import Box, LocatedText, OnPage, Page
from kb.embedding import active_space, embedding_model
from kb.index.writing import index_document
from kb.models import Chunk, ChunkVector, Document, Searchable, Stage, Status
from kb.storage import StoredFile

TEXT = "The solar farm in Almería produced 42 gigawatt hours in 2023. Its owner is the town itself."


def pdf_of(text: str) -> bytes:
    """Return a one-page PDF that shows `text`."""
    with pymupdf.open() as pdf:
        page = pdf.new_page(width=400, height=300)
        page.insert_textbox(pymupdf.Rect(40, 40, 360, 260), text, fontsize=12)
        return bytes(pdf.tobytes())


def indexed_document(
    workspace: Workspace,
    text: str = TEXT,
    *,
    name: str = "solar.pdf",
    external_user_id: str | None = None,
    session: Session | None = None,
) -> Document:
    """Create a ready document with one chunk that holds all of `text`."""
    content = pdf_of(text)
    kind = {"file_type": "pdf", "mime_type": "application/pdf", "page_count": 1}
    return stored_document(
        workspace,
        name,
        content,
        [located_words(content)],
        external_user_id=external_user_id,
        session=session,
        **kind,
    )


def stored_document(
    workspace: Workspace, name: str, content: bytes, texts: Iterable[LocatedText] = (), **fields: Any
) -> Document:
    """Create a document of any kind, ready unless `fields` say otherwise, with a chunk for each text."""
    digest = hashlib.sha256(content + uuid4().bytes).hexdigest()
    located = list(texts)
    ready: dict[str, Any] = {
        "status": Status.READY,
        "stage": Stage.DONE,
        "progress": 1.0,
        "searchable": Searchable.FULL if located else Searchable.NONE,
        "language": "en",
    }
    document = Document(
        workspace=workspace,
        name=name,
        size=len(content),
        sha256=digest,
        identity=digest,
        chunk_count=len(located),
        **(ready | fields),
    )
    document.file.save("original", ContentFile(content), save=False)
    document.save(force_insert=True)
    for ordinal, text in enumerate(located):
        add_chunk(document, text, ordinal)
    return document


def located_words(pdf: bytes) -> LocatedText:
    """Return the words of the first page with their boxes, read straight from the PDF."""
    with pymupdf.open(stream=pdf, filetype="pdf") as opened:
        page = opened[0]
        layout = Page(1, page.rect.width, page.rect.height)
        words = page.get_text("words")
    return LocatedText.of_words(
        (word, OnPage(layout, line, Box(x1, y1, x2, y2))) for x1, y1, x2, y2, word, _block, line, _ in words
    )


def add_chunk(document: Document, located: LocatedText, ordinal: int = 0) -> Chunk:
    """Store a chunk of `document` with its word index and its vector."""
    text, boxes, times = located.text, located.boxes(), located.times()
    ends = [i + 1 for i, char in enumerate(text) if char == "."] or [len(text)]
    starts = [0, *(end + 1 for end in ends[:-1])]
    chunk = Chunk.unscoped.create(
        id=uuid4(),
        document=document,
        workspace_id=document.workspace_id,
        external_user_id=document.external_user_id,
        session_id=document.session_id,
        ordinal=ordinal,
        text=text,
        spans=located.dump(),
        sentences=[[start, end] for start, end in zip(starts, ends, strict=True)],
        page_number=boxes[0].page.number if boxes else None,
        start_time=times[0] if times else None,
        end_time=times[1] if times else None,
        language=document.language,
    )
    [vector] = embedding_model().embed_documents([text])
    ChunkVector.objects.create(chunk=chunk, space=active_space(), embedding=vector)
    index_document(document.pk)
    return chunk


def chunk_id(document: Document) -> UUID:
    """Return the id of the document's first chunk."""
    return Chunk.unscoped.filter(document=document).values_list("pk", flat=True)[0]


def stored_file(path: Path) -> StoredFile:
    """Return any file of this machine as one of a storage."""
    return StoredFile(FileSystemStorage(path.parent), path.name)
