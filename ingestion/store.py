"""Chunks in the database: swapped in one transaction, found by words at once.

A chunk's id follows from its document, text and place. What a second run finds again therefore keeps its
row and its vectors, and a run that was killed and repeated leaves nothing twice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from uuid import UUID, uuid5

from django.contrib.postgres.search import SearchVector
from django.db import transaction
from django.db.models import QuerySet, Value

from ingestion.chunking import Draft
from ingestion.report import Abandoned
from kb.languages import text_search_config
from kb.locations import LocatedText, OnPage, dump_spans
from kb.models import Chunk, ChunkVector, Document, with_headings

BATCH = 200
WRITTEN = [
    *("workspace", "external_user_id", "session", "ordinal", "headings", "spans", "sentences"),
    *("page_number", "start_time", "end_time", "modality", "language", "words", "replaced_by"),
]


def swap_chunks(document_id: UUID, drafts: Sequence[Draft], language: str | None) -> None:
    """Make `drafts` the live chunks of a document; those they replace point at them.

    Raise `Abandoned` if the document is gone.
    """
    with transaction.atomic():
        document = Document.unscoped.select_for_update().filter(pk=document_id).first()
        if document is None:
            raise Abandoned
        ids = chunk_ids(document_id, drafts)
        _drop_outdated_vectors(document, dict(zip(ids, drafts, strict=True)))
        rows = (
            _chunk(document, id, ordinal, draft, language)
            for ordinal, (id, draft) in enumerate(zip(ids, drafts, strict=True))
        )
        while batch := list(islice(rows, BATCH)):
            Chunk.unscoped.bulk_create(
                batch, update_conflicts=True, unique_fields=["id"], update_fields=WRITTEN
            )
        _retire(_live(document).exclude(pk__in=ids), ids, drafts)


def chunk_ids(document_id: UUID, drafts: Sequence[Draft]) -> list[UUID]:
    """Return an id for each chunk; equal texts without a place are told apart by their number."""
    seen: Counter[str] = Counter()
    ids = []
    for draft in drafts:
        boxes = [box.as_json() for box in draft.located.boxes()]
        name = json.dumps([draft.located.text, boxes, draft.located.times()])
        ids.append(uuid5(document_id, f"{name}{seen[name] or ''}"))
        seen[name] += 1
    return ids


def _live(document: Document) -> QuerySet[Chunk]:
    return Chunk.unscoped.filter(document=document, replaced_by=None)


def _chunk(document: Document, id: UUID, ordinal: int, draft: Draft, language: str | None) -> Chunk:
    text, headings = draft.located.text, list(draft.headings)
    boxes, times = draft.located.boxes(), draft.located.times()
    return Chunk(
        id=id,
        document=document,
        workspace_id=document.workspace_id,
        external_user_id=document.external_user_id,
        session_id=document.session_id,
        ordinal=ordinal,
        text=text,
        headings=headings,
        spans=dump_spans(draft.located.spans),
        sentences=[list(bounds) for bounds in draft.sentences],
        page_number=boxes[0].page.number if boxes else None,
        start_time=times[0] if times else None,
        end_time=times[1] if times else None,
        language=language,
        words=SearchVector(Value(with_headings(headings, text)), config=text_search_config(language)),
    )


def _drop_outdated_vectors(document: Document, drafts: dict[UUID, Draft]) -> None:
    """The heading path is embedded with the text, but is no part of the id: where it changed, embed again."""
    outdated = [
        id
        for id, headings in _live(document).values_list("pk", "headings")
        if id in drafts and list(drafts[id].headings) != headings
    ]
    ChunkVector.objects.filter(chunk_id__in=outdated).delete()


# --- Replaced chunks ---------------------------------------------------------------------------------------


def _retire(replaced: QuerySet[Chunk], ids: Sequence[UUID], drafts: Sequence[Draft]) -> None:
    """Keep replaced chunks for those who hold their ids, without vectors, pointing at their successors."""
    old = list(replaced)
    if not old:
        return
    owners = {
        mark: id
        for id, draft in zip(ids, drafts, strict=True)
        for mark in _marks(draft.located, draft.sentences)
    }
    for chunk in old:
        marks = _marks(chunk.located, [(start, end) for start, end in chunk.sentences])
        chunk.replaced_by = list(dict.fromkeys(owners[mark] for mark in marks if mark in owners))
    Chunk.unscoped.bulk_update(old, ["replaced_by"], batch_size=BATCH)
    ChunkVector.objects.filter(chunk__in=old).delete()


def _marks(located: LocatedText, sentences: Sequence[tuple[int, int]]) -> Iterator[Hashable]:
    """Yield by what a chunk is known again: where its words stand, or else its sentences."""
    for span in located.spans:
        if isinstance(span.place, OnPage):
            yield span.place.page.number, round(span.place.box.x1), round(span.place.box.y1)
        else:
            yield round(span.place.start, 1)
    if not located.spans:
        yield from (located.text[start:end] for start, end in sentences)
