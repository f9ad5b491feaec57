"""Checks that the search index holds exactly the live chunks of each document, in the document's scope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from uuid import UUID

import numpy as np
from django.db.models import Count

from kb.doctor.base import Check, Finding
from kb.index.postings import POSITION
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


WRONG_INDEX = Check(
    "wrong_index", "Documents that the search index does not match", "index them again", _find, _repair
)
