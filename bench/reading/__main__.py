"""How well are documents read? `python -m bench.reading [FOLDER] [--show] [--no-tables]`

One table: headings against outlines, printed contents and labelled pages; heading paths of labelled chunks;
parted words; words under their boxes; sizes and flaws of chunks; tables. `--show` prints what is wrong.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import django
from rich.console import Console
from rich.table import Table

from bench.reading.rates import Rate
from bench.reading.tables import SHARED, Figure, table_figures


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED)
    parser.add_argument("--show", action="store_true")
    parser.add_argument(
        "--no-tables", action="store_true", help="leave out what bench.reading.tables measures"
    )
    given = parser.parse_args()
    with TemporaryDirectory(prefix="locus-bench-") as folder:
        os.environ["DATA_DIR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
        django.setup()
        wrong: list[str] = []
        figures, sizes = measure(given.folder, wrong)
    tables = [] if given.no_tables else table_figures(given.folder)
    console = Console()
    console.print(shown([*figures, *tables]))
    console.print(f"Characters of chunks by percentile: {sizes}")
    if given.show:
        console.print(*wrong, sep="\n", markup=False, soft_wrap=True)


def measure(folder: Path, wrong: list[str]) -> tuple[list[Figure | Rate], dict[int, int]]:
    """Return the figures of the documents of a folder, and the sizes of their chunks."""
    from bench.reading.boxes import box_figure
    from bench.reading.chunks import chunk_figures, chunk_sizes
    from bench.reading.documents import read_documents
    from bench.reading.drawn_headings import drawn_heading_figures
    from bench.reading.headings import Wrong, heading_figures, labelled_figures
    from bench.reading.words import word_figures
    from kb.embedding import embedding_model

    read = [(document, document.chunks(embedding_model())) for document in read_documents(folder)]
    drafts = [draft for _, of_document in read for draft in of_document]
    flawed: list[Wrong] = []
    figures = [
        *heading_figures((document for document, _ in read), flawed),
        *labelled_figures({document.path.name: (document, of_it) for document, of_it in read}, flawed),
        *drawn_heading_figures({document.path.name: document for document, _ in read}, flawed),
        *word_figures(read, wrong),
        box_figure((document for document, _ in read), wrong),
        *chunk_figures(drafts),
    ]
    wrong += [" · ".join(map(str, each)) for each in flawed]
    return figures, chunk_sizes(drafts)


def shown(figures: Iterable[Figure | Rate]) -> Table:
    """Return the figures with their 95 % intervals."""
    table = Table("", "count", "of", "value", "95 % interval")
    for figure in figures:
        low, high = figure.interval
        if isinstance(figure, Rate):
            counts = figure.counts
            value = f"{figure.per_hundred:.1f}"
            table.add_row(figure.name, str(sum(counts)), str(len(counts)), value, f"{low:.1f} – {high:.1f}")
        elif figure.total:
            share = f"{figure.hits / figure.total:.1%}"
            bounds = f"{low:.1%} – {high:.1%}"
            table.add_row(figure.name, str(figure.hits), str(figure.total), share, bounds)
    return table


if __name__ == "__main__":
    main()
