"""The real worker process: it does its jobs, survives bad files, and may be killed at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil
import pymupdf
import pytest
from django.conf import settings
from django.db import connection
from django.db.models import Sum
from psycopg.conninfo import make_conninfo

from accounts.models import DailyUsage
from kb.documents import reprocess
from kb.models import Chunk, ChunkVector, Document, Status
from tests.conftest import make_cast
from tests.ingestion.conftest import upload_to
from tests.testing.paths import ROOT

PATIENCE_SECS = 90


@contextmanager
def worker() -> Iterator[subprocess.Popen[bytes]]:
    """Run `manage.py worker` on the test database, with the fast double as embedding model."""
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    given = {name: connection.settings_dict[key] or None for name, key in names.items()}
    environment = os.environ | {
        "DATABASE_URL": make_conninfo(**given),
        "DATA_DIR": str(settings.DATA_DIR),
        "EMBEDDING_BACKEND": "hashing",
        "EMBEDDING_MODEL": "hashing",
        "WORKER_HEARTBEAT_SECS": "0.3",
        "WORKER_STALLED_SECS": "1.5",
    }
    process = subprocess.Popen([sys.executable, "manage.py", "worker"], cwd=ROOT, env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_until(condition: Callable[[], bool], *, every: float = 0.05) -> None:
    deadline = time.monotonic() + PATIENCE_SECS
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(every)


def now(document: Document) -> Document:
    return Document.unscoped.get(pk=document.pk)


@pytest.fixture
def many_pages() -> bytes:
    """A report long enough to be killed in the middle of: 150 pages."""
    text = "The keepers wrote down wind and water, hour by hour, as they did every year. " * 40
    with pymupdf.open() as pdf:
        for number in range(150):
            page = pdf.new_page()
            page.insert_text((72, 72), f"Chapter {number}", fontsize=18, fontname="hebo")
            page.insert_textbox(pymupdf.Rect(72, 100, 523, 800), f"Year {number}. {text}")
        return bytes(pdf.tobytes())


@pytest.mark.django_db(transaction=True)
def test_bad_files_fail_and_the_worker_goes_on() -> None:
    team = make_cast().team
    bad = [upload_to(team, b"", "empty.pdf"), upload_to(team, os.urandom(2000), "random.pdf")]
    good = upload_to(team, b"The light burns. The sea is calm tonight.", "good.txt")
    with worker() as process:
        wait_until(lambda: now(good).is_finished)
        assert process.poll() is None
    assert [now(document).error_code for document in bad] == ["empty", "unsupported_type"]
    assert now(good).status == Status.READY


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "moment", [Status.EXTRACTING, pytest.param(Status.INDEXING, marks=pytest.mark.slow("kills"))]
)
def test_a_killed_worker_loses_and_doubles_nothing(many_pages: bytes, moment: Status) -> None:
    document = upload_to(make_cast().team, many_pages, "long.pdf")
    with worker() as process:
        wait_until(lambda: now(document).status == moment, every=0.01)
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert psutil.wait_procs(children, timeout=3)[1] == []
    assert now(document).status == moment
    with worker():
        wait_until(lambda: now(document).is_finished)
    assert now(document).status == Status.READY
    interrupted = contents(document)
    assert len({id for id, _, _ in interrupted}) == len(interrupted) == now(document).chunk_count
    assert ChunkVector.objects.count() == len(interrupted)
    assert DailyUsage.unscoped.aggregate(pages=Sum("pages"), documents=Sum("documents")) == {
        "pages": 150,
        "documents": 1,
    }

    Chunk.unscoped.all().delete()
    reprocess(now(document))
    with worker():
        wait_until(lambda: now(document).is_finished)
    assert contents(document) == interrupted


@pytest.mark.django_db(transaction=True)
def test_sigterm_puts_the_job_back_and_stops(many_pages: bytes) -> None:
    document = upload_to(make_cast().team, many_pages, "long.pdf")
    with worker() as process:
        wait_until(lambda: now(document).status == Status.EXTRACTING, every=0.01)
        process.terminate()
        assert process.wait(timeout=20) == 0
    assert not now(document).is_finished
    with worker():
        wait_until(lambda: now(document).is_finished)
    assert now(document).status == Status.READY


def contents(document: Document) -> list[tuple[object, int, str]]:
    chunks = Chunk.unscoped.filter(document=document, replaced_by=None).order_by("ordinal")
    return list(chunks.values_list("pk", "ordinal", "text"))
