"""Excel: visible sheets, cell by cell, with values as the sheet shows them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from extract.archives import open_archive
from extract.base import Finding, Opened, Request, Warned
from extract.errors import Corrupted, TooManyPages
from extract.grids import CellCounter
from extract.kinds import KINDS
from extract.office import binary_sheets
from extract.office.cells import Range, range_of
from extract.office.pictures import read_pictures
from extract.office.sheet_pictures import pictures_on
from extract.office.sheet_xml import SheetReader
from extract.office.sheets import Sheet, sheet_unit
from extract.office.strict import transitional
from extract.places import fold_spaces

DAMAGED = (
    *(InvalidFileException, LookupError, ValueError, TypeError, AttributeError, OSError, SyntaxError),
    *(OverflowError, RecursionError),
)
UNCOMPUTED = (
    "{count} formulas on the sheet “{sheet}” have no stored value and were left out. Open the workbook in "
    "Excel, save it, and upload it again."
)


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the sheets, each a unit; raise `Corrupted`, `Encrypted`, `FileTooLarge` or `TooManyPages`."""
    with open_archive(path) as archive:
        if request.safe_mode and not request.pictures:
            yield from binary_sheets.read_workbook(path, request, "xlsx")
            return
        # Pass an open file: given a path, openpyxl trusts its extension.
        with warnings.catch_warnings(), transitional(archive, path) as file:
            # openpyxl warns about styles and extensions that it leaves out; none of them is text.
            warnings.simplefilter("ignore")
            if (workbook := _opened(file)) is not None:
                yield from _workbook(workbook, request)
                return
    if request.pictures:
        raise Corrupted
    # Some programs name parts that they do not write. Excel does not mind, and nor does calamine.
    yield from binary_sheets.read_workbook(path, request, "xlsx")


def _opened(file: BinaryIO) -> Any:
    """Return the workbook, or None if openpyxl can't open it."""
    try:
        return load_workbook(file, read_only=True, data_only=True, keep_links=False, rich_text=True)
    except DAMAGED:
        return None


def _workbook(workbook: Any, request: Request) -> Iterator[Finding]:
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
        if not visible:
            yield from sheet_unit(number, Sheet("", ()), counter)
            continue
        sheet = visible[number - 1]
        pictures = pictures_on(workbook._archive, sheet.title, sheet._worksheet_path.lstrip("/"))
        if request.pictures:
            yield from read_pictures(pictures, number)
            continue
        reader = SheetReader(sheet)
        cells = reader.read(counter)
        if reader.uncomputed:
            what = UNCOMPUTED.format(count=reader.uncomputed, sheet=sheet.title[:100])
            yield Warned("formulas_unread", what)
        layout = reader.layout(_named_ranges(workbook, sheet))
        yield from sheet_unit(number, Sheet(sheet.title, cells, layout, pictures), counter)


def _named_ranges(workbook: Any, sheet: Any) -> dict[Range, str]:
    """Return the ranges of a sheet that have names, without those that Excel gives by itself."""
    found: dict[Range, str] = {}
    for defined in [*workbook.defined_names.values(), *sheet.defined_names.values()]:
        if defined.name.startswith("_") or defined.hidden:
            continue
        for title, area in _destinations(defined):
            if title == sheet.title and (place := range_of(area)):
                found.setdefault(place, defined.name)
    return found


def _destinations(defined: Any) -> list[tuple[str, str]]:
    try:
        return list(defined.destinations)
    except DAMAGED:  # a formula that is no range
        return []
