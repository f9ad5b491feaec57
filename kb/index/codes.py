"""Binary codes: 64 bytes in place of a vector, precise enough to choose the vectors to compare exactly.

A vector is rotated by a fixed pseudo-random rotation and reduced to the signs of its coordinates. The number
of different signs then measures the angle between two vectors (Charikar 2002, "Similarity estimation
techniques from rounding algorithms"). This holds for any data: the codes of one tenant never depend on those
of another.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from kb.embedding.base import Vectors

Codes = NDArray[np.uint64]

FEWEST_BITS = 512
"""More bits than a small model's dimensions find more: with 384 bits for 384 dimensions, recall falls by half
a point."""
MOST_BITS = 1024
SEED = 20260101


@cache
def encoder(dimensions: int) -> Encoder:
    """Return the encoder of a model's vectors; the same on every machine, for ever."""
    return Encoder(dimensions)


class Encoder:
    """Turns vectors of one dimension into codes of `bits` bits, `words` 64-bit words each."""

    def __init__(self, dimensions: int) -> None:
        padded = max(FEWEST_BITS, 1 << (dimensions - 1).bit_length())
        self.bits = min(padded, MOST_BITS)
        self.words = self.bits // 64
        # RandomState's stream is frozen (NEP 19), so stored codes stay readable.
        self._signs = np.random.RandomState(SEED).choice([-1.0, 1.0], (2, padded)).astype(np.float32)

    def project(self, vectors: Vectors) -> Vectors:
        """Return rotated vectors of shape (n, bits), from vectors of shape (n, dimensions).

        Two rounds of random signs and a Hadamard transform rotate as well as a random matrix does (Ailon and
        Chazelle 2009). The steps are exact, so the result does not depend on a linear algebra library.
        """
        padded = self._signs.shape[1]
        turned = np.zeros((len(vectors), padded), np.float32)
        turned[:, : vectors.shape[1]] = vectors
        for signs in self._signs:
            turned = _hadamard(turned * signs)
        return turned[:, : self.bits]

    def encode(self, vectors: Vectors) -> Codes:
        """Return codes of shape (n, words)."""
        bits = np.packbits(self.project(vectors) > 0, axis=1)
        return np.ascontiguousarray(bits).view(np.uint64)


def distances(codes: Codes, query: Codes, out: NDArray[np.uint16]) -> None:
    """Write to `out`, shape (n,), the number of bits in which each code differs from the query.

    `codes` has shape (words, n), `query` (words,).
    """
    out.fill(0)
    differing, count = np.empty(codes.shape[1], np.uint64), np.empty(codes.shape[1], np.uint8)
    for of_all, of_query in zip(codes, query, strict=True):
        np.bitwise_xor(of_all, of_query, out=differing)
        out += np.bitwise_count(differing, out=count)


def estimates(codes: Codes, projected: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return estimates, shape (n,), that grow with each code's similarity to a query with magnitudes.

    `codes` has shape (words, n), `projected` (bits,). Eight signs at a time are looked up in a table.
    """
    signs = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32) * 2 - 1
    tables = projected.reshape(-1, 8) @ signs.T
    octets = np.ascontiguousarray(codes.T).view(np.uint8).T
    total = np.zeros(codes.shape[1], np.float32)
    for table, octet in zip(tables, octets, strict=True):
        total += table[octet]
    return total


def _hadamard(rows: Vectors) -> Vectors:
    """Return the Walsh-Hadamard transform of each row, at the row's own length."""
    count, length = rows.shape
    step = 1
    while step < length:
        pairs = rows.reshape(count, -1, 2, step)
        rows = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
        rows = rows.reshape(count, length)
        step *= 2
    return rows / np.float32(np.sqrt(length))
