"""How well are headings and drawn tables of plain texts found? `python -m bench.reading.plain_texts [--show]`

`plain/headings.jsonl` and `plain/tables.jsonl` hold those of 30 texts and e-mails, labelled by their authors,
who did not know the reader: set I in `bench/newcomers/natural`, set J in `plain`. A row counts if all its
cells are right. `--show` prints what is wrong.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from extract.base import Element, Kind, Limits, Request
from extract.registry import extract

LABELS = Path(__file__).with_name("plain")
FOLDERS = (LABELS, LABELS.parents[1] / "newcomers" / "natural")
LIMITS = Limits(100)

Row = list[str]
Label = dict[str, Any]
Show = Callable[..., None]


def main() -> None:
    """Measure both sets, and print the counts of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="print what is missed and what is none")
    console = Console(highlight=False, log_path=False)
    show = console.print if parser.parse_args().show else _nothing
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for label in _labels("headings.jsonl"):
        counts[label["set"]] += _headings_right(label, show)
    for label in _labels("tables.jsonl"):
        counts[label["set"]] += _table_right(label, show)
    table = Table("set", "headings found", "none", "rows right", "heads right")
    for name, of in sorted(counts.items()):
        headings, *others = (f"{of[f'right {each}']} of {of[each]}" for each in ("headings", "rows", "heads"))
        table.add_row(name, headings, str(of["false"]), *others)
    console.print(table)


def _nothing(*_: object) -> None:
    pass


def _headings_right(label: Label, show: Show) -> Counter[str]:
    wanted, found = [*map(_folded, label["headings"])], _headings(label["file"])
    missed, false = [each for each in wanted if each not in found], [*set(found) - set(wanted)]
    show(label["file"], "missed", missed, "none", false)
    right = len(wanted) - len(missed)
    return Counter({"headings": len(wanted), "right headings": right, "false": len(false)})


def _table_right(label: Label, show: Show) -> Counter[str]:
    rows, head = [[*map(_folded, row)] for row in label["rows"]], [*map(_folded, label["head"] or ())]
    # The table that has most of its rows is the one that is meant.
    found_head, *found = max(_grids(label["file"]), key=lambda grid: _common(rows, grid), default=[[]])
    show(label["file"], head, found_head, "missed", [row for row in rows if row not in found])
    is_head = [*filter(None, found_head)] == [*filter(None, head)]
    right = {"right rows": _common(rows, found), "right heads": int(is_head)}
    return Counter({"rows": len(rows), "heads": 1, **right})


def _labels(name: str) -> Iterator[Label]:
    with (LABELS / name).open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _folded(text: str) -> str:
    return " ".join(text.replace("\\", "").split()).casefold()


@lru_cache
def _elements(name: str) -> Sequence[Element]:
    path = next(folder / name for folder in FOLDERS if (folder / name).is_file())
    return [found for found in extract(path, Request(LIMITS)) if isinstance(found, Element)]


def _headings(name: str) -> list[str]:
    """Return the headings of a text, of a mail without its subject."""
    found = [_folded(each.text) for each in _elements(name) if each.kind is Kind.HEADING]
    return found[1:] if name.endswith(".eml") else found


def _grids(name: str) -> list[list[Row]]:
    """Return the tables of a text, each with its head first."""
    tables = [each.text.split("\n") for each in _elements(name) if each.kind is Kind.TABLE]
    return [
        [[_folded(cell) for cell in line[1:-1].split("|")] for at, line in enumerate(lines) if at != 1]
        for lines in tables
    ]


def _common(rows: Sequence[Row], grid: Sequence[Row]) -> int:
    return sum(row in grid for row in rows)


if __name__ == "__main__":
    main()
