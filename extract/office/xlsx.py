"""Excel: visible sheets, cell by cell, with values as the sheet shows them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from extract.archives import open_archive
from extract.base import Finding, Opened, Request
from extract.errors import Corrupted, FileTooLarge, TooManyPages
from extract.grids import MAX_CELLS, TOO_MANY_CELLS, CellCounter
from extract.kinds import KINDS
from extract.office import binary_sheets
from extract.office.sheets import FilledCell, sheet_unit
from extract.office.shown import displayed_value
from extract.places import fold_spaces

DAMAGED = (
    *(InvalidFileException, LookupError, ValueError, TypeError, AttributeError, OSError, SyntaxError),
    *(OverflowError, RecursionError),
)

LAST_ROW = 2**20
# Blank cells before a filled one are visited, too, however far to the right it stands.
MAX_VISITED = 50 * MAX_CELLS


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the sheets, each a unit; raise `Corrupted`, `Encrypted`, `FileTooLarge` or `TooManyPages`."""
    with open_archive(path):
        if request.safe_mode:
            yield from binary_sheets.read_workbook(path, request, "xlsx")
            return
        # Pass an open file: given a path, openpyxl trusts its extension.
        with warnings.catch_warnings(), path.open("rb") as file:
            # openpyxl warns about styles and extensions that it leaves out; none of them is text.
            warnings.simplefilter("ignore")
            yield from _workbook(file, request)


def _workbook(file: BinaryIO, request: Request) -> Iterator[Finding]:
    try:
        workbook = load_workbook(file, read_only=True, data_only=True, keep_links=False)
    except DAMAGED as error:
        raise Corrupted from error
    try:
        visible = [sheet for sheet in workbook.worksheets if sheet.sheet_state == "visible"]
        yield from _sheets(workbook, visible, request)
    except DAMAGED as error:
        raise Corrupted from error
    finally:
        workbook.close()


def _sheets(workbook: Any, visible: list[Any], request: Request) -> Iterator[Finding]:
    if len(visible) > request.limits.max_pages:
        raise TooManyPages
    title = fold_spaces(str(workbook.properties.title or "")) or None
    units = max(len(visible), 1)
    yield Opened("xlsx", KINDS["xlsx"].mime_type, units=units, title=title)
    yield from binary_sheets.hidden_warning(
        [sheet.title for sheet in workbook.worksheets if sheet not in visible]
    )
    counter = CellCounter()
    for number in request.units or range(1, units + 1):
        sheet = visible[number - 1] if visible else None
        yield from sheet_unit(number, sheet.title if sheet else "", _cells(sheet), counter)


def _cells(sheet: Any) -> Iterator[FilledCell]:
    if sheet is None:
        return
    # Sheets may claim to reach to the last possible row and column though only a few cells are filled.
    sheet.reset_dimensions()
    visited = 0
    for number, row in enumerate(sheet.iter_rows(), start=1):
        visited += len(row)
        if number > LAST_ROW or visited > MAX_VISITED:
            raise FileTooLarge(TOO_MANY_CELLS)
        for cell in row:
            if cell.value is not None and (text := displayed_value(cell.value, cell.number_format)):
                yield FilledCell(cell.row, cell.column, text)
