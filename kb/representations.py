"""Documents and chunks as the API shows them: the same for REST, streams and websockets (contract §3)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

import langcodes
from pydantic import Field

from core.api.lists import ListPage
from core.api.validation import ABSENT, ApiModel
from core.locations import InFile
from kb import models
from kb.models import Modality, Searchable, Stage, Status
from kb.summary import MOST_TAGS

# --- Documents -------------------------------------------------------------------------------------------


class CodedMessage(ApiModel):
    """An error or a warning of a document: a code for programs, a message that says what to do."""

    code: str
    message: str


class Activity(ApiModel):
    """How much of a stage is done."""

    done: int
    total: int
    unit: str
    seconds_left: float


class Document(ApiModel):
    """One uploaded file, text or web page."""

    id: UUID
    name: str
    external_id: str | None = Field(description="Your own id for it, as given with the upload.")
    workspace_id: UUID
    external_user_id: str | None
    session_id: UUID | None
    status: Status
    stage: Stage
    progress: float = Field(ge=0, le=1)
    activity: Activity | None
    searchable: Searchable
    error: CodedMessage | None
    warnings: list[CodedMessage]
    url: str | None
    attached_to: UUID | None = Field(
        description="The document inside which this one came, such as an e-mail."
    )
    file_type: str | None = Field(description="Found from the content, such as `pdf`.")
    mime_type: str | None
    size: int = Field(description="Bytes.")
    sha256: str | None
    page_count: int | None
    duration: float | None = Field(description="Seconds.")
    chunk_count: int
    language: str | None = Field(description="ISO 639-1.")
    tags: list[str]
    metadata: dict[str, Any]
    collection_ids: list[UUID] = Field(description="The collections that it is in.")
    delete_at: datetime | None = Field(
        description="When it is deleted, unless that is undone; until then it is in no list and no search."
    )
    created_at: datetime
    updated_at: datetime
    text_ready_at: datetime | None
    indexed_at: datetime | None

    @classmethod
    def of(cls, row: models.Document, **more: bool) -> Self:
        """Return what may be shown of a row, and `more`."""
        return cls(
            id=row.pk,
            name=row.name,
            external_id=row.external_id,
            workspace_id=row.workspace_id,
            external_user_id=row.external_user_id,
            session_id=row.session_id,
            status=Status(row.status),
            stage=Stage(row.stage),
            progress=round(row.progress, 4),
            activity=row.activity,
            searchable=Searchable(row.searchable),
            error=CodedMessage(code=row.error_code, message=row.error_message) if row.error_code else None,
            warnings=row.warnings,
            url=row.url or None,
            attached_to=row.attached_to_id,
            file_type=row.file_type or None,
            mime_type=row.mime_type or None,
            size=row.size,
            sha256=row.sha256 or None,
            page_count=row.page_count,
            duration=row.duration,
            chunk_count=row.chunk_count,
            language=row.language,
            tags=row.tags,
            metadata=row.metadata,
            collection_ids=row.collection_ids,
            delete_at=row.delete_at,
            created_at=row.created_at,
            updated_at=row.updated_at,
            text_ready_at=row.text_ready_at,
            indexed_at=row.indexed_at,
            **more,
        )


class AddedDocument(Document):
    """A document of an upload."""

    duplicate: bool = Field(description="Whether the same content was there already.")


class AddedDocuments(ApiModel):
    """What an upload has come to, in the order of the request."""

    documents: list[AddedDocument]


class DocumentList(ListPage[Document]):
    """A page of documents."""


class DocumentSummary(ApiModel):
    """How many documents a list holds; each count is by value, the most frequent first."""

    documents: int
    bytes: int = Field(description="Of the original files.")
    statuses: dict[str, int]
    types: dict[str, int] = Field(description="By `file_type`; documents that were never read have none.")
    languages: dict[str, int]
    tags: dict[str, int] = Field(description=f"The {MOST_TAGS} most frequent.")


class DocumentEnd(ApiModel):
    """The last that is said of a document; `status` is null if it can't be seen any more."""

    id: UUID
    status: Status | None


class DocumentUpdate(ApiModel):
    """The `data:` of a `document_update`, or of the `document_end` that ends the stream."""

    event: Literal["document_update", "document_end"]
    data: Document | DocumentEnd


class RecognisedUnit(ApiModel):
    """A page or minute that a model has read."""

    number: int
    confidence: float


class HiddenText(ApiModel):
    """What readers of the document can't see; in no chunk."""

    number: int = Field(description="Of the page, slide or other unit.")
    characters: int
    excerpt: str


class ChunkLengths(ApiModel):
    """The lengths of a document's chunks in characters."""

    least: int
    median: int
    most: int


class ChunkQuality(ApiModel):
    """The chunks of a document, as far as rules can tell what is wrong with them."""

    total: int
    characters: ChunkLengths
    flawed: int = Field(description="How many have a flaw.")
    flaws: dict[str, int] = Field(
        description="How many have it: `short` (under 40 characters), `headings_alone`, `no_words`, and "
        "`mid_sentence`: begins within a sentence."
    )


class QualityReport(ApiModel):
    """What could be read of a document, and what not."""

    document_id: UUID
    status: Status
    unit: str | None = Field(description="What is counted: pages, slides, minutes …")
    units: dict[str, int | None] | None = Field(description="How many in all, and from which source.")
    unreadable: list[int]
    without_text: list[int]
    recognised: list[RecognisedUnit]
    characters: int
    tables: int
    pictures: int
    seconds: dict[str, float] | None = Field(description="Of recordings: in all, with and without speech.")
    hidden: list[HiddenText]
    chunks: ChunkQuality | None = Field(description="Null of what an earlier release has read.")
    language: str | None
    warnings: list[CodedMessage]

    @classmethod
    def of(cls, row: models.Document) -> Self:
        """Return the stored report; before there is one, and of a document that failed, an empty one."""
        stored = row.quality if row.status != Status.FAILED else None
        return cls(document_id=row.pk, status=Status(row.status), **(NO_QUALITY | (stored or {})))


NO_QUALITY: dict[str, Any] = {
    "unit": None,
    "units": None,
    "unreadable": [],
    "without_text": [],
    "recognised": [],
    "characters": 0,
    "tables": 0,
    "pictures": 0,
    "seconds": None,
    "hidden": [],
    "chunks": None,
    "language": None,
    "warnings": [],
}


class DocumentFailure(ApiModel):
    """A document that a bulk request could not change, and why."""

    id: UUID
    code: str
    message: str


class DeletedCounts(ApiModel):
    """What a deletion removed."""

    documents: int
    chunks: int
    vectors: int
    files: int
    bytes: int


class DeletionReceipt(ApiModel):
    """The answer to a deletion."""

    deleted: DeletedCounts
    scrubbed: Annotated[
        dict[str, int],
        Field(description="By kind, how many stored rows lost the document's words and stayed."),
    ] = ABSENT


# --- Chunks ----------------------------------------------------------------------------------------------


class BoundingBox(ApiModel):
    """A box on a page as displayed: points (pixels of images), origin top left."""

    bbox: tuple[float, float, float, float] = Field(description="x1, y1, x2, y2")
    page_number: int
    layout_width: float
    layout_height: float


class ChunkMetadata(ApiModel):
    """Where a chunk comes from, and what kind of thing it is."""

    filename: str
    languages: list[str] = Field(description="ISO 639-3.")
    modality: Modality
    headings: list[str] = Field(description="The heading path, outermost first.")
    lines: tuple[int, int] = ABSENT
    slides: list[int] = ABSENT
    sheet: str = ABSENT
    cells: str = ABSENT
    picture: BoundingBox | None = ABSENT
    machine_made: Annotated[
        list[tuple[int, int]], Field(description="Start and end of what a model has written of the text.")
    ] = ABSENT
    described_by: str | None = ABSENT
    speakers: Annotated[
        list[tuple[int, int, str]],
        Field(description="Start and end of what each speaker says, and who: `channel 1` or `speaker 1`."),
    ] = ABSENT


class Neighbors(ApiModel):
    """The live chunks before and after, in reading order."""

    before: UUID | None
    after: UUID | None


class Chunk(ApiModel):
    """The unit of retrieval, with all its locations; keys that do not apply are null."""

    id: UUID
    document_id: UUID
    text: str
    page_number: int | None = Field(description="From 1: that of the first box.")
    bbox: list[BoundingBox] | None = Field(description="Null for kinds without coordinates.")
    start_time: float | None = Field(description="Seconds.")
    end_time: float | None = Field(description="Seconds.")
    metadata: ChunkMetadata
    replaced_by: list[UUID] = ABSENT
    file_replaced_at: Annotated[
        datetime, Field(description="Of a chunk of an earlier file: when another file replaced that one.")
    ] = ABSENT
    neighbors: Neighbors = ABSENT

    @classmethod
    def of(cls, row: models.Chunk, filename: str) -> Self:
        """Return what may be shown of a row."""
        located = row.located
        metadata = ChunkMetadata(
            filename=filename,
            languages=[iso_639_3(row.language)] if row.language else [],
            modality=Modality(row.modality),
            headings=row.headings,
            **place_in_file(located.files()),
            **_picture(row),
            **_speakers(row),
        )
        return cls(
            id=row.pk,
            document_id=row.document_id,
            text=row.text,
            page_number=row.page_number,
            bbox=[BoundingBox(**box.as_json()) for box in row.boxes(located)] or None,
            start_time=row.start_time,
            end_time=row.end_time,
            metadata=metadata,
            **({} if row.replaced_by is None else {"replaced_by": row.replaced_by}),
            **({} if row.file_replaced_at is None else {"file_replaced_at": row.file_replaced_at}),
        )


class ChunkList(ListPage[Chunk]):
    """A page of chunks in reading order."""


def _picture(row: models.Chunk) -> dict[str, Any]:
    """Return the box of the picture that a chunk is of, and which of its text a machine has written."""
    if row.shown is None:
        return {}
    shown = {"picture": row.shown.area.as_json() if row.shown.area else None}
    if row.shown.described_from is None:
        return shown
    return shown | {
        "machine_made": row.shown.machine_made(len(row.text)),
        "described_by": row.shown.described_by,
    }


def _speakers(row: models.Chunk) -> dict[str, Any]:
    """Return who says what, if the recording tells speakers apart."""
    speakers = [
        (start, end, said_by[0])
        for start, end, _, _, _, *said_by in row.elements or []
        if said_by and said_by[0]
    ]
    return {"speakers": speakers} if speakers else {}


def place_in_file(places: list[InFile]) -> dict[str, Any]:
    """Return the one place around all `places`: `lines`, `slides`, `sheet`, `cells`, as apply to the file."""
    lines = [place.lines for place in places if place.lines]
    slides = {place.slide for place in places if place.slide is not None}
    sheet = next((place.sheet for place in places if place.sheet is not None), None)
    cells = [place.cells for place in places if place.cells and place.sheet == sheet]
    merged = {
        "lines": [min(first for first, _ in lines), max(last for _, last in lines)] if lines else None,
        "slides": sorted(slides) or None,
        "sheet": sheet,
        "cells": _range(cells) if cells else None,
    }
    return {name: value for name, value in merged.items() if value is not None}


def _range(cells: list[tuple[int, int, int, int]]) -> str:
    """Return the smallest range around `cells` as spreadsheets write it: `A1:C7`."""
    top, left, bottom, right = zip(*cells, strict=True)
    first, last = f"{_column(min(left))}{min(top)}", f"{_column(max(right))}{max(bottom)}"
    return first if first == last else f"{first}:{last}"


def _column(number: int) -> str:
    """Return a column's letters: 1 is A, 27 is AA."""
    letters = ""
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


def iso_639_3(language: str) -> str:
    """Return the three-letter code of an ISO 639-1 language: `en` is `eng`."""
    return str(langcodes.Language.get(language).to_alpha3())
