"""Writing the index: each change of chunks goes to the engine that is searched, and to one being filled.

Code that changes a document's chunks, their vectors or scope calls this in the same transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from kb.embedding.base import Vectors
from kb.index.switching import active_engine, engines_to_write
from kb.models import EmbeddingSpace


def index_document(document_id: UUID) -> None:
    """Make exactly a document's live chunks findable; call it after they have changed."""
    for engine in engines_to_write():
        engine.write(document_id)


def index_vectors(document_id: UUID, space: EmbeddingSpace, ids: Sequence[UUID], vectors: Vectors) -> None:
    """Make a document's chunks findable by these new vectors, of shape (len(ids), dimensions)."""
    for engine in engines_to_write():
        engine.write_vectors(document_id, space, ids, vectors)


def forget(document_ids: Collection[UUID]) -> None:
    """Remove the chunks of these documents from the index."""
    for engine in engines_to_write():
        engine.forget(document_ids)


def complete(space: EmbeddingSpace) -> None:
    """Add to the index the missing vectors stored in `space`."""
    for engine in engines_to_write():
        engine.complete(space)


def settle(document_id: UUID) -> bool:
    """Return whether all changes of a document are in the engine that is searched; make them if not."""
    return active_engine().settle(document_id)
