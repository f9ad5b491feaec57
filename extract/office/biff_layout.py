"""Which rows and columns the worksheets of an Excel file before 2007 hide: calamine does not say.

The stream “Workbook” (“Book” before 1997) is a row of records: type and length, two bytes each, then the data
([MS-XLS] 2.4). A BOUNDSHEET says where the records of a sheet begin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct

import olefile

STREAMS = ("Workbook", "Book")
BOUNDSHEET, COLINFO, ROW = 0x0085, 0x007D, 0x0208
HEADER = Struct("<HH")
# Where the sheet begins, whether it is hidden, its kind.
SHEET = Struct("<IBB")
# First and last column, width, look, options.
COLUMNS = Struct("<5H")
# The row, first and last column, height, two fields without use, options.
LINE = Struct("<7H")
LAST_COLUMN = 256
WORKSHEET, HIDES_COLUMNS, HIDES_ROW = 0, 0x01, 0x20


@dataclass(frozen=True, slots=True)
class HiddenCells:
    """The hidden rows and columns of a sheet, from 1."""

    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)


def hidden_cells(path: Path) -> list[HiddenCells]:
    """Return what each worksheet hides, in the order of the workbook; none for files of other kinds."""
    if not olefile.isOleFile(str(path)):
        return []
    with olefile.OleFileIO(str(path)) as ole:
        name = next((each for each in STREAMS if ole.exists(each)), None)
        stream = ole.openstream(name).read() if name else b""
    return _of_worksheets(stream)


def _of_worksheets(stream: bytes) -> list[HiddenCells]:
    """Walk over all records once, whatever a damaged file says of its sheets."""
    starts: dict[int, HiddenCells] = {}
    worksheets: list[HiddenCells] = []
    sheet = HiddenCells()
    for at, kind, data in _records(stream):
        sheet = starts.get(at, sheet)
        if kind == BOUNDSHEET and len(data) >= SHEET.size:
            start, _, sort = SHEET.unpack_from(data)
            found = starts.setdefault(start, HiddenCells())
            worksheets += [found] if sort == WORKSHEET else []
        elif kind == ROW and len(data) >= LINE.size:
            row, *_, options = LINE.unpack_from(data)
            sheet.rows.update({row + 1} if options & HIDES_ROW else ())
        elif kind == COLINFO and len(data) >= COLUMNS.size:
            first, last, _, _, options = COLUMNS.unpack_from(data)
            if options & HIDES_COLUMNS:
                sheet.columns.update(range(first + 1, min(last + 1, LAST_COLUMN) + 1))
    return worksheets


def _records(stream: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield place, type and data of each record."""
    at = 0
    while at + HEADER.size <= len(stream):
        kind, size = HEADER.unpack_from(stream, at)
        yield at, kind, stream[at + HEADER.size : at + HEADER.size + size]
        at += HEADER.size + size
