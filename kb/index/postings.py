"""Postings: which chunks of a segment hold a term, and how often.

A posting list is one run of bytes: the chunks' positions in their segment as little-endian uint16, then as
many uint8 counts. An unmerged segment keeps all its lists in one block, a merged one has a row for each term.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

POSITION = np.dtype("<u2")
OFFSET = np.dtype("<u4")
LARGEST_SEGMENT = 1 << 16
MOST_COUNTED = 255
REMOVED = -1
"""The new position of a chunk that is removed."""


@dataclass(frozen=True, slots=True)
class PostingList:
    """The chunks that hold a term, ascending, and how often each does."""

    positions: NDArray[np.uint16]
    counts: NDArray[np.uint8]

    def dump(self) -> bytes:
        """Return the stored form."""
        return self.positions.tobytes() + self.counts.tobytes()

    @classmethod
    def load(cls, stored: bytes | memoryview) -> PostingList:
        """Read the stored form; the arrays are views of it."""
        size = len(stored) // 3
        positions = np.frombuffer(stored, POSITION, size)
        return cls(positions, np.frombuffer(stored, np.uint8, size, offset=2 * size))


class Postings:
    """All posting lists of some chunks: one after the other in two arrays, and where each ends."""

    def __init__(
        self,
        names: list[str],
        ends: NDArray[np.uint32],
        positions: NDArray[np.uint16],
        counts: NDArray[np.uint8],
    ) -> None:
        self._places = {name: place for place, name in enumerate(names)}
        self._ends, self._positions, self._counts = ends, positions, counts

    @classmethod
    def of(cls, chunks: Iterable[Sequence[str]]) -> Postings:
        """Build postings from the terms of each chunk, of at most `LARGEST_SEGMENT` chunks."""
        places: dict[str, int] = {}
        lengths, terms = [], []
        for chunk in chunks:
            lengths.append(len(chunk))
            terms += [places.setdefault(term, len(places)) for term in chunk]
        at = np.repeat(np.arange(len(lengths)), lengths)
        pairs, counts = np.unique(np.array(terms, np.int64) * LARGEST_SEGMENT + at, return_counts=True)
        ends = np.cumsum(np.bincount(pairs // LARGEST_SEGMENT, minlength=len(places)))
        return cls(
            list(places),
            ends.astype(OFFSET),
            (pairs % LARGEST_SEGMENT).astype(POSITION),
            np.minimum(counts, MOST_COUNTED).astype(np.uint8),
        )

    @classmethod
    def of_lists(cls, lists: Iterable[tuple[str, PostingList]]) -> Postings:
        """Build postings from posting lists."""
        terms = dict(lists)
        ends = np.cumsum([len(each.positions) for each in terms.values()])
        return cls(
            list(terms),
            ends.astype(OFFSET),
            _concatenate([each.positions for each in terms.values()], POSITION),
            _concatenate([each.counts for each in terms.values()], np.dtype(np.uint8)),
        )

    @classmethod
    def join(cls, parts: Iterable[tuple[Postings, NDArray[np.int64]]]) -> Postings:
        """Join the postings of several segments into those of one.

        Each part comes with the new positions of its chunks, ascending from part to part, or `REMOVED`.
        """
        places: dict[str, int] = {}
        terms, positions, counts = [], [], []
        for postings, moved in parts:
            numbers = [places.setdefault(name, len(places)) for name in postings._places]
            new = moved[postings._positions]
            stays = new != REMOVED
            terms.append(np.repeat(np.array(numbers, np.int64), postings._sizes)[stays])
            positions.append(new[stays].astype(POSITION))
            counts.append(postings._counts[stays])
        of_term = _concatenate(terms, np.dtype(np.int64))
        order = np.argsort(of_term, kind="stable")
        return cls(
            list(places),
            np.cumsum(np.bincount(of_term, minlength=len(places))).astype(OFFSET),
            _concatenate(positions, POSITION)[order],
            _concatenate(counts, np.dtype(np.uint8))[order],
        )

    def __iter__(self) -> Iterator[tuple[str, PostingList]]:
        return ((term, self._at(place)) for term, place in self._places.items())

    @property
    def terms(self) -> KeysView[str]:
        """The terms that have a list."""
        return self._places.keys()

    def __getitem__(self, term: str) -> PostingList:
        """Return the list of one of the `terms`."""
        return self._at(self._places[term])

    def dump(self) -> tuple[str, bytes]:
        """Return the terms, a line each, and one block: where each list ends, all positions, all counts."""
        stored = self._ends.tobytes() + self._positions.tobytes() + self._counts.tobytes()
        return "\n".join(self._places), stored

    @classmethod
    def load(cls, terms: str, stored: bytes | memoryview) -> Postings:
        """Read the stored form."""
        names = terms.split("\n") if terms else []
        ends = np.frombuffer(stored, OFFSET, len(names))
        size = int(ends[-1]) if names else 0
        positions = np.frombuffer(stored, POSITION, size, offset=ends.nbytes)
        counts = np.frombuffer(stored, np.uint8, size, offset=ends.nbytes + positions.nbytes)
        return cls(names, ends, positions, counts)

    @property
    def _sizes(self) -> NDArray[np.int64]:
        sizes = self._ends.astype(np.int64)
        sizes[1:] -= sizes[:-1].copy()
        return sizes

    def _at(self, place: int) -> PostingList:
        begin, end = int(self._ends[place - 1]) if place else 0, int(self._ends[place])
        return PostingList(self._positions[begin:end], self._counts[begin:end])


def _concatenate(arrays: Sequence[NDArray[Any]], dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype)
