"""How long does one tenant's crowd of files hold up another's only file? `python -m bench.fairness`

One workspace has `--files` documents waiting, short texts and every hundredth a report of many pages. Workers
take them up. Then, one after the other, `--probes` workspaces that have nothing else upload one short file
each. Printed: how long until that file is found by words and until it has its vectors, how many files of the
crowd were done meanwhile, and how long the database takes to choose a job. `--pause` seconds lie between two
probes.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, sleep
from uuid import UUID, uuid4

from rich.console import Console
from rich.table import Table

from tests.testing.paths import ROOT
from tests.testing.scratch import SAMPLE, environment, scratch_database, stored

REPORT_EVERY = 100
AT_ONCE = 5000
LOOK_EVERY_SECS = 0.05
TEXT = b"The keeper of lighthouse number %d writes down the wind and the water of each hour.\n" * 20


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--probes", type=int, default=20)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--pause", type=float, default=3.0)
    given = parser.parse_args()
    with scratch_database():
        from kb.embedding import start

        print(start())
        crowd = add_crowd(given.files)
        secs_to_choose = choosing_secs()
        with workers(given.workers):
            while not (before := done_of(crowd)):
                sleep(1)
            begun = perf_counter()
            probes = [probe(number, given.pause) for number in range(given.probes)]
            rate = (done_of(crowd) - before) / (perf_counter() - begun)
    report(given, probes, rate, secs_to_choose)


@contextmanager
def workers(number: int) -> Iterator[None]:
    """Run so many workers on the scratch database."""
    command = [sys.executable, str(ROOT / "manage.py"), "worker"]
    running = [subprocess.Popen(command, env=environment()) for _ in range(number)]
    try:
        yield
    finally:
        for each in running:
            each.terminate()
        for each in running:
            each.wait()


def add_crowd(number: int) -> UUID:
    """Let so many documents of one workspace wait; return its id. Equal ones share a file."""
    from django.core.files.base import ContentFile
    from django.db import connection

    from kb.jobs import INGEST_TASK, PRIORITIES, queue_of
    from kb.models import Document

    text, report = stored(SAMPLE), stored(SAMPLE)
    text.file.save("original", ContentFile(TEXT % tuple(range(20))), save=False)
    text.name, text.size = "note.txt", text.file.size
    for begin in range(0, number, AT_ONCE):
        rows = []
        for index in range(begin, min(begin + AT_ONCE, number)):
            like = text if index % REPORT_EVERY else report
            rows.append(
                Document(
                    workspace_id=like.workspace_id,
                    name=like.name,
                    size=like.size,
                    sha256=like.sha256,
                    identity=uuid4().hex,
                    file=like.file.name,
                )
            )
        Document.unscoped.bulk_create(rows)
    with connection.cursor() as cursor:
        # A notification for each would take longer than all else; workers look by themselves.
        cursor.execute("ALTER TABLE procrastinate_jobs DISABLE TRIGGER USER")
        cursor.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, priority, lock, args)"
            " SELECT %s, %s, %s, id::text, jsonb_build_object('document_id', id::text) FROM kb_document"
            " WHERE workspace_id = %s AND status = 'queued'",
            [
                queue_of(INGEST_TASK, text.workspace_id),
                INGEST_TASK,
                PRIORITIES[INGEST_TASK],
                text.workspace_id,
            ],
        )
        print(f"{cursor.rowcount:,} documents of one workspace wait.")
        cursor.execute("ALTER TABLE procrastinate_jobs ENABLE TRIGGER USER")
        cursor.execute("ANALYZE procrastinate_jobs")
        cursor.execute("ANALYZE kb_document")
    return text.workspace_id


def choosing_secs() -> float:
    """Return how long the statement that chooses a job takes, the shortest of five times."""
    from django.db import connection, transaction

    from ingestion.queues import FETCH_JOB, limits

    secs = []
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id")
        row = cursor.fetchone()
        assert row
        for _ in range(5):
            begun = perf_counter()
            with transaction.atomic():
                cursor.execute(FETCH_JOB, limits() | {"served": [], "worker_id": row[0]})
                secs.append(perf_counter() - begun)
                transaction.set_rollback(True)
        cursor.execute("DELETE FROM procrastinate_workers WHERE id = %s", row)
    return min(secs)


def done_of(workspace_id: UUID) -> int:
    """Return how many documents of a workspace are found by words."""
    from kb.models import Document

    return Document.unscoped.filter(workspace_id=workspace_id).exclude(text_ready_at=None).count()


def probe(number: int, pause: float) -> tuple[float, float]:
    """Upload one file as somebody new; return the seconds until it is found by words, and has vectors."""
    from django.core.files.base import ContentFile

    from accounts.access.identity import principal_of_user
    from accounts.models import User
    from kb.documents import Details, add_document

    sleep(pause)
    user = User.objects.create_user(f"probe{number}@example.org", "a long password")
    content = ContentFile(b"The light of number %d burns tonight." % number, name="one.txt")
    begun = perf_counter()
    document, _ = add_document(principal_of_user(user), content, Details(user.personal_workspace.pk))
    by_words = 0.0
    while not document.is_finished:
        sleep(LOOK_EVERY_SECS)
        document.refresh_from_db()
        if document.text_ready_at and not by_words:
            by_words = perf_counter() - begun
    if document.error_code:
        sys.exit(f"{document.error_code}: {document.error_message}")
    return by_words, perf_counter() - begun


def report(
    given: argparse.Namespace, probes: list[tuple[float, float]], rate: float, secs_to_choose: float
) -> None:
    """Print the figures."""
    table = Table("until the file", "median", "95 %", "longest", title=f"{given.probes} tenants, a file each")
    for what, values in zip(("is found by words", "has its vectors"), zip(*probes, strict=True), strict=True):
        high = statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]
        figures = (statistics.median(values), high, max(values))
        table.add_row(what, *(f"{secs:.2f} s" for secs in figures))
    Console().print(table)
    print(f"Meanwhile {rate:.1f} files a second of the other tenant's {given.files:,} were read.")
    print(f"To choose a job among them takes {1000 * secs_to_choose:.1f} ms.")


if __name__ == "__main__":
    main()
