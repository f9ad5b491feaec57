"""Rich Text Format: its paragraphs and tables, without their style."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from striprtf.striprtf import rtf_to_text

from core.text.raised import raised
from extract.base import Element, Finding, Opened, Request, TextOrigin, UnitRead
from extract.errors import Corrupted
from extract.grids import Cell, table_elements
from extract.places import fold_spaces, locate_text
from extract.text.plain import plain_elements

CELL_END = "|"
CONTROL = re.compile(r"\\(intbl|row|pard|par|line)(?![a-z])(?:-?\d{1,10})?+ ?")
RAISED = re.compile(r"(\\super(?:\\[a-z]{1,20}(?:-?\d{1,6})?+){0,9}+[ {])(\d{1,4})(?=[\\} ])")
DAMAGED = (ValueError, KeyError, IndexError, TypeError, LookupError, OverflowError)


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield paragraphs and tables; raise `Corrupted`."""
    # RTF is ASCII. Programs that write other bytes mean the code page that the file declares.
    source = path.read_bytes().decode("latin-1")
    try:
        text = rtf_to_text(_with_raised_figures(_with_whole_rows(source)), errors="replace")
    except DAMAGED as error:
        raise Corrupted from error
    elements = list(_elements(text))
    yield Opened("rtf", "application/rtf")
    yield from elements
    yield UnitRead(1, TextOrigin.TEXT if elements else TextOrigin.BLANK)


def _with_whole_rows(source: str) -> str:
    """Return the source with a tab for each line break within a cell: striprtf ends a row there."""
    in_cell = False

    def replaced(match: re.Match[str]) -> str:
        nonlocal in_cell
        word = match[1]
        if word in ("intbl", "row", "pard"):
            in_cell = word == "intbl"
        is_break = in_cell and word in ("par", "line")
        return r"\tab " if is_break else match[0]

    return CONTROL.sub(replaced, source)


def _with_raised_figures(source: str) -> str:
    """Return the source with figures of raised type as such: striprtf knows no type."""
    return RAISED.sub(
        lambda match: match[1] + "".join(f"\\u{ord(figure)}?" for figure in raised(match[2])), source
    )


def _elements(text: str) -> Iterator[Element]:
    """Separate rows of tables (striprtf ends their cells with bars) from paragraphs (one line each)."""
    lines = [line for line in text.split("\n") if line.strip()]
    for is_row, group in groupby(lines, key=lambda line: _width(line) > 0):
        rows = list(group)
        if is_row and max(map(_width, rows)) > 1:
            yield from table_elements(map(_row, rows))
        else:
            texts = (line.rstrip().removesuffix(CELL_END) if is_row else line for line in rows)
            yield from plain_elements("\n\n".join(texts), with_lines=False)


def _width(line: str) -> int:
    return line.count(CELL_END) if line.rstrip().endswith(CELL_END) else 0


def _row(line: str) -> list[Cell]:
    return [locate_text(fold_spaces(cell)) for cell in line.rstrip().split(CELL_END)[:-1]]
