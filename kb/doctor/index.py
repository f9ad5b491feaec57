"""Checks that the index holds exactly the live chunks of each document, in its scope, with their terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from uuid import UUID

import numpy as np
from django.db.models import Count

from core.text import analysis
from kb.doctor.base import Check, Finding
from kb.index.postings import POSITION
from kb.index.renewing import outdated, renew, wrong_terms
from kb.index.segments import ScopeKey, index_document
from kb.models import Chunk, Document, Segment

BATCH = 100


def _find() -> Iterator[Finding]:
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
