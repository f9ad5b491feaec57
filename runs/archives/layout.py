"""What stands in an archive: the shapes of its lines, and their bounds."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    TypeAdapter,
    model_validator,
)

from accounts.principal import MAX_EXTERNAL_USER_ID
from core.errors import ValidationError
from core.text.storable import is_storable
from extract.base import Kind
from kb.collections import MOST_OF_DOCUMENT
from kb.models import Modality, Status

FORMAT, VERSION = "locus-workspace", 1
MANIFEST, COLLECTIONS, DOCUMENTS = "manifest.json", "collections.jsonl", "documents.jsonl"
SESSIONS, EXECUTIONS, MESSAGES = "sessions.jsonl", "executions.jsonl", "messages.jsonl"
ASSISTANTS = "assistants.jsonl"
MOST_DOCUMENTS = 200_000
MOST_ASSISTANTS, MOST_VERSIONS = 200, 10_000
MOST_BYTES = 200 * 2**30
"""Of everything unpacked."""
LONGEST_LINE = 32 * 2**20


class InvalidArchive(ValidationError):
    """The file is no archive of a workspace, or one that was tampered with."""

    default_message = "This is no export of a workspace, or it is damaged. Export the workspace again."

    def __init__(self, message: str = "") -> None:
        super().__init__(message or self.default_message, param="file")


def _storable(text: str) -> str:
    if not is_storable(text):
        raise ValueError("must not hold characters that can't be stored")
    return text


Text = Annotated[str, AfterValidator(_storable)]
Moment = AwareDatetime


class Line(BaseModel):
    """A line of a file: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Space(Line):
    """The embedding model of the vectors."""

    model: str
    revision: str
    dimensions: int = Field(gt=0, le=100_000)


class Manifest(Line):
    """What the archive is."""

    format: Literal["locus-workspace"]
    version: Literal[1]
    name: Annotated[Text, Field(min_length=1, max_length=200)]
    share_with_external_users: bool
    settings: dict[str, JsonValue]
    created_at: Moment
    space: Space
    documents: int = Field(ge=0, le=MOST_DOCUMENTS)


class CollectionLine(Line):
    """A collection; its documents say that they are in it."""

    id: UUID
    name: Annotated[Text, Field(min_length=1, max_length=100)]
    external_user_id: Annotated[Text, Field(min_length=1, max_length=MAX_EXTERNAL_USER_ID)] | None


class DocumentLine(Line):
    """A document without its file and chunks."""

    id: UUID
    name: Annotated[Text, Field(min_length=1, max_length=500)]
    url: Annotated[Text, Field(max_length=2048)]
    external_id: Annotated[Text, Field(max_length=255)] | None
    external_user_id: Annotated[Text, Field(min_length=1, max_length=MAX_EXTERNAL_USER_ID)] | None
    session_id: UUID | None
    attached_to_id: UUID | None
    size: int = Field(ge=0)
    sha256: Annotated[str, Field(pattern="^([0-9a-f]{64})?$")]
    identity: Annotated[str, Field(pattern="^[0-9a-f]{1,64}$")]
    file_type: Annotated[Text, Field(max_length=20)]
    mime_type: Annotated[Text, Field(max_length=100)]
    status: Status
    error_code: Annotated[Text, Field(max_length=30)]
    error_message: Text
    warnings: list[JsonValue]
    quality: JsonValue
    page_count: int | None = Field(ge=0, lt=2**31)
    duration: float | None = Field(ge=0, allow_inf_nan=False)
    language: Annotated[Text, Field(max_length=10)] | None
    tags: list[Annotated[Text, Field(max_length=100)]] = Field(max_length=100)
    collection_ids: list[UUID] = Field(default=[], max_length=MOST_OF_DOCUMENT)
    metadata: dict[str, JsonValue]
    created_at: Moment
    text_ready_at: Moment | None
    indexed_at: Moment | None
    modality: Modality


class _Finite(Line):
    model_config = ConfigDict(allow_inf_nan=False)


class _PageSpan(_Finite):
    page: tuple[int, float, float]
    line: int
    words: list[tuple[int, int, float, float, float, float]]


class _TimeSpan(_Finite):
    words: list[tuple[int, int, float, float]]


class _FileSpan(_Finite):
    place: dict[str, JsonValue] = Field(alias="in")
    words: list[tuple[int, int]]


class _Area(_Finite):
    page: tuple[int, float, float]
    box: tuple[float, float, float, float]


class _Picture(_Finite):
    area: _Area | None
    described_from: int | None = Field(ge=0)
    described_by: Text | None


SPANS = TypeAdapter(list[_PageSpan | _TimeSpan | _FileSpan])
PICTURE = TypeAdapter(_Picture)


def _with_speakers(elements: object) -> object:
    """Return elements of an earlier export, which knows no speakers, as those of today."""
    if not isinstance(elements, list):
        return elements
    return [[*one, None] if isinstance(one, list) and len(one) == 5 else one for one in elements]


class ChunkLine(Line):
    """A live chunk, in reading order; its id follows from the document, the text and the places."""

    text: Annotated[Text, Field(min_length=1)]
    headings: list[Text]
    spans: list[dict[str, Any]]
    sentences: list[tuple[int, int]]
    elements: Annotated[
        list[tuple[int, int, Kind, int | None, bool, Text | None]] | None, BeforeValidator(_with_speakers)
    ] = None
    is_table: bool
    picture: dict[str, Any] | None
    vector: str | None = Field(description="base64 of little-endian float16")

    @model_validator(mode="after")
    def _check_places(self) -> Self:
        """Check the stored forms but keep them: a number written otherwise would change the chunk's id."""
        stretches = [word[:2] for span in SPANS.validate_python(self.spans) for word in span.words]
        elements = [bounds[:2] for bounds in self.elements or ()]
        places = [*stretches, *self.sentences, *elements]
        if any(not 0 <= start <= end <= len(self.text) for start, end in places):
            raise ValueError("a place lies outside the text")
        if self.picture is not None:
            PICTURE.validate_python(self.picture)
        return self


class SessionLine(Line):
    """A conversation of whoever exported."""

    id: UUID
    title: Annotated[Text, Field(max_length=200)]
    pinned: bool = False
    searches_documents: bool = True
    searches_web: bool = False
    created_at: Moment
    updated_at: Moment | None = None


class MessageLine(Line):
    """A question of a conversation, after the one before it; its answers are executions."""

    id: UUID
    session_id: UUID
    parent_id: UUID | None
    content: Annotated[Text, Field(min_length=1, max_length=2000)]
    document_ids: list[UUID] | None = Field(max_length=1000)
    answers: list[Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,40}$")]] = Field(max_length=1000)
    created_at: Moment


class AssistantVersionLine(Line):
    """What an assistant was set to."""

    number: int = Field(ge=1, lt=2**31)
    name: Annotated[Text, Field(min_length=1, max_length=100)]
    settings: dict[str, JsonValue]
    created_at: Moment


class BindingLine(Line):
    """A way in which an assistant is reached. Those of a single key are not exported."""

    id: UUID
    kind: Annotated[Text, Field(max_length=9)]
    origins: list[Annotated[Text, Field(max_length=255)]] = Field(max_length=50)
    overrides: dict[str, JsonValue]
    created_at: Moment


class AssistantLine(Line):
    """An assistant of the workspace, or of whoever exported, with the conversations that it answers."""

    id: UUID
    workspace_id: UUID
    name: Annotated[Text, Field(min_length=1, max_length=100)]
    description: Annotated[Text, Field(max_length=300)]
    visibility: Literal["mine", "workspace"]
    created_at: Moment
    versions: list[AssistantVersionLine] = Field(min_length=1, max_length=MOST_VERSIONS)
    bindings: list[BindingLine] = Field(max_length=50)
    session_ids: list[UUID] = Field(max_length=MOST_DOCUMENTS)

    @model_validator(mode="after")
    def _check_versions(self) -> Self:
        if [version.number for version in self.versions] != list(range(1, len(self.versions) + 1)):
            raise ValueError("the versions of an assistant are not in order")
        return self


class ExecutionLine(Line):
    """A finished run of whoever exported."""

    id: Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,40}$")]
    tool: Annotated[Text, Field(max_length=50)]
    session_id: UUID | None
    inputs: dict[str, JsonValue]
    result: dict[str, JsonValue] | None
    read_documents: list[UUID]
    created_at: Moment
    finished_at: datetime | None


def file_name(id: UUID) -> str:
    """Return where a document's file stands."""
    return f"files/{id}"


def chunks_name(id: UUID) -> str:
    """Return where a document's chunks stand."""
    return f"chunks/{id}.jsonl"
