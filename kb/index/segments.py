"""Writing the search index: one unmerged segment for each document, until it is merged with others.

Everything here follows from the rows of `Chunk` and `ChunkVector` and can be built again from them. Code that
changes a document's chunks calls `index_document` in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

import numpy as np
import psycopg
from django.db import connection, transaction
from django.db.models import F, Func, IntegerField, QuerySet, Value
from numpy.typing import ArrayLike, NDArray

from core.text import analysis
from kb.embedding.base import Vectors
from kb.index.codes import Codes, encoder
from kb.index.postings import LARGEST_SEGMENT, POSITION, Postings
from kb.models import Chunk, Document, EmbeddingSpace, Segment, SegmentCodes, with_headings

VECTORS = """
    SELECT number, halfvec_send(embedding) FROM unnest(%s::uuid[]) WITH ORDINALITY AS asked (chunk, number)
    JOIN kb_chunkvector ON chunk_id = chunk AND space_id = %s
"""
LONGEST = np.iinfo(np.uint16).max


class ScopeKey(NamedTuple):
    """The scope of a segment: one workspace, external user and session."""

    workspace_id: UUID
    external_user_id: str | None
    session_id: UUID | None

    @classmethod
    def of(cls, row: Document | Segment) -> ScopeKey:
        """Return the scope of a row."""
        return cls(row.workspace_id, row.external_user_id, row.session_id)


@dataclass(frozen=True, slots=True)
class Entry:
    """The index's data of one chunk: its id, its language and its terms in order."""

    chunk_id: UUID
    language: str
    terms: Sequence[str]


def index_document(document_id: UUID) -> None:
    """Make exactly a document's live chunks findable; call it after they have changed."""
    with transaction.atomic():
        document = Document.unscoped.filter(pk=document_id).first()
        if document is None:
            return
        lock(ScopeKey.of(document))
        forget([document_id])
        live = Chunk.unscoped.filter(document_id=document_id, replaced_by=None)
        found = entries(live.order_by("ordinal"))
        for start in range(0, len(found), LARGEST_SEGMENT):
            segment = _unmerged_segment(document, found[start : start + LARGEST_SEGMENT])
            for space in EmbeddingSpace.objects.all():
                encode(segment, space)


def index_vectors(document_id: UUID, space: EmbeddingSpace, ids: Sequence[UUID], vectors: Vectors) -> None:
    """Make a document's chunks findable by these new vectors, of shape (len(ids), dimensions).

    In a merged segment they wait for `complete`: rewriting all its codes is not worth it for one batch.
    """
    codes = dict(zip(ids, encoder(space.dimensions).encode(vectors), strict=True))
    with transaction.atomic():
        for segment in Segment.unscoped.select_for_update().filter(document_id=document_id):
            at = [position for position, id in enumerate(chunk_ids(segment)) if id in codes]
            if at:
                row = codes_of(segment, space)
                row.codes[at] = [codes[id] for id in chunk_ids(segment) if id in codes]
                row.present[at] = True
                store_codes(segment, space, row)


def forget(document_ids: Iterable[UUID]) -> None:
    """Remove the chunks of these documents from the index."""
    ids = list(document_ids)
    Segment.unscoped.filter(document_id__in=ids).delete()
    holding = Segment.unscoped.select_for_update().filter(document_ids__overlap=ids)
    for segment in holding.only("document_ids", "document_of", "dead", "version"):
        gone = [number for number, id in enumerate(segment.document_ids) if id in ids]
        positions = np.flatnonzero(np.isin(np.frombuffer(segment.document_of, POSITION), gone))
        segment.dead = sorted({*segment.dead, *positions.tolist()})
        segment.version += 1
        segment.save(update_fields=["dead", "version"])


def complete(space: EmbeddingSpace) -> None:
    """Add to every segment the missing codes of vectors stored in `space`."""
    hole = Func(
        Value(b"\0"), F("present"), function="position", arg_joiner=" IN ", output_field=IntegerField()
    )
    whole = SegmentCodes.objects.filter(space=space).alias(hole=hole).filter(hole=0)
    incomplete = Segment.unscoped.exclude(pk__in=whole.values("segment_id")).order_by("pk")
    for id in incomplete.values_list("pk", flat=True):
        with transaction.atomic():
            segment = Segment.unscoped.select_for_update().filter(pk=id).first()
            if segment is not None:
                encode(segment, space)


def lock(key: ScopeKey) -> None:
    """Lock the segments of a scope against other changes until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"key {tuple(key)}"])


# --- Segments ----------------------------------------------------------------------------------------------


def new_segment(
    key: ScopeKey, owners: Sequence[UUID], ids: bytes, lengths: ArrayLike, languages: Iterable[str]
) -> Segment:
    """Return a segment, not yet stored, of chunks with these documents, ids and numbers of terms."""
    numbers = {id: number for number, id in enumerate(dict.fromkeys(owners))}
    return Segment(
        **key._asdict(),
        size=len(owners),
        chunk_ids=ids,
        document_ids=list(numbers),
        document_of=np.array([numbers[id] for id in owners], POSITION).tobytes(),
        lengths=np.minimum(lengths, LONGEST).astype(POSITION).tobytes(),
        languages=sorted(languages),
        analysis=analysis.ANALYSIS_VERSION,
    )


def chunk_ids(segment: Segment) -> list[UUID]:
    """Return the ids of a segment's chunks, dead ones included."""
    return [UUID(bytes=bytes(segment.chunk_ids[at : at + 16])) for at in range(0, 16 * segment.size, 16)]


def entries(chunks: QuerySet[Chunk]) -> list[Entry]:
    """Return what the index keeps of these chunks, in their order."""
    rows = chunks.values_list("pk", "headings", "text", "language")
    return [
        Entry(id, language or "", analysis.terms(with_headings(headings, text), language))
        for id, headings, text, language in rows
    ]


def _unmerged_segment(document: Document, entries: Sequence[Entry]) -> Segment:
    segment = new_segment(
        ScopeKey.of(document),
        [document.pk] * len(entries),
        b"".join(entry.chunk_id.bytes for entry in entries),
        [len(entry.terms) for entry in entries],
        {entry.language for entry in entries},
    )
    segment.document = document
    segment.terms, segment.postings = Postings.of(entry.terms for entry in entries).dump()
    segment.save(force_insert=True)
    return segment


# --- Codes -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CodesRow:
    """The codes of a segment, shape (size, words), and which chunks have one, shape (size,)."""

    codes: Codes
    present: NDArray[np.bool_]


def codes_of(segment: Segment, space: EmbeddingSpace) -> CodesRow:
    """Return the stored codes, in writable arrays; chunks without stored codes are marked as absent."""
    stored = SegmentCodes.objects.filter(segment=segment, space=space).first()
    words = encoder(space.dimensions).words
    if stored is None:
        return CodesRow(np.zeros((segment.size, words), np.uint64), np.zeros(segment.size, np.bool_))
    return CodesRow(
        np.frombuffer(stored.codes, np.uint64).reshape(-1, words).copy(),
        np.frombuffer(stored.present, np.bool_).copy(),
    )


def store_codes(segment: Segment, space: EmbeddingSpace, row: CodesRow) -> None:
    """Store the codes of a segment that is locked or new."""
    SegmentCodes.objects.update_or_create(
        segment=segment,
        space=space,
        defaults={"codes": row.codes.tobytes(), "present": row.present.tobytes()},
    )
    Segment.unscoped.filter(pk=segment.pk).update(version=F("version") + 1)


def encoded_spaces(segments: Iterable[Segment]) -> QuerySet[EmbeddingSpace]:
    """Return the spaces in which any of the segments has codes."""
    coded = SegmentCodes.objects.filter(segment__in=[segment.pk for segment in segments])
    return EmbeddingSpace.objects.filter(pk__in=coded.values("space_id"))


def encode(segment: Segment, space: EmbeddingSpace) -> None:
    """Store the missing codes of the vectors that a segment's live chunks have in `space`."""
    row = codes_of(segment, space)
    is_missing = ~row.present
    is_missing[segment.dead] = False
    holes, ids = np.flatnonzero(is_missing), chunk_ids(segment)
    at, vectors = stored_vectors([ids[hole] for hole in holes], space)
    if not at:
        return
    row.codes[holes[at]] = encoder(space.dimensions).encode(vectors)
    row.present[holes[at]] = True
    store_codes(segment, space, row)


def stored_vectors(chunk_ids: Sequence[UUID], space: EmbeddingSpace) -> tuple[list[int], Vectors]:
    """Return the places of the chunks that have a vector in `space`, and the vectors."""
    ids = [id.hex for id in chunk_ids]
    # Django would read each as text of 384 numbers to parse.
    with connection.cursor() as cursor, psycopg.Cursor(cursor.connection) as binary:
        rows = binary.execute(VECTORS, [f"{{{','.join(ids)}}}", space.pk], binary=True).fetchall()
    # The format of halfvec_send: two 16-bit numbers, then the halves in network order.
    vectors = [np.frombuffer(sent, ">f2", offset=4) for _, sent in rows]
    at = [number - 1 for number, _ in rows]
    return at, np.array(vectors, np.float32).reshape(len(at), space.dimensions)
