"""Excel's binary formats, read by calamine; also any workbook on which the usual reader failed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from itertools import islice
from pathlib import Path

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from extract.archives import open_archive
from extract.base import Finding, Opened, Request, Warned
from extract.errors import NO_UNLOCKING, Corrupted, Encrypted, TooManyPages
from extract.grids import CellCounter
from extract.kinds import KINDS
from extract.office.biff_layout import HiddenCells, hidden_cells
from extract.office.cells import MOST_MERGES, CellKind, FilledCell, SheetLayout
from extract.office.sheets import Sheet, filled, sheet_unit
from extract.office.shown import displayed_value
from extract.places import fold_spaces
from extract.sniffing import ZIP

READER_FAILED = (
    "The reader of this kind of workbook fails on this file, which may be sound. Open it in Excel, save it "
    "as .xlsx, and upload that."
)


def extract(path: Path, request: Request) -> Iterator[Finding]:
    """Yield the sheets, each a unit; raise `Corrupted`, `Encrypted`, `TooLarge` or `TooManyPages`."""
    with path.open("rb") as file:
        is_zip = file.read(4) in ZIP
    if not is_zip:
        yield from read_workbook(path, request, "xls")
        return
    with open_archive(path):
        yield from read_workbook(path, request, "xlsb")


def read_workbook(path: Path, request: Request, file_type: str) -> Iterator[Finding]:
    """Yield the sheets of a workbook of any kind that calamine knows."""
    try:
        with CalamineWorkbook.from_path(path) as workbook:
            hidden = hidden_cells(path) if file_type == "xls" else []
            yield from _sheets(workbook, request, file_type, hidden)
    except PasswordError as error:
        raise Encrypted(NO_UNLOCKING) from error
    except (CalamineError, OSError) as error:
        raise Corrupted from error
    except BaseException as error:
        # A panic of the Rust code; its class can't be imported.
        if type(error).__name__ != "PanicException":
            raise
        raise Corrupted(READER_FAILED) from error


def _sheets(
    workbook: CalamineWorkbook, request: Request, file_type: str, hidden: list[HiddenCells]
) -> Iterator[Finding]:
    """Yield the visible sheets; `hidden` cells are those of all worksheets in their order, if it is known."""
    sheets = [sheet for sheet in workbook.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
    visible = [sheet.name for sheet in sheets if sheet.visible == SheetVisibleEnum.Visible]
    if len(visible) > request.limits.max_pages:
        raise TooManyPages
    units = max(len(visible), 1)
    yield Opened(file_type, KINDS[file_type].mime_type, units=units)
    yield from hidden_warning([sheet.name for sheet in sheets if sheet.name not in visible])
    # A damaged file may count its sheets in two ways.
    is_known = len(hidden) == len(sheets)
    layouts = {sheet.name: cells for sheet, cells in zip(sheets, hidden, strict=True)} if is_known else {}
    counter = CellCounter()
    for number in request.units or range(1, units + 1):
        sheet = workbook.get_sheet_by_name(visible[number - 1]) if visible else None
        cells = filled(_cells(sheet), counter)
        name = sheet.name if sheet else ""
        layout = _layout(sheet, layouts.get(name, HiddenCells()))
        yield from sheet_unit(number, Sheet(name, cells, layout), counter)


def _layout(sheet: CalamineSheet | None, hidden: HiddenCells) -> SheetLayout:
    merges = sheet.merged_cell_ranges if sheet is not None else None
    # Start and end, each row and column from 0.
    ranges = ((top + 1, left + 1, bottom + 1, right + 1) for (top, left), (bottom, right) in merges or ())
    return SheetLayout(
        merges=tuple(sorted(islice(ranges, MOST_MERGES))),
        hidden_rows=frozenset(hidden.rows),
        hidden_columns=frozenset(hidden.columns),
    )


def hidden_warning(names: list[str]) -> Iterator[Warned]:
    """Yield a warning that names the hidden sheets, which were not read."""
    if names:
        yield Warned("hidden_sheets", f"Hidden sheets were not read: {', '.join(names)}."[:500])


def _cells(sheet: CalamineSheet | None) -> Iterator[FilledCell]:
    if sheet is None or sheet.start is None:
        return
    _, first_column = sheet.start
    for row, values in enumerate(sheet.iter_rows(), start=1):
        for column, value in enumerate(values, start=first_column + 1):
            if value != "" and (text := fold_spaces(displayed_value(value))):
                yield FilledCell(row, column, text, _kind(value))


def _kind(value: object) -> CellKind:
    if isinstance(value, date | time | timedelta):
        return CellKind.DATE
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return CellKind.NUMBER if is_number else CellKind.WORDS
