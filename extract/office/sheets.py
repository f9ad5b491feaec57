"""From the filled cells of a sheet to its tables, titles and remarks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest

from core.locations import InFile, LocatedText
from extract.base import Element, Finding, Kind, TextOrigin, UnitRead, Warned
from extract.grids import Cell, CellCounter, counted, row_groups
from extract.office.areas import Area, areas_of
from extract.office.cells import FilledCell, Row, SheetLayout, column_name
from extract.office.heads import SheetTable, read_table
from extract.office.pictures import OfficePicture
from extract.places import element, fold_spaces, locate_text

TITLE_CHARS = 120
DEEPEST_TITLE = 4
# A title has at most so many blank rows below it. A note begins like these words.
TITLE_DISTANCE = 3
NOTE = re.compile(
    r"(?:sources?|notes?|quellen?|anmerkung|hinweis|remarques?|fuentes?|notas?)\b|[*†]|\(\d", re.I
)
MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet: its cells row by row, and what its file says of their layout."""

    name: str
    cells: Sequence[FilledCell]
    layout: SheetLayout = field(default_factory=SheetLayout)
    pictures: Sequence[OfficePicture] = ()


def sheet_unit(number: int, sheet: Sheet, counter: CellCounter) -> Iterator[Finding]:
    """Yield a sheet's name as a heading, its tables, a warning about hidden cells, and its unit.

    Raises `FileTooLarge`.
    """
    counter.count(len(sheet.cells))
    tables = 0
    for found in _named(sheet):
        tables += found.kind is Kind.TABLE
        yield found
    yield from (picture.element() for picture in sheet.pictures)
    yield from _hidden_warning(sheet)
    source = TextOrigin.TEXT if sheet.cells else TextOrigin.BLANK
    yield UnitRead(number, source, tables=tables, pictures=len(sheet.pictures))


def filled(cells: Iterable[FilledCell], counter: CellCounter) -> list[FilledCell]:
    """Return cells as a list; raise `FileTooLarge` before it takes too much memory."""
    spare = CellCounter(counter.cells)
    kept = []
    for cell in cells:
        spare.count(1)
        kept.append(cell)
    return kept


def _named(sheet: Sheet) -> Iterator[Element]:
    """Yield the sheet's elements, each part below the sheet's name and its own titles alone."""
    name = Element(Kind.HEADING, locate_text(fold_spaces(sheet.name)), level=1, is_label=True)
    is_below_titles = True
    for part in _parts(sheet):
        is_titled = False
        for at, found in enumerate(part):
            is_titled = is_titled or found.kind is Kind.HEADING
            if at == 0 and is_below_titles:
                yield name
            yield found
        is_below_titles = is_titled


def _parts(sheet: Sheet) -> Iterator[Iterator[Element]]:
    """Yield the elements of each table, with the titles above it, and of each remark, in reading order."""
    titles: list[Row] = []
    for area, follows in _with_next(areas_of(sheet.cells, sheet.layout)):
        if not area.is_remark:
            table = read_table(area, sheet.layout)
            yield _table(sheet, [*titles, *table.titles], table)
            titles = []
        elif follows and 0 < follows.top - area.bottom <= TITLE_DISTANCE and _is_above(area):
            titles += area.rows
        else:
            yield (Element(Kind.PARAGRAPH, _joined(sheet.name, row)) for row in [*titles, *area.rows])
            titles = []


def _with_next(areas: Sequence[Area]) -> Iterator[tuple[Area, Area | None]]:
    return zip_longest(areas, areas[1:])


def _is_above(remark: Area) -> bool:
    """Whether a remark may be the title of what is below, rather than a note on what is above."""
    return all(_is_title(row) and not NOTE.match(row[0].text) for row in remark.rows)


def _is_title(row: Row) -> bool:
    text = " ".join(cell.text for cell in row)
    return any(map(str.isalpha, text)) and "://" not in text and len(text) <= TITLE_CHARS


def _table(sheet: Sheet, titles: Sequence[Row], table: SheetTable) -> Iterator[Element]:
    """Yield a table under its titles, the remarks below it last."""
    level = 2
    if table.name and not titles:
        yield element(Kind.HEADING, table.name, InFile(sheet=sheet.name, cells=table.range), level)
    for row in titles:
        is_title = _is_title(row) and level <= DEEPEST_TITLE
        kind = Kind.HEADING if is_title else Kind.PARAGRAPH
        yield Element(kind, _joined(sheet.name, row), level=level if is_title else None)
        level += is_title
    yield from _grid(sheet.name, table)
    for row in table.notes:
        yield Element(Kind.PARAGRAPH, _joined(sheet.name, row))


def _grid(sheet: str, table: SheetTable) -> Iterator[Element]:
    """Yield the rows under their head; a head without rows is a line of text."""
    rows = counted(([_cell(sheet, cell) for cell in row] for row in table.body), CellCounter())
    head = [_joined(sheet, cells) for cells in table.head] if any(table.head) else next(rows, None)
    first = next(rows, None)
    if head and first:
        yield from row_groups(head, chain([first], rows))
    elif head:
        yield Element(Kind.PARAGRAPH, LocatedText.join([cell for cell in head if cell.text], " "))


def _joined(sheet: str, cells: Sequence[FilledCell]) -> LocatedText:
    return LocatedText.join([_cell(sheet, cell) for cell in cells], " ")


def _cell(sheet: str, cell: FilledCell | None) -> Cell:
    if cell is None:
        return locate_text("")
    place = InFile(sheet=sheet, cells=(cell.row, cell.column, cell.row, cell.column))
    return locate_text(fold_spaces(cell.text), place)


def _hidden_warning(sheet: Sheet) -> Iterator[Warned]:
    """Yield a warning that names hidden rows and columns that have cells: they were read."""
    rows = {cell.row for cell in sheet.cells} & sheet.layout.hidden_rows
    columns = {cell.column for cell in sheet.cells} & sheet.layout.hidden_columns
    parts = []
    if rows:
        parts.append(f"rows {_listed(sorted(rows), str)}")
    if columns:
        parts.append(f"columns {_listed(sorted(columns), column_name)}")
    if parts:
        what = f"The sheet “{sheet.name[:100]}” hides cells, which were read: {' and '.join(parts)}."
        yield Warned("hidden_cells", what)


def _listed(numbers: Sequence[int], name: Callable[[int], str]) -> str:
    shown = ", ".join(name(number) for number in numbers[:MOST_NAMED])
    return shown + (", …" if len(numbers) > MOST_NAMED else "")
