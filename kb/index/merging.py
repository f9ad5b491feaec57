"""Merging: many small segments of a scope become few large ones.

A search pays for each segment that it opens. Of a large one it only reads the posting lists that it needs.
Segments are merged as in a log-structured merge: only with segments no larger than the sum so far. So a chunk
is merged again only when its segment has about doubled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from numpy.typing import NDArray
from procrastinate.contrib.django import app

from kb.index.postings import LARGEST_SEGMENT, POSITION, REMOVED, PostingList, Postings
from kb.index.scope_jobs import defer_for_scope, scope_of_job
from kb.index.segments import CodesRow, ScopeKey, codes_of, encoded_spaces, lock, new_segment, store_codes
from kb.models import FINISHED, ScopeTerm, Segment, SegmentTerm, Term

MOST_UNMERGED = 32
"""The limits in each scope: unmerged segments that a search may have to open,"""
MOST_UNMERGED_CHUNKS = 4096
"""and chunks in all of them."""
MOST_DEAD = 0.25
"""A merged segment is merged again if a larger share of it is dead."""
AT_ONCE = 10_000
TASK = "pack_segments"


def merge_if_due(key: ScopeKey) -> None:
    """Queue the merging of a scope if searching it has become costly."""
    if is_due(key):
        defer_for_scope(TASK, "merge", key)


def is_due(key: ScopeKey) -> bool:
    """Return whether the scope has too many unmerged segments, or too many dead chunks."""
    unmerged = list(_segments_of(key).exclude(document=None).values_list("size", flat=True))
    merged = _segments_of(key).filter(document=None).only("size", "dead")
    return (
        len(unmerged) >= MOST_UNMERGED
        or sum(unmerged) >= MOST_UNMERGED_CHUNKS
        or any(map(_is_decayed, merged))
    )


@app.task(name=TASK)
def merge_segments(workspace_id: str, external_user_id: str | None, session_id: str | None) -> None:
    """Merge a scope in the background."""
    merge(scope_of_job(workspace_id, external_user_id, session_id))


def merge(key: ScopeKey) -> None:
    """Merge the unmerged segments of a scope with merged ones that are not much larger; drop dead chunks."""
    with transaction.atomic():
        lock(key)
        terms: set[str] = set()
        # Terms of different versions of the analysis do not mix (`kb.index.renewing`).
        for version in set(_segments_of(key).values_list("analysis", flat=True)):
            for batch in _batches(_chosen(key, version)):
                terms |= _join(key, batch)
                Segment.unscoped.filter(pk__in=[segment.pk for segment in batch]).delete()
        add_terms(terms)


def add_terms(terms: Iterable[str]) -> None:
    """Add the terms of merged segments to those that misspelt words are compared with.

    At the end of a transaction and in order: other transactions that add the same terms wait for this one,
    and this one for them.
    """
    Term.objects.bulk_create([Term(text) for text in sorted(terms)], AT_ONCE, ignore_conflicts=True)


@app.periodic(cron="47 3 * * *")
@app.task(name="forget_terms", queueing_lock="forget_terms")
@transaction.atomic
def forget_terms(timestamp: int) -> None:
    """Delete the terms that no merged segment holds any more."""
    with connection.cursor() as cursor:
        # Wait until transactions that add terms have committed the segments that hold them.
        cursor.execute("LOCK TABLE kb_term IN SHARE ROW EXCLUSIVE MODE")
    unused_terms().delete()


def unused_terms() -> QuerySet[Term]:
    """Return the terms that neither a merged segment nor a scope of another engine holds."""
    merged = SegmentTerm.objects.filter(term=OuterRef("text"))
    elsewhere = ScopeTerm.objects.filter(term=OuterRef("text"))
    return Term.objects.exclude(Exists(merged)).exclude(Exists(elsewhere))


def _segments_of(key: ScopeKey) -> QuerySet[Segment]:
    return Segment.unscoped.filter(**key._asdict())


# --- What is joined ----------------------------------------------------------------------------------------


def _chosen(key: ScopeKey, version: str) -> list[Segment]:
    """Return the segments worth merging, smallest first; a single one needs no merging."""
    # Vectors of unfinished documents still come in batches, which only an unmerged segment accepts.
    unmerged = list(_segments_of(key).filter(analysis=version, document__status__in=FINISHED))
    merged = sorted(_segments_of(key).filter(analysis=version, document=None), key=_alive)
    chosen = unmerged + [segment for segment in merged if _is_decayed(segment)]
    together = sum(map(_alive, chosen))
    for segment in merged:
        if segment not in chosen and _alive(segment) <= together:
            chosen.append(segment)
            together += _alive(segment)
    return sorted(chosen, key=_alive)


def _batches(segments: Iterable[Segment]) -> Iterator[list[Segment]]:
    batch: list[Segment] = []
    for segment in segments:
        if batch and sum(map(_alive, batch)) + _alive(segment) > LARGEST_SEGMENT:
            yield batch
            batch = []
        batch.append(segment)
    if batch:
        yield batch


def _alive(segment: Segment) -> int:
    return segment.size - len(segment.dead)


def _is_decayed(segment: Segment) -> bool:
    return len(segment.dead) > MOST_DEAD * segment.size


# --- Joining -----------------------------------------------------------------------------------------------


def _join(key: ScopeKey, segments: list[Segment]) -> set[str]:
    """Store one segment in place of several; return its terms."""
    kept = [_live_positions(segment) for segment in segments]
    if not sum(map(len, kept)):
        return set()
    joined = new_segment(
        key,
        [
            segment.document_ids[number]
            for segment, positions in zip(segments, kept, strict=True)
            for number in np.frombuffer(segment.document_of, POSITION)[positions].tolist()
        ],
        np.concatenate(
            [
                np.frombuffer(segment.chunk_ids, "V16")[positions]
                for segment, positions in zip(segments, kept, strict=True)
            ]
        ).tobytes(),
        np.concatenate(
            [
                np.frombuffer(segment.lengths, POSITION)[positions]
                for segment, positions in zip(segments, kept, strict=True)
            ]
        ),
        {language for segment in segments for language in segment.languages},
    )
    joined.analysis = segments[0].analysis
    joined.save(force_insert=True)
    terms = store_postings(joined, _joined_postings(segments, kept))
    for space in encoded_spaces(segments):
        rows = [codes_of(segment, space) for segment in segments]
        store_codes(
            joined,
            space,
            CodesRow(
                np.concatenate([row.codes[positions] for row, positions in zip(rows, kept, strict=True)]),
                np.concatenate([row.present[positions] for row, positions in zip(rows, kept, strict=True)]),
            ),
        )
    return terms


def _live_positions(segment: Segment) -> NDArray[np.intp]:
    """Return the positions of a segment's live chunks."""
    return np.delete(np.arange(segment.size), segment.dead)


def _joined_postings(segments: list[Segment], kept: list[NDArray[np.intp]]) -> Postings:
    begin = 0
    parts = []
    for segment, positions in zip(segments, kept, strict=True):
        moved = np.full(segment.size, REMOVED)
        moved[positions] = np.arange(begin, begin + len(positions))
        parts.append((postings_of(segment), moved))
        begin += len(positions)
    return Postings.join(parts)


def postings_of(segment: Segment) -> Postings:
    """Return all posting lists of a segment as they are stored."""
    if segment.document_id is not None:
        return Postings.load(segment.terms, segment.postings)
    rows = SegmentTerm.objects.filter(segment=segment).values_list("term", "postings")
    return Postings.of_lists((term, PostingList.load(stored)) for term, stored in rows)


def store_postings(segment: Segment, postings: Postings) -> set[str]:
    """Store the posting lists that are not empty; return their terms."""
    copying = "COPY kb_segmentterm (segment_id, term, postings) FROM STDIN (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(copying) as copy:
        copy.set_types(["int8", "text", "bytea"])
        held = {term: found for term, found in postings if len(found.positions)}
        for term, found in held.items():
            copy.write_row((segment.pk, term, found.dump()))
    return set(held)
