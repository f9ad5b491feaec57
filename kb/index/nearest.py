"""Ranking by meaning: the nearest vectors to a question's among the chunks of a view.

  all codes ──count different signs──▶ 5,000 ──estimate──▶ 500 ──compare the vectors themselves──▶ best

Among a million chunks, the two scans miss fewer than one in a hundred of the fifty nearest. A view with no
more chunks than are compared is ranked exactly (`python -m bench.scale`, docs/adr/0015-segments.md). In large
views the first three words of each code decide which tenth of them is compared in full, on all cores
(`python -m bench.scale.scan`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from core.database.replicas import read_connection
from core.row_access import as_system
from kb.embedding.base import Vectors
from kb.index.codes import Codes, Encoder, distances, encoder, estimates
from kb.index.view import Rows, View, concatenate
from kb.models import EmbeddingSpace

ESTIMATED = 5_000
COMPARED = 500
MOST_ESTIMATED = 400
"""In large views one in so many codes is estimated."""
COARSE_FROM = 1 << 20
COARSE_WORDS = 3
COARSE_SHARE = 0.1
SAMPLED = 16
T = TypeVar("T")
R = TypeVar("R")
# Apart from the threads of searches, which wait for these.
_scan_threads = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="scan")
COMPARE = """
    SELECT number, -(embedding <#> %s::halfvec)
    FROM unnest(%s::uuid[]) WITH ORDINALITY AS asked (chunk, number)
    JOIN kb_chunkvector ON chunk_id = chunk AND space_id = %s
"""


def best(rows: Rows, similarity: NDArray[np.float32], count: int) -> tuple[Rows, NDArray[np.float32]]:
    """Return the `count` rows of the highest finite similarities, and those, best first."""
    order = np.argsort(-similarity, kind="stable")[:count]
    order = order[np.isfinite(similarity[order])]
    return rows[order], similarity[order]


def similarities(view: View, space: EmbeddingSpace, query: Vectors, rows: Rows) -> NDArray[np.float32]:
    """Return the cosine similarity of each row to `query`; minus infinity where there is no vector."""
    return compare(view.hex_ids(rows), space, query)


def compare(hex_ids: Sequence[str], space: EmbeddingSpace, query: Vectors) -> NDArray[np.float32]:
    """Return the cosine similarity of chunks, which the caller may find; minus infinity without a vector."""
    similarity = np.full(len(hex_ids), -np.inf, np.float32)
    # One string: adapting a thousand ids one by one takes longer than comparing their vectors.
    ids = f"{{{','.join(hex_ids)}}}"
    # The rows are those of a scoped view. Checking the chunk of each again would double the time.
    reason = "compares the vectors of rows that the caller may find"
    with as_system(reason), read_connection().cursor() as cursor:
        cursor.execute(COMPARE, [HalfVector(query).to_text(), ids, space.pk])
        for number, compared in cursor.fetchall():
            similarity[number - 1] = compared
    return similarity


def worth_comparing(view: View, space: EmbeddingSpace, query: Vectors) -> Rows:
    """Return the rows that may be nearest: all findable rows, or `COMPARED` of them, in no order."""
    if view.count <= COMPARED:
        return np.flatnonzero(view.alive)
    coder = encoder(space.dimensions)
    slabs, begin = [], 0
    for codes in view.codes():
        end = begin + codes.shape[1]
        slabs.append(Slab(begin, codes, None if view.is_complete else view.comparable[begin:end]))
        begin = end
    return nearest_codes(slabs, coder, query)


@dataclass(frozen=True, slots=True)
class Slab:
    """Codes of shape (words, size) of the rows from `begin` on; `comparable` are those that count: None for
    all."""

    begin: int
    codes: Codes
    comparable: NDArray[np.bool_] | None = None

    def distances(self, code: Codes) -> NDArray[np.uint16]:
        """Return in how many bits each code differs; beyond all bits if it does not count."""
        differing = np.empty(self.codes.shape[1], np.uint16)
        distances(self.codes[: len(code)], code, differing)
        if self.comparable is not None:
            differing[~self.comparable] = len(code) * 64 + 1
        return differing


def nearest_codes(slabs: Sequence[Slab], coder: Encoder, query: Vectors) -> Rows:
    """Return the `COMPARED` rows whose codes are nearest to a vector, in no order; all if there are fewer."""
    code, projected = coder.encode(query[None])[0], coder.project(query[None])[0]
    size = sum(slab.codes.shape[1] for slab in slabs)
    if size < COARSE_FROM:
        parts = [ScannedRows(slab, np.arange(slab.codes.shape[1]), slab.distances(code)) for slab in slabs]
    else:
        parts = _scan_coarsely(slabs, code)
    limit = _limit([part.differing for part in parts], coder.bits, max(ESTIMATED, size // MOST_ESTIMATED))
    near = [part.within(limit) for part in parts]
    rows = concatenate([part.slab.begin + part.rows for part in near], np.intp)
    estimated = estimates(np.concatenate([part.codes for part in near], axis=1), projected)
    return rows if len(rows) <= COMPARED else rows[np.argpartition(-estimated, COMPARED)[:COMPARED]]


@dataclass(frozen=True, slots=True)
class ScannedRows:
    """Some rows of a slab, and in how many bits the code of each differs."""

    slab: Slab
    rows: Rows
    differing: NDArray[np.uint16]

    @property
    def codes(self) -> Codes:
        """The codes of these rows, shape (words, rows)."""
        return self.slab.codes[:, self.rows]

    def within(self, limit: int) -> ScannedRows:
        """Return the part with at most so many different bits."""
        near = np.flatnonzero(self.differing <= limit)
        return ScannedRows(self.slab, self.rows[near], self.differing[near])


def _scan_coarsely(slabs: Sequence[Slab], code: Codes) -> list[ScannedRows]:
    """Compare the first words of all codes, and the whole of those that differ least, on all cores."""
    begin = code[:COARSE_WORDS]
    coarse = _on_all_cores(lambda slab: slab.distances(begin), slabs)
    # A sample suffices to see how many bits the wanted share differs in.
    sample = [found[::SAMPLED] for found in coarse]
    limit = _limit(sample, 64 * COARSE_WORDS, int(COARSE_SHARE * sum(map(len, sample))))

    def refine(pair: tuple[Slab, NDArray[np.uint16]]) -> ScannedRows:
        slab, found = pair
        part = ScannedRows(slab, np.arange(len(found)), found).within(limit)
        rest = np.empty(len(part.rows), np.uint16)
        distances(slab.codes[COARSE_WORDS:, part.rows], code[COARSE_WORDS:], rest)
        return ScannedRows(slab, part.rows, part.differing + rest)

    return _on_all_cores(refine, list(zip(slabs, coarse, strict=True)))


def _on_all_cores(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Return the result for each item; NumPy lets other threads run while it computes."""
    some = -(-len(items) // (os.cpu_count() or 1))
    runs = [items[start : start + some] for start in range(0, len(items), some)]
    done = _scan_threads.map(lambda run: [work(item) for item in run], runs)
    return [result for results in done for result in results]


def _limit(differing: Sequence[NDArray[np.uint16]], bits: int, wanted: int) -> int:
    """Return the number of different bits within which so many codes lie, or all that count."""
    counts = np.zeros(bits + 2, np.intp)
    for some in differing:
        counts += np.bincount(some, minlength=bits + 2)
    return min(int(np.searchsorted(np.cumsum(counts), wanted)), bits)
