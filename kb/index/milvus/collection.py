"""A collection of Milvus: the chunks of all tenants in one embedding space.

  id  workspace (partition key)  scope  document  version  length  has_vector  dense  sparse

`sparse` has for each term of a chunk the factor of BM25 that depends on the chunk, f / (f + norm), with the
norm of a chunk of usual length. A question's vector has the other factor, the inverse document frequency. So
the inner product finds the candidates. Their exact scores follow from `sparse` and `length`, because f can be
computed back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID
from zlib import crc32

import numpy as np
from django.conf import settings

from kb.embedding.base import Vectors
from kb.index.milvus.connection import disconnect, is_loaded, milvus_client, note_loaded
from kb.index.postings import MOST_COUNTED
from kb.index.segments import LONGEST
from kb.index.words import length_norms
from kb.models import EmbeddingSpace

USUAL_LENGTH = 120.0
"""Terms; with b = 0.4 a chunk of twice this length counts a quarter less."""
ROWS_AT_ONCE = 500
IDS_AT_ONCE = 500
INDEXES = (1 << 32) - 1
"""Milvus allows indexes of sparse vectors below this number."""

Weights = Mapping[int, float]
"""A sparse vector: a number for each hashed term."""


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk as it is written; `vector` is None until it has one."""

    id: UUID
    length: int
    weights: Weights
    vector: Vectors | None


@dataclass(frozen=True, slots=True)
class IndexHit:
    """A chunk that was found, and its inner product with what was looked for."""

    chunk_id: UUID
    score: float


@dataclass(frozen=True, slots=True)
class MilvusCollection:
    """The collection of one embedding space."""

    space_id: int
    dimensions: int

    @classmethod
    def of(cls, space: EmbeddingSpace) -> MilvusCollection:
        """Return the collection of a space; it may not exist yet."""
        return cls(space.pk, space.dimensions)

    @property
    def name(self) -> str:
        """Its name in Milvus."""
        return f"{settings.MILVUS_COLLECTION}_{self.space_id}"

    def write(
        self,
        document_id: UUID,
        workspace_id: UUID,
        scope_id: int,
        version: int,
        chunks: Sequence[IndexedChunk],
    ) -> None:
        """Write chunks of a document; raise `EngineUnavailable`."""
        self._create()
        zero = np.zeros(self.dimensions, np.float32)
        for start in range(0, len(chunks), ROWS_AT_ONCE):
            rows = [
                {
                    "id": chunk.id.hex,
                    "workspace": workspace_id.hex,
                    "scope": scope_id,
                    "document": document_id.hex,
                    "version": version,
                    "length": min(chunk.length, LONGEST),
                    "has_vector": chunk.vector is not None,
                    "dense": zero if chunk.vector is None else chunk.vector,
                    # Milvus takes no empty vector. No question has this index.
                    "sparse": dict(chunk.weights) or {INDEXES - 1: 1.0},
                }
                for chunk in chunks[start : start + ROWS_AT_ONCE]
            ]
            with milvus_client() as client:
                client.upsert(self.name, rows, timeout=settings.MILVUS_TIMEOUT_SECS)

    def remove(self, document_id: UUID, before: int | None = None) -> None:
        """Remove the chunks of a document, or only those of versions `before` this one."""
        if self.exists():
            older = "" if before is None else f" and version < {before}"
            with milvus_client() as client:
                client.delete(
                    self.name,
                    filter=f'document == "{document_id.hex}"{older}',
                    timeout=settings.MILVUS_TIMEOUT_SECS,
                )

    def find_words(self, weights: Weights, condition: str, limit: int) -> list[IndexHit]:
        """Return the chunks with the highest sums of weights that meet a condition, best first."""
        return self._search("sparse", dict(weights), condition, limit)

    def find_near(self, vector: Vectors, condition: str, limit: int) -> list[IndexHit]:
        """Return the nearest chunks that meet a condition, best first."""
        return self._search("dense", vector, f"{condition} and has_vector == true", limit)

    def read(self, ids: Sequence[UUID]) -> dict[UUID, tuple[int, Weights]]:
        """Return length and weights of chunks, as many as are there."""
        found: dict[UUID, tuple[int, Weights]] = {}
        for start in range(0, len(ids), IDS_AT_ONCE):
            with milvus_client() as client:
                rows = client.get(
                    self.name,
                    [id.hex for id in ids[start : start + IDS_AT_ONCE]],
                    output_fields=["id", "length", "sparse"],
                    timeout=settings.MILVUS_TIMEOUT_SECS,
                )
            found |= {UUID(hex=row["id"]): (row["length"], row["sparse"]) for row in rows}
        return found

    def exists(self) -> bool:
        """Return whether anything was written yet; if so, it can be searched from now on."""
        if is_loaded(self.name):
            return True
        with milvus_client() as client:
            if not client.has_collection(self.name, timeout=settings.MILVUS_TIMEOUT_SECS):
                return False
            # Some servers, after a restart, load a collection only when they are told to.
            client.load_collection(self.name, timeout=settings.MILVUS_TIMEOUT_SECS)
        note_loaded(self.name)
        return True

    def drop(self) -> None:
        """Remove the collection."""
        with milvus_client() as client:
            client.drop_collection(self.name, timeout=settings.MILVUS_TIMEOUT_SECS)
        disconnect()

    def _search(self, field: str, vector: Any, condition: str, limit: int) -> list[IndexHit]:
        with milvus_client() as client:
            [hits] = client.search(
                self.name,
                [vector],
                anns_field=field,
                filter=condition,
                limit=limit,
                search_params={"metric_type": METRICS[field]},
                timeout=settings.MILVUS_TIMEOUT_SECS,
            )
        return [IndexHit(UUID(hex=hit["id"]), hit["distance"]) for hit in hits]

    def _create(self) -> None:
        if self.exists():
            return
        from pymilvus import DataType

        with milvus_client() as client:
            schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
            schema.add_field("id", DataType.VARCHAR, max_length=32, is_primary=True)
            schema.add_field("workspace", DataType.VARCHAR, max_length=32, is_partition_key=True)
            schema.add_field("scope", DataType.INT64)
            schema.add_field("document", DataType.VARCHAR, max_length=32)
            schema.add_field("version", DataType.INT64)
            schema.add_field("length", DataType.INT32)
            schema.add_field("has_vector", DataType.BOOL)
            schema.add_field("dense", DataType.FLOAT_VECTOR, dim=self.dimensions)
            schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
            indexes = client.prepare_index_params()
            indexes.add_index("dense", index_type="AUTOINDEX", metric_type=METRICS["dense"])
            indexes.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type=METRICS["sparse"])
            for scalar in ("scope", "document"):
                indexes.add_index(scalar, index_type="INVERTED")
            client.create_collection(
                self.name,
                schema=schema,
                num_partitions=settings.MILVUS_PARTITIONS,
                consistency_level="Bounded",
                timeout=settings.MILVUS_TIMEOUT_SECS,
            )
            # Of an empty collection there is nothing to wait for: the client would, half a second for each.
            client.create_index(self.name, indexes, timeout=settings.MILVUS_TIMEOUT_SECS, sync=False)
            client.load_collection(self.name, timeout=settings.MILVUS_TIMEOUT_SECS)


METRICS = {"dense": "COSINE", "sparse": "IP"}


def all_collections() -> Iterator[MilvusCollection]:
    """Yield the collections of this installation, those of spaces that are gone included."""
    prefix = f"{settings.MILVUS_COLLECTION}_"
    with milvus_client() as client:
        names = client.list_collections(timeout=settings.MILVUS_TIMEOUT_SECS)
    for name in sorted(names):
        if name.startswith(prefix) and name.removeprefix(prefix).isdigit():
            yield MilvusCollection(int(name.removeprefix(prefix)), 0)


def sparse_index(term: str) -> int:
    """Return the index of a term in sparse vectors: two of a million terms share one with few others."""
    return crc32(term.encode()) % (INDEXES - 1)


def chunk_weights(terms: Sequence[str]) -> Weights:
    """Return f / (f + norm) for each term of a chunk, with the norm of a chunk of usual length."""
    indexes, counts = np.unique([sparse_index(term) for term in terms], return_counts=True)
    often = np.minimum(counts, MOST_COUNTED).astype(np.float32)
    weights = often / (often + _usual_norm(len(terms)))
    return dict(zip(indexes.tolist(), weights.tolist(), strict=True))


def term_count(weight: float, length: int) -> int:
    """Return how often a term stands in a chunk, from its weight."""
    return round(weight * _usual_norm(length) / (1.0 - weight)) if weight < 1.0 else MOST_COUNTED


def _usual_norm(length: int) -> float:
    return float(length_norms(np.array([min(length, LONGEST)]), USUAL_LENGTH)[0])
