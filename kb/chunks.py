"""Stores chunks: replaces a document's chunks in one transaction, and indexes their words.

A chunk's id follows from its document, text and place. So a chunk that a second run produces again keeps its
row and its vectors, and repeating an interrupted run duplicates nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID, uuid5

import orjson
from django.db import connection, transaction

from core.locations import LocatedText, PageLine
from extract.base import Kind
from kb.index.writing import index_document
from kb.models import Chunk, ChunkVector, Document, Modality
from kb.pictures import Picture

BATCH = 500
# One statement with one JSON array: several times faster than a row object and a parameter for each value.
WRITE = """
INSERT INTO kb_chunk (id, document_id, workspace_id, external_user_id, session_id, ordinal, text, headings,
    spans, sentences, elements, page_number, start_time, end_time, modality, language, picture, replaced_by)
SELECT new.id, doc.id, doc.workspace_id, doc.external_user_id, doc.session_id, new.ordinal, new.text,
    new.headings, new.spans, new.sentences, new.elements, new.page_number, new.start_time, new.end_time,
    new.modality, new.language, new.picture, NULL
FROM kb_document AS doc, jsonb_to_recordset(%s::jsonb) AS new (id uuid, ordinal int, text text,
    headings text[], spans jsonb, sentences int[], elements jsonb, page_number int, start_time float8,
    end_time float8, modality text, language text, picture jsonb)
WHERE doc.id = %s
ON CONFLICT (id) DO UPDATE SET workspace_id = excluded.workspace_id,
    external_user_id = excluded.external_user_id, session_id = excluded.session_id,
    ordinal = excluded.ordinal, headings = excluded.headings, spans = excluded.spans,
    sentences = excluded.sentences, elements = excluded.elements, modality = excluded.modality,
    language = excluded.language, picture = excluded.picture, replaced_by = NULL, file_replaced_at = NULL
"""


class ElementBounds(NamedTuple):
    """An element, or the part of one, in a chunk: `text[start:end]`.

    `level` is a heading's. `continued`: the element began in the chunk before. `speaker` said it, None if
    nobody is known to.
    """

    start: int
    end: int
    kind: Kind
    level: int | None = None
    continued: bool = False
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A chunk before it has an id; `sentences` are start and end of each sentence, or row of a table."""

    located: LocatedText
    headings: tuple[str, ...]
    sentences: tuple[tuple[int, int], ...]
    is_table: bool = False
    picture: Picture | None = None
    elements: tuple[ElementBounds, ...] | None = None
    """None where they are unknown: in archives of earlier releases."""
    language: str | None = None
    """Of spoken words, ISO 639-1; None for the document's."""


class _Facts(NamedTuple):
    """The fields that may differ between two chunks with the same text and place."""

    replaced_by: list[UUID] | None
    ordinal: int
    headings: list[str]
    sentences: list[list[int]]
    elements: list[list[Any]] | None
    modality: str
    language: str | None
    picture: dict[str, Any] | None
    file_replaced_at: datetime | None = None


def swap_chunks(
    document_id: UUID, drafts: Sequence[ChunkDraft], language: str | None, modality: Modality = Modality.TEXT
) -> bool:
    """Make `drafts` the live chunks of a document; replaced chunks point at their successors.

    `modality` is that of the document; tables and pictures have their own. Unchanged rows are not written
    again. Returns False if the document is gone.
    """
    with transaction.atomic():
        if Document.unscoped.select_for_update().filter(pk=document_id).first() is None:
            return False
        stored = _stored_facts(document_id)
        wanted = _wanted_facts(document_id, drafts, language, modality)
        changed = (
            _row(id, facts, draft.located)
            for (id, facts), draft in zip(wanted.items(), drafts, strict=True)
            if stored.get(id) != facts
        )
        _write(document_id, changed)
        _drop_outdated_vectors(stored, wanted)
        gone = [id for id, facts in stored.items() if facts.replaced_by is None and id not in wanted]
        _retire(gone, list(wanted), drafts)
        index_document(document_id)
    return True


def chunk_ids(document_id: UUID, drafts: Iterable[ChunkDraft]) -> list[UUID]:
    """Return an id for each chunk; a number distinguishes equal texts without a place."""
    seen: Counter[str] = Counter()
    ids = []
    for draft in drafts:
        boxes = [[box.page.number, *box.box.corners] for box in draft.located.boxes()]
        name = orjson.dumps([draft.located.text, boxes, draft.located.times()]).decode()
        ids.append(uuid5(document_id, f"{name}{seen[name] or ''}"))
        seen[name] += 1
    return ids


def _stored_facts(document_id: UUID) -> dict[UUID, _Facts]:
    rows = Chunk.unscoped.filter(document_id=document_id).values_list("pk", *_Facts._fields)
    return {id: _Facts(*facts) for id, *facts in rows}


def _wanted_facts(
    document_id: UUID, drafts: Sequence[ChunkDraft], language: str | None, modality: Modality
) -> dict[UUID, _Facts]:
    return {
        id: _Facts(
            replaced_by=None,
            ordinal=ordinal,
            headings=list(draft.headings),
            sentences=[list(bounds) for bounds in draft.sentences],
            elements=None if draft.elements is None else [list(bounds) for bounds in draft.elements],
            modality=_modality(draft, modality),
            language=draft.language or language,
            picture=draft.picture.dump() if draft.picture else None,
        )
        for ordinal, (id, draft) in enumerate(zip(chunk_ids(document_id, drafts), drafts, strict=True))
    }


def _modality(draft: ChunkDraft, of_document: Modality) -> Modality:
    if draft.picture:
        return Modality.IMAGE
    return Modality.TABLE if draft.is_table else of_document


def _row(id: UUID, facts: _Facts, located: LocatedText) -> dict[str, Any]:
    start_time, end_time = located.times() or (None, None)
    return facts._asdict() | {
        "id": id,
        "text": located.text,
        "spans": located.dump(),
        "page_number": located.page_number(),
        "start_time": start_time,
        "end_time": end_time,
    }


def _write(document_id: UUID, rows: Iterator[dict[str, Any]]) -> None:
    with connection.cursor() as cursor:
        while batch := list(islice(rows, BATCH)):
            cursor.execute(WRITE, [orjson.dumps(batch).decode(), document_id])


def _drop_outdated_vectors(stored: dict[UUID, _Facts], wanted: dict[UUID, _Facts]) -> None:
    """Delete vectors of chunks whose heading path changed: it is embedded with the text but is no part of the
    id."""
    outdated = [id for id in stored.keys() & wanted.keys() if stored[id].headings != wanted[id].headings]
    ChunkVector.objects.filter(chunk_id__in=outdated).delete()


# --- Replaced chunks ---------------------------------------------------------------------------------------


def _retire(gone: Sequence[UUID], ids: Sequence[UUID], drafts: Sequence[ChunkDraft]) -> None:
    """Keep replaced chunks, which others may refer to by id, without vectors and pointing at their
    successors."""
    if not gone:
        return
    owners = {
        mark: id
        for id, draft in zip(ids, drafts, strict=True)
        for mark in _marks(draft.located, draft.sentences)
    }
    old = list(Chunk.unscoped.filter(pk__in=gone))
    for chunk in old:
        marks = _marks(chunk.located, [(start, end) for start, end in chunk.sentences])
        chunk.replaced_by = list(dict.fromkeys(owners[mark] for mark in marks if mark in owners))
    Chunk.unscoped.bulk_update(old, ["replaced_by"], batch_size=BATCH)
    ChunkVector.objects.filter(chunk__in=old).delete()


def _marks(located: LocatedText, sentences: Sequence[tuple[int, int]]) -> Iterator[Hashable]:
    """Yield the keys by which a chunk is matched to an earlier one: the places of its words, or else its
    sentences."""
    has_places = False
    for run in located.runs:
        match run.place:
            case PageLine(page):
                has_places = True
                yield from ((page.number, round(word[2]), round(word[3])) for word in run.words)
            case None:
                has_places = True
                yield from (round(word[2], 1) for word in run.words)
    if not has_places:
        yield from (located.text[start:end] for start, end in sentences)
