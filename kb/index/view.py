"""A view: the segments of one search's scope, opened.

Segments are kept in memory between searches, because they seldom change and are read whole. The database
decides each time what a principal may see; only then the memory is used.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import groupby
from typing import Any
from uuid import UUID

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from numpy.typing import NDArray

from accounts.principal import Principal
from core.database.replicas import read_connection
from kb.index.codes import Codes, encoder
from kb.index.fetching import fetch_rows
from kb.index.postings import POSITION, PostingList, Postings
from kb.index.spelling import similar
from kb.models import EmbeddingSpace, Segment, SegmentCodes

ATTEMPTS = 5
"""How often to query again if segments were merged while they were being opened."""
READ_AT_ONCE = 64
SCANNED_ALONE = 1 << 13
"""A segment with so many chunks is scanned in place: copying it takes longer than a separate step."""
FEW_DOCUMENTS = 1000
POSTED = """
    SELECT segment_id, term, postings FROM kb_segmentterm
    WHERE segment_id = ANY(%s::bigint[]) AND term = ANY(%s::text[])
"""
SIMILAR = """
    WITH alike AS MATERIALIZED (
        SELECT text, similarity(text, %(term)s) AS trigrams FROM kb_term WHERE text %% %(term)s
        ORDER BY trigrams DESC, text
    )
    SELECT text, trigrams FROM alike
    WHERE EXISTS (SELECT FROM kb_segmentterm WHERE segment_id = ANY(%(merged)s) AND term = text)
    LIMIT %(most)s
"""
MOST_SIMILAR = 32
"""So many similar terms are checked: merged segments may still hold some of deleted chunks."""

Rows = NDArray[np.intp]
"""Numbers of chunks in a view; those of its first segment come first."""


@dataclass(frozen=True)
class OpenSegment:
    """A segment in memory; `postings` only of an unmerged one."""

    id: int
    version: int
    chunk_ids: NDArray[np.void]
    documents: tuple[int, ...]
    """The 128 bits of their ids: looking up integers is several times faster than `UUID`s."""
    document_of: NDArray[np.uint16]
    lengths: NDArray[np.uint16]
    languages: tuple[str, ...]
    alive: NDArray[np.bool_]
    postings: Postings | None
    space: int
    codes: Codes
    """Codes of shape (words, size), in that embedding space; zeros for a chunk without a vector."""
    coded: NDArray[np.bool_]
    """Whether each chunk has a code, shape (size,)."""

    @property
    def nbytes(self) -> int:
        """The approximate memory of the segment in bytes."""
        postings = 8 * int(self.lengths.sum()) if self.postings else 0
        codes = self.codes.nbytes + self.coded.nbytes
        return 24 * len(self.lengths) + 100 * len(self.documents) + codes + postings


class Cache:
    """The segments opened last, by id, up to a number of bytes. Thread-safe."""

    def __init__(self) -> None:
        self._segments: OrderedDict[tuple[int, int], OpenSegment] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, id: int, version: int, space: int) -> OpenSegment | None:
        """Return the segment if it is cached, current, and was opened for this embedding space."""
        with self._lock:
            segment = self._segments.get((id, space))
            if segment is None or segment.version != version:
                return None
            self._segments.move_to_end((id, space))
            return segment

    def put(self, segments: Iterable[OpenSegment]) -> None:
        """Cache these segments, and drop those not used for longest."""
        with self._lock:
            for segment in segments:
                key = (segment.id, segment.space)
                if former := self._segments.pop(key, None):
                    self._size -= former.nbytes
                self._segments[key] = segment
                self._size += segment.nbytes
            while self._size > settings.INDEX_CACHE_BYTES and self._segments:
                _, oldest = self._segments.popitem(last=False)
                self._size -= oldest.nbytes

    @property
    def nbytes(self) -> int:
        """The approximate memory of all cached segments in bytes."""
        return self._size


_cache = Cache()


class View:
    """The chunks that a principal may find, perhaps of some documents only, as numbered rows."""

    def __init__(self, segments: Sequence[OpenSegment], documents: Collection[UUID] | None) -> None:
        self.segments = segments
        self._documents = None if documents is None else frozenset(id.int for id in documents)
        sizes = [len(segment.lengths) for segment in segments]
        self.size = sum(sizes)
        self.begins: Rows = np.cumsum([0, *sizes], dtype=np.intp)[:-1]

    @cached_property
    def alive(self) -> NDArray[np.bool_]:
        """Which rows may be found, shape (size,)."""
        return concatenate([self._alive(segment) for segment in self.segments], np.bool_)

    @cached_property
    def lengths(self) -> NDArray[np.uint16]:
        """How many terms each row has, shape (size,)."""
        return concatenate([segment.lengths for segment in self.segments], np.uint16)

    @property
    def languages(self) -> set[str]:
        """The languages of the chunks, ISO 639-1; "" for unknown ones."""
        return {language for segment in self.segments for language in segment.languages}

    @cached_property
    def count(self) -> int:
        """How many rows may be found."""
        return int(np.count_nonzero(self.alive))

    def narrow(self, rows: Rows) -> View:
        """Return a view in which only these of the rows may be found."""
        view = View(self.segments, None)
        view.alive = np.zeros(self.size, np.bool_)
        view.alive[rows] = self.alive[rows]
        return view

    def chunk_ids(self, rows: Rows) -> list[UUID]:
        """Return the ids of these rows."""
        return [UUID(hex=id) for id in self.hex_ids(rows)]

    def hex_ids(self, rows: Rows) -> list[str]:
        """Return the ids of these rows as 32 hexadecimal digits."""
        of = np.searchsorted(self.begins, rows, side="right") - 1
        at = rows - self.begins[of]
        return [
            self.segments[segment].chunk_ids[position].tobytes().hex()
            for segment, position in zip(of.tolist(), at.tolist(), strict=True)
        ]

    def postings(self, terms: Collection[str]) -> dict[str, list[tuple[int, PostingList]]]:
        """Return for each term its lists, each with the row at which its segment begins."""
        found: dict[str, list[tuple[int, PostingList]]] = {term: [] for term in terms}
        begins = {segment.id: int(begin) for segment, begin in zip(self.segments, self.begins, strict=True)}
        for segment in self.segments:
            if segment.postings:
                for term in segment.postings.terms & found.keys():
                    found[term].append((begins[segment.id], segment.postings[term]))
        for id, term, stored in fetch_rows(POSTED, [self._ids(unmerged=False), list(terms)]):
            found[term].append((begins[id], PostingList.load(stored)))
        return found

    def similar_term(self, term: str, least: float) -> tuple[str, float] | None:
        """Return the term of these rows that shares most trigrams with `term`, and its similarity: `least` to
        1."""
        connection = read_connection()
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('pg_trgm.similarity_threshold', %s, true)", [str(least)])
            merged = self._ids(unmerged=False)
            cursor.execute(SIMILAR, {"merged": merged, "term": term, "most": MOST_SIMILAR})
            found = cursor.fetchall()
        # Terms of unmerged segments are in memory, not in the database's index.
        found += similar(term, self._unmerged_terms, least)
        best = nsmallest(MOST_SIMILAR, found, key=lambda each: (-each[1], each[0]))
        postings = self.postings({name for name, _ in best})
        return next((each for each in best if self._is_findable(postings[each[0]])), None)

    def _is_findable(self, lists: Iterable[tuple[int, PostingList]]) -> bool:
        """Return whether a term, by its lists, occurs in any findable row."""
        return any(self.alive[begin + each.positions.astype(np.intp)].any() for begin, each in lists)

    @cached_property
    def comparable(self) -> NDArray[np.bool_]:
        """Which rows may be found and have a code, shape (size,)."""
        coded: NDArray[np.bool_] = concatenate([segment.coded for segment in self.segments], np.bool_)
        return self.alive & coded

    @cached_property
    def is_complete(self) -> bool:
        """Whether all rows are comparable."""
        return bool(self.comparable.all())

    @property
    def is_compared(self) -> bool:
        """Whether all rows that may be found are comparable."""
        return int(np.count_nonzero(self.comparable)) == self.count

    def codes(self) -> list[Codes]:
        """Return the binary codes of all rows, in order, in arrays of shape (words, some).

        Small segments are joined, so that a scan takes few steps.
        """
        together = groupby(self.segments, lambda segment: len(segment.lengths) >= SCANNED_ALONE)
        arrays = [([segment.codes for segment in segments], alone) for alone, segments in together]
        return [
            array
            for each, alone in arrays
            for array in (each if alone or len(each) == 1 else [np.concatenate(each, axis=1)])
        ]

    @cached_property
    def _unmerged_terms(self) -> set[str]:
        return set().union(*(segment.postings.terms for segment in self.segments if segment.postings))

    def _ids(self, *, unmerged: bool) -> list[int]:
        return [segment.id for segment in self.segments if (segment.postings is not None) is unmerged]

    def _alive(self, segment: OpenSegment) -> NDArray[np.bool_]:
        if self._documents is None:
            return segment.alive
        # A look-up table: sorting, as `isin` does, takes several times longer.
        wanted = np.fromiter((id in self._documents for id in segment.documents), np.bool_)
        alive: NDArray[np.bool_] = segment.alive & wanted[segment.document_of]
        return alive


def open_view(
    principal: Principal,
    space: EmbeddingSpace,
    *,
    workspaces: Collection[UUID] | None = None,
    documents: Collection[UUID] | None = None,
) -> View:
    """Open what `principal` may find, restricted to some workspaces or documents; None does not restrict."""
    scope = Segment.objects.restricted_to(principal)
    if workspaces is not None:
        scope = scope.filter(workspace_id__in=workspaces)
    if documents is not None and len(documents) <= FEW_DOCUMENTS:
        scope = scope.filter(document_ids__overlap=list(documents))
    for _ in range(ATTEMPTS):
        versions = dict(scope.order_by("pk").values_list("pk", "version"))
        segments = _open_segments(versions, scope, space)
        if segments.keys() == versions.keys():
            break
    return View([segments[id] for id in sorted(segments)], documents)


def concatenate(arrays: Sequence[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    """Return one array; an empty one of `dtype` if there is none."""
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype)


# --- Opening -----------------------------------------------------------------------------------------------


def _open_segments(
    versions: dict[int, int], scope: QuerySet[Segment], space: EmbeddingSpace
) -> dict[int, OpenSegment]:
    """Return the segments by id, from memory or from the database; those merged meanwhile are missing."""
    found = {id: _cache.get(id, version, space.pk) for id, version in versions.items()}
    here = {id: segment for id, segment in found.items() if segment is not None}
    lacking = sorted(versions.keys() - here.keys())
    for start in range(0, len(lacking), READ_AT_ONCE):
        read = _read_segments(lacking[start : start + READ_AT_ONCE], scope, space)
        _cache.put(read)
        here |= {segment.id: segment for segment in read}
    return here


def _read_segments(ids: list[int], scope: QuerySet[Segment], space: EmbeddingSpace) -> list[OpenSegment]:
    rows = scope.filter(pk__in=ids)
    # Read codes after the rows: a segment newer than its version is read again, an older one would stay
    # cached.
    segments = list(rows)
    stored = SegmentCodes.objects.filter(segment_id__in=ids, space=space)
    codes = {row.segment_id: row for row in stored}
    return [_open(row, codes.get(row.pk), space) for row in segments]


def _open(row: Segment, stored: SegmentCodes | None, space: EmbeddingSpace) -> OpenSegment:
    codes = np.frombuffer(stored.codes if stored else b"", np.uint64)
    coded = np.frombuffer(stored.present, np.bool_) if stored else np.zeros(row.size, np.bool_)
    alive = np.ones(row.size, np.bool_)
    alive[row.dead] = False
    return OpenSegment(
        id=row.pk,
        version=row.version,
        chunk_ids=np.frombuffer(row.chunk_ids, "V16"),
        documents=tuple(id.int for id in row.document_ids),
        document_of=np.frombuffer(row.document_of, POSITION),
        lengths=np.frombuffer(row.lengths, POSITION),
        languages=tuple(row.languages),
        alive=alive,
        postings=Postings.load(row.terms, row.postings) if row.document_id else None,
        space=space.pk,
        codes=_columns(codes, coded, encoder(space.dimensions).words),
        coded=coded,
    )


def _columns(stored: Codes, coded: NDArray[np.bool_], words: int) -> Codes:
    """Return codes as columns, of shape (words, size), zero where there is none."""
    if len(stored) == len(coded) * words:
        return np.ascontiguousarray(stored.reshape(-1, words).T)
    return np.zeros((words, len(coded)), np.uint64)
