"""How fast is ingestion, and where does the time go? `python -m bench.ingestion [PDF …]`

Runs the real pipeline in a scratch database: pages a second until found by words and until fully embedded,
share of time by stage, the whole compared with embedding the same chunk texts alone, peak memory.
"""

from __future__ import annotations

import argparse
import atexit
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Thread
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import django
import psutil
from rich.console import Console
from rich.progress import track
from rich.table import Table

if TYPE_CHECKING:
    from kb.models import Document

SAMPLE = Path(__file__).resolve().parents[1] / "tests" / "samples" / "report.pdf"


@dataclass(frozen=True, slots=True)
class Run:
    """One document's ingestion, in seconds."""

    name: str
    pages: int
    texts: list[str]
    stages: dict[str, float]

    @property
    def by_words(self) -> float:
        """Seconds until the document was found by words."""
        return self.total - self.stages["embedding"]

    @property
    def total(self) -> float:
        """Seconds until everything was done."""
        return sum(self.stages.values())


def main() -> None:
    """Ingest the files and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", default=[SAMPLE])
    files = parser.parse_args().files
    with scratch_database():
        from kb.embedding import embedding_model

        model = embedding_model()
        model.embed_documents(["The first call pays for the start."])
        memory = PeakMemory()
        memory.start()
        runs = [ingest(file) for file in track(files, description="Ingesting")]
        texts = [text for run in runs for text in run.texts]
        start = perf_counter()
        model.embed_documents(texts)
        report(runs, memory, alone=perf_counter() - start, tokens=sum(model.count_tokens(texts)))


@contextmanager
def scratch_database() -> Iterator[None]:
    """Make a database and a folder for files that are gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="locus-bench-"))
    # At exit and not here: an embedded server stops only then, and holds its files until it has.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["DATA_DIR"] = str(folder)
    if "DATABASE_URL" not in os.environ:
        from kb.postgres import start_embedded

        os.environ["DATABASE_URL"] = start_embedded(folder)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kb.settings")
    django.setup()
    from django.db import connection
    from django.test.utils import setup_databases, teardown_databases

    connection.settings_dict["TEST"]["NAME"] = f"bench_{os.getpid()}"
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        yield
    finally:
        teardown_databases(databases, verbosity=0)


def ingest(file: Path) -> Run:
    """Run the pipeline on one file and time its stages."""
    from ingestion import pipeline
    from ingestion.report import Report
    from kb.models import Chunk

    stages: dict[str, float] = defaultdict(float)
    document = stored(file)
    now, since = "extracting", perf_counter()

    class Timed(Report):
        def update(self, **values: Any) -> None:
            nonlocal now, since
            super().update(**values)
            if "stage" in values:
                stages[now] += perf_counter() - since
                now, since = str(values["stage"]), perf_counter()

    with patch.object(pipeline, "Report", Timed):
        pipeline.ingest(document.pk)
    document.refresh_from_db()
    chunks = Chunk.unscoped.filter(document=document).order_by("ordinal")
    return Run(file.name, document.page_count or 1, [chunk.text_to_embed for chunk in chunks], stages)


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


def report(runs: list[Run], memory: PeakMemory, *, alone: float, tokens: int) -> None:
    """Print a line for each document and the sums."""
    table = Table("document", "pages", "chunks", "pages/s by words", "pages/s in full", title="Ingestion")
    for run in runs:
        table.add_row(*row(run.name, run.pages, len(run.texts), run.by_words, run.total))
    pages, chunks = sum(run.pages for run in runs), sum(len(run.texts) for run in runs)
    by_words, total = sum(run.by_words for run in runs), sum(run.total for run in runs)
    table.add_row(*row("all", pages, chunks, by_words, total), style="bold")
    sums = {name: sum(run.stages[name] for run in runs) for name in runs[0].stages}
    console = Console()
    console.print(table)
    console.print("Share of time: " + ", ".join(f"{name} {secs / total:.0%}" for name, secs in sums.items()))
    console.print(f"Tokens: {tokens:,} at {tokens / sums['embedding']:,.0f} a second while embedding")
    console.print(f"The whole takes {total / alone:.2f} x embedding the same texts alone ({alone:.1f} s)")
    console.print(
        f"Peak memory: worker {memory.own / 2**20:,.0f} MB, extraction {memory.children / 2**20:,.0f} MB"
    )


def row(name: str, pages: int, chunks: int, by_words: float, total: float) -> list[str]:
    """Return the cells of one line."""
    return [name, f"{pages:,}", f"{chunks:,}", f"{pages / by_words:.1f}", f"{pages / total:.1f}"]


class PeakMemory(Thread):
    """Watches the resident bytes of this process and of its children.

    The kernel's own peak for children starts with that of their parent, from which they are forked.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.own = self.children = 0

    def run(self) -> None:
        """Look every few milliseconds."""
        this = psutil.Process()
        while True:
            with suppress(psutil.NoSuchProcess):
                self.own = max(self.own, this.memory_info().rss)
                resident = sum(child.memory_info().rss for child in this.children() if is_extraction(child))
                self.children = max(self.children, resident)
            sleep(0.02)


def is_extraction(child: psutil.Process) -> bool:
    """Whether a child runs the extraction already and is not still a copy of ourselves."""
    return "ingestion.sandbox" in child.cmdline()


if __name__ == "__main__":
    main()
