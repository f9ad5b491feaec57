"""Purging: removes the words of dead chunks from merged segments.

A deleted chunk is dead in its merged segment at once, and can't be found. Its words are removed minutes later
by a job, which reads all posting lists and rewrites those that name dead chunks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from numpy.typing import NDArray
from procrastinate.contrib.django import app

from kb.index.merging import unused_terms
from kb.index.postings import PostingList
from kb.index.scope_jobs import defer_for_scope, scope_of_job
from kb.index.segments import ScopeKey, codes_of, encoded_spaces, lock, store_codes
from kb.models import Segment, SegmentTerm

TASK = "purge_segments"
AFTER_SECS = 20
"""The job waits this long, because further documents are often deleted soon after."""
READ_AT_ONCE = 5000
REWRITE = """
    UPDATE kb_segmentterm SET postings = new.postings
    FROM unnest(%s::text[], %s::bytea[]) AS new (term, postings)
    WHERE segment_id = %s AND kb_segmentterm.term = new.term
"""


def purge_if_due(key: ScopeKey) -> None:
    """Queue the purging of a scope if its merged segments still hold words of dead chunks."""
    if not _due_segments(key).exists():
        return
    defer_for_scope(TASK, "purge", key, after_secs=AFTER_SECS)


@app.task(name=TASK)
def purge_segments(workspace_id: str, external_user_id: str | None, session_id: str | None) -> None:
    """Purge a scope in the background."""
    purge(scope_of_job(workspace_id, external_user_id, session_id))


def purge(key: ScopeKey) -> None:
    """Remove the words of dead chunks from the merged segments of a scope, and terms that are then unused."""
    for id in list(_due_segments(key).order_by("pk").values_list("pk", flat=True)):
        with transaction.atomic():
            lock(key)
            segment = _due_segments(key).select_for_update().filter(pk=id).first()
            gone = _purge_segment(segment) if segment else []
        forget_terms_among(gone)


@transaction.atomic
def forget_terms_among(terms: Sequence[str]) -> None:
    """Delete those of the terms that no merged segment holds any more."""
    if not terms:
        return
    with connection.cursor() as cursor:
        # Wait until transactions that add terms have committed the segments that hold them.
        cursor.execute("LOCK TABLE kb_term IN SHARE ROW EXCLUSIVE MODE")
    unused_terms().filter(text__in=terms).delete()


@app.periodic(cron="27 * * * *")
@app.task(name="purge_all_segments", queueing_lock="purge_all_segments")
def purge_all(timestamp: int) -> None:
    """Queue purging for all scopes: chunks also die when a document is processed again."""
    for key in {ScopeKey.of(segment) for segment in _due().defer("chunk_ids", "document_of", "lengths")}:
        purge_if_due(key)


def _due_segments(key: ScopeKey) -> QuerySet[Segment]:
    return _due().filter(**key._asdict())


def _due() -> QuerySet[Segment]:
    """Return the merged segments that still hold the words of dead chunks."""
    merged = Segment.unscoped.filter(document=None)
    return merged.alias(dead_count=Coalesce(F("dead__len"), 0)).filter(dead_count__gt=F("purged"))


def _purge_segment(segment: Segment) -> list[str]:
    """Purge one segment, or delete it if no chunk lives; return the terms that it no longer holds."""
    if len(segment.dead) == segment.size:
        terms = list(SegmentTerm.objects.filter(segment=segment).values_list("term", flat=True))
        segment.delete()
        return terms
    alive = np.ones(segment.size, np.bool_)
    alive[segment.dead] = False
    gone = _rewrite_postings(segment, alive)
    for space in encoded_spaces([segment]):
        row = codes_of(segment, space)
        # They stay marked as present, because missing codes would be searched for again and again.
        row.codes[~alive] = 0
        store_codes(segment, space, row)
    Segment.unscoped.filter(pk=segment.pk).update(purged=len(segment.dead))
    return gone


def _rewrite_postings(segment: Segment, alive: NDArray[np.bool_]) -> list[str]:
    changed: dict[str, bytes] = {}
    gone: list[str] = []
    rows = SegmentTerm.objects.filter(segment=segment).values_list("term", "postings")
    for term, stored in rows.iterator(chunk_size=READ_AT_ONCE):
        found = PostingList.load(stored)
        stays = alive[found.positions]
        if stays.all():
            continue
        if stays.any():
            changed[term] = PostingList(found.positions[stays], found.counts[stays]).dump()
        else:
            gone.append(term)
    with connection.cursor() as cursor:
        cursor.execute(REWRITE, [list(changed), list(changed.values()), segment.pk])
    SegmentTerm.objects.filter(segment=segment, term__in=gone).delete()
    return gone
