"""How well are tables of PDFs read? `python -m bench.reading.tables [FOLDER] [--half unseen] [--show]`

`labelled_tables.json` holds 62 tables of the sample data, labelled by hand from the drawn pages: for each the
true head of every column after the first, and one row. Pages without a table are labelled, too. Rules were
made while looking at the half `tuned`; nobody looks at what becomes of the half `unseen`. The flaws by rule
are counted on all PDFs under FOLDER. `--show` prints what is wrong, of the tuned half only.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from core.errors import DocumentError
from extract.base import Element, Kind, Limits, Request
from extract.pdf.reader import extract

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
LABELS = Path(__file__).with_name("labelled_tables.json")
LIMITS = Limits(2000)
Z = 1.96

FIGURE = re.compile(r"[(\-–—+$€£¥ ]*\d[\d.,]*[ )%]*|[—–-]+")
FIGURES_ONLY = re.compile(r"[\d.,()$%\s—–-]+")
FOOTNOTE = re.compile(r"(?<=\S) \(\d\)$")
DIGITS = re.compile(r"\d[\d,.]*")
YEAR = re.compile(r"(19|20)\d\d")
IN_BRACKETS = re.compile(r"\([^()]*\)")
TERM = re.compile(r"[\w.%]+|[→↔]")
NO_CONTENT = re.compile(r"[\s$%]")
PERIOD = re.compile(r"(months|years?|weeks|quarter) ended", re.IGNORECASE)

# A table in which so many of the rows read on from cell to cell, each of so many words, is running text.
TEXT_SHARE, FEWEST_WORDS = 0.25, 4

Grid = list[list[str]]


class Figure(NamedTuple):
    """A measured share: `hits` of `total`."""

    name: str
    hits: int
    total: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share by Wilson; (0, 1) of nothing."""
        if not self.total:
            return 0.0, 1.0
        n, share = self.total, self.hits / self.total
        middle = share + Z * Z / (2 * n)
        half = Z * (share * (1 - share) / n + Z * Z / (4 * n * n)) ** 0.5
        return (middle - half) / (1 + Z * Z / n), (middle + half) / (1 + Z * Z / n)


def table_figures(folder: Path, half: str = "tuned") -> list[Figure]:
    """Return the figures of a half of the labelled tables, and of the flaws by rule on all PDFs."""
    return [*labelled_figures(folder, half), *flaw_figures(folder)]


# --- Labelled tables ---------------------------------------------------------------------------------------


def labelled_figures(folder: Path, half: str, wrong: list[str] | None = None) -> list[Figure]:
    """Return how many labelled tables are found, with right heads, and cells in their columns.

    `wrong` receives a line for each table that is not right.
    """
    counts: Counter[str] = Counter()
    paths = {path.name: path for path in folder.rglob("*.pdf")}
    for label in json.loads(LABELS.read_text(encoding="utf-8")):
        if label["half"] == half and label["file"] in paths:
            pages = {page["page"]: page["tables"] for page in label["pages"]}
            read = read_grids(paths[label["file"]], tuple(pages))
            for number, tables in pages.items():
                name = f"{label['file']} page {number}"
                _count_page(tables, [grid for page, grid in read if page == number], counts, name, wrong)
    return [
        Figure("tables found", counts["found"], counts["tables"]),
        Figure("tables with all heads right", counts["whole"], counts["tables"]),
        Figure("heads of columns right", counts["heads right"], counts["heads"]),
        Figure("cells in their columns", counts["cells right"], counts["cells"]),
        Figure("pages without a table on which one is read", counts["false"], counts["empty"]),
    ]


def _count_page(
    tables: list[dict[str, list[str]]],
    grids: list[Grid],
    counts: Counter[str],
    name: str,
    wrong: list[str] | None,
) -> None:
    counts["empty"] += not tables
    counts["false"] += bool(grids) and not tables
    for table in tables:
        row, heads = table["row"], table["heads"]
        grid, found = _find_row(grids, row)
        got = grid[0][1:] if grid else []
        right = sum(_terms(a) == _terms(b) for a, b in zip(heads, got, strict=False))
        cells = sum(_plain(a) == _plain(b) for a, b in zip(row, found, strict=False))
        is_whole = right == len(heads) == len(got)
        counts += Counter({"tables": 1, "heads": len(heads), "cells": len(row)})
        counts.update(
            {"found": bool(grid), "whole": is_whole, "heads right": right, "cells right": cells},
        )
        if wrong is not None and not (is_whole and cells == len(row)):
            wrong.append(f"{name}: {row[0]!r}: {got} {found}")


def _find_row(grids: Iterable[Grid], row: Sequence[str]) -> tuple[Grid, list[str]]:
    """Return the table and the row in which the words of a labelled row stand one after the other."""
    wanted = "".join(map(_plain, row))
    for grid in grids:
        for cells in grid:
            if wanted in "".join(map(_plain, cells)):
                return grid, cells
    return [], []


def _terms(head: str) -> Counter[str]:
    """Return the words of a head in any order; units and marks of footnotes stand in brackets."""
    return Counter(TERM.findall(IN_BRACKETS.sub(" ", head).casefold()))


def _plain(cell: str) -> str:
    return NO_CONTENT.sub("", cell).rstrip(".")


# --- Flaws by rule -----------------------------------------------------------------------------------------


def flaw_figures(folder: Path) -> list[Figure]:
    """Return how many tables of all PDFs in a folder have no visible flaw, and how many have each of them."""
    flaws: Counter[str] = Counter()
    total = unreadable = 0
    paths = sorted(folder.rglob("*.pdf"))
    for path in paths:
        try:
            grids = read_grids(path)
        except DocumentError:
            unreadable += 1
            continue
        total += len(grids)
        for _, grid in grids:
            flaws.update(set(visible_flaws(grid)) or {""})
    names = sorted(name for name in flaws if name)
    return [
        Figure("files that can't be read", unreadable, len(paths)),
        Figure("tables without visible flaw", flaws[""], total),
        *(Figure(f"tables: {name}", flaws[name], total) for name in names),
    ]


def visible_flaws(grid: Grid) -> Iterator[str]:
    """Yield the names of the flaws that can be seen without knowing the page."""
    head, body = grid[0], grid[1:]
    if not any(head[1:]):
        yield "no head"
    elif any(not head[at] and any(_is_figure(row[at]) for row in body) for at in range(1, len(head))):
        yield "a column of figures without head"
    if any(_is_figure(name) and not YEAR.fullmatch(name) and DIGITS.search(name) for name in head[1:]):
        yield "a figure as head"
    if any(_holds_several(cell) for row in body for cell in row[1:]):
        yield "several figures in a cell"
    if any(not any(row[at] for row in body) for at in range(1, len(head))):
        yield "an empty column"
    periods = [bool(PERIOD.search(name)) for name in head[1:] if YEAR.search(name)]
    if any(periods) and not all(periods):
        yield "a period above some columns only"
    if any(_is_head_again(row) for row in body[1:]):
        yield "two tables in one"
    if sum(map(_reads_on, body)) > TEXT_SHARE * len(body):
        yield "text as a table"


def _is_figure(cell: str) -> bool:
    return bool(FIGURE.fullmatch(cell))


def _holds_several(cell: str) -> bool:
    figures = FOOTNOTE.sub("", cell)
    return bool(FIGURES_ONLY.fullmatch(figures)) and len(DIGITS.findall(figures)) > 1


def _reads_on(row: Sequence[str]) -> bool:
    """Whether a sentence goes on from one cell to the next."""
    cells = [cell for cell in row if cell]
    return any(
        len(a.split()) >= FEWEST_WORDS
        and len(b.split()) >= FEWEST_WORDS
        and b[0].islower()
        and a[-1] not in ".:;"
        for a, b in pairwise(cells)
    )


def _is_head_again(row: Sequence[str]) -> bool:
    """Whether years, and nothing else, stand in the columns of a row."""
    cells = [cell for cell in row[1:] if cell]
    return len(cells) > 1 and all(YEAR.fullmatch(cell) for cell in cells)


# --- Reading -----------------------------------------------------------------------------------------------


def read_grids(path: Path, units: tuple[int, ...] | None = None) -> list[tuple[int, Grid]]:
    """Return page number and cells of each table of a PDF; raises `DocumentError` where it can't be read."""
    found = extract(path, Request(LIMITS, units=units))
    tables = (each for each in found if isinstance(each, Element) and each.kind is Kind.TABLE)
    return [(table.located.page_number() or 0, grid_of(table)) for table in tables]


def grid_of(table: Element) -> Grid:
    """Return the cells of a table by row and column, the row of heads first."""
    lines = [table.text[start:end].partition("\n")[0] for start, end in table.rows]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED)
    parser.add_argument("--half", choices=["tuned", "unseen"], default="tuned")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    wrong: list[str] = []
    shown = Table("", "count", "of", "share", "95 % interval")
    figures = [*labelled_figures(given.folder, given.half, wrong), *flaw_figures(given.folder)]
    for figure in figures:
        low, high = figure.interval
        share = f"{figure.hits / max(figure.total, 1):.1%}"
        shown.add_row(figure.name, str(figure.hits), str(figure.total), share, f"{low:.1%} – {high:.1%}")
    console = Console()
    console.print(shown)
    if given.show and given.half == "tuned":
        console.print(*wrong, sep="\n", markup=False)


if __name__ == "__main__":
    main()
