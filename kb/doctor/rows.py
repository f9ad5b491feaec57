"""Faults found by database queries: one finding for each document."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from django.db import connection, transaction

from kb.doctor.base import Check, Finding, lock_document
from kb.documents import reprocess
from kb.index.writing import index_document
from kb.models import Chunk, ChunkVector, Document

SCOPE = (
    "(c.workspace_id, c.external_user_id, c.session_id)"
    " IS DISTINCT FROM (d.workspace_id, d.external_user_id, d.session_id)"
)
OF_ITS_DOCUMENT = "FROM kb_chunk c JOIN kb_document d ON d.id = c.document_id"
LIVE = "(SELECT count(*) FROM kb_chunk c WHERE c.document_id = d.id AND c.replaced_by IS NULL)"

FIND_MISPLACED = f"SELECT d.id, count(*) {OF_ITS_DOCUMENT} WHERE {SCOPE} GROUP BY d.id"
FIND_OF_FAILED = f"SELECT d.id, count(*) {OF_ITS_DOCUMENT} WHERE d.status = 'failed' GROUP BY d.id"
FIND_NO_CHUNKS = f"SELECT d.id, 0 FROM kb_document d WHERE d.status IN ('ready', 'partial') AND {LIVE} = 0"  # noqa: S608
FIND_MISCOUNTED = f"""
    SELECT d.id, {LIVE} FROM kb_document d
    WHERE d.status IN ('ready', 'partial', 'failed', 'cancelled') AND d.chunk_count <> {LIVE}
      AND NOT (d.status IN ('ready', 'partial') AND {LIVE} = 0) AND NOT (d.status = 'failed' AND {LIVE} > 0)
"""  # noqa: S608
FIND_NO_VECTOR = f"""
    SELECT d.id, count(*) {OF_ITS_DOCUMENT} JOIN kb_embeddingspace s ON s.is_active
    WHERE c.replaced_by IS NULL AND d.status IN ('ready', 'partial')
      AND NOT EXISTS (SELECT FROM kb_chunkvector v WHERE v.chunk_id = c.id AND v.space_id = s.id)
    GROUP BY d.id
"""  # noqa: S608
FIND_OF_REPLACED = """
    SELECT c.document_id, count(*) FROM kb_chunkvector v JOIN kb_chunk c ON c.id = v.chunk_id
    WHERE c.replaced_by IS NOT NULL GROUP BY c.document_id
"""
FIND_NO_JOB = """
    SELECT d.id, 0 FROM kb_document d
    WHERE d.status NOT IN ('ready', 'partial', 'failed', 'cancelled') AND NOT EXISTS (
        SELECT FROM procrastinate_jobs j
        WHERE j.status IN ('todo', 'doing') AND j.args ->> 'document_id' = d.id::text)
"""


def _rows(sql: str, detail: str) -> Iterator[Finding]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        found = cursor.fetchall()
    for id, number in found:
        yield Finding(str(id), detail.format(number))


def _repair_row(sql: str, act: Callable[[Document], object], finding: Finding) -> None:
    with transaction.atomic():
        document = lock_document(finding.subject)
        if document is not None and _is_still(sql, finding.subject):
            act(document)


def _is_still(sql: str, id: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT FROM ({sql}) AS faults (id, number) WHERE id = %s", [id])
        return bool(cursor.rowcount)


def _put_in_scope(document: Document) -> None:
    Chunk.unscoped.filter(document=document).update(
        workspace_id=document.workspace_id,
        external_user_id=document.external_user_id,
        session_id=document.session_id,
    )
    index_document(document.pk)


def _delete_chunks(document: Document) -> None:
    Chunk.unscoped.filter(document=document).delete()
    index_document(document.pk)
    Document.unscoped.filter(pk=document.pk).update(chunk_count=0)


def _count_chunks(document: Document) -> None:
    live = Chunk.unscoped.filter(document=document, replaced_by=None)
    Document.unscoped.filter(pk=document.pk).update(chunk_count=live.count())


def _delete_outdated_vectors(document: Document) -> None:
    ChunkVector.objects.filter(chunk__document=document, chunk__replaced_by__isnull=False).delete()


# --- The checks --------------------------------------------------------------------------------------------

QUEUE_AGAIN = "queue them again"


def _check(
    code: str, what: str, remedy: str, sql: str, detail: str, act: Callable[[Document], object]
) -> Check:
    return Check(code, what, remedy, partial(_rows, sql, detail), partial(_repair_row, sql, act))


MISPLACED_CHUNKS = _check(
    "misplaced_chunks",
    "Chunks in another scope than their document",
    "put them into the document's scope",
    FIND_MISPLACED,
    "{} chunks",
    _put_in_scope,
)
CHUNKS_OF_FAILED = _check(
    "chunks_of_failed",
    "Failed documents with chunks",
    "delete the chunks",
    FIND_OF_FAILED,
    "{} chunks",
    _delete_chunks,
)
VECTORS_OF_REPLACED = _check(
    "vectors_of_replaced",
    "Replaced chunks with vectors",
    "delete the vectors",
    FIND_OF_REPLACED,
    "{} vectors",
    _delete_outdated_vectors,
)
NO_CHUNKS = _check("no_chunks", "Ready documents without chunks", QUEUE_AGAIN, FIND_NO_CHUNKS, "", reprocess)
NO_VECTORS = _check(
    "no_vectors",
    "Ready documents with chunks that lack vectors",
    QUEUE_AGAIN,
    FIND_NO_VECTOR,
    "{} chunks",
    reprocess,
)
WRONG_COUNT = _check(
    "wrong_count",
    "Documents with a wrong number of chunks",
    "count them",
    FIND_MISCOUNTED,
    "it has {}",
    _count_chunks,
)
NO_JOB = _check("no_job", "Unfinished documents without a job", QUEUE_AGAIN, FIND_NO_JOB, "", reprocess)
