"""Renewing: terms that an earlier version of the analysis made are replaced by those of the present one.

    segment ──texts of its chunks──▶ new posting lists ──one transaction──▶ in place of the old ones

Until then the old terms are searched: a word finds what it found, unless its own term has changed. A segment
is renewed in place, so its vectors' codes stay. A job renews for some seconds and queues the next one. If it
is killed, the work on one segment is lost.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.db.models import QuerySet
from numpy.typing import NDArray
from procrastinate.contrib.django import app

from core.text import analysis
from kb.index.merging import add_terms, postings_of, store_postings
from kb.index.postings import POSITION, REMOVED, Postings
from kb.index.scope_jobs import defer_for_scope, scope_of_job
from kb.index.segments import LONGEST, ScopeKey, chunk_ids, entries, lock
from kb.models import Chunk, Segment, SegmentTerm

TASK = "renew_segments"
TURN_SECS = 10.0
"""After so long a job lets others work."""
READ_AT_ONCE = 1000


def outdated() -> QuerySet[Segment]:
    """Return the segments whose terms another version of the analysis made."""
    return Segment.unscoped.exclude(analysis=analysis.ANALYSIS_VERSION)


@app.periodic(cron="*/10 * * * *")
@app.task(name="renew_all_segments", queueing_lock="renew_all_segments")
def renew_all(timestamp: int) -> None:
    """Queue a job for every scope with outdated segments."""
    for key in outdated().order_by().values_list(*ScopeKey._fields).distinct():
        defer_for_scope(TASK, "renew", ScopeKey(*key))


@app.task(name=TASK)
def renew_segments(workspace_id: str, external_user_id: str | None, session_id: str | None) -> None:
    """Renew outdated segments of a scope, one after the other, and queue what is left."""
    key = scope_of_job(workspace_id, external_user_id, session_id)
    begun = time.monotonic()
    ids = list(outdated().filter(**key._asdict()).order_by("pk").values_list("pk", flat=True))
    for id in ids:
        renew(id)
        if id != ids[-1] and time.monotonic() - begun > TURN_SECS:
            defer_for_scope(TASK, "renew", key)
            return


def renew(id: int) -> None:
    """Give one segment the terms of the present analysis; nothing happens if it is gone."""
    before = Segment.unscoped.filter(pk=id).first()
    if before is None:
        return
    # Before the lock, which keeps all others from writing in this scope.
    fresh = _analysed(before)
    with transaction.atomic():
        lock(ScopeKey.of(before))
        segment = Segment.unscoped.select_for_update().filter(pk=id).first()
        if segment is not None:
            _replace_terms(segment, fresh)


def wrong_terms(id: int) -> int:
    """Return how many terms of a segment are stored otherwise than its chunks' texts say."""
    segment = Segment.unscoped.filter(pk=id).first()
    if segment is None or not _count_differences(segment):
        return 0
    # It may have been written while it was read.
    with transaction.atomic():
        lock(ScopeKey.of(segment))
        segment = Segment.unscoped.filter(pk=id).first()
        return _count_differences(segment) if segment else 0


@dataclass(frozen=True, slots=True)
class _Analysed:
    """The chunks of a segment as the present analysis sees them, at their positions."""

    postings: Postings
    lengths: NDArray[np.uint16]
    """Numbers of terms, shape (size,)."""
    languages: list[str]
    is_there: NDArray[np.bool_]
    """Whether a chunk is alive and has a row, shape (size,)."""

    def live(self, postings: Postings, dead: list[int]) -> Postings:
        """Return posting lists of this segment without what is not there, or is dead."""
        moved = np.where(self.is_there, np.arange(len(self.is_there)), REMOVED)
        moved[dead] = REMOVED
        return Postings.join([(postings, moved)])


def _analysed(segment: Segment) -> _Analysed:
    ids = chunk_ids(segment)
    dead = set(segment.dead)
    lengths = np.zeros(segment.size, np.int64)
    is_there = np.zeros(segment.size, np.bool_)
    languages: set[str] = set()
    parts = []
    for start in range(0, segment.size, READ_AT_ONCE):
        places = range(start, min(start + READ_AT_ONCE, segment.size))
        wanted = [ids[at] for at in places if at not in dead]
        found = {entry.chunk_id: entry for entry in entries(Chunk.unscoped.filter(pk__in=wanted))}
        terms = [found[ids[at]].terms if ids[at] in found else () for at in places]
        lengths[start : places.stop] = list(map(len, terms))
        is_there[start : places.stop] = [ids[at] in found for at in places]
        languages |= {entry.language for entry in found.values()}
        parts.append((Postings.of(terms), np.arange(start, places.stop)))
    counted = np.minimum(lengths, LONGEST).astype(POSITION)
    return _Analysed(Postings.join(parts), counted, sorted(languages), is_there)


def _replace_terms(segment: Segment, fresh: _Analysed) -> None:
    # Some chunks may have died since they were analysed.
    postings = fresh.live(fresh.postings, segment.dead)
    segment.lengths, segment.languages = fresh.lengths.tobytes(), fresh.languages
    segment.analysis = analysis.ANALYSIS_VERSION
    segment.version += 1
    stored: set[str] = set()
    if segment.document_id is not None:
        segment.terms, segment.postings = postings.dump()
    else:
        SegmentTerm.objects.filter(segment=segment).delete()
        stored = store_postings(segment, postings)
        segment.purged = len(segment.dead)
    segment.save(update_fields=["lengths", "languages", "analysis", "version", "terms", "postings", "purged"])
    add_terms(stored)


def _count_differences(segment: Segment) -> int:
    """Return how many terms differ, and chunks whose number of terms does."""
    fresh = _analysed(segment)
    stored, expected = (
        {(term, found.dump()) for term, found in fresh.live(postings, segment.dead) if len(found.positions)}
        for postings in (postings_of(segment), fresh.postings)
    )
    lengths = np.frombuffer(segment.lengths, POSITION)
    differing = (lengths != fresh.lengths) & fresh.is_there
    return len({term for term, _ in stored ^ expected}) + int(np.count_nonzero(differing))
