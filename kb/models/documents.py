"""Documents, their collections and their chunks."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Q
from django.db.models.functions import Upper
from django.utils import timezone

from accounts.models import Session, User, Workspace
from accounts.principal import Principal, UsageOwner
from accounts.row_policies import ROWS_OF_DOCUMENTS, RowPolicy
from accounts.scope import ScopedModel, document_rule, document_rule_by_id
from core.locations import LocatedText, PageBox
from core.text.tables import without_marks
from kb.pictures import Picture


class Status(models.TextChoices):
    """The life of a document (contract §4)."""

    QUEUED = "queued"
    EXTRACTING = "extracting"
    INDEXING = "indexing"
    READY = "ready"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINISHED = frozenset({Status.READY, Status.PARTIAL, Status.FAILED, Status.CANCELLED})


class Stage(models.TextChoices):
    """The present step of a document's ingestion."""

    QUEUED = "queued"
    EXTRACTING = "extracting"
    CHUNKING = "chunking"
    EMBEDDING = "embedding"
    DONE = "done"


class Searchable(models.TextChoices):
    """The ways in which a document can be found so far."""

    NONE = "none"
    WORDS = "words"
    FULL = "full"


class Modality(models.TextChoices):
    """The kind of content that a chunk was made from."""

    TEXT = "text"
    TABLE = "table"
    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"


class DocumentScoped(ScopedModel):
    """Rows that are visible exactly when their document is: they carry its scope columns."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    external_user_id = models.CharField(max_length=255, null=True, blank=True)
    session = models.ForeignKey(Session, null=True, blank=True, on_delete=models.CASCADE, related_name="+")

    row_policy: ClassVar[RowPolicy | None] = ROWS_OF_DOCUMENTS

    class Meta(ScopedModel.Meta):
        abstract = True

    @classmethod
    def scope(cls, principal: Principal) -> Q:
        """Return the document rule of contract §2."""
        return document_rule(principal)

    @classmethod
    def scope_by_id(cls, principal: Principal) -> Q:
        """Return the document rule for a row that is named by its id."""
        return document_rule_by_id(principal)


class DocumentCollection(DocumentScoped):
    """A named group of documents at one place: a workspace, and perhaps an external user; never a session.

    `Document.collection_ids` says what is in it (ADR 49).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(DocumentScoped.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "external_user_id", "name"],
                name="one_collection_per_place_and_name",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return self.name


def document_path(document: Document, filename: str) -> str:
    """Return the path of a document's file; the uploaded name is not part of it."""
    return f"documents/{document.id}/original"


class Document(DocumentScoped):
    """One uploaded file; belongs to one workspace and perhaps to one external user or session."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    uploaded_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    name = models.CharField(max_length=500)
    file = models.FileField(upload_to=document_path, max_length=200)
    url = models.CharField(
        max_length=2048, blank=True, help_text="where to fetch the file, if it is a web page"
    )
    attached_to = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+", help_text="e.g. an e-mail"
    )
    external_id = models.CharField(
        max_length=255, null=True, blank=True, help_text="what the uploading program calls it"
    )
    size = models.BigIntegerField(help_text="bytes")
    sha256 = models.CharField(max_length=64, blank=True, help_text="of the file; empty until it is fetched")
    identity = models.CharField(
        max_length=64, help_text="sha256 of the file, or of the URL it is fetched from"
    )
    file_type = models.CharField(max_length=20, blank=True, help_text="found from the content, e.g. pdf")
    mime_type = models.CharField(max_length=100, blank=True)

    status = models.CharField(max_length=12, choices=Status.choices, default=Status.QUEUED)
    stage = models.CharField(max_length=12, choices=Stage.choices, default=Stage.QUEUED)
    progress = models.FloatField(default=0.0, help_text="0 to 1")
    activity = models.JSONField(null=True, help_text="done, total, unit and seconds_left of the stage")
    quality = models.JSONField(null=True, help_text="what could be read and what not: ingestion.quality")
    summary = models.JSONField(null=True, help_text="where its sentences stand: kb.summaries.making")
    written_summary = models.JSONField(null=True, help_text="by a model: kb.summaries.written")
    searchable = models.CharField(max_length=6, choices=Searchable.choices, default=Searchable.NONE)
    error_code = models.CharField(max_length=30, blank=True)
    error_message = models.TextField(blank=True)
    failure_dismissed_at = models.DateTimeField(
        null=True, blank=True, help_text="when an administrator took the failure from the list of failed work"
    )
    warnings = models.JSONField(default=list, blank=True)

    page_count = models.PositiveIntegerField(null=True, blank=True, help_text="pages, slides or images")
    duration = models.FloatField(null=True, blank=True, help_text="seconds")
    chunk_count = models.PositiveIntegerField(default=0)
    language = models.CharField(max_length=10, null=True, blank=True, help_text="ISO 639-1")
    tags = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    collection_ids = ArrayField(
        models.UUIDField(), default=list, blank=True, help_text="the collections that it is in"
    )

    delete_at = models.DateTimeField(
        null=True, blank=True, help_text="when a deletion that can still be undone takes place"
    )

    created_at = models.DateTimeField(auto_now_add=True)
    queued_at = models.DateTimeField(default=timezone.now, help_text="when it was last added to the queue")
    updated_at = models.DateTimeField(auto_now=True)
    text_ready_at = models.DateTimeField(null=True, blank=True)
    indexed_at = models.DateTimeField(null=True, blank=True)

    class Meta(DocumentScoped.Meta):
        ordering = ["-created_at", "id"]
        constraints = [
            # Two simultaneous uploads of the same bytes (or URL) to the same place become one document.
            models.UniqueConstraint(
                fields=["workspace", "external_user_id", "session", "identity"],
                name="one_document_per_place_and_identity",
                nulls_distinct=False,
            ),
            models.UniqueConstraint(
                fields=["workspace", "external_user_id", "session", "external_id"],
                name="one_document_per_place_and_external_id",
                nulls_distinct=False,
                condition=Q(external_id__isnull=False),
            ),
        ]
        indexes = [
            # Counts by state, and bytes, without a look at the rows.
            models.Index(fields=["status"], include=["size"], name="document_status"),
            models.Index(
                fields=["delete_at"], name="document_deletion", condition=Q(delete_at__isnull=False)
            ),
            # `icontains` of Django compares upper case.
            GinIndex(OpClass(Upper("name"), name="gin_trgm_ops"), name="document_name"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def usage_owner(self) -> UsageOwner:
        """To whom the usage and charges of its ingestion belong: who uploaded it, for whom."""
        return UsageOwner(self.uploaded_by_id, None, self.external_user_id)

    @property
    def is_finished(self) -> bool:
        """Whether ingestion has ended."""
        return self.status in FINISHED


class Chunk(DocumentScoped):
    """The unit of retrieval: consecutive elements of one document, with all their locations."""

    id = models.UUIDField(primary_key=True, editable=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    ordinal = models.PositiveIntegerField(help_text="place in reading order, from 0")
    text = models.TextField(help_text="the document's own words and nothing else")
    headings = ArrayField(models.TextField(), default=list, help_text="the heading path, outermost first")
    spans = models.JSONField(default=list, help_text="where each word stands: core.locations")
    sentences = ArrayField(
        ArrayField(models.IntegerField(), size=2),
        default=list,
        help_text="start and end of each sentence in `text`",
    )
    # Null in chunks of releases before this column: readers derive it (kb.reading).
    elements = models.JSONField(null=True, help_text="the elements in `text`: kb.chunks.ElementBounds")
    page_number = models.PositiveIntegerField(null=True)
    start_time = models.FloatField(null=True, help_text="seconds")
    end_time = models.FloatField(null=True, help_text="seconds")
    modality = models.CharField(max_length=5, choices=Modality.choices, default=Modality.TEXT)
    language = models.CharField(max_length=10, null=True, help_text="ISO 639-1")
    picture = models.JSONField(null=True, help_text="of a picture chunk: kb.pictures")
    replaced_by = ArrayField(models.UUIDField(), null=True, help_text="null while the chunk is live")
    file_replaced_at = models.DateTimeField(
        null=True, help_text="when the file that it was read from was replaced by another one"
    )

    class Meta(DocumentScoped.Meta):
        ordering = ["document", "ordinal"]
        indexes = [
            models.Index(fields=["document", "ordinal"], name="chunk_reading_order"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id} #{self.ordinal}"

    @property
    def located(self) -> LocatedText:
        """The text with the place of each of its words."""
        return LocatedText.load(self.text, self.spans)

    @property
    def shown(self) -> Picture | None:
        """The picture of a picture chunk, None for all others."""
        return Picture.load(self.picture) if self.picture else None

    def boxes(self, located: LocatedText) -> list[PageBox]:
        """Return the `bbox` list of contract §3: a picture chunk's picture, then a box for each line."""
        boxes = located.boxes()
        return self.shown.boxes(boxes) if self.shown else boxes

    @property
    def text_to_embed(self) -> str:
        """The embedding model's input: the heading path, then the text."""
        text = without_marks(self.text) if self.modality == Modality.TABLE else self.text
        return with_headings(self.headings, text)


def with_headings(headings: Sequence[str], text: str) -> str:
    """Return `text` after its heading path, so that a paragraph is found by the name of its section.

    A heading with which `text` begins is not repeated.
    """
    said = text.split("\n\n", len(headings))[: len(headings)]
    path = [heading for heading in headings if heading not in said]
    return "\n".join([" > ".join(path), text]) if path else text
