"""Whatever is killed, and whenever: every document ends in the same chunks as if nothing had happened.

A whole installation of its own (database, worker, command line), because its database is restarted too.
"""

from __future__ import annotations

import atexit
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pymupdf
import pytest

from locus.serve.postgres import Server
from tests.testing.engines import EMBEDDED
from tests.testing.paths import ROOT, SAMPLES

PATIENCE_SECS = 400
CHUNKS = """
    SELECT d.name, c.ordinal, c.text, c.page_number, c.start_time, c.sentences, vector_dims(v.embedding)
    FROM kb_chunk c JOIN kb_document d ON d.id = c.document_id
    LEFT JOIN kb_chunkvector v ON v.chunk_id = c.id
    WHERE d.external_user_id = %s AND c.replaced_by IS NULL ORDER BY 1, 2
"""


class Installation:
    """A data folder with its database, and a worker that is started again whenever it has ended."""

    def __init__(self, folder: Path) -> None:
        self.server = Server(folder / "postgres").join()
        self.url = self.server.url
        self.worker: subprocess.Popen[bytes] | None = None
        self.environment = (
            os.environ
            | EMBEDDED
            | {
                "DATA_DIR": str(folder),
                "DATABASE_URL": self.url,
                "EMBEDDING_BACKEND": "hashing",
                "EMBEDDING_MODEL": "hashing",
                "WORKER_HEARTBEAT_SECS": "0.3",
                "WORKER_STALLED_SECS": "1.5",
            }
        )
        self.manage("migrate", "-v", "0")
        self.manage("create_api_key", "--user", "keeper@example.org", "--create")

    def manage(self, *words: str) -> None:
        subprocess.run([sys.executable, "manage.py", *words], cwd=ROOT, env=self.environment, check=True)

    def add(self, folder: Path, external_user: str) -> None:
        self.manage(
            *("ingest", str(folder), "--workspace", "Personal", "--user", "keeper@example.org"),
            *("--external-user", external_user, "--detach"),
        )

    def keep_working(self) -> None:
        if self.worker is None or self.worker.poll() is not None:
            self.worker = subprocess.Popen(
                [sys.executable, "manage.py", "worker"], cwd=ROOT, env=self.environment
            )

    def stop_working(self) -> None:
        if self.worker is not None:
            self.worker.kill()
            self.worker.wait()

    def unfinished(self) -> int:
        try:
            with psycopg.connect(self.url) as connection:
                row = connection.execute(
                    "SELECT count(*) FROM kb_document WHERE status IN ('queued', 'extracting', 'indexing')"
                ).fetchone()
        except psycopg.OperationalError:
            return 1  # just now there is no database
        return int(row[0]) if row else 0

    def finish(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECS
        while self.unfinished():
            assert time.monotonic() < deadline, "waited too long"
            self.keep_working()
            time.sleep(0.1)

    def chunks_of(self, external_user: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url) as connection:
            return connection.execute(CHUNKS, [external_user]).fetchall()

    def statuses_of(self, external_user: str) -> dict[str, str]:
        with psycopg.connect(self.url) as connection:
            rows = connection.execute(
                "SELECT name, status || error_code FROM kb_document WHERE external_user_id = %s",
                [external_user],
            )
            return dict(rows.fetchall())

    # --- What may happen to it ---

    def kill_worker(self) -> None:
        if self.worker is not None:
            self.worker.kill()

    def kill_child(self) -> None:
        if self.worker is None or self.worker.poll() is not None:
            return
        with suppress(psutil.NoSuchProcess):
            for child in psutil.Process(self.worker.pid).children(recursive=True):
                child.send_signal(signal.SIGKILL)

    def restart_database(self) -> None:
        postmaster = self.server.postmaster()
        assert postmaster is not None
        # An immediate shutdown: as after a loss of power, the server recovers from its log.
        os.kill(postmaster.pid, signal.SIGQUIT)
        psutil.wait_procs(
            [psutil.Process(postmaster.pid)] if psutil.pid_exists(postmaster.pid) else [], timeout=30
        )
        self.server.join()


@pytest.fixture
def installation() -> Iterator[Installation]:
    folder = Path(tempfile.mkdtemp(prefix="locus-kills-"))
    # Registered before the server starts, so that it runs after the server has stopped.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = Installation(folder)
    yield made
    made.stop_working()


def write_documents(folder: Path, chapters: int) -> Path:
    """Write documents that take a moment: many pages, scanned pages, a recording, a text."""
    folder.mkdir()
    for name in ("scans.tiff", "speech.opus", "report.pdf", "notes.md"):
        (folder / name).write_bytes((SAMPLES / name).read_bytes())
    text = "The keepers wrote down wind and water, hour by hour, as they did every year. " * 40
    with pymupdf.open() as pdf, pymupdf.open(SAMPLES / "scan.png") as scan:
        picture = scan[0].get_pixmap()
        for number in range(chapters):
            page = pdf.new_page()
            page.insert_text((72, 72), f"Chapter {number}", fontsize=18, fontname="hebo")
            page.insert_textbox(pymupdf.Rect(72, 100, 523, 800), f"Year {number}. {text}")
            if number % 40 == 20:
                page = pdf.new_page(width=picture.width, height=picture.height)
                page.insert_image(page.rect, pixmap=picture)
        pdf.save(folder / "long.pdf")
    return folder


@pytest.mark.parametrize(
    ("kills", "chapters"), [(3, 30), pytest.param(10, 120, marks=pytest.mark.slow("kills"))]
)
def test_kills_at_random_moments_change_nothing(
    installation: Installation, tmp_path: Path, kills: int, chapters: int
) -> None:
    documents = write_documents(tmp_path / "documents", chapters)
    installation.add(documents, "calm")
    installation.finish()
    calm = installation.chunks_of("calm")
    assert set(installation.statuses_of("calm").values()) == {"ready"}
    assert {row[0] for row in calm} == {path.name for path in documents.iterdir()}

    installation.add(documents, "storm")
    chance = random.Random(7)
    blows: list[Callable[[], None]] = [
        installation.kill_worker,
        installation.kill_child,
        installation.restart_database,
    ]
    for number in range(kills):
        installation.keep_working()
        time.sleep(chance.uniform(0.5, 4.0))
        blows[number % len(blows)]()
    installation.finish()
    assert installation.statuses_of("storm") == installation.statuses_of("calm")
    assert installation.chunks_of("storm") == calm
