"""CSV, TSV and similar: tables in which each cell knows its line, row and column."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from core.locations import InFile
from extract.base import Element, Finding, Opened, Request, TextOrigin, UnitRead
from extract.errors import Corrupted
from extract.grids import Cell, table_elements
from extract.places import fold_spaces, locate_text
from extract.text.plain import paragraphs_of, read_text
from extract.text_sniffing import delimiter_of

SAMPLE_CHARS = 64 * 2**10
TABS = "text/tab-separated-values"


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the table in groups of rows; raise `Empty`, `Corrupted`, `TooLarge` or `UnsupportedType`."""
    text = read_text(path)
    delimiter = delimiter_of(text[:SAMPLE_CHARS])
    yield Opened("tsv", TABS) if delimiter == "\t" else Opened("csv", "text/csv")
    elements = paragraphs_of(text) if request.safe_mode or not delimiter else _tables(text, delimiter)
    yield from elements
    yield UnitRead(1, TextOrigin.TEXT, tables=1)


def _tables(text: str, delimiter: str) -> Iterator[Element]:
    return table_elements(_rows(text, delimiter))


def _rows(text: str, delimiter: str) -> Iterator[list[Cell]]:
    """Yield the rows that are not empty, each cell with its place."""
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(StringIO(text, newline="\n"), delimiter=delimiter, skipinitialspace=True)
    before = 0
    try:
        for number, row in enumerate(reader, start=1):
            lines = (before + 1, reader.line_num)
            before = reader.line_num
            if any(cell.strip() for cell in row):
                yield [_cell(cell, lines, number, column) for column, cell in enumerate(row, start=1)]
    except csv.Error as error:
        raise Corrupted(f"The table can't be read from line {reader.line_num} on: {error}.") from error


def _cell(text: str, lines: tuple[int, int], row: int, column: int) -> Cell:
    return locate_text(fold_spaces(text), InFile(lines=lines, cells=(row, column, row, column)))
