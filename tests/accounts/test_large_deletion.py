"""A workspace of thousands of documents is deleted by the worker: nobody waits, and nothing is left."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar
from urllib.request import Request, urlopen
from uuid import UUID, uuid4

import psutil
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.utils import timezone

from accounts.models import Workspace
from kb.doctor import CHECKS, examine
from kb.index.merging import merge
from kb.index.segments import ScopeKey
from kb.models import Chunk, ChunkVector, Document, Segment, SegmentCodes
from runs.models import Execution, ExecutionStatus
from tests.conftest import Cast, make_cast
from tests.factories import indexed_document
from tests.testing.live import live_server, start_worker, stop, wait_until
from tests.testing.stored import all_stored

# Documents are stored with copies of one segment.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("in_segments")]
logger = logging.getLogger(__name__)
AT_ONCE = 500
EXECUTIONS = 200
READ_BY_EACH = 20
Row = TypeVar("Row", Document, Chunk, ChunkVector, Segment, SegmentCodes)
LONGEST_REQUEST_SECS = 2.0
MOST_MORE_MEMORY = 64 << 20
PATIENCE_SECS = 600


def many_documents(workspace: Workspace, count: int) -> list[UUID]:
    """Store copies of one document, with file, chunk, vector, segment and codes, as uploads would have."""
    template = indexed_document(workspace)
    chunk = Chunk.unscoped.get(document=template)
    vector = ChunkVector.objects.get(chunk=chunk)
    segment = Segment.unscoped.get(document=template)
    codes = SegmentCodes.objects.get(segment=segment)
    ids = [uuid4() for _ in range(count)]
    for start in range(0, count, AT_ONCE):
        some = ids[start : start + AT_ONCE]
        documents = [_copy(template, id=id, identity=id.hex, file=_file(id)) for id in some]
        chunks = [_copy(chunk, id=uuid4(), document=document) for document in documents]
        segments = [
            _copy(segment, id=None, document=d, document_ids=[d.pk], chunk_ids=c.pk.bytes)
            for d, c in zip(documents, chunks, strict=True)
        ]
        Document.unscoped.bulk_create(documents)
        Chunk.unscoped.bulk_create(chunks)
        ChunkVector.objects.bulk_create([_copy(vector, id=None, chunk=each) for each in chunks])
        Segment.unscoped.bulk_create(segments)
        SegmentCodes.objects.bulk_create([_copy(codes, id=None, segment=each) for each in segments])
    return ids


def _copy(row: Row, **other: object) -> Row:
    """Return an unsaved copy of a row with some other values."""
    values = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    for name in other:
        values.pop(row._meta.get_field(name).attname)
    return type(row)(**values, **other)


def _file(id: UUID) -> str:
    return default_storage.save(f"documents/{id}/original", ContentFile(b"A small file."))


def executions_that_read(cast: Cast, documents: list[UUID]) -> None:
    """Store answers that quote the documents, of a member who stays."""
    rows = []
    for number in range(EXECUTIONS):
        start = number * READ_BY_EACH % len(documents)
        read = documents[start : start + READ_BY_EACH]
        contexts = [{"rank": 1, "document_id": str(id), "text_preview": "solar"} for id in read]
        rows.append(
            Execution(
                tool="rag_search",
                user=cast.bob,
                workspace=cast.bob.personal_workspace,
                inputs={"query": "solar"},
                status=ExecutionStatus.COMPLETED,
                finished_at=timezone.now(),
                read_documents=read,
                read_workspaces=[cast.team.pk],
                result={"response": "solar", "contexts": contexts, "answered": True},
            )
        )
    Execution.unscoped.bulk_create(rows)


@dataclass
class Watched:
    """What is seen while the worker deletes."""

    slowest: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    memory: list[int] = field(default_factory=list)
    secs: float = 0.0


@contextmanager
def watching(url: str, cast: Cast, worker: psutil.Process) -> Iterator[Watched]:
    """Ask the web server all the time, and look at the worker's memory."""
    seen, over = Watched(), threading.Event()
    started = time.monotonic()

    def look() -> None:
        while not over.wait(0.05):
            seen.memory.append(memory_of(worker))
            for path in ("documents", "me", "executions"):
                begun = time.monotonic()
                request = Request(f"{url}/api/v1/{path}", headers=cast.headers("bob"))
                with urlopen(request, timeout=30) as reply:
                    reply.read()
                seen.slowest[path] = max(seen.slowest[path], time.monotonic() - begun)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()
        seen.secs = time.monotonic() - started


def is_steady(worker: psutil.Process) -> bool:
    """Tell whether the memory of a worker stays for some seconds as it is."""
    before = memory_of(worker)
    time.sleep(4)
    return abs(memory_of(worker) - before) < 1 << 20


def memory_of(worker: psutil.Process) -> int:
    """Return the bytes of a worker and its children in memory."""
    processes = [worker, *worker.children(recursive=True)]
    return sum(each.memory_info().rss for each in processes if each.is_running())


def delete_and_watch(count: int) -> Watched:
    """Delete a workspace with so many documents, half of them in merged segments; return what was seen."""
    cast = make_cast()
    # Other tests of this process have left files.
    before = left_behind()
    documents = many_documents(cast.team, count // 2)
    merge(ScopeKey(cast.team.pk, None, None))
    documents += many_documents(cast.team, count - len(documents))
    executions_that_read(cast, documents)
    kept = indexed_document(cast.bob.personal_workspace)
    worker = start_worker()
    try:
        with live_server(WORKSPACE_GRACE_DAYS="0") as server:
            # It loads its models first.
            wait_until(partial(is_steady, psutil.Process(worker.pid)), "the worker has started")
            with watching(server.url, cast, psutil.Process(worker.pid)) as seen:
                time.sleep(0.5)
                begun = time.monotonic()
                address = f"{server.url}/api/v1/workspaces/{cast.team.pk}"
                with urlopen(Request(address, headers=cast.headers("alice"), method="DELETE")) as reply:
                    assert reply.status == 200
                seen.slowest["DELETE"] = time.monotonic() - begun
                gone = Workspace.objects.filter(pk=cast.team.pk)
                wait_until(lambda: not gone.exists(), "the workspace is deleted", PATIENCE_SECS)
    finally:
        stop(worker)
    assert_nothing_is_left(cast.team.pk, documents, kept)
    assert left_behind() == before
    logger.info(
        "%d documents: %.0f s; slowest requests %s; MiB of the worker by tenths of the time %s",
        count,
        seen.secs,
        {name: round(float(secs), 2) for name, secs in seen.slowest.items()},
        [bytes >> 20 for bytes in seen.memory[:: len(seen.memory) // 10 or 1]],
    )
    return seen


def assert_nothing_is_left(workspace_id: UUID, documents: list[UUID], kept: Document) -> None:
    """Look at rows, files, answers, and ask the doctor."""
    assert list(Document.unscoped.values_list("pk", flat=True)) == [kept.pk]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name FROM information_schema.columns"
            " WHERE column_name = 'workspace_id' AND table_schema = 'public'"
        )
        for (table,) in cursor.fetchall():
            cursor.execute(
                f'SELECT count(*) FROM "{table}" WHERE workspace_id::text = %s', [str(workspace_id)]
            )
            left = cursor.fetchone()[0]
            # The audit log says that it was deleted, and usage is the workspace's bill.
            assert not left or table in {"accounts_auditentry"}, (table, left)
    for model in (Chunk.unscoped, ChunkVector.objects, Segment.unscoped, SegmentCodes.objects):
        assert model.count() == 1, model.model
    assert not any(default_storage.exists(f"documents/{id}") for id in documents)
    assert not Execution.unscoped.filter(result__response="solar").exists()


def left_behind() -> tuple[dict[str, int], set[str]]:
    """Return what the doctor finds, by kind, and the files that are no originals."""
    others = {name for name in all_stored() if not name.endswith("/original")}
    return {check.code: examine(check).count for check in CHECKS}, others


def test_nothing_is_left_of_a_workspace() -> None:
    delete_and_watch(300)


@pytest.mark.slow("deletions")
def test_a_workspace_of_ten_thousand_documents_is_deleted_beside_the_work() -> None:
    seen = delete_and_watch(10_000)
    assert max(seen.slowest.values()) < LONGEST_REQUEST_SECS, seen.slowest
    assert max(seen.memory) - seen.memory[0] < MOST_MORE_MEMORY
