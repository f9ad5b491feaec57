"""Checks that the index holds exactly the live chunks of each document, in its scope, with their terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

import numpy as np
from django.db.models import Count
from django.utils import timezone

from core.text import analysis
from kb.doctor.base import Check, Finding, Unrepairable
from kb.index.errors import EngineUnavailable
from kb.index.milvus.changes import apply
from kb.index.postings import POSITION
from kb.index.renewing import outdated, renew, wrong_terms
from kb.index.segments import ScopeKey
from kb.index.switching import active_engine, differing
from kb.index.writing import index_document
from kb.models import Chunk, Document, IndexChange, Segment

BATCH = 100
DOCUMENTS_AT_ONCE = 1000
LONG_WAIT = timedelta(minutes=10)


def _find() -> Iterator[Finding]:
    yield from _differing_segments() if active_engine().name == "segments" else _differing_elsewhere()


def _differing_elsewhere() -> Iterator[Finding]:
    """Compare with an engine outside of PostgreSQL; changes that wait for it are no faults yet."""
    used = active_engine()
    ids = list(Document.unscoped.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), DOCUMENTS_AT_ONCE):
        some = ids[start : start + DOCUMENTS_AT_ONCE]
        waiting = set(IndexChange.objects.filter(pk__in=some).values_list("pk", flat=True))
        for id, (has, should) in differing(used, [id for id in some if id not in waiting]).items():
            yield Finding(str(id), f"{has} of {should} chunks in the engine “{used.name}”")


def _differing_segments() -> Iterator[Finding]:
    live = Chunk.unscoped.filter(replaced_by=None).values("document_id").order_by()
    wanted = Counter(dict(live.annotate(chunks=Count("pk")).values_list("document_id", "chunks")))
    found, elsewhere = _count_indexed()
    for id in sorted(wanted.keys() | found.keys() | elsewhere.keys()):
        if wanted[id] != found[id] or elsewhere[id]:
            detail = f"{found[id]} of {wanted[id]} chunks, and {elsewhere[id]} in another scope"
            yield Finding(str(id), detail)


def _count_indexed() -> tuple[Counter[UUID], Counter[UUID]]:
    """Return for each document how many chunks are indexed in its scope, and how many in others."""
    found: Counter[UUID] = Counter()
    elsewhere: Counter[UUID] = Counter()
    for segment in Segment.unscoped.order_by("pk").iterator(chunk_size=BATCH):
        owners = np.delete(np.frombuffer(segment.document_of, POSITION), segment.dead)
        counts = np.bincount(owners, minlength=len(segment.document_ids)).tolist()
        here = Document.unscoped.filter(pk__in=segment.document_ids, **ScopeKey.of(segment)._asdict())
        known = set(here.values_list("pk", flat=True))
        for id, count in zip(segment.document_ids, counts, strict=True):
            (found if id in known else elsewhere)[id] += count
    return found, elsewhere


def _repair(finding: Finding) -> None:
    index_document(UUID(finding.subject))


def _outdated() -> Iterator[Finding]:
    for id, size, version in outdated().order_by("pk").values_list("pk", "size", "analysis"):
        yield Finding(str(id), f"{size} chunks, terms of version “{version}”")


def _with_wrong_terms() -> Iterator[Finding]:
    current = Segment.unscoped.filter(analysis=analysis.ANALYSIS_VERSION).order_by("pk")
    for id, size in list(current.values_list("pk", "size")):
        if number := wrong_terms(id):
            yield Finding(str(id), f"{number} differences in {size} chunks")


def _renew(finding: Finding) -> None:
    renew(int(finding.subject))


def _away() -> Iterator[Finding]:
    used = active_engine()
    health = used.health()
    if not health.is_reachable:
        yield Finding(used.name, f"{health.waiting} documents wait for it: {health.problem}")


def _bring_back(finding: Finding) -> None:
    raise Unrepairable("Start the search engine, and check its address (MILVUS_URI) and the network.")


def _waiting() -> Iterator[Finding]:
    long_ago = timezone.now() - LONG_WAIT
    for change in IndexChange.objects.filter(since__lt=long_ago).order_by("since"):
        yield Finding(str(change.pk), f"since {change.since:%Y-%m-%d %H:%M}")


def _make_change(finding: Finding) -> None:
    try:
        apply(UUID(finding.subject))
    except EngineUnavailable as error:
        raise Unrepairable(str(error)) from error


WRONG_INDEX = Check(
    "wrong_index", "Documents that the search index does not match", "index them again", _find, _repair
)
OUTDATED_TERMS = Check(
    "outdated_terms",
    "Segments of the index with terms of an earlier analysis, being renewed by the worker",
    "renew them now",
    _outdated,
    _renew,
)
WRONG_TERMS = Check(
    "wrong_terms",
    "Segments of the index whose terms are not those of their chunks",
    "analyse their chunks again",
    _with_wrong_terms,
    _renew,
)
ENGINE_AWAY = Check("search_engine_away", "The search engine does not answer", "start it", _away, _bring_back)
WAITING_CHANGES = Check(
    "index_changes_wait",
    "Documents that have waited for the search engine for more than ten minutes",
    "write them now",
    _waiting,
    _make_change,
)
