"""The vectors of chunks, and the segments in which words and vectors are searched (`kb.index`)."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Q
from pgvector.django import HalfVectorField

from accounts.row_policies import RowPolicy, same_as
from kb.models.documents import Chunk, Document, DocumentScoped

FIRST_ANALYSIS = "1 PyStemmer-3.1.0 stop-words-55b45e5b"
"""The `ANALYSIS_VERSION` of the release that did not store one yet."""


class EmbeddingSpace(models.Model):
    """The vectors of one model at one revision; vectors of different spaces can't be compared."""

    model = models.CharField(max_length=300)
    revision = models.CharField(max_length=100)
    dimensions = models.PositiveIntegerField()
    is_active = models.BooleanField(default=False, help_text="searched, and filled by ingestion")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["model", "revision"], name="one_space_per_model_revision"),
            models.UniqueConstraint(
                fields=["is_active"], condition=Q(is_active=True), name="one_active_space"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model}@{self.revision}"


class ChunkVector(models.Model):
    """A chunk's vector in an embedding space. Accessed only through scoped chunks."""

    chunk = models.ForeignKey(Chunk, on_delete=models.CASCADE, related_name="vectors")
    space = models.ForeignKey(EmbeddingSpace, on_delete=models.CASCADE, related_name="+")
    embedding = HalfVectorField()

    row_policy: ClassVar[RowPolicy | None] = same_as("kb_chunk", "chunk_id")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chunk", "space"], name="one_vector_per_chunk_and_space")
        ]

    def __str__(self) -> str:
        return f"{self.chunk_id} in {self.space_id}"


class Segment(DocumentScoped):
    """A merged part of the search index: some chunks that the same principals may see (`kb.index`).

    An unmerged segment holds one document, a merged one many. Columns of bytes have an entry for each chunk.
    """

    document = models.ForeignKey(
        Document, null=True, on_delete=models.CASCADE, related_name="+", help_text="of an unmerged segment"
    )
    version = models.PositiveIntegerField(default=0, help_text="grows with each change, for those who cache")
    size = models.PositiveIntegerField(help_text="chunks, the dead ones included")
    chunk_ids = models.BinaryField(help_text="16 bytes each")
    document_ids = ArrayField(models.UUIDField())
    document_of = models.BinaryField(help_text="uint16: which of `document_ids`")
    lengths = models.BinaryField(help_text="uint16: number of terms")
    languages = ArrayField(models.CharField(max_length=10), help_text="ISO 639-1; empty where unknown")
    dead = ArrayField(
        models.IntegerField(), default=list, help_text="positions of chunks that are no longer found"
    )
    purged = models.PositiveIntegerField(
        default=0, help_text="of how many dead chunks a merged segment no longer holds the words"
    )
    # Segments of the release before this column have terms of its analysis, so they count as what they are.
    analysis = models.CharField(
        max_length=100, db_default=FIRST_ANALYSIS, help_text="core.text.analysis: what made the terms"
    )
    terms = models.TextField(blank=True, help_text="of an unmerged segment: kb.index.postings")
    postings = models.BinaryField(default=bytes, help_text="of an unmerged segment")

    class Meta(DocumentScoped.Meta):
        indexes = [GinIndex(fields=["document_ids"], name="segment_documents")]

    def __str__(self) -> str:
        return f"{self.size} chunks of {self.document_id or 'many documents'}"


class SegmentTerm(models.Model):
    """The posting list of a term in a merged segment. Accessed only through scoped segments."""

    pk = models.CompositePrimaryKey("segment_id", "term")
    segment = models.ForeignKey(Segment, on_delete=models.CASCADE, related_name="+", db_index=False)
    term = models.TextField()
    postings = models.BinaryField(help_text="kb.index.postings")

    row_policy: ClassVar[RowPolicy | None] = same_as("kb_segment", "segment_id")

    def __str__(self) -> str:
        return f"{self.term} in {self.segment_id}"


class Term(models.Model):
    """A distinct term of merged segments, for finding terms similar to misspelt words.

    `SegmentTerm` says which segments hold it; every search joins the two.
    """

    text = models.TextField(primary_key=True)

    class Meta:
        # Without a pending list, which each search would have to read.
        indexes = [GinIndex(OpClass(F("text"), name="gin_trgm_ops"), name="term_trigrams", fastupdate=False)]

    def __str__(self) -> str:
        return self.text


class SegmentCodes(models.Model):
    """The binary codes of a segment's vectors in one space. Accessed only through scoped segments."""

    segment = models.ForeignKey(Segment, on_delete=models.CASCADE, related_name="codes")
    space = models.ForeignKey(EmbeddingSpace, on_delete=models.CASCADE, related_name="+")
    codes = models.BinaryField(help_text="kb.index.codes")
    present = models.BinaryField(help_text="one byte a chunk: 1 once it has a vector")

    row_policy: ClassVar[RowPolicy | None] = same_as("kb_segment", "segment_id")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["segment", "space"], name="one_code_per_segment_and_space")
        ]

    def __str__(self) -> str:
        return f"{self.segment_id} in {self.space_id}"
