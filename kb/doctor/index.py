"""Does the search index hold exactly the live chunks of each document, where their document stands?"""

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
    found, elsewhere = _indexed()
    for id in sorted(wanted.keys() | found.keys() | elsewhere.keys()):
        if wanted[id] != found[id] or elsewhere[id]:
            detail = f"{found[id]} of {wanted[id]} chunks, and {elsewhere[id]} in another scope"
            yield Finding(str(id), detail)


def _indexed() -> tuple[Counter[UUID], Counter[UUID]]:
    """Return how many chunks of each document are found where it stands, and how many elsewhere."""
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
    "wrong_index", "Documents that search does not find as they are", "index them again", _find, _repair
)
