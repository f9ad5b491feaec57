"""A corpus of any size, made of the sentences of some texts.

A chunk is some sentences, and its vector that of the first, moved along the difference of two others as far
as real texts differ. Documents are of very different sizes; few workspaces hold most of them, and three in
ten belong to external users, who are everywhere. A document is in one language.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb
from rich.console import Console
from rich.progress import track

SHARES = (0.5, 0.1, 0.01, 0.001, 0.0001)
SMALL_WORKSPACES = 100
EXTERNAL_USERS = 10
OF_EXTERNAL_USERS = 0.3
SENTENCES = 5
FEWEST_WORDS = 5
MOVED = 0.35
LARGE = 10_000
"""So many rows take long enough for a progress bar."""
CHUNK_TYPES = [*("uuid",) * 3, "varchar", "int4", "text", "text[]", "jsonb", "int4[]", *("varchar",) * 2]

console = Console(width=150)


@dataclass(frozen=True, slots=True)
class Material:
    """What a corpus is made of: sentences, their languages (ISO 639-1) and vectors (n, dimensions)."""

    texts: list[str]
    languages: NDArray[np.str_]
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ScaleCorpus:
    """The chunks by number: vectors (n, dimensions), and for each its id and the number of its document."""

    vectors: NDArray[np.float16]
    ids: list[UUID]
    document_of: NDArray[np.int64]
    documents: list[Owner]


@dataclass(frozen=True, slots=True)
class Owner:
    """A document: its id and whose it is."""

    id: UUID
    workspace_id: UUID
    external_user_id: str | None


def read(folder: Path) -> tuple[dict[str, str], list[str]]:
    """Return the sentences of all passages with their languages, and the texts of all queries, each once."""
    passages = [row for file in sorted(folder.rglob("passages*.jsonl")) for row in lines(file)]
    queries = [row["text"] for file in sorted(folder.rglob("queries*.jsonl")) for row in lines(file)]
    sentences = {
        sentence: row.get("lang", "en")
        for row in passages
        for sentence in re.split(r"(?<=[.!?])\s+", row["text"])
        if len(sentence.split()) >= FEWEST_WORDS
    }
    return sentences, list(dict.fromkeys(queries))


def lines(file: Path) -> Iterator[dict[str, str]]:
    """Yield the objects of a JSON-lines file."""
    with file.open(encoding="utf-8") as rows:
        yield from map(json.loads, rows)


class Maker:
    """Makes documents of random sentences and stores them, their chunks and vectors."""

    def __init__(self, material: Material, seed: int) -> None:
        from kb.embedding import active_space

        self._material = material
        self._random = np.random.default_rng(seed)
        self._space = active_space()

    def vectors(self, firsts: NDArray[np.int64]) -> NDArray[np.float16]:
        """Return unit vectors near those of these sentences, moved as far as real texts differ."""
        vectors = self._material.vectors
        one, other = self._random.integers(0, len(vectors), (2, len(firsts)))
        moved = vectors[firsts] + MOVED * (vectors[one] - vectors[other])
        unit: NDArray[np.float16] = (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float16)
        return unit

    def sizes(self, chunks: int) -> list[int]:
        """Return the sizes of documents with so many chunks in all: most are small, a few have thousands."""
        sizes: list[int] = []
        while sum(sizes) < chunks:
            drawn = int(np.clip(self._random.lognormal(3.6, 1.4), 1, 5000))
            sizes.append(min(drawn, chunks - sum(sizes)))
        return sizes

    def owners(self, sizes: list[int], workspaces: list[UUID]) -> list[Owner]:
        """Return whose documents of these sizes are, so that the workspaces hold their shares."""
        small = 1 / np.arange(1, SMALL_WORKSPACES + 1)
        shares = np.array([*SHARES, *(small / small.sum() * (1 - sum(SHARES)))])
        held, total = np.zeros(len(shares)), sum(sizes)
        owners = []
        for size in sizes:
            lacking = shares * total - held
            at = int(
                self._random.choice(len(shares), p=np.maximum(lacking, 0) / np.maximum(lacking, 0).sum())
            )
            held[at] += size
            external = self._random.random() < OF_EXTERNAL_USERS
            name = f"user {self._random.integers(EXTERNAL_USERS)}" if external else None
            owners.append(Owner(UUID(bytes=self._random.bytes(16)), workspaces[at], name))
        return owners

    def store(self, sizes: list[int], owners: list[Owner]) -> ScaleCorpus:
        """Store documents of these sizes and owners with all their chunks and vectors; index them."""
        count = sum(sizes)
        drawn = self._random.integers(0, len(self._material.texts), len(sizes))
        languages = self._material.languages[drawn]
        sentences = self._sentences(languages, sizes)
        vectors = self.vectors(sentences[:, 0])
        ids = [UUID(bytes=self._random.bytes(16)) for _ in range(count)]
        document_of = np.repeat(np.arange(len(sizes)), sizes)
        ordinals = np.arange(count) - np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
        texts = (" ".join(self._material.texts[at] for at in row) for row in sentences)
        store_documents(owners, sizes, languages.tolist())
        copy(
            "kb_chunk (id, document_id, workspace_id, external_user_id, ordinal, text, headings, spans,"
            " sentences, modality, language)",
            CHUNK_TYPES,
            (
                (id, o.id, o.workspace_id, o.external_user_id, n, text, [], Jsonb([]), [], "text", language)
                for id, o, n, text, language in zip(
                    ids,
                    (owners[d] for d in document_of),
                    ordinals.tolist(),
                    texts,
                    languages[document_of].tolist(),
                    strict=True,
                )
            ),
            count,
        )
        copy(
            "kb_chunkvector (chunk_id, space_id, embedding)",
            ["uuid", "int8", "halfvec"],
            ((id, self._space.pk, HalfVector(vector)) for id, vector in zip(ids, vectors, strict=True)),
            count,
        )
        return ScaleCorpus(vectors, ids, document_of, owners)

    def _sentences(self, languages: NDArray[np.str_], sizes: list[int]) -> NDArray[np.int64]:
        """Return the numbers of the sentences of each chunk, shape (chunks, SENTENCES)."""
        drawn = np.empty((sum(sizes), SENTENCES), np.int64)
        for language in np.unique(languages):
            of_language = np.repeat(languages == language, sizes)
            sentences = np.flatnonzero(self._material.languages == language)
            drawn[of_language] = self._random.choice(sentences, (np.count_nonzero(of_language), SENTENCES))
        return drawn


def store_documents(owners: Sequence[Owner], sizes: Sequence[int], languages: Sequence[str]) -> None:
    """Store the rows of finished documents."""
    from kb.models import Document, Searchable, Stage, Status

    Document.unscoped.bulk_create(
        [
            Document(
                id=owner.id,
                workspace_id=owner.workspace_id,
                external_user_id=owner.external_user_id,
                name=f"{owner.id}.txt",
                size=0,
                identity=owner.id.hex,
                status=Status.READY,
                stage=Stage.DONE,
                searchable=Searchable.FULL,
                chunk_count=size,
                language=language,
            )
            for owner, size, language in zip(owners, sizes, languages, strict=True)
        ],
        batch_size=1000,
    )


def copy(table: str, types: Sequence[str], rows: Iterator[tuple[Any, ...]], count: int) -> None:
    """Fill a table."""
    from django.db import connection

    with connection.cursor() as cursor:
        register_vector(connection.connection)
        with cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copying:
            copying.set_types(types)
            shown = track(rows, description=table.split()[0], total=count, console=console)
            for row in rows if count < LARGE else shown:
                copying.write_row(row)
