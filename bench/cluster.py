"""How much do more workers read? `python -m bench.cluster [FILE …] [--workers 1 2 4] [--copies 8]`

Queues the same copies of the files in a scratch database for each number of worker processes, and prints
pages a second until all are found by words and until all have their vectors, the processor time of all
workers, and the memory that they share with nobody. More workers than cores say how much they cost, not how
much more they read.
"""

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from bench.ingestion import ingest, worker
from tests.testing.scratch import SAMPLE, scratch_database


@dataclass(frozen=True, slots=True)
class ClusterRun:
    """What so many workers did with all files."""

    workers: int
    pages: int
    by_words: float
    in_full: float
    processor_secs: float
    bytes: int


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", default=[SAMPLE])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--copies", type=int, default=8)
    given = parser.parse_args()
    with scratch_database():
        runs = [run_with(number, given.files * given.copies) for number in given.workers]
    table = Table(
        "workers", "pages/s by words", "pages/s in full", "processor", "own memory", title="Reading"
    )
    for run in runs:
        figures = (run.pages / run.by_words, run.pages / run.in_full)
        table.add_row(
            str(run.workers),
            *(f"{figure:.1f}" for figure in figures),
            f"{run.processor_secs:.0f} s",
            f"{run.bytes / 2**20:,.0f} MB",
        )
    console = Console()
    console.print(table)
    console.print(f"{runs[0].pages:,} pages on {os.cpu_count()} cores")


def run_with(number: int, files: list[Path]) -> ClusterRun:
    """Let so many workers read the files."""
    with ExitStack() as stack:
        workers = [stack.enter_context(worker()) for _ in range(number)]
        # Each loads its models with its first document.
        for each in workers:
            ingest(files[:2], each)
        before = sum(map(_secs, workers))
        documents = ingest(files, workers[0])
        spent = sum(map(_secs, workers)) - before
        memory = [each.memory_info() for each in workers]
    return ClusterRun(
        number,
        sum(document.pages for document in documents),
        max(document.by_words for document in documents),
        max(document.in_full for document in documents),
        spent,
        sum(each.rss - each.shared for each in memory),
    )


def _secs(process: psutil.Process) -> float:
    """Return the processor time of a worker and of the children that it has waited for."""
    alive = [process, *process.children(recursive=True)]
    times = [each.cpu_times() for each in alive]
    return float(sum(each.user + each.system + each.children_user + each.children_system for each in times))


if __name__ == "__main__":
    main()
