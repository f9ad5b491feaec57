"""The tables of documents, of their chunks, of the index and of its engines, and of upkeep."""

from kb.models.documents import (
    FINISHED,
    Chunk,
    Document,
    DocumentCollection,
    DocumentScoped,
    Modality,
    Searchable,
    Stage,
    Status,
    document_path,
    with_headings,
)
from kb.models.engines import IndexChange, IndexedDocument, IndexedScope, ScopeTerm, SearchEngine
from kb.models.index import (
    FIRST_ANALYSIS,
    ChunkVector,
    EmbeddingSpace,
    Segment,
    SegmentCodes,
    SegmentTerm,
    Term,
)
from kb.models.upkeep import Examination, JobFailure

__all__ = [
    "FINISHED",
    "FIRST_ANALYSIS",
    "Chunk",
    "ChunkVector",
    "Document",
    "DocumentCollection",
    "DocumentScoped",
    "EmbeddingSpace",
    "Examination",
    "IndexChange",
    "IndexedDocument",
    "IndexedScope",
    "JobFailure",
    "Modality",
    "ScopeTerm",
    "SearchEngine",
    "Searchable",
    "Segment",
    "SegmentCodes",
    "SegmentTerm",
    "Stage",
    "Status",
    "Term",
    "document_path",
    "with_headings",
]
