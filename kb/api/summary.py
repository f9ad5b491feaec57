"""`/api/v1/documents/{id}/summary`: what a document is about, in its own sentences."""

from __future__ import annotations

from typing import Literal, Self
from uuid import UUID

from pydantic import Field
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from core.api.operations import operation
from core.api.validation import ApiModel
from kb import models
from kb.api.finding import visible_document
from kb.representations import BoundingBox
from kb.summaries.making import PlacedSentence, SummaryOfDocument, summary_of
from kb.summaries.written import WrittenStatement, WrittenSummary, written_summary_of


class SummarySentence(ApiModel):
    """A sentence of the document, with its place."""

    text: str = Field(description="In one line.")
    chunk_id: UUID
    start: int = Field(description="Code points into the chunk's `text`, as `end`.")
    end: int
    headings: list[str] = Field(description="The heading path, outermost first.")
    page_number: int | None
    bbox: list[BoundingBox] | None = Field(description="A box for each line; null for kinds without them.")
    start_time: float | None = Field(description="Seconds.")
    end_time: float | None

    @classmethod
    def of(cls, placed: PlacedSentence) -> Self:
        """Return a sentence as its chunk has it."""
        chunk, located = placed.chunk, placed.chunk.located
        boxes = located.boxes(placed.start, placed.end)
        times = located.times(placed.start, placed.end)
        return cls(
            text=" ".join(chunk.text[placed.start : placed.end].split()),
            chunk_id=chunk.pk,
            start=placed.start,
            end=placed.end,
            headings=chunk.headings,
            page_number=boxes[0].page.number if boxes else chunk.page_number,
            bbox=[BoundingBox(**box.as_json()) for box in boxes] or None,
            start_time=times[0] if times else None,
            end_time=times[1] if times else None,
        )


class WrittenSentence(ApiModel):
    """A sentence that a model has written, and the sentences of the document that support it."""

    text: str
    sources: list[SummarySentence]

    @classmethod
    def of(cls, statement: WrittenStatement) -> Self:
        """Return a statement with its places."""
        return cls(text=statement.text, sources=[SummarySentence.of(each) for each in statement.places])


class DocumentWritten(ApiModel):
    """An abstract and key points by a language model, in the order in which it has written them."""

    model: str
    abstract: list[WrittenSentence]
    key_points: list[WrittenSentence]

    @classmethod
    def of(cls, written: WrittenSummary) -> Self:
        """Return a written summary."""
        return cls(
            model=written.model,
            abstract=[WrittenSentence.of(each) for each in written.abstract],
            key_points=[WrittenSentence.of(each) for each in written.key_points],
        )


class DocumentInShort(ApiModel):
    """An abstract and key points, both in reading order."""

    document_id: UUID
    state: Literal["ready", "pending", "too_short"] = Field(
        description="pending: there is none before the document is fully indexed."
    )
    abstract: list[SummarySentence]
    key_points: list[SummarySentence]
    written: DocumentWritten | None = Field(
        description="What a model has written; null until `POST summary/written` has asked it to."
    )

    @classmethod
    def of(
        cls, document: models.Document, summary: SummaryOfDocument | None, written: WrittenSummary | None
    ) -> Self:
        """Return the summary, or that there is none."""
        abstract = [SummarySentence.of(each) for each in summary.abstract] if summary else []
        points = [SummarySentence.of(each) for each in summary.key_points] if summary else []
        state = "pending" if summary is None else "ready" if abstract or points else "too_short"
        return cls(
            document_id=document.pk,
            state=state,
            abstract=abstract,
            key_points=points,
            written=DocumentWritten.of(written) if written else None,
        )


class DocumentInShortView(APIView):
    """What a document is about."""

    @operation("documents_in_short", tag="Documents", answers={200: DocumentInShort}, fails=(404, 503))
    def get(self, request: Request, id: str) -> DocumentInShort:
        """Return an abstract and key points: sentences of the document, each with its place.

        No language model is needed. The first request makes the summary, which may take a few seconds.
        """
        principal = principal_of(request)
        document = visible_document(principal, id)
        extracted = summary_of(principal, document)
        return DocumentInShort.of(document, extracted, written_summary_of(principal, document))
