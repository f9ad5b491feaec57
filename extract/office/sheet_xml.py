"""One sheet of an Excel workbook: its filled cells, and the layout that its XML states beside them."""

from __future__ import annotations

import re
from typing import Any

from openpyxl.cell.read_only import ReadOnlyCell
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser

from core.text.raised import raised
from extract.errors import FileTooLarge
from extract.grids import TOO_MANY_CELLS, CellCounter
from extract.office.cells import (
    LAST_COLUMN,
    LAST_ROW,
    MOST_MERGES,
    CellKind,
    FilledCell,
    Range,
    SheetLayout,
    range_of,
)
from extract.office.sheet_tables import declared_tables
from extract.office.shown import displayed_value
from extract.places import fold_spaces

# In characters: no word fits into it.
NARROW = 3.5
# “Table1” and its translations are no names.
GIVEN_NAME = re.compile(r"\D{3,10}\d{1,5}(?:_\d{1,5})?")


class _Parser(WorkSheetParser):
    """openpyxl's parser, which also counts formulas that have no stored value."""

    uncomputed = 0

    def parse_cell(self, element: Any) -> dict[str, Any]:
        cell: dict[str, Any] = super().parse_cell(element)
        if cell["value"] is None and element.find(FORMULA_TAG) is not None:
            self.uncomputed += 1
        return cell


class SheetReader:
    """Reads a sheet that openpyxl has opened to be read only."""

    def __init__(self, sheet: Any) -> None:
        self._sheet = sheet
        self._looks: dict[int, tuple[str, bool]] = {}
        self._parser: Any = None

    @property
    def uncomputed(self) -> int:
        """How many formulas have no stored value."""
        return int(self._parser.uncomputed)

    def read(self, counter: CellCounter) -> list[FilledCell]:
        """Return the filled cells row by row; raise `FileTooLarge`."""
        book = self._sheet.parent
        found: list[FilledCell] = []
        seen = CellCounter(counter.cells)
        with self._sheet._get_source() as source:
            self._parser = _Parser(
                source,
                self._sheet._shared_strings,
                data_only=True,
                rich_text=True,
                epoch=book.epoch,
                date_formats=book._date_formats,
                timedelta_formats=book._timedelta_formats,
            )
            for number, row in self._parser.parse():
                if number > LAST_ROW:
                    raise FileTooLarge(TOO_MANY_CELLS)
                filled = [cell for given in row if (cell := self._cell(given)) is not None]
                seen.count(len(filled))
                found += filled
        # Rows and cells may come in any order, though no program writes them so.
        return sorted(found, key=lambda cell: (cell.row, cell.column))

    def _cell(self, given: dict[str, Any]) -> FilledCell | None:
        value = _plain(given["value"])
        if value is None or given["column"] > LAST_COLUMN:
            return None
        number_format, bold = self._look(given["style_id"])
        text = fold_spaces(displayed_value(value, number_format))
        if not text:
            return None
        return FilledCell(given["row"], given["column"], text, _kind(given["data_type"], value), bold)

    def _look(self, style: int) -> tuple[str, bool]:
        """Return the number format of a style, and whether it is bold."""
        if style not in self._looks:
            cell: Any = ReadOnlyCell(self._sheet, 1, 1, None, style_id=style)
            self._looks[style] = cell.number_format, bool(cell.font and cell.font.b)
        return self._looks[style]

    def layout(self, names: dict[Range, str]) -> SheetLayout:
        """Return the layout of the sheet that was read, with the given names of ranges."""
        parser = self._parser
        merges = parser.merged_cells.mergeCell if parser.merged_cells else []
        tables = dict(self._tables())
        named = {area: name for area, name in tables.items() if not GIVEN_NAME.fullmatch(name)}
        hidden, narrow = self._columns()
        return SheetLayout(
            merges=tuple(sorted(area for one in merges[:MOST_MERGES] if (area := range_of(one.ref)))),
            hidden_rows=frozenset(
                int(number) for number, look in parser.row_dimensions.items() if _is_on(look.get("hidden"))
            ),
            hidden_columns=hidden,
            narrow=narrow,
            tables=tuple(tables),
            names=names | named,
        )

    def _columns(self) -> tuple[frozenset[int], frozenset[int]]:
        """Return the hidden columns and the narrow ones."""
        hidden: set[int] = set()
        narrow: set[int] = set()
        for look in self._parser.column_dimensions.values():
            columns = range(int(look["min"]), min(int(look.get("max", look["min"])), LAST_COLUMN) + 1)
            if _is_on(look.get("hidden")):
                hidden.update(columns)
            elif float(look.get("width") or NARROW + 1) <= NARROW:
                narrow.update(columns)
        return frozenset(hidden), frozenset(narrow)

    def _tables(self) -> list[tuple[Range, str]]:
        """Return range and name of the tables that the sheet declares."""
        return declared_tables(self._sheet.parent._archive, self._sheet._worksheet_path)


def _plain(value: object) -> object:
    """Return the text of a cell with parts of different type, with raised figures as such."""
    if not isinstance(value, CellRichText):
        return value
    return "".join(
        raised(part.text)
        if isinstance(part, TextBlock) and part.font.vertAlign == "superscript"
        else str(part)
        for part in value
    )


def _is_on(given: str | None) -> bool:
    return given in ("1", "true", "on")


def _kind(data_type: str, value: object) -> CellKind:
    if data_type == "d":
        return CellKind.DATE
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return CellKind.NUMBER if is_number else CellKind.WORDS
