"""What an index engine outside of PostgreSQL has of each document, and still has to get."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from accounts.row_policies import RowPolicy, same_as
from kb.models.documents import DocumentScoped


class SearchEngine(models.Model):
    """An index engine that is searched or being filled (`kb.index.switching`)."""

    name = models.CharField(primary_key=True, max_length=30, help_text="kb.index.engines.registry")
    is_active = models.BooleanField(default=False, help_text="searched")
    filled_to = models.UUIDField(null=True, help_text="the documents up to this id have been written")
    changed_at = models.DateTimeField(default=timezone.now, help_text="when it was last filled or chosen")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["is_active"], condition=Q(is_active=True), name="one_active_engine"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class IndexChange(models.Model):
    """A document that an engine outside of PostgreSQL has to write again, or to remove.

    Stored in the transaction that changes the document; deleted once the engine has it.
    """

    document_id = models.UUIDField(primary_key=True)
    version = models.BigIntegerField(db_index=True, help_text="the time of the last change in microseconds")
    since = models.DateTimeField(db_default=Now(), help_text="of the oldest change")
    is_awaited = models.BooleanField(db_default=False, help_text="its ingestion goes on afterwards")

    def __str__(self) -> str:
        return f"{self.document_id} at {self.version}"


class IndexedScope(DocumentScoped):
    """What documents of one workspace, external user and session are in an engine outside of PostgreSQL.

    A principal's scopes are the filter of its searches there; their sums are the statistics of BM25.
    """

    chunks = models.BigIntegerField(default=0)
    length = models.BigIntegerField(default=0, help_text="terms of all chunks, repeated ones included")
    languages = ArrayField(models.CharField(max_length=10), default=list, help_text="ISO 639-1, or empty")

    class Meta(DocumentScoped.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "external_user_id", "session"],
                name="one_indexed_scope",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return f"{self.chunks} chunks in {self.workspace_id}"


class ScopeTerm(models.Model):
    """In how many chunks of a scope a term stands. Accessed only through indexed scopes."""

    pk = models.CompositePrimaryKey("scope_id", "term")
    scope = models.ForeignKey(IndexedScope, on_delete=models.CASCADE, related_name="+", db_index=False)
    term = models.TextField()
    chunks = models.BigIntegerField()

    row_policy: ClassVar[RowPolicy | None] = same_as("kb_indexedscope", "scope_id")

    class Meta:
        indexes = [models.Index(fields=["term"], name="scope_term")]

    def __str__(self) -> str:
        return f"{self.term} in {self.scope_id}"


class IndexedDocument(models.Model):
    """What of a document is in an engine outside of PostgreSQL. Accessed only through indexed scopes."""

    document_id = models.UUIDField(primary_key=True)
    scope = models.ForeignKey(IndexedScope, on_delete=models.CASCADE, related_name="documents")
    chunks = models.PositiveIntegerField()
    length = models.BigIntegerField(help_text="terms of all chunks")
    space_ids = ArrayField(models.BigIntegerField(), help_text="the spaces of which it has all vectors")
    terms = models.TextField(help_text="a line each")
    counts = models.BinaryField(help_text="uint32: in how many chunks each term stands")

    row_policy: ClassVar[RowPolicy | None] = same_as("kb_indexedscope", "scope_id")

    def __str__(self) -> str:
        return f"{self.chunks} chunks of {self.document_id}"
