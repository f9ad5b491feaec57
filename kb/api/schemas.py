"""What the API's schema says of documents and chunks: the shapes that `kb.representations` makes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from kb.models import Modality, Searchable, Stage, Status

Absent: Any = Field(default=None, exclude_if=lambda value: value is None)
"""A key that is left out where it does not apply."""


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CodedMessage(_Shape):
    """An error or a warning of a document: a code for programs, a message that says what to do."""

    code: str
    message: str


class Activity(_Shape):
    """How much of a stage is done."""

    done: int
    total: int
    unit: str
    seconds_left: float


class Document(_Shape):
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
    created_at: datetime
    updated_at: datetime
    text_ready_at: datetime | None
    indexed_at: datetime | None


class AddedDocument(Document):
    """A document of an upload."""

    duplicate: bool = Field(description="Whether the same content was there already.")


class Added(_Shape):
    """What an upload has come to, in the order of the request."""

    documents: list[AddedDocument]


class DocumentList(_Shape):
    """A page of documents."""

    results: list[Document]
    next: str | None
    previous: str | None


class DeletedCounts(_Shape):
    """What a deletion removed."""

    documents: int
    chunks: int
    vectors: int
    files: int
    bytes: int


class DeletionReceipt(_Shape):
    """The answer to a deletion."""

    deleted: DeletedCounts
    scrubbed: dict[str, int] | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="By kind, how many stored rows lost the document's words and stayed.",
    )


class RecognisedUnit(_Shape):
    """A page or minute that a model has read."""

    number: int
    confidence: float


class HiddenText(_Shape):
    """What readers of the document can't see; in no chunk."""

    model_config = ConfigDict(extra="allow")


class QualityReport(_Shape):
    """What could be read of a document, and what not."""

    document_id: UUID
    status: Status
    unit: str | None = Field(description="What is counted: pages, slides, minutes …")
    units: dict[str, int | None] | None
    unreadable: list[int]
    without_text: list[int]
    recognised: list[RecognisedUnit]
    characters: int
    tables: int
    pictures: int
    seconds: dict[str, Any] | None
    hidden: list[HiddenText]
    language: str | None
    warnings: list[CodedMessage]


class BoundingBox(_Shape):
    """A box on a page as displayed: points (pixels of images), origin top left."""

    bbox: tuple[float, float, float, float] = Field(description="x1, y1, x2, y2")
    page_number: int
    layout_width: float
    layout_height: float


class ChunkMetadata(_Shape):
    """Where a chunk comes from, and what kind of thing it is."""

    filename: str
    languages: list[str] = Field(description="ISO 639-3.")
    modality: Modality
    headings: list[str] = Field(description="The heading path, outermost first.")
    lines: tuple[int, int] | None = Absent
    slides: list[int] | None = Absent
    sheet: str | None = Absent
    cells: str | None = Absent
    picture: BoundingBox | None = Absent
    machine_made: list[Any] | None = Absent
    described_by: str | None = Absent


class Neighbors(_Shape):
    """The live chunks before and after, in reading order."""

    before: UUID | None
    after: UUID | None


class Chunk(_Shape):
    """The unit of retrieval, with all its locations; keys that do not apply are null."""

    id: UUID
    document_id: UUID
    text: str
    page_number: int | None = Field(description="From 1: that of the first box.")
    bbox: list[BoundingBox] | None
    start_time: float | None = Field(description="Seconds.")
    end_time: float | None = Field(description="Seconds.")
    metadata: ChunkMetadata
    replaced_by: list[UUID] | None = Absent
    neighbors: Neighbors | None = Absent


class ChunkList(_Shape):
    """A page of chunks in reading order."""

    results: list[Chunk]
    next: str | None
    previous: str | None


class NewText(_Shape):
    """A document without a file: `text`, or any `json`."""

    text: str | None = Field(None, description="Plain text or Markdown.")
    json_: Any = Field(None, alias="json", description="Any JSON value; stored as a JSON file.")
    name: str | None = Field(None, min_length=1, max_length=500)
    workspace_id: UUID | None = None
    session_id: UUID | None = None
    external_user_id: str | None = Field(None, min_length=1, max_length=255)
    external_id: str | None = Field(None, min_length=1, max_length=255)
    metadata: dict[str, Any] | None = None
    tags: list[str] | None = Field(None, max_length=100)
    language: str | None = Field(None, pattern="^[A-Za-z]{2}$", description="ISO 639-1")


class DocumentUpdate(_Shape):
    """The `data:` of a `document_update`, or of the `document_end` that ends the stream."""

    event: Literal["document_update", "document_end"]
    data: dict[str, Any]
