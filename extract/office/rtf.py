"""Rich Text Format: its paragraphs and tables, without their style."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from striprtf.striprtf import rtf_to_text

from extract.base import Element, Finding, Opened, Request, TextOrigin, UnitRead
from extract.errors import Corrupted
from extract.grids import Cell, table_elements
from extract.places import fold_spaces, locate_text
from extract.text.plain import plain_elements

CELL_END = "|"
DAMAGED = (ValueError, KeyError, IndexError, TypeError, LookupError, OverflowError)


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield paragraphs and tables; raise `Corrupted`."""
    # RTF is ASCII. Programs that write other bytes mean the code page that the file declares.
    source = path.read_bytes().decode("latin-1")
    try:
        text = rtf_to_text(source, errors="replace")
    except DAMAGED as error:
        raise Corrupted from error
    elements = list(_elements(text))
    yield Opened("rtf", "application/rtf")
    yield from elements
    yield UnitRead(1, TextOrigin.TEXT if elements else TextOrigin.BLANK)


def _elements(text: str) -> Iterator[Element]:
    """Separate rows of tables (striprtf ends their cells with bars) from paragraphs (one line each)."""
    lines = [line for line in text.split("\n") if line.strip()]
    for width, group in groupby(lines, key=_width):
        if width > 1:
            yield from table_elements(_row(line) for line in group)
        else:
            yield from plain_elements("\n\n".join(group), with_lines=False)


def _width(line: str) -> int:
    return line.count(CELL_END) if line.rstrip().endswith(CELL_END) else 0


def _row(line: str) -> list[Cell]:
    return [locate_text(fold_spaces(cell)) for cell in line.rstrip().split(CELL_END)[:-1]]
