"""Ranking by meaning: the nearest vectors to a question's among the chunks of a view.

  all codes ──count different signs──▶ 5,000 ──estimate──▶ 500 ──compare the vectors themselves──▶ best

Among a million chunks, the two scans miss fewer than one in a hundred of the fifty nearest. A view with no
more chunks than are compared is ranked exactly (`python -m bench.scale`, docs/adr/0015-segments.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from pgvector import HalfVector

from core.row_access import as_system
from kb.embedding.base import Vectors
from kb.index.codes import Codes, distances, encoder, estimates
from kb.index.view import Rows, View
from kb.models import EmbeddingSpace

ESTIMATED = 5_000
COMPARED = 500
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
    similarity = np.full(len(rows), -np.inf, np.float32)
    # One string: adapting a thousand ids one by one takes longer than comparing their vectors.
    ids = f"{{{','.join(view.hex_ids(rows))}}}"
    # The rows are those of a scoped view. Checking the chunk of each again would double the time.
    with as_system("compares the vectors of rows that the caller may find"), connection.cursor() as cursor:
        cursor.execute(COMPARE, [HalfVector(query).to_text(), ids, space.pk])
        for number, compared in cursor.fetchall():
            similarity[number - 1] = compared
    return similarity


def worth_comparing(view: View, space: EmbeddingSpace, query: Vectors) -> Rows:
    """Return the rows that may be nearest: all findable rows, or `COMPARED` of them, in no order."""
    if view.count <= COMPARED:
        return np.flatnonzero(view.alive)
    coder = encoder(space.dimensions)
    code, groups = coder.encode(query[None])[0], view.codes()
    ends = np.cumsum([codes.shape[1] for codes in groups])
    differing = np.empty(view.size, np.uint16)
    for codes, end in zip(groups, ends, strict=True):
        distances(codes, code, differing[end - codes.shape[1] : end])
    if not view.is_complete:
        # Rows that may not be found count as different in every bit, and one more.
        differing[~view.comparable] = coder.bits + 1
    rows = np.flatnonzero(differing <= _limit(differing, coder.bits))
    estimated = estimates(_columns(groups, ends, rows), coder.project(query[None])[0])
    return rows if len(rows) <= COMPARED else rows[np.argpartition(-estimated, COMPARED)[:COMPARED]]


def _limit(differing: NDArray[np.uint16], bits: int) -> int:
    """Return the number of different bits within which `ESTIMATED` codes lie, or all."""
    return min(int(np.searchsorted(np.cumsum(np.bincount(differing)), ESTIMATED)), bits)


def _columns(groups: Sequence[Codes], ends: NDArray[np.intp], rows: Rows) -> Codes:
    """Return the codes of these rows, shape (words, rows), taken from several arrays."""
    cuts = np.searchsorted(rows, ends)
    parts = zip(groups, ends, np.split(rows, cuts[:-1]), strict=True)
    return np.concatenate([codes[:, part - (end - codes.shape[1])] for codes, end, part in parts], axis=1)
